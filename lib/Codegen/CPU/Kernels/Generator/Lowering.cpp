// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Lowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rlx::kernelgen;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
rlx::kernelgen::createTargetMachine(const CpuClass &cpu) {
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu.name, /*Features=*/"", llvm::TargetOptions(),
      llvm::Reloc::PIC_, /*CM=*/std::nullopt, llvm::CodeGenOptLevel::Default));
}

static LogicalResult runConversions(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  // The tiles are vectors already; what is left as scalar loops are copies too
  // short to gain from the vectoriser's run-time checks.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder passes(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(sccs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, sccs, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

llvm::Expected<std::unique_ptr<llvm::Module>>
rlx::kernelgen::lowerToLLVM(ModuleOp module, const CpuClass &cpu,
                            llvm::TargetMachine &machine,
                            llvm::LLVMContext &context) {
  if (failed(runConversions(module)))
    return llvm::createStringError("kernels do not lower to the llvm dialect");
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "rlx-kernels");
  if (!result)
    return llvm::createStringError("kernels do not translate to LLVM IR");
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", cpu.name);
    function.addFnAttr("prefer-vector-width", std::to_string(cpu.vectorBits()));
    // Artifacts export one symbol of their own; kernels stay inside.
    if (!function.hasLocalLinkage())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    else
      function.addFnAttr(llvm::Attribute::NoInline);
  }
  optimise(*result, machine);
  return result;
}

llvm::Expected<llvm::SmallVector<char, 0>>
rlx::kernelgen::emitMachineCode(llvm::Module &module,
                                llvm::TargetMachine &machine,
                                llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("the target emits no machine code");
  passes.run(module);
  return code;
}
