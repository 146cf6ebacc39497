// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_CODELOADER_H
#define RLX_LIB_RUNTIME_CODELOADER_H

#include "RLX/Artifact/Manifest.h"
#include "RLX/Runtime/Abi.h"

#include <string>

namespace rlx::runtime {

/// A shared object from memory, loaded into the process until destruction.
class LoadedCode {
public:
  LoadedCode() = default;
  ~LoadedCode();
  LoadedCode(LoadedCode &&other) noexcept;
  LoadedCode &operator=(LoadedCode &&other) noexcept;

  /// The address of an exported symbol, or null.
  void *symbol(const char *name) const;

private:
  friend Result<LoadedCode> loadFromMemory(artifact::ByteSpan);
  friend Result<LoadedCode> loadFromFolder(artifact::ByteSpan,
                                           const std::string &);
  void *handle = nullptr;
  /// Kept open with the handle: the loader takes equal paths for equal
  /// libraries, and a closed descriptor's number, hence its path, comes back.
  int fd = -1;
};

/// Loads through a sealed anonymous file, which no policy on mounts reaches and
/// nobody else can change.
Result<LoadedCode> loadFromMemory(artifact::ByteSpan bytes);

/// Loads through a file in `folder` that is removed at once.
Result<LoadedCode> loadFromFolder(artifact::ByteSpan bytes,
                                  const std::string &folder);

/// The first, and if the system refuses that, the second, in RLX_CODE_DIR or
/// else the user's runtime folder.
Result<LoadedCode> loadCode(artifact::ByteSpan bytes);

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_CODELOADER_H
