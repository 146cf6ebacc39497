// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ElementwiseToLinalg.cpp - Elementwise ops to linalg.generic --------===//

#include "Elements.h"
#include "Patterns.h"
#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace rlx {

Value createEmpty(OpBuilder &builder, Location loc, const ShapeResolver &shapes,
                  Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> dynamicSizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      dynamicSizes.push_back(getValueOrCreateConstantIndexOp(
          builder, loc, shapes.getDim(tensor, i)));
  return tensor::EmptyOp::create(builder, loc, type, dynamicSizes);
}

AffineMap getBroadcastMap(RankedTensorType type, RankedTensorType result) {
  MLIRContext *context = type.getContext();
  int64_t offset = result.getRank() - type.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool stretches =
        type.getDimSize(i) == 1 && result.getDimSize(offset + i) != 1;
    exprs.push_back(stretches ? getAffineConstantExpr(0, context)
                              : getAffineDimExpr(offset + i, context));
  }
  return AffineMap::get(result.getRank(), 0, exprs, context);
}

Value createGeneric(
    OpBuilder &builder, Location loc, const ShapeResolver &shapes, Value result,
    ValueRange inputs, ArrayRef<AffineMap> maps,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value empty = createEmpty(builder, loc, shapes, result);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, inputs, empty, allMaps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange elements) {
        ImplicitLocOpBuilder scalars(nestedLoc, nested);
        Value element = body(scalars, elements.drop_back());
        linalg::YieldOp::create(scalars, element);
      });
  return generic.getResult(0);
}

namespace {
struct LowerElementwise : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  LowerElementwise(MLIRContext *context, const ShapeResolver &shapes)
      : OpInterfaceRewritePattern(context), shapes(shapes) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Type elementType = type.getElementType();
    const ElementBody *body = nullptr;
    if (!isa<CastOp>(op)) {
      body = findElementBody(op->getName().getStringRef());
      if (!body)
        return rewriter.notifyMatchFailure(op, "no body is known for it");
      bool isFloat = isa<FloatType>(elementType);
      if (isFloat ? !body->onFloats : !body->onIntegers)
        return rewriter.notifyMatchFailure(op, "no body for its element type");
      if (elementType.isF64() && body->isF32Only)
        return rewriter.notifyMatchFailure(op, "its body is for f32");
    }

    SmallVector<AffineMap> maps;
    for (Value operand : op->getOperands())
      maps.push_back(
          getBroadcastMap(cast<RankedTensorType>(operand.getType()), type));
    rewriter.replaceOp(
        op,
        createGeneric(rewriter, op.getLoc(), shapes, op->getResult(0),
                      op->getOperands(), maps,
                      [&](ImplicitLocOpBuilder &builder, ValueRange elements) {
                        return compute(builder, elements, body, elementType);
                      }));
    return success();
  }

private:
  static Value compute(ImplicitLocOpBuilder &builder, ValueRange elements,
                       const ElementBody *body, Type type) {
    if (!body)
      return castElement(Scalar(builder, elements[0]), type);
    SmallVector<Scalar> x;
    for (Value element : elements)
      x.push_back(loadElement(Scalar(builder, element)));
    Scalar result = isa<FloatType>(type)
                        ? body->onFloats(x)
                        : body->onIntegers(x, type.isUnsignedInteger());
    return storeElement(result, type);
  }

  const ShapeResolver &shapes;
};
} // namespace

void populateElementwiseToLinalgPatterns(RewritePatternSet &patterns,
                                         const ShapeResolver &shapes) {
  patterns.add<LowerElementwise>(patterns.getContext(), shapes);
}

} // namespace rlx
