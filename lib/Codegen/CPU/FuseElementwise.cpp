// SPDX-License-Identifier: MIT OR Apache-2.0
//===- FuseElementwise.cpp - Chains of elementwise ops become one ---------===//

#include "RLX/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace rlx {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

/// Ops that a broadcast may repeat for each element it makes: no more work than
/// storing the element and reading it back.
constexpr int kRepeatableOps = 2;

/// True if computing an element of `op` costs less than a read of it.
static bool isCheap(linalg::LinalgOp op) {
  int count = 0;
  for (Operation &nested : op.getBlock()->without_terminator()) {
    if (isa<math::MathDialect>(nested.getDialect()) ||
        isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
            arith::RemSIOp, arith::RemUIOp>(nested))
      return false;
    ++count;
  }
  return count <= kRepeatableOps;
}

/// Decides whether what defines `operand` joins its user.
static bool shouldFuse(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  if (!producer || !producer->hasOneUse())
    return false;
  auto linalgProducer = dyn_cast<linalg::LinalgOp>(producer);
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  // Views cost nothing.
  if (!linalgProducer || !consumer)
    return true;
  return consumer.getMatchingIndexingMap(operand).isPermutation() ||
         isCheap(linalgProducer);
}

namespace {
struct FuseElementwisePass
    : rlx::impl::FuseElementwisePassBase<FuseElementwisePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldFuse);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    // Top down, so that a producer has joined its own producers before.
    if (failed(applyPatternsGreedily(
            getOperation(), std::move(patterns),
            GreedyRewriteConfig().setUseTopDownTraversal())))
      signalPassFailure();
  }
};
} // namespace
