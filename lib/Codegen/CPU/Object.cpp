// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Object.cpp - From LLVM IR to object code ---------------------------===//

#include "Object.h"

#include "RLX/Support/Error.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <mutex>

using namespace llvm;
using namespace rlx;

/// Registers the one target, once.
static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

static Expected<std::unique_ptr<TargetMachine>>
createMachine(StringRef cpuClass) {
  initializeTarget();
  Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return makeError("the LLVM in use cannot generate x86-64 code: {0}", error);
  TargetOptions options;
  // Bits must not depend on what the code generator finds worth fusing.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.FunctionSections = true;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, cpuClass, /*Features=*/"", options, Reloc::PIC_, CodeModel::Small,
      CodeGenOptLevel::Default));
  if (!machine)
    return makeError("no code generator for CPU class '{0}'", cpuClass);
  return machine;
}

static void setAttributes(Module &module, StringRef cpuClass) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpuClass);
    // LLVM takes 256 bits on servers with AVX-512 unless told otherwise; 512
    // are up to 30 % faster on elementwise loops.
    if (cpuClass == "x86-64-v4")
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(Attribute::NoUnwind);
    // Shared kernels stay shared: copies would be compiled once per use and
    // know nothing more.
    if (function.hasLocalLinkage() && function.hasNUsesOrMore(2))
      function.addFnAttr(Attribute::NoInline);
  }
}

static void optimize(Module &module, TargetMachine &machine) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.LoopInterleaving = true;
  // Bodies of loops are scalar code; there is nothing for SLP to find.
  tuning.SLPVectorization = false;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
      .run(module, modules);
}

Expected<SmallVector<char, 0>> rlx::compileToObject(Module &module,
                                                    StringRef cpuClass) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(cpuClass);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  setAttributes(module, cpuClass);
  optimize(module, **machine);

  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, /*DwoOut=*/nullptr,
                                      CodeGenFileType::ObjectFile))
    return makeError("the LLVM in use cannot write x86-64 objects");
  passes.run(module);
  return object;
}
