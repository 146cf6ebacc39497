// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Compile.cpp - From a module to an executable -----------------------===//

#include "RLX/Codegen/CPU/Compile.h"

#include "FunctionInfo.h"
#include "Object.h"

#include "RLX/Codegen/CPU/Kernels/KernelArchive.h"
#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/DiagnosticCollector.h"
#include "RLX/Support/Error.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace rlx;

/// Lowers `module` to the LLVM dialect, in place.
static llvm::Error lower(ModuleOp module, const CPUCodegenOptions &options) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerCPUCodegenInterfaces(registry);
  context->appendDialectRegistry(registry);

  PassManager passes(context);
  LowerCPUOptions pipeline;
  pipeline.cpuClass = options.cpuClass;
  buildLowerCPUPipeline(passes, pipeline);
  DiagnosticCollector diagnostics(context);
  if (failed(passes.run(module)))
    return makeError("cannot generate CPU code: {0}",
                     llvm::toString(diagnostics.takeError("a pass failed")));
  return llvm::Error::success();
}

llvm::Expected<CompiledExecutable>
rlx::compileForCPU(ModuleOp module, const CPUCodegenOptions &options) {
  StringRef archive = kernelArchive(options.cpuClass);
  if (archive.empty())
    return makeError("unknown CPU class {0}, known: {1}",
                     quoteName(options.cpuClass),
                     llvm::join(kernelCpuClasses(), ", "));
  // Attributes, and with them the values of weights, are shared with the clone.
  OwningOpRef<ModuleOp> clone = module.clone();
  if (llvm::Error error = lower(*clone, options))
    return error;

  CompiledExecutable executable;
  executable.functions = getFunctions(*clone);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*clone, llvmContext, "rlx");
  if (!llvmModule)
    return makeError("cannot translate the lowered module to LLVM IR");
  llvm::Expected<llvm::SmallVector<char, 0>> object =
      compileToObject(*llvmModule, options.cpuClass);
  if (!object)
    return object.takeError();
  llvm::Expected<llvm::SmallVector<char, 0>> linked =
      linkExecutable(StringRef(object->data(), object->size()), archive);
  if (!linked)
    return linked.takeError();
  executable.bytes = std::move(*linked);
  return executable;
}
