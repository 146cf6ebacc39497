// SPDX-License-Identifier: MIT OR Apache-2.0
//===- BufferizeKernels.cpp - How kernel ops bufferize --------------------===//

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace rlx;

namespace {
/// Kernel ops read their operands and overwrite their destination.
template <typename OpTy>
struct KernelModel
    : DstBufferizableOpInterfaceExternalModel<KernelModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        buffers.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    OperationState newState(op->getLoc(), op->getName(), buffers, TypeRange{},
                            op->getAttrs());
    newState.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions())
      newState.addRegion()->takeBody(region);
    Operation *newOp = rewriter.create(newState);
    Value init =
        cast<DestinationStyleOpInterface>(newOp).getDpsInitOperand(0)->get();
    replaceOpWithBufferizedValues(rewriter, op, init);
    return success();
  }
};
} // namespace

void rlx::registerCPUCodegenInterfaces(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, BufferizationDialect,
              cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              RLXDialect, scf::SCFDialect, tensor::TensorDialect>();
  OpPassManager pipeline(ModuleOp::getOperationName());
  buildLowerCPUPipeline(pipeline, LowerCPUOptions());
  pipeline.getDependentDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, RLXDialect *) {
    GemmOp::attachInterface<KernelModel<GemmOp>>(*context);
    PackPanelsOp::attachInterface<KernelModel<PackPanelsOp>>(*context);
  });
}
