// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLX_RUN_FAILURE_H
#define RLX_TOOLS_RLX_RUN_FAILURE_H

#include <stdexcept>
#include <string>

namespace rlx::run {

/// Ends the tool with exit status 1 and `error: <what>`.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ends the tool with exit status 2: the command line asks for something that
/// no model could do.
struct WrongUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace rlx::run

#endif // RLX_TOOLS_RLX_RUN_FAILURE_H
