// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Pipeline.cpp - rlx-lower-cpu ---------------------------------------===//

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Conversion/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace rlx;

void rlx::buildLowerCPUPipeline(OpPassManager &pm,
                                const LowerCPUOptions &options) {
  // Kernels and loops on tensors.
  pm.addPass(createWeightsToArgumentsPass());
  pm.addPass(createFormGemmsPass());
  pm.addNestedPass<func::FuncOp>(createRLXToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addNestedPass<func::FuncOp>(createFuseEpiloguesPass());

  // Buffers. Sizes must be known from the symbols before outputs are written in
  // place: afterwards the size of a result is that of the output buffer.
  pm.addPass(createBindArgumentsPass());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferAlignment = 64;
  bufferize.unknownTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());

  // Memory, tasks, loops.
  pm.addPass(createPlanArenaPass());
  pm.addPass(createOutlineTasksPass());
  pm.addPass(createExpandMathPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createLoopInvariantCodeMotionPass());

  // LLVM.
  pm.addPass(createLowerExpandShapePass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addNestedPass<func::FuncOp>(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  EmitExecutablePassOptions emit;
  emit.cpuClass = options.cpuClass;
  pm.addPass(createEmitExecutablePass(emit));
}

void rlx::registerLowerCPUPipeline() {
  PassPipelineRegistration<LowerCPUOptions>(
      "rlx-lower-cpu",
      "From a module at the end of the weights phase to the LLVM dialect",
      buildLowerCPUPipeline);
}
