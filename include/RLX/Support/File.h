// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Files that users name.
#ifndef RLX_SUPPORT_FILE_H
#define RLX_SUPPORT_FILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace rlx {

/// The bytes of a regular file, mapped if it is large: it must not be cut off
/// or overwritten in place as long as the buffer lives. Pipes and devices are
/// refused, as they have no size and may never end. Errors begin with `path`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openRegularFile(llvm::StringRef path);

} // namespace rlx

#endif // RLX_SUPPORT_FILE_H
