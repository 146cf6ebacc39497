// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXToLinalg.cpp - rlx ops to linalg and tensor ops -----------------===//

#include "RLX/Conversion/RLXToLinalg/RLXToLinalg.h"
#include "Elements.h"
#include "Patterns.h"
#include "RLX/Conversion/Passes.h"
#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace rlx {

#define GEN_PASS_DEF_RLXTOLINALGPASS
#include "RLX/Conversion/Passes.h.inc"

/// A literal of the graph rather than a weight.
static bool isLiteral(ConstantOp op) {
  return !op.getName() && isa<DenseElementsAttr>(op.getValue()) &&
         isa<RankedTensorType>(op.getType());
}

namespace {
struct LowerLiteral : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantOp op,
                                PatternRewriter &rewriter) const override {
    if (!isLiteral(op))
      return rewriter.notifyMatchFailure(op, "is a weight");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, cast<TypedAttr>(Attribute(op.getValue())));
    return success();
  }
};
} // namespace

void populateRLXToLinalgPatterns(RewritePatternSet &patterns,
                                 const ShapeResolver &shapes,
                                 RngStateProvider rngState) {
  patterns.add<LowerLiteral>(patterns.getContext());
  populateElementwiseToLinalgPatterns(patterns, shapes);
  populateRandomToLinalgPatterns(patterns, shapes, std::move(rngState));
  populateShapeOpsToTensorPatterns(patterns, shapes);
}

/// Names the ops whose formulas are for f32 where they are asked for f64.
static LogicalResult checkFormulas(func::FuncOp func) {
  bool hasFailed = false;
  func.walk([&](ElementwiseOpInterface op) {
    const ElementBody *body = findElementBody(op->getName().getStringRef());
    if (!body || !body->isF32Only ||
        !getElementTypeOrSelf(op->getResult(0)).isF64())
      return;
    op->emitOpError("has no formula for f64; rlx.cast to f32");
    hasFailed = true;
  });
  return failure(hasFailed);
}

namespace {
struct RLXToLinalgPass : impl::RLXToLinalgPassBase<RLXToLinalgPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    if (failed(checkFormulas(func)))
      return signalPassFailure();
    WalkResult drawsNumbers = func.walk([](Operation *op) {
      return isa<RngNormalOp, RngUniformOp>(op) ? WalkResult::interrupt()
                                                : WalkResult::advance();
    });
    if (drawsNumbers.wasInterrupted())
      addRngStateArguments(func);

    ShapeResolver shapes(func);
    if (failed(shapes.run()))
      return signalPassFailure();

    RewritePatternSet patterns(&getContext());
    populateRLXToLinalgPatterns(patterns, shapes);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return !isa<ElementwiseOpInterface, ExpandOp, ReshapeOp, RngNormalOp,
                  RngUniformOp, TransposeOp>(op);
    });
    target.addDynamicallyLegalOp<ConstantOp>(
        [](ConstantOp op) { return !isLiteral(op); });
    if (failed(applyPartialConversion(func, target, std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace

} // namespace rlx
