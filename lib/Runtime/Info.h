// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_INFO_H
#define RLX_LIB_RUNTIME_INFO_H

#include "RLX/Artifact/Reader.h"
#include "RLX/Runtime/rlx_runtime.h"

#include <deque>
#include <vector>

namespace rlx::runtime {

/// The manifest in the C interface's terms: arrays that point into it.
class ProgramInfo {
public:
  /// Refers to `opened`, which must stay where it is.
  explicit ProgramInfo(const artifact::OpenedArtifact &opened);
  ProgramInfo(const ProgramInfo &) = delete;
  ProgramInfo &operator=(const ProgramInfo &) = delete;

  std::vector<rlx_entry_info> entries;
  std::vector<rlx_weight_info> weights;
  std::vector<rlx_prepare_info> prepares;

private:
  const rlx_value_info *addValues(const std::vector<artifact::Value> &values,
                                  const artifact::Entry &entry);

  // Deques, because elements must not move.
  std::deque<std::vector<rlx_value_info>> values;
  std::deque<std::vector<int64_t>> dims;
  std::deque<std::vector<const char *>> names;
};

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_INFO_H
