// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// From a module at the end of the `weights` phase to native code.
#ifndef RLX_CODEGEN_CPU_COMPILE_H
#define RLX_CODEGEN_CPU_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rlx {

/// A function of an executable, as its loader sees it.
struct ExecutableFunction {
  std::string name;
  /// True for a prepare function: inputs are the tensors that an instance
  /// reads, and there are neither weights nor symbols.
  bool isPrepare = false;
  /// Names of the buffers; `rlx_abi_params::buffers` holds inputs, outputs,
  /// weights. An input without a name is called `in<i>`, an output `out<i>`.
  std::vector<std::string> inputs, outputs, weights;
  /// Symbols in the order of `rlx_abi_params::symbols`.
  std::vector<std::string> symbols;
  /// Sum of the ranks of all outputs.
  uint32_t outputDimCount = 0;
};

/// A position-independent shared object that implements RLX/Runtime/Abi.h.
struct CompiledExecutable {
  llvm::SmallVector<char, 0> bytes;
  /// In the order of the executable's table.
  std::vector<ExecutableFunction> functions;
};

struct CPUCodegenOptions {
  /// x86-64-v3 or x86-64-v4.
  std::string cpuClass = "x86-64-v3";
};

/// Compiles all entries and prepare functions of `module`, which is not
/// changed; values of weights are neither read nor copied. Equal modules give
/// equal bytes, whatever the machine. Diagnostics of the passes are part of the
/// error. Safe to call from several threads with different contexts; links are
/// made one at a time.
llvm::Expected<CompiledExecutable>
compileForCPU(mlir::ModuleOp module, const CPUCodegenOptions &options);

} // namespace rlx

#endif // RLX_CODEGEN_CPU_COMPILE_H
