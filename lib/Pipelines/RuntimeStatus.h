// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_PIPELINES_RUNTIMESTATUS_H
#define RLX_LIB_PIPELINES_RUNTIMESTATUS_H

#include "RLX/Runtime/rlx_runtime.h"
#include "RLX/Support/Error.h"

namespace rlx {

/// The message of the call that just failed on this thread as an error.
inline llvm::Error check(rlx_status status) {
  return status == RLX_OK ? llvm::Error::success()
                          : makeError("{0}", rlx_last_error());
}

} // namespace rlx

#endif // RLX_LIB_PIPELINES_RUNTIMESTATUS_H
