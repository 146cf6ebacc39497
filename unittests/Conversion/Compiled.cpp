// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Compiled.cpp - Runs what a conversion made
//--------------------------===//

#include "Compiled.h"
#include "RLX/Conversion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using llvm::StringRef;

namespace rlx::test {

void registerForCompiling(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

bool canRun(StringRef cpuClass) {
  if (cpuClass == "x86-64-v3")
    return __builtin_cpu_supports("x86-64-v3");
  return __builtin_cpu_supports("x86-64-v4");
}

static LogicalResult lowerToLLVM(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createLowerExpandShapePass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     bool vectorize) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = vectorize;
  tuning.SLPVectorization = vectorize;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

Compiled::Compiled() = default;
Compiled::~Compiled() = default;

template <typename T> static std::optional<T> take(llvm::Expected<T> expected) {
  if (expected)
    return std::move(*expected);
  llvm::logAllUnhandledErrors(expected.takeError(), llvm::errs());
  return std::nullopt;
}

std::unique_ptr<Compiled> Compiled::create(ModuleOp module, StringRef cpuClass,
                                           bool vectorize) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();

  OwningOpRef<ModuleOp> lowered(module.clone());
  if (failed(lowerToLLVM(*lowered)))
    return nullptr;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*lowered, *context);
  if (!code)
    return nullptr;

  auto host = take(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (!host)
    return nullptr;
  llvm::orc::JITTargetMachineBuilder target(host->getTargetTriple());
  target.setCPU(cpuClass.str());
  auto machine = take(target.createTargetMachine());
  if (!machine)
    return nullptr;
  code->setTargetTriple(target.getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpuClass);
    if (cpuClass == "x86-64-v4")
      function.addFnAttr("prefer-vector-width", "512");
  }
  optimize(*code, **machine, vectorize);
  if (const char *path = std::getenv("RLX_TEST_DUMP_LLVM")) {
    std::error_code error;
    llvm::raw_fd_ostream os(path + cpuClass.str() + ".ll", error);
    code->print(os, nullptr);
  }

  std::unique_ptr<Compiled> result(new Compiled());
  for (llvm::Function &function : *code)
    if (function.isDeclaration() && !function.isIntrinsic())
      result->undefined.push_back(function.getName().str());
  auto jit = take(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
  if (!jit)
    return nullptr;
  result->jit = std::move(*jit);
  if (llvm::Error error = result->jit->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(code), std::move(context)))) {
    llvm::logAllUnhandledErrors(std::move(error), llvm::errs());
    return nullptr;
  }
  return result;
}

void *Compiled::lookup(StringRef name) const {
  auto address = take(jit->lookup(name));
  return address ? address->toPtr<void *>() : nullptr;
}

} // namespace rlx::test
