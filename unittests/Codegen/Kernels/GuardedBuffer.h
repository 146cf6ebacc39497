// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_UNITTESTS_CODEGEN_KERNELS_GUARDEDBUFFER_H
#define RLX_UNITTESTS_CODEGEN_KERNELS_GUARDEDBUFFER_H

#include <cstddef>
#include <cstdint>

namespace rlx::test {

/// f32 memory between two pages that fault: an access one element before it
/// (Side::Begin) or after it (Side::End) ends the test program.
class GuardedBuffer {
public:
  enum class Side { Begin, End };
  GuardedBuffer(int64_t elements, Side side);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  float *data() { return elements; }
  float &operator[](int64_t index) { return elements[index]; }
  int64_t size() const { return count; }
  void fill(float value);
  /// Values in [-1, 1] that depend on `seed` only.
  void fillRandom(uint32_t seed);
  /// From now on writing ends the test program too.
  void makeReadOnly();

private:
  char *mapping;
  size_t mappedBytes;
  float *elements;
  int64_t count;
};

} // namespace rlx::test

#endif
