// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_MEMORY_H
#define RLX_LIB_RUNTIME_MEMORY_H

#include "RLX/Runtime/Abi.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace rlx::runtime {

/// A buffer for tensors without elements: code is promised a pointer.
alignas(RLX_ABI_ALIGNMENT) inline char noElements[RLX_ABI_ALIGNMENT];

/// Storage aligned to RLX_ABI_ALIGNMENT, null if there is not enough. Contents
/// are indeterminate. Never null for 0 bytes.
inline std::shared_ptr<void> allocateAligned(uint64_t sizeBytes) {
  constexpr uint64_t alignment = RLX_ABI_ALIGNMENT;
  if (sizeBytes > INT64_MAX - alignment)
    return nullptr;
  // The size, too, must be a multiple of the alignment.
  uint64_t rounded = (sizeBytes + alignment) / alignment * alignment;
  void *bytes = std::aligned_alloc(alignment, rounded);
  if (!bytes)
    return nullptr;
  return std::shared_ptr<void>(bytes, std::free);
}

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_MEMORY_H
