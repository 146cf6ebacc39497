// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_LOWERING_H
#define RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_LOWERING_H

#include "KernelBuilder.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace rlx::kernelgen {

/// A target machine that makes position-independent code for Linux on `cpu`.
/// It depends on the class only, never on the host.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const CpuClass &cpu);

/// Lowers emitted kernels (vector, scf, arith, func) to optimised LLVM IR for
/// `machine`. Consumes the contents of `module`.
llvm::Expected<std::unique_ptr<llvm::Module>>
lowerToLLVM(mlir::ModuleOp module, const CpuClass &cpu,
            llvm::TargetMachine &machine, llvm::LLVMContext &context);

/// Object code or assembly of an LLVM module.
llvm::Expected<llvm::SmallVector<char, 0>>
emitMachineCode(llvm::Module &module, llvm::TargetMachine &machine,
                llvm::CodeGenFileType type);

} // namespace rlx::kernelgen

#endif
