// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_BENCH_GEMM_CANDIDATES_H
#define RLX_BENCH_GEMM_CANDIDATES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rlx::bench {

/// C = A * B with row-major A (m x k), B (k x n) and C (m x n).
struct GemmShape {
  int64_t m, n, k;
};

/// Zeroed f32 memory on huge pages where the system gives them, the same for
/// every candidate.
class Buffer {
public:
  explicit Buffer(size_t elements);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  float *data() { return memory; }

private:
  float *memory;
};

/// One implementation, bound to one shape.
class GemmCandidate {
public:
  virtual ~GemmCandidate() = default;
  /// One product on the calling thread.
  virtual void run() = 0;
  /// The m x n result of the last run().
  virtual const float *result() = 0;
};

/// Makes candidates; B is brought into the implementation's preferred layout
/// here, outside of what is measured.
class GemmImplementation {
public:
  virtual ~GemmImplementation() = default;
  virtual std::string name() const = 0;
  virtual std::string version() const = 0;
  virtual std::unique_ptr<GemmCandidate> bind(GemmShape shape, float *a,
                                              float *b) = 0;
};

/// RLX's kernels of `cpuClass`; null with a message in `error` if they cannot
/// be loaded or the host cannot run them.
std::unique_ptr<GemmImplementation> makeRlx(const std::string &cpuClass,
                                            std::string &error);
/// The peers this program was built with.
std::vector<std::unique_ptr<GemmImplementation>> makePeers();
/// Names of the peers this program was built without.
std::vector<std::string> missingPeers();

} // namespace rlx::bench

#endif
