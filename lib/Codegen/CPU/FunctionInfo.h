// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// What the loader knows of a function, kept on the module between passes.
#ifndef RLX_CODEGEN_CPU_FUNCTIONINFO_H
#define RLX_CODEGEN_CPU_FUNCTIONINFO_H

#include "RLX/Codegen/CPU/Compile.h"

namespace rlx {

/// The functions that `rlx.functions` of `module` describes; none if absent.
std::vector<ExecutableFunction> getFunctions(mlir::ModuleOp module);

/// Replaces `rlx.functions` of `module`.
void setFunctions(mlir::ModuleOp module,
                  llvm::ArrayRef<ExecutableFunction> functions);

} // namespace rlx

#endif // RLX_CODEGEN_CPU_FUNCTIONINFO_H
