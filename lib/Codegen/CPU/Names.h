// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Attributes that the passes of the CPU code generator leave for each other.
/// They are not the dialect's: no graph carries them.
#ifndef RLX_CODEGEN_CPU_NAMES_H
#define RLX_CODEGEN_CPU_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace rlx {

/// On an argument: the name of the weight that it holds.
constexpr llvm::StringLiteral kWeightAttr = "rlx_cpu.weight";
/// On an argument: the symbol whose value it is.
constexpr llvm::StringLiteral kSymbolAttr = "rlx_cpu.symbol";
/// On an argument: an input buffer; the symbols of its dims (empty for static
/// ones) unless all are static.
constexpr llvm::StringLiteral kInputAttr = "rlx_cpu.input";
/// On an argument: the output buffer for the result of this number.
constexpr llvm::StringLiteral kOutputAttr = "rlx_cpu.output";
/// On an argument: the arena, or the number of workers.
constexpr llvm::StringLiteral kArenaAttr = "rlx_cpu.arena";
constexpr llvm::StringLiteral kWorkersAttr = "rlx_cpu.workers";

/// On a function: it is a prepare function.
constexpr llvm::StringLiteral kPrepareFunctionAttr = "rlx_cpu.prepare_function";

/// On the module: one dictionary per function (FunctionInfo.h).
constexpr llvm::StringLiteral kFunctionsAttr = "rlx_cpu.functions";
/// On the module: texts for statuses from RLX_ABI_MESSAGE_BASE on.
constexpr llvm::StringLiteral kMessagesAttr = "rlx_cpu.messages";

} // namespace rlx

#endif // RLX_CODEGEN_CPU_NAMES_H
