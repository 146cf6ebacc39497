// SPDX-License-Identifier: MIT OR Apache-2.0
//===- FormGemms.cpp - Products and packs become kernel ops ---------------===//

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/DialectConversion.h"

namespace rlx {
#define GEN_PASS_DEF_FORMGEMMSPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

/// A tensor read through a permutation: logical dim i is dim `perm[i]`.
struct View {
  Value tensor;
  SmallVector<int64_t> perm;

  int64_t rank() const { return perm.size(); }
  bool isIdentity() const { return isIdentityPermutation(perm); }
  /// For the builders of kernel ops: empty for the identity.
  ArrayRef<int64_t> permutation() const {
    return isIdentity() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(perm);
  }
  OpFoldResult dim(OpBuilder &builder, Location loc, int64_t i) const {
    return tensor::getMixedSize(builder, loc, tensor, perm[i]);
  }
};

/// The tensor that `value` is a chain of transposes of.
View lookThroughTransposes(Value value) {
  View view{value, {}};
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t i = 0; i < rank; ++i)
    view.perm.push_back(i);
  while (auto transpose = view.tensor.getDefiningOp<TransposeOp>()) {
    for (int64_t &dim : view.perm)
      dim = transpose.getPerm()[dim];
    view.tensor = transpose.getInput();
  }
  return view;
}

/// `tensor` with f16 and bf16 elements widened to f32.
Value widen(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType().isF32())
    return tensor;
  return CastOp::create(builder, loc, type.clone(builder.getF32Type()), tensor);
}

LogicalResult checkElementType(Operation *op, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto packed = dyn_cast<PackedType>(type))
    element = packed.getElementType();
  if (element.isF32() ||
      (isa<RankedTensorType>(type) && (element.isF16() || element.isBF16())))
    return success();
  return op->emitOpError("has an operand ")
         << type << " but the CPU kernels take f32 (f16 and bf16 are widened); "
         << "cast it to f32";
}

/// Product of two sizes; fails if both are known and it exceeds 2^63.
FailureOr<OpFoldResult> multiply(OpBuilder &builder, Operation *op,
                                 OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs),
                         r = getConstantIntValue(rhs);
  if (l && r) {
    int64_t product;
    if (llvm::MulOverflow(*l, *r, product))
      return op->emitOpError("has a matrix of ")
             << *l << "x" << *r << " elements, more than 2^63";
    return OpFoldResult(builder.getIndexAttr(product));
  }
  Location loc = op->getLoc();
  return OpFoldResult(builder.createOrFold<arith::MulIOp>(
      loc, getValueOrCreateConstantIndexOp(builder, loc, lhs),
      getValueOrCreateConstantIndexOp(builder, loc, rhs)));
}

/// Checks at run time that two sizes agree, unless both are known.
OpFoldResult requireEqual(OpBuilder &builder, Operation *op, OpFoldResult lhs,
                          OpFoldResult rhs, const Twine &message) {
  std::optional<int64_t> l = getConstantIntValue(lhs),
                         r = getConstantIntValue(rhs);
  if (lhs == rhs || (l && r))
    return lhs;
  Location loc = op->getLoc();
  Value equal =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            getValueOrCreateConstantIndexOp(builder, loc, lhs),
                            getValueOrCreateConstantIndexOp(builder, loc, rhs));
  cf::AssertOp::create(builder, loc, equal,
                       (op->getName().getStringRef() + ": " + message).str());
  return r ? rhs : lhs;
}

/// Size of an outer dim that both operands may have.
OpFoldResult broadcastSize(OpBuilder &builder, Operation *op,
                           std::optional<OpFoldResult> lhs,
                           std::optional<OpFoldResult> rhs, int64_t dim) {
  if (!lhs || (rhs && isConstantIntValue(*lhs, 1)))
    return *rhs;
  if (!rhs || isConstantIntValue(*rhs, 1))
    return *lhs;
  return requireEqual(builder, op, *lhs, *rhs,
                      "outer dim " + Twine(dim) +
                          " of lhs and rhs have different sizes");
}

/// Matrices packed into panels: the flat tensor, and what it holds.
struct PackedMatrices {
  Value flat;                      ///< ...x(K*N)
  SmallVector<OpFoldResult> outer; ///< its outer dims
  OpFoldResult k, n;
};

/// Packs a dense rhs (logical dims ...xKxN) where it is used.
FailureOr<PackedMatrices> packDense(OpBuilder &builder, Operation *op,
                                    View view) {
  Location loc = op->getLoc();
  PackedMatrices packed;
  view.tensor = widen(builder, loc, view.tensor);
  int64_t rank = view.rank();
  for (int64_t i = 0; i < rank - 2; ++i)
    packed.outer.push_back(view.dim(builder, loc, i));
  packed.k = view.dim(builder, loc, rank - 2);
  packed.n = view.dim(builder, loc, rank - 1);
  FailureOr<OpFoldResult> count = multiply(builder, op, packed.k, packed.n);
  if (failed(count))
    return failure();
  SmallVector<OpFoldResult> sizes = packed.outer;
  sizes.push_back(*count);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getF32Type());
  packed.flat =
      PackPanelsOp::create(builder, loc, view.tensor, empty, view.permutation())
          ->getResult(0);
  return packed;
}

/// Takes a packed weight: `flat` holds its elements in one dim. Matrices in row
/// order are packed where they are used.
FailureOr<PackedMatrices> takePacked(OpBuilder &builder, Operation *op,
                                     PackedType type, Value flat) {
  Location loc = op->getLoc();
  ArrayRef<int64_t> shape = type.getShape();
  auto flatType = cast<RankedTensorType>(flat.getType());
  bool rowMajor = type.getLayout() == Layout::RowMajor;
  if (rowMajor || shape.size() == 3) {
    SmallVector<int64_t> target(shape);
    if (!rowMajor) {
      target.pop_back();
      target.back() = shape[1] * shape[2];
    }
    ReassociationIndices all;
    for (size_t i = 0; i < target.size(); ++i)
      all.push_back(i);
    flat = tensor::ExpandShapeOp::create(
        builder, loc, flatType.clone(target), flat,
        SmallVector<ReassociationIndices>{all});
  }
  if (rowMajor)
    return packDense(builder, op, lookThroughTransposes(flat));
  PackedMatrices packed;
  packed.flat = flat;
  if (shape.size() == 3)
    packed.outer.push_back(builder.getIndexAttr(shape[0]));
  packed.k = builder.getIndexAttr(shape[shape.size() - 2]);
  packed.n = builder.getIndexAttr(shape.back());
  return packed;
}

/// Emits lhs * rhs; logical lhs is ...xMxK.
GemmOp emitGemm(OpBuilder &builder, Operation *op, View lhs,
                const PackedMatrices &rhs) {
  Location loc = op->getLoc();
  // The kernel reads K contiguously: a transpose that moves it stays.
  assert(lhs.perm.back() == lhs.rank() - 1);
  lhs.tensor = widen(builder, loc, lhs.tensor);
  SmallVector<OpFoldResult> lhsDims;
  for (int64_t i = 0; i < lhs.rank(); ++i)
    lhsDims.push_back(lhs.dim(builder, loc, i));
  requireEqual(builder, op, lhsDims.back(), rhs.k,
               "lhs has another number of columns than rhs has rows");
  OpFoldResult m = lhsDims[lhsDims.size() - 2];
  ArrayRef<OpFoldResult> lhsOuter = ArrayRef(lhsDims).drop_back(2);
  int64_t outerRank = std::max(lhsOuter.size(), rhs.outer.size());
  SmallVector<OpFoldResult> sizes;
  auto at = [&](ArrayRef<OpFoldResult> dims,
                int64_t i) -> std::optional<OpFoldResult> {
    int64_t shifted = i - (outerRank - static_cast<int64_t>(dims.size()));
    return shifted < 0 ? std::nullopt : std::optional(dims[shifted]);
  };
  for (int64_t i = 0; i < outerRank; ++i)
    sizes.push_back(
        broadcastSize(builder, op, at(lhsOuter, i), at(rhs.outer, i), i));
  sizes.push_back(m);
  sizes.push_back(rhs.n);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getF32Type());
  return GemmOp::create(builder, loc, lhs.tensor, rhs.flat, empty,
                        lhs.permutation());
}

/// lhs as a view that the kernel can read.
View viewLhs(Value lhs) {
  View view = lookThroughTransposes(lhs);
  if (view.perm.back() == view.rank() - 1)
    return view;
  View whole{lhs, {}};
  for (int64_t i = 0; i < view.rank(); ++i)
    whole.perm.push_back(i);
  return whole;
}

/// Replaces `op` by the f32 `product`, narrowed to the op's element type.
void replaceByProduct(ConversionPatternRewriter &rewriter, Operation *op,
                      Value product) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto f32Type = type.clone(rewriter.getF32Type());
  if (product.getType() != f32Type)
    product = tensor::CastOp::create(rewriter, op->getLoc(), f32Type, product);
  if (f32Type != type)
    product = CastOp::create(rewriter, op->getLoc(), type, product);
  rewriter.replaceOp(op, product);
}

struct MatmulPattern : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MatmulOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkElementType(op, op.getLhs().getType())) ||
        failed(checkElementType(op, op.getRhs().getType())))
      return failure();
    auto packedType = dyn_cast<PackedType>(op.getRhs().getType());
    FailureOr<PackedMatrices> rhs =
        packedType
            ? takePacked(rewriter, op, packedType, adaptor.getRhs())
            : packDense(rewriter, op, lookThroughTransposes(op.getRhs()));
    if (failed(rhs))
      return failure();
    GemmOp gemm = emitGemm(rewriter, op, viewLhs(op.getLhs()), *rhs);
    replaceByProduct(rewriter, op, gemm->getResult(0));
    return success();
  }
};

struct LinearPattern : OpConversionPattern<LinearOp> {
  using OpConversionPattern::OpConversionPattern;

  /// Adds `bias`, one value per column, to each sum.
  static void addBias(OpBuilder &builder, GemmOp gemm, Value bias) {
    MLIRContext *context = builder.getContext();
    Location loc = gemm.getLoc();
    int64_t rank = cast<ShapedType>(gemm.getInit().getType()).getRank();
    gemm.getExtrasMutable().assign(bias);
    AffineMap map =
        AffineMap::get(rank, 0, getAffineDimExpr(rank - 1, context));
    gemm.setEpilogueMapsAttr(builder.getAffineMapArrayAttr(map));
    OpBuilder::InsertionGuard guard(builder);
    Type f32 = builder.getF32Type();
    Block *block =
        builder.createBlock(&gemm.getEpilogue(), {}, {f32, f32}, {loc, loc});
    Value sum = arith::AddFOp::create(builder, loc, block->getArgument(0),
                                      block->getArgument(1));
    YieldOp::create(builder, loc, sum);
  }

  LogicalResult
  matchAndRewrite(LinearOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (failed(checkElementType(op, op.getInput().getType())) ||
        failed(checkElementType(op, op.getWeight().getType())))
      return failure();
    FailureOr<PackedMatrices> rhs = failure();
    if (auto packedType = dyn_cast<PackedType>(op.getWeight().getType())) {
      rhs = takePacked(rewriter, op, packedType, adaptor.getWeight());
    } else {
      View weight = lookThroughTransposes(op.getWeight());
      std::swap(weight.perm[0], weight.perm[1]);
      rhs = packDense(rewriter, op, weight);
    }
    if (failed(rhs))
      return failure();

    View input = viewLhs(op.getInput());
    bool isVector = input.rank() == 1;
    if (isVector) {
      auto type = cast<RankedTensorType>(op.getInput().getType());
      SmallVector<OpFoldResult> sizes = {rewriter.getIndexAttr(1),
                                         input.dim(rewriter, loc, 0)};
      input.tensor = tensor::ExpandShapeOp::create(
          rewriter, loc, type.clone({1, type.getDimSize(0)}), op.getInput(),
          SmallVector<ReassociationIndices>{{0, 1}}, sizes);
      input.perm = {0, 1};
    }
    Value bias;
    if (op.getBias()) {
      bias = widen(rewriter, loc, op.getBias());
      requireEqual(rewriter, op, rhs->n,
                   tensor::getMixedSize(rewriter, loc, bias, 0),
                   "bias has another number of elements than weight has rows");
    }
    GemmOp gemm = emitGemm(rewriter, op, input, *rhs);
    if (bias)
      addBias(rewriter, gemm, bias);
    Value product = gemm->getResult(0);
    if (isVector)
      product = tensor::CollapseShapeOp::create(
          rewriter, loc, product, SmallVector<ReassociationIndices>{{0, 1}});
    replaceByProduct(rewriter, op, product);
    return success();
  }
};

struct PackPattern : OpConversionPattern<PackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(PackOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PackedType type = op.getResult().getType();
    if (failed(checkElementType(op, op.getInput().getType())) ||
        failed(checkElementType(op, type)))
      return failure();
    View view = lookThroughTransposes(op.getInput());
    if (op.getTransposed())
      std::swap(view.perm[view.rank() - 2], view.perm[view.rank() - 1]);
    Value result;
    if (type.getLayout() == Layout::RowMajor) {
      result = widen(rewriter, loc, view.tensor);
      if (!view.isIdentity())
        result = TransposeOp::create(rewriter, loc, result, view.perm);
    } else {
      FailureOr<PackedMatrices> packed = packDense(rewriter, op, view);
      if (failed(packed))
        return failure();
      result = packed->flat;
    }
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    if (rank > 1) {
      ReassociationIndices all;
      for (int64_t i = 0; i < rank; ++i)
        all.push_back(i);
      result = tensor::CollapseShapeOp::create(
          rewriter, loc, result, SmallVector<ReassociationIndices>{all});
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct FormGemmsPass : rlx::impl::FormGemmsPassBase<FormGemmsPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](PackedType type) -> Type {
      int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
      return RankedTensorType::get({type.getSizeInBytes() / bytes},
                                   type.getElementType());
    });
    RewritePatternSet patterns(context);
    patterns.add<MatmulPattern, LinearPattern, PackPattern>(converter, context);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateReturnOpTypeConversionPattern(patterns, converter);

    ConversionTarget target(*context);
    target.addIllegalOp<MatmulOp, LinearOp, PackOp>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp func) {
      return converter.isSignatureLegal(func.getFunctionType());
    });
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return !isa<func::ReturnOp>(op) ||
             converter.isLegal(op->getOperandTypes());
    });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
