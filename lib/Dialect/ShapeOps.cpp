// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ShapeOps.cpp - Shape and data movement -------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "Verify.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace rlx;

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

/// Product of the static dims of a type; none above int64.
static std::optional<int64_t> getStaticProduct(RankedTensorType type) {
  return getStaticElementCount(llvm::filter_to_vector(
      type.getShape(), [](int64_t size) { return size >= 0; }));
}

/// What one side leaves open must divide what the other side fixes.
static bool haveElementCountsThatFit(RankedTensorType input,
                                     RankedTensorType result) {
  std::optional<int64_t> from = getStaticProduct(input);
  std::optional<int64_t> to = getStaticProduct(result);
  if (!from || !to)
    return false;
  if (input.hasStaticShape() && result.hasStaticShape())
    return *from == *to;
  if (input.hasStaticShape())
    return *to == 0 ? *from == 0 : *from % *to == 0;
  if (result.hasStaticShape())
    return *from == 0 ? *to == 0 : *to % *from == 0;
  return true;
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (failed(verifyShapeAttr(*this, getShape(), result, Inferred::Allowed)))
    return failure();

  std::optional<int64_t> from = getStaticProduct(input);
  std::optional<int64_t> to = getStaticProduct(result);
  if (!from || !to)
    return emitOpError("reshapes ")
           << input << " to " << result
           << " but counts more than 2^63 - 1 elements";
  bool hasInferred = llvm::any_of(
      getShape(), [](Attribute entry) { return getDim(entry).size == -1; });
  if (hasInferred && llvm::is_contained(result.getShape(), 0))
    return emitOpError("shape ")
           << getShape() << " has an entry -1 but result " << result
           << " has a dim of size 0, so that any size would do";

  if (haveElementCountsThatFit(input, result))
    return success();
  auto describeCount = [](RankedTensorType type, int64_t count) {
    return (type.hasStaticShape() ? "" : "a multiple of ") +
           std::to_string(count);
  };
  InFlightDiagnostic diag = emitOpError("result ")
                            << result << " has " << describeCount(result, *to)
                            << " elements but input has "
                            << describeCount(input, *from);
  diag.attachNote(getInput().getLoc()) << "input is " << input;
  return diag;
}

LogicalResult ReshapeOp::verifySymbolUses(SymbolTableCollection &) {
  auto func = (*this)->getParentOfType<FunctionOpInterface>();
  if (!func)
    return success();
  Attribute unknown;
  for (Attribute entry : getShape()) {
    Dim dim = getDim(entry);
    if (dim.isSymbol() ? findSymbol(func, dim.symbol).has_value()
                       : dim.size != -1)
      continue;
    if (unknown && (unknown != entry || !dim.isSymbol()))
      return emitOpError("shape has ")
             << unknown << " and " << entry
             << ", but the element count determines only one entry that no "
                "input of @"
             << func.getName() << " carries";
    unknown = entry;
  }
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // Equal types mean equal shapes where the element count determines the only
  // `?`; two of them could trade factors, and with a 0 any size would do.
  RankedTensorType type = getType();
  if (getInput().getType() == type &&
      (type.hasStaticShape() || (type.getNumDynamicDims() == 1 &&
                                 !llvm::is_contained(type.getShape(), 0))))
    return getInput();
  return {};
}

namespace {

/// reshape(reshape(x)) is reshape(x): each finds its unknown entry from the
/// element count alone, which both leave as it is.
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "input is not a reshape");
    if (!haveElementCountsThatFit(inner.getInput().getType(), op.getType()))
      return rewriter.notifyMatchFailure(op, "fails at run time");
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(inner.getInput()); });
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeReshapes>(context);
}

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (failed(verifyShapeAttr(*this, getShape(), result)))
    return failure();
  int64_t offset = result.getRank() - input.getRank();
  if (offset < 0) {
    InFlightDiagnostic diag = emitOpError("result ")
                              << result << " has rank " << result.getRank()
                              << " but input has rank " << input.getRank();
    diag.attachNote(getInput().getLoc()) << "input is " << input;
    return diag;
  }
  for (int64_t i = 0; i < input.getRank(); ++i) {
    int64_t size = input.getDimSize(i),
            expanded = result.getDimSize(offset + i);
    if (size == 1 || !areDifferent(size, expanded))
      continue;
    InFlightDiagnostic diag = emitOpError("input dim ")
                              << i << " has size " << size << " but result dim "
                              << offset + i << " has size " << expanded
                              << "; only size 1 stretches";
    diag.attachNote(getInput().getLoc()) << "input is " << input;
    return diag;
  }
  return success();
}

LogicalResult ExpandOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySymbolsOfInputs(*this, getShape());
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  // A `?` of the input may be 1 at run time and stretch.
  if (getInput().getType() == getType() && getType().hasStaticShape())
    return getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> perm = adaptor.getPerm();
  if (static_cast<int64_t>(perm.size()) != type.getRank())
    return emitOptionalError(location, "perm has ", perm.size(),
                             " entries but input ", type, " has rank ",
                             type.getRank());
  if (!isPermutationVector(perm))
    return emitOptionalError(location, "perm [", perm,
                             "] does not name each dim below ", type.getRank(),
                             " once");
  inferred.push_back(RankedTensorType::get(
      applyPermutation(type.getShape(), perm), type.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentityPermutation(getPerm()))
    return getInput();
  return {};
}

namespace {

struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "input is not a transpose");
    SmallVector<int64_t> perm = applyPermutation(inner.getPerm(), op.getPerm());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getInput(), perm);
    return success();
  }
};

/// Moving dims of size 1 alone keeps the elements in order.
struct TransposeOfUnitDimsToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "a reshape would need symbols");
    auto moved = llvm::filter_to_vector(op.getPerm(), [&](int64_t dim) {
      return op.getInput().getType().getDimSize(dim) != 1;
    });
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(op, "moves elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(
        op, type, op.getInput(), rewriter.getI64ArrayAttr(type.getShape()));
    return success();
  }
};

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeTransposes, TransposeOfUnitDimsToReshape>(context);
}
