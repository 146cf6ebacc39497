// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLX_RUN_ARRAY_H
#define RLX_TOOLS_RLX_RUN_ARRAY_H

#include "RLX/Runtime/rlx_runtime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rlx::run {

/// A row-major tensor and the owner of its memory, a mapping or an allocation.
struct Array {
  int32_t dtype = RLX_F32;
  std::vector<int64_t> dims;
  std::shared_ptr<void> owner;
  void *data = nullptr;
  uint64_t sizeBytes = 0;

  uint64_t elements() const { return sizeBytes / rlx_dtype_size(dtype); }
  rlx_tensor view() const {
    return {data, dims.data(), static_cast<int32_t>(dims.size()), dtype};
  }
};

/// Memory for a tensor, zero. Throws Failure, starting with `what`, if the dims
/// are absurd.
Array allocateArray(const std::string &what, int32_t dtype,
                    std::vector<int64_t> dims);

/// "f32[2, 3]".
std::string describe(int32_t dtype, const std::vector<int64_t> &dims);

/// An element as a double. Throws Failure for complex numbers.
double elementAsDouble(const Array &array, uint64_t index);

/// Reads an .npy file, versions 1 to 3. The array refers to the mapped file.
/// Throws Failure.
Array readNpy(const std::string &path);

/// Writes an .npy file, complete or not at all; "-" is standard output.
void writeNpy(const std::string &path, const Array &array);

/// A tensor of a weight file.
struct NamedArray {
  std::string name;
  Array array;
};

/// Reads the table of a .safetensors file; arrays refer to the mapped file.
/// Throws Failure.
std::vector<NamedArray> readSafetensors(const std::string &path);

} // namespace rlx::run

#endif // RLX_TOOLS_RLX_RUN_ARRAY_H
