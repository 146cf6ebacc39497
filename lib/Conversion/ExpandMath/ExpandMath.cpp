// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ExpandMath.cpp - math ops to arith ops -----------------------------===//

#include "RLX/Conversion/ExpandMath/ExpandMath.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"
#include "RLX/Conversion/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace rlx {

#define GEN_PASS_DEF_EXPANDMATHPASS
#include "RLX/Conversion/Passes.h.inc"

static bool isF32(Operation *op) {
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  return getElementTypeOrSelf(type).isF32() &&
         (!isa<ShapedType>(type) || (vector && !vector.isScalable()));
}

namespace {
template <typename Op, Scalar (*emit)(Scalar)>
struct ExpandUnary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op))
      return rewriter.notifyMatchFailure(op, "expansions are for f32");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, Value(emit(Scalar(builder, op->getOperand(0)))));
    return success();
  }
};

template <typename Op, Scalar (*emit)(Scalar, Scalar)>
struct ExpandBinary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op))
      return rewriter.notifyMatchFailure(op, "expansions are for f32");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, Value(emit(Scalar(builder, op->getOperand(0)),
                                      Scalar(builder, op->getOperand(1)))));
    return success();
  }
};
} // namespace

void populateRLXMathPatterns(RewritePatternSet &patterns) {
  patterns.add<
      ExpandUnary<math::AtanOp, emitAtan>, ExpandUnary<math::CosOp, emitCos>,
      ExpandUnary<math::ErfOp, emitErf>, ExpandUnary<math::ExpOp, emitExp>,
      ExpandUnary<math::Exp2Op, emitExp2>,
      ExpandUnary<math::ExpM1Op, emitExpm1>, ExpandUnary<math::LogOp, emitLog>,
      ExpandUnary<math::Log10Op, emitLog10>,
      ExpandUnary<math::Log1pOp, emitLog1p>,
      ExpandUnary<math::Log2Op, emitLog2>,
      ExpandUnary<math::RsqrtOp, emitRsqrt>, ExpandUnary<math::SinOp, emitSin>,
      ExpandUnary<math::TanOp, emitTan>, ExpandUnary<math::TanhOp, emitTanh>,
      ExpandBinary<arith::RemFOp, emitFmod>,
      ExpandBinary<math::Atan2Op, emitAtan2>,
      ExpandBinary<math::PowFOp, emitPow>>(patterns.getContext());
}

bool becomesMathCall(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return true;
  if (!isa_and_present<math::MathDialect>(op->getDialect()))
    return false;
  // What x86-64-v3 has instructions for, or a few of them. f16 and bf16
  // vectors aside, which RLX computes in f32.
  return !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
              math::CountLeadingZerosOp, math::CountTrailingZerosOp,
              math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
              math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
              math::SqrtOp, math::TruncOp>(op);
}

namespace {
struct ExpandMathPass : impl::ExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRLXMathPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    bool failed = false;
    getOperation()->walk([&](Operation *op) {
      if (!becomesMathCall(op))
        return;
      op->emitOpError("on ")
          << op->getResult(0).getType()
          << " has no expansion and would need a math library where the "
             "artifact runs; cast to f32 or use another op";
      failed = true;
    });
    if (failed)
      signalPassFailure();
  }
};
} // namespace

} // namespace rlx
