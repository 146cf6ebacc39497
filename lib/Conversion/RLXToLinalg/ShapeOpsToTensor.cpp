// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ShapeOpsToTensor.cpp - reshape, expand, transpose ------------------===//

#include "Patterns.h"
#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace rlx {

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// Runs of dims of the input and of the result that hold the same elements.
struct DimGroups {
  SmallVector<ReassociationIndices> input, result;
};

/// The product of a run of sizes, as far as it can be told apart.
class RunningProduct {
public:
  void multiply(OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      values.push_back(value);
    else
      constant *= *getConstantIntValue(size);
  }
  bool operator==(const RunningProduct &other) const {
    return constant == other.constant && values.size() == other.values.size() &&
           std::is_permutation(values.begin(), values.end(),
                               other.values.begin());
  }
  /// Whether to lengthen this run rather than the other one.
  bool isBehind(const RunningProduct &other) const {
    if (values.size() != other.values.size())
      return values.size() < other.values.size();
    return constant < other.constant;
  }

private:
  int64_t constant = 1;
  SmallVector<Value> values;
};
} // namespace

/// The finest groups that a walk from the outermost dim on finds; what it can't
/// match is one group. Neither shape is empty.
static DimGroups groupDims(ArrayRef<OpFoldResult> input,
                           ArrayRef<OpFoldResult> result) {
  DimGroups groups;
  auto isZero = [](OpFoldResult size) { return isZeroInteger(size); };
  if (llvm::any_of(input, isZero) || llvm::any_of(result, isZero)) {
    groups.input.push_back(
        llvm::to_vector<2>(llvm::seq<int64_t>(input.size())));
    groups.result.push_back(
        llvm::to_vector<2>(llvm::seq<int64_t>(result.size())));
    return groups;
  }
  size_t i = 0, j = 0;
  while (i < input.size() && j < result.size()) {
    ReassociationIndices from, to;
    RunningProduct left, right;
    auto takeInput = [&] {
      left.multiply(input[i]);
      from.push_back(i++);
    };
    auto takeResult = [&] {
      right.multiply(result[j]);
      to.push_back(j++);
    };
    takeInput();
    takeResult();
    while (!(left == right) && (i < input.size() || j < result.size())) {
      bool preferInput = left.isBehind(right);
      if (i < input.size() && (preferInput || j == result.size()))
        takeInput();
      else
        takeResult();
    }
    groups.input.push_back(from);
    groups.result.push_back(to);
  }
  // Ones are left over.
  for (; i < input.size(); ++i)
    groups.input.back().push_back(i);
  for (; j < result.size(); ++j)
    groups.result.back().push_back(j);
  return groups;
}

/// `type` with each group of dims as one.
static RankedTensorType collapse(RankedTensorType type,
                                 ArrayRef<ReassociationIndices> groups) {
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> group : groups) {
    int64_t size = 1;
    for (int64_t dim : group) {
      if (type.isDynamicDim(dim)) {
        size = ShapedType::kDynamic;
        break;
      }
      size *= type.getDimSize(dim);
    }
    shape.push_back(size);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

static Value castIfNeeded(ImplicitLocOpBuilder &builder, Value tensor,
                          RankedTensorType type) {
  if (tensor.getType() == type)
    return tensor;
  return tensor::CastOp::create(builder, type, tensor);
}

static RankedTensorType withOnes(RankedTensorType type) {
  return RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1),
                               type.getElementType());
}

namespace {
struct LowerReshape : OpRewritePattern<ReshapeOp> {
  LowerReshape(MLIRContext *context, const ShapeResolver &shapes)
      : OpRewritePattern(context), shapes(shapes) {}

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    Value input = op.getInput();
    auto inputType = cast<RankedTensorType>(input.getType());
    SmallVector<ReassociationIndices> none;

    // A scalar has no dims to group; the other side has ones alone.
    if (type.getRank() == 0 && inputType.getRank() != 0) {
      input = castIfNeeded(builder, input, withOnes(inputType));
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, type, input,
                                                           none);
      return success();
    }
    if (inputType.getRank() == 0) {
      if (type.getRank() != 0)
        input =
            tensor::ExpandShapeOp::create(builder, withOnes(type), input, none);
      rewriter.replaceOp(op, castIfNeeded(builder, input, type));
      return success();
    }

    SmallVector<OpFoldResult> sizes = shapes.getDims(op.getResult());
    DimGroups groups = groupDims(shapes.getDims(input), sizes);
    if (llvm::any_of(groups.input,
                     [](auto &group) { return group.size() > 1; }))
      input = tensor::CollapseShapeOp::create(
          builder, collapse(inputType, groups.input), input, groups.input);
    input = castIfNeeded(builder, input, collapse(type, groups.result));
    if (llvm::any_of(groups.result,
                     [](auto &group) { return group.size() > 1; })) {
      // The op's sizes are static where its type's are and values elsewhere.
      for (auto [i, size] : llvm::enumerate(sizes))
        if (type.isDynamicDim(i))
          size = getValueOrCreateConstantIndexOp(builder, op.getLoc(), size);
        else
          size = builder.getIndexAttr(type.getDimSize(i));
      input = tensor::ExpandShapeOp::create(builder, type, input, groups.result,
                                            sizes);
    }
    rewriter.replaceOp(op, input);
    return success();
  }

private:
  const ShapeResolver &shapes;
};

//===----------------------------------------------------------------------===//
// Expand and transpose
//===----------------------------------------------------------------------===//

struct LowerExpand : OpRewritePattern<ExpandOp> {
  LowerExpand(MLIRContext *context, const ShapeResolver &shapes)
      : OpRewritePattern(context), shapes(shapes) {}

  LogicalResult matchAndRewrite(ExpandOp op,
                                PatternRewriter &rewriter) const override {
    auto inputType = cast<RankedTensorType>(op.getInput().getType());
    int64_t offset = op.getType().getRank() - inputType.getRank();
    // Dims that are known to be 1 or the result's only when the function runs.
    SmallVector<int64_t> undecided;
    for (int64_t i = 0; i < inputType.getRank(); ++i)
      if (inputType.isDynamicDim(i) &&
          shapes.getDim(op.getInput(), i) !=
              shapes.getDim(op.getResult(), offset + i))
        undecided.push_back(i);
    Value result =
        undecided.empty()
            ? createGeneric(rewriter, op.getLoc(), shapes, op.getResult(),
                            op.getInput(),
                            getBroadcastMap(inputType, op.getType()),
                            [](ImplicitLocOpBuilder &, ValueRange elements) {
                              return elements[0];
                            })
            : createLookup(op, rewriter, undecided);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Reads the input at an index that is 0 along dims of size 1.
  Value createLookup(ExpandOp op, PatternRewriter &rewriter,
                     ArrayRef<int64_t> undecided) const {
    auto inputType = cast<RankedTensorType>(op.getInput().getType());
    int64_t offset = op.getType().getRank() - inputType.getRank();
    return createGeneric(
        rewriter, op.getLoc(), shapes, op.getResult(), {}, {},
        [&](ImplicitLocOpBuilder &builder, ValueRange) -> Value {
          SmallVector<Value> indices;
          for (int64_t i = 0; i < inputType.getRank(); ++i) {
            Value index = linalg::IndexOp::create(builder, offset + i);
            Value size = getValueOrCreateConstantIndexOp(
                builder, op.getLoc(), shapes.getDim(op.getInput(), i));
            if (inputType.getDimSize(i) == 1 ||
                llvm::is_contained(undecided, i)) {
              Value one = arith::ConstantIndexOp::create(builder, 1);
              Value zero = arith::ConstantIndexOp::create(builder, 0);
              Value stretches = arith::CmpIOp::create(
                  builder, arith::CmpIPredicate::eq, size, one);
              index = arith::SelectOp::create(builder, stretches, zero, index);
            }
            indices.push_back(index);
          }
          return tensor::ExtractOp::create(builder, op.getInput(), indices);
        });
  }

  const ShapeResolver &shapes;
};

struct LowerTranspose : OpRewritePattern<TransposeOp> {
  LowerTranspose(MLIRContext *context, const ShapeResolver &shapes)
      : OpRewritePattern(context), shapes(shapes) {}

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    // Result dim i is input dim perm[i], so input dim perm[i] is read at i.
    auto map = AffineMap::getPermutationMap(
        invertPermutationVector(op.getPerm()), op.getContext());
    rewriter.replaceOp(
        op, createGeneric(rewriter, op.getLoc(), shapes, op.getResult(),
                          op.getInput(), map,
                          [](ImplicitLocOpBuilder &, ValueRange elements) {
                            return elements[0];
                          }));
    return success();
  }

private:
  const ShapeResolver &shapes;
};
} // namespace

void populateShapeOpsToTensorPatterns(RewritePatternSet &patterns,
                                      const ShapeResolver &shapes) {
  patterns.add<LowerExpand, LowerReshape, LowerTranspose>(patterns.getContext(),
                                                          shapes);
}

} // namespace rlx
