// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LinearAlgebraOps.cpp - Products and packing --------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "Verify.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace rlx;

/// Shape of a tensor or of a packed weight.
static ArrayRef<int64_t> getMatrixShape(Type type) {
  if (auto packed = dyn_cast<PackedType>(type))
    return packed.getShape();
  return cast<RankedTensorType>(type).getShape();
}

static Type getMatrixElementType(Type type) {
  if (auto packed = dyn_cast<PackedType>(type))
    return packed.getElementType();
  return cast<RankedTensorType>(type).getElementType();
}

/// Permutation that swaps the two innermost of `rank` dims.
static SmallVector<int64_t> getMatrixTransposition(int64_t rank) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(perm[rank - 2], perm[rank - 1]);
  return perm;
}

/// The operand of a transpose of the two innermost dims; null if `value` is
/// something else.
static Value getTransposedMatrix(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || transpose.getType().getRank() < 2 ||
      transpose.getPerm() !=
          ArrayRef(getMatrixTransposition(transpose.getType().getRank())))
    return {};
  return transpose.getInput();
}

/// Checks that all operands have the element type of the result.
static LogicalResult verifyElementTypes(Operation *op) {
  Type element = getMatrixElementType(op->getResult(0).getType());
  for (Value operand : op->getOperands()) {
    Type other = getMatrixElementType(operand.getType());
    if (other == element)
      continue;
    InFlightDiagnostic diag = op->emitOpError("result has elements of type ")
                              << element << " but "
                              << describe(operand, "an operand") << " has "
                              << other << "; rlx.cast converts";
    diag.attachNote(operand.getLoc()) << "operand is " << operand.getType();
    return diag;
  }
  return success();
}

static LogicalResult verifyResult(Operation *op, RankedTensorType expected) {
  if (op->getResult(0).getType() == expected)
    return success();
  return op->emitOpError("result is ")
         << op->getResult(0).getType() << " but the operands give " << expected;
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

RankedTensorType rlx::getMatmulType(RankedTensorType lhs, Type rhs) {
  ArrayRef<int64_t> left = lhs.getShape(), right = getMatrixShape(rhs);
  SmallVector<int64_t> shape;
  if (left.size() < 2 || right.size() < 2 ||
      areDifferent(left.back(), right[right.size() - 2]) ||
      failed(broadcastShapes(left.drop_back(2), right.drop_back(2), shape)))
    return {};
  shape.append({left[left.size() - 2], right.back()});
  return RankedTensorType::get(shape, lhs.getElementType());
}

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType();
  Type rhs = getRhs().getType();
  ArrayRef<int64_t> left = lhs.getShape(), right = getMatrixShape(rhs);
  if (left.size() < 2 || right.size() < 2)
    return emitOpError("multiplies ")
           << lhs << " by " << rhs
           << " but matrices have rank 2 or more; rlx.reshape adds dims of "
              "size 1";
  if (failed(verifyElementTypes(*this)))
    return failure();
  int64_t k = left.back(), rows = right[right.size() - 2];
  if (areDifferent(k, rows)) {
    InFlightDiagnostic diag = emitOpError("lhs has ")
                              << k << " columns but "
                              << describe(getRhs(), "rhs") << " has " << rows
                              << " rows";
    diag.attachNote(getLhs().getLoc()) << "lhs is " << lhs;
    diag.attachNote(getRhs().getLoc()) << "rhs is " << rhs;
    return diag;
  }
  RankedTensorType expected = getMatmulType(lhs, rhs);
  if (!expected) {
    InFlightDiagnostic diag = emitOpError("outer dims of lhs ")
                              << lhs << " and rhs " << rhs
                              << " do not broadcast: aligned at the innermost "
                                 "one, sizes must be equal or 1";
    diag.attachNote(getRhs().getLoc()) << "rhs is " << rhs;
    return diag;
  }
  return verifyResult(*this, expected);
}

namespace {

/// x * transpose(w) is what rlx.linear computes, element by element.
struct MatmulOfTransposeToLinear : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Value weight = getTransposedMatrix(op.getRhs());
    if (!weight || cast<RankedTensorType>(weight.getType()).getRank() != 2)
      return rewriter.notifyMatchFailure(op, "rhs is no transposed matrix");
    rewriter.replaceOpWithNewOp<LinearOp>(op, op.getType(), op.getLhs(), weight,
                                          /*bias=*/Value());
    return success();
  }
};

} // namespace

void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<MatmulOfTransposeToLinear>(context);
}

//===----------------------------------------------------------------------===//
// LinearOp
//===----------------------------------------------------------------------===//

/// Input and output features of a weight: KxN if packed, otherwise NxK.
static std::pair<int64_t, int64_t> getFeatures(Type weight) {
  ArrayRef<int64_t> shape = getMatrixShape(weight);
  if (isa<PackedType>(weight))
    return {shape[0], shape[1]};
  return {shape[1], shape[0]};
}

RankedTensorType rlx::getLinearType(RankedTensorType input, Type weight) {
  if (input.getRank() < 1 || getMatrixShape(weight).size() != 2)
    return {};
  auto [inFeatures, outFeatures] = getFeatures(weight);
  if (areDifferent(input.getShape().back(), inFeatures))
    return {};
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = outFeatures;
  return RankedTensorType::get(shape, input.getElementType());
}

LogicalResult LinearOp::verify() {
  RankedTensorType input = getInput().getType();
  Type weight = getWeight().getType();
  if (input.getRank() < 1)
    return emitOpError("input is ")
           << input << " but has no dim to hold the features";
  if (getMatrixShape(weight).size() != 2)
    return emitOpError(describe(getWeight(), "weight"))
           << " is " << weight << " but a linear weight has rank 2";
  if (failed(verifyElementTypes(*this)))
    return failure();
  auto [inFeatures, outFeatures] = getFeatures(weight);
  StringRef layout = isa<PackedType>(weight)
                         ? "; packed weights are KxN"
                         : "; rows are output features (NxK)";
  if (areDifferent(input.getShape().back(), inFeatures)) {
    InFlightDiagnostic diag = emitOpError("input has ")
                              << input.getShape().back() << " features but "
                              << describe(getWeight(), "weight") << " expects "
                              << inFeatures;
    diag.attachNote(getWeight().getLoc()) << "weight is " << weight << layout;
    return diag;
  }
  if (Value bias = getBias()) {
    auto type = cast<RankedTensorType>(bias.getType());
    if (type.getRank() != 1 || areDifferent(type.getDimSize(0), outFeatures)) {
      InFlightDiagnostic diag = emitOpError(describe(bias, "bias"))
                                << " is " << type << " but "
                                << describe(getWeight(), "weight") << " has "
                                << outFeatures << " output features";
      diag.attachNote(getWeight().getLoc()) << "weight is " << weight << layout;
      return diag;
    }
  }
  return verifyResult(*this, getLinearType(input, weight));
}

namespace {

/// Without a bias, x * transpose(w)^T is x * w.
struct LinearOfTransposeToMatmul : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getBias() || op.getInput().getType().getRank() < 2)
      return rewriter.notifyMatchFailure(op, "has a bias or a vector input");
    Value matrix = getTransposedMatrix(op.getWeight());
    if (!matrix)
      return rewriter.notifyMatchFailure(op, "weight is no transposed matrix");
    rewriter.replaceOpWithNewOp<MatmulOp>(op, op.getType(), op.getInput(),
                                          matrix);
    return success();
  }
};

} // namespace

void LinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<LinearOfTransposeToMatmul>(context);
}

//===----------------------------------------------------------------------===//
// PackOp
//===----------------------------------------------------------------------===//

LogicalResult PackOp::verify() {
  RankedTensorType input = getInput().getType();
  PackedType result = getType();
  if (failed(verifyElementTypes(*this)))
    return failure();
  SmallVector<int64_t> expected(result.getShape());
  if (getTransposed())
    std::swap(expected[expected.size() - 2], expected.back());
  if (input.getShape() == ArrayRef(expected))
    return success();
  InFlightDiagnostic diag =
      emitOpError(describe(getInput(), "input"))
      << " is " << input << " but result " << result << " takes "
      << RankedTensorType::get(expected, result.getElementType());
  if (getTransposed())
    diag << " when transposed";
  diag.attachNote(getInput().getLoc()) << "input is " << input;
  return diag;
}

namespace {

/// Packing reads its operand in either order.
struct AbsorbTransposeInPack : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PackOp op,
                                PatternRewriter &rewriter) const override {
    Value matrix = getTransposedMatrix(op.getInput());
    if (!matrix)
      return rewriter.notifyMatchFailure(op, "input is no transposed matrix");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(matrix);
      op.setTransposed(!op.getTransposed());
    });
    return success();
  }
};

} // namespace

void PackOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<AbsorbTransposeInPack>(context);
}
