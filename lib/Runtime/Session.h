// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_SESSION_H
#define RLX_LIB_RUNTIME_SESSION_H

#include "Weights.h"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace rlx::runtime {

struct SessionOptions {
  int64_t workers = 1;
  uint64_t seed = 0;
  bool pin = false;
};

/// Runs entries for one thread at a time.
class Session {
public:
  static Result<std::unique_ptr<Session>>
  create(std::shared_ptr<WeightSet> weights, const SessionOptions &options);

  Result<void> outputDims(uint32_t entry, const rlx_tensor *inputs,
                          uint32_t inputCount, int64_t *dims,
                          uint64_t dimCount);
  Result<void> prepare(uint32_t entry);
  Result<void> run(uint32_t entry, const rlx_tensor *inputs,
                   uint32_t inputCount, const rlx_tensor *outputs,
                   uint32_t outputCount);
  Result<rlx_stats> stats() const;
  const char *target() const { return code.table->target; }

private:
  /// What `plan` said for one set of symbol values.
  struct Plan {
    std::vector<int64_t> symbols;
    std::vector<int64_t> outputDims;
    uint64_t arenaBytes = 0;
  };
  /// The input and dimension that gave a symbol its value.
  using Origin = std::pair<uint32_t, uint32_t>;
  static constexpr Origin unbound = {UINT32_MAX, 0};
  /// A buffer of the caller.
  struct Range {
    uintptr_t begin, end;
    const std::string *name;
  };
  /// What is kept between forwards of an entry.
  struct EntryState {
    /// The most recent last. A handful, so that alternating batch sizes are
    /// planned once and a stream of lengths does not pile up.
    std::vector<Plan> plans;
    /// Inputs, outputs, weights; the last of them for snapshot `snapshotId`.
    std::vector<void *> buffers;
    uint64_t snapshotId = 0;
    std::vector<int64_t> symbols;
    std::vector<Origin> origins;
    std::vector<Range> ranges;
  };
  class Use;

  Session(std::shared_ptr<WeightSet> weights, const BoundExecutable &code,
          const SessionOptions &options);

  Result<void> checkEntry(uint32_t entry) const;
  Result<void> bindSymbols(uint32_t entry, const rlx_tensor *inputs,
                           uint32_t inputCount);
  Result<const Plan *> planEntry(uint32_t entry);
  Result<void> checkPlan(uint32_t entry, const Plan &plan) const;
  Result<void> bindBuffers(uint32_t entry, const Plan &plan,
                           const rlx_tensor *inputs, const rlx_tensor *outputs,
                           uint32_t outputCount);
  Result<void> bindWeights(uint32_t entry, Snapshot &snapshot);
  Fault fault(FaultKind kind, const std::string &text) const;
  void recordRun(uint64_t timeNs);

  const std::shared_ptr<WeightSet> weights;
  const artifact::Manifest &manifest;
  const BoundExecutable &code;
  const SessionOptions options;
  ThreadPool pool;
  std::vector<EntryState> entries;
  std::shared_ptr<void> arena;
  uint64_t arenaBytes = 0;
  uint64_t rngCounter = 0;
  mutable std::atomic<bool> inUse{false};

  uint64_t runs = 0;
  uint64_t firstRunNs = 0;
  uint64_t lastRunNs = 0;
  /// Times of the last forwards but the first, a ring.
  std::array<uint64_t, 1024> times{};
};

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_SESSION_H
