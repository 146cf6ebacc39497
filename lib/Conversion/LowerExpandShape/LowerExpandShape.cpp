// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LowerExpandShape.cpp - memref.expand_shape to reinterpret_cast -----===//

#include "RLX/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace rlx {

#define GEN_PASS_DEF_LOWEREXPANDSHAPEPASS
#include "RLX/Conversion/Passes.h.inc"

static bool hasGroupOfTwoDynamicDims(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  return llvm::any_of(op.getReassociationIndices(), [&](auto &group) {
    return llvm::count_if(
               group, [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1;
  });
}

namespace {
struct LowerExpandShape : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasGroupOfTwoDynamicDims(op))
      return rewriter.notifyMatchFailure(op, "MLIR lowers it");
    if (!op.getSrcType().getLayout().isIdentity())
      return rewriter.notifyMatchFailure(op, "the source is not contiguous");

    SmallVector<OpFoldResult> sizes = getMixedValues(
        op.getStaticOutputShape(), op.getOutputShape(), rewriter);
    SmallVector<OpFoldResult> strides(sizes.size());
    OpFoldResult stride = rewriter.getIndexAttr(1);
    for (size_t i = sizes.size(); i-- > 0;) {
      strides[i] = stride;
      if (i == 0)
        break;
      std::optional<int64_t> known = getConstantIntValue(stride);
      std::optional<int64_t> size = getConstantIntValue(sizes[i]);
      if (known && size) {
        stride = rewriter.getIndexAttr(*known * *size);
        continue;
      }
      auto value = [&](OpFoldResult factor) {
        return getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), factor);
      };
      stride = arith::MulIOp::create(rewriter, op.getLoc(), value(stride),
                                     value(sizes[i]))
                   .getResult();
    }
    // The cast's type has the strides in a layout; users want the identity.
    Value view = memref::ReinterpretCastOp::create(
        rewriter, op.getLoc(), op.getSrc(), rewriter.getIndexAttr(0), sizes,
        strides);
    rewriter.replaceOpWithNewOp<memref::CastOp>(op, op.getResultType(), view);
    return success();
  }
};

struct LowerExpandShapePass
    : impl::LowerExpandShapePassBase<LowerExpandShapePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerExpandShape>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

} // namespace rlx
