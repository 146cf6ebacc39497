// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_EXECUTABLE_H
#define RLX_LIB_RUNTIME_EXECUTABLE_H

#include "CodeLoader.h"

#include <vector>

namespace rlx::runtime {

/// Native code that was found to fit the manifest.
struct BoundExecutable {
  LoadedCode code;
  const rlx_abi_executable *table = nullptr;
  /// One per entry and one per prepare instance of the manifest.
  std::vector<const rlx_abi_function *> entries;
  std::vector<const rlx_abi_function *> prepares;

  /// Explains a status that `function` returned.
  std::string explain(const rlx_abi_function &function, int32_t status) const;
};

/// Queries the table of `code` and finds all functions of the manifest in it.
/// Faults if the code speaks another version or differs from the manifest.
Result<BoundExecutable> bindExecutable(LoadedCode code,
                                       const artifact::Manifest &manifest,
                                       const std::string &target);

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_EXECUTABLE_H
