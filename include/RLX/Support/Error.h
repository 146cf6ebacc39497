// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Errors outside the IR, and how the user's own names appear in messages.
#ifndef RLX_SUPPORT_ERROR_H
#define RLX_SUPPORT_ERROR_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace rlx {

/// An error whose message is `formatv(format, values...)`.
template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...values) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Ts>(values)...).str());
}

/// `name` in single quotes, fit for one line of a message: control characters
/// and invalid UTF-8 are escaped, and a name longer than 120 bytes is cut in
/// its middle.
std::string quoteName(llvm::StringRef name);

} // namespace rlx

#endif // RLX_SUPPORT_ERROR_H
