// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The passes of the CPU code generator and the pipeline that they form.
#ifndef RLX_CODEGEN_CPU_PASSES_H
#define RLX_CODEGEN_CPU_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <memory>
#include <string>

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace rlx {

#define GEN_PASS_DECL
#include "RLX/Codegen/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RLX/Codegen/CPU/Passes.h.inc"

/// Options of the textual pipeline `rlx-lower-cpu`.
struct LowerCPUOptions : mlir::PassPipelineOptions<LowerCPUOptions> {
  Option<std::string> cpuClass{
      *this, "cpu-class",
      llvm::cl::desc("The CPU class to compile for: x86-64-v3 or x86-64-v4"),
      llvm::cl::init("x86-64-v3")};
};

/// From a module at the end of the `weights` phase to the LLVM dialect.
void buildLowerCPUPipeline(mlir::OpPassManager &pm,
                           const LowerCPUOptions &options);

/// Registers `rlx-lower-cpu`.
void registerLowerCPUPipeline();

/// What the pipeline and compileForCPU() need of a context: the dialects
/// between rlx and LLVM, and interfaces of their ops. compileForCPU() registers
/// and loads them itself; a pass that calls it names them as its dependent
/// dialects.
void registerCPUCodegenInterfaces(mlir::DialectRegistry &registry);

} // namespace rlx

#endif // RLX_CODEGEN_CPU_PASSES_H
