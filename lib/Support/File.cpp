// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Support/File.h"

#include "RLX/Support/Error.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

Expected<std::unique_ptr<MemoryBuffer>> rlx::openRegularFile(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return makeError("{0}: {1}", path, code.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return makeError("{0}: is not a regular file", path);
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("{0}: {1}", path, file.getError().message());
  return std::move(*file);
}
