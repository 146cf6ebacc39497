// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The function that tells a loader how much memory a call needs.
#ifndef RLX_CODEGEN_CPU_PLANFUNCTION_H
#define RLX_CODEGEN_CPU_PLANFUNCTION_H

#include "ArenaLayout.h"

namespace rlx {

/// A condition on symbols that every call must meet.
struct PlanCheck {
  mlir::Value condition;
  /// Number of the text that says what is wrong.
  int64_t message;
};

/// Emits `<function>.plan` of RLX/Runtime/Abi.h behind `func`, which still has
/// its allocations and returns the dims of its outputs.
llvm::LogicalResult emitPlanFunction(mlir::func::FuncOp func,
                                     const ArenaLayout &layout,
                                     llvm::ArrayRef<PlanCheck> checks);

} // namespace rlx

#endif // RLX_CODEGEN_CPU_PLANFUNCTION_H
