// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ShapeResolver.cpp - Sizes of all tensors of a function -------------===//

#include "RLX/Conversion/RLXToLinalg/ShapeResolver.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace rlx {

ShapeResolver::ShapeResolver(FunctionOpInterface func)
    : func(func), builder(func.getContext()) {}

static RankedTensorType tensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

OpFoldResult ShapeResolver::getDim(Value tensor, int64_t dim) const {
  RankedTensorType type = tensorType(tensor);
  if (!type.isDynamicDim(dim))
    return Builder(tensor.getContext()).getIndexAttr(type.getDimSize(dim));
  return getRepresentative(sizesOf.at(tensor)[dim]);
}

OpFoldResult ShapeResolver::getRepresentative(OpFoldResult size) const {
  while (auto value = llvm::dyn_cast_if_present<Value>(size)) {
    auto found = representatives.find(value);
    if (found == representatives.end())
      break;
    size = found->second;
  }
  return size;
}

SmallVector<OpFoldResult> ShapeResolver::getDims(Value tensor) const {
  return llvm::map_to_vector(llvm::seq<int64_t>(tensorType(tensor).getRank()),
                             [&](int64_t dim) { return getDim(tensor, dim); });
}

void ShapeResolver::record(Value tensor, ArrayRef<OpFoldResult> sizes) {
  sizesOf[tensor] = Sizes(sizes);
}

void ShapeResolver::place(Operation *op, ArrayRef<OpFoldResult> sizes) {
  bool isLocal = llvm::any_of(sizes, [&](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value && local.contains(value);
  });
  builder.setInsertionPoint(isLocal ? op : body);
}

Value ShapeResolver::asValue(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(builder, func.getLoc(), size);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The user's name of an op where its location has one, and the kind of op.
static std::string describe(Operation *op) {
  std::string text;
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    text = "'" + name.getName().str() + "' (" +
           op->getName().getStringRef().str() + ")";
  else
    text = op->getName().getStringRef().str();
  return text;
}

void ShapeResolver::emitAssert(Operation *op, Value condition,
                               const llvm::Twine &what) {
  cf::AssertOp::create(builder, op->getLoc(), condition,
                       (describe(op) + ": " + what).str());
}

LogicalResult ShapeResolver::requireEqual(Operation *op, OpFoldResult lhs,
                                          OpFoldResult rhs,
                                          const llvm::Twine &what) {
  lhs = getRepresentative(lhs);
  rhs = getRepresentative(rhs);
  std::optional<int64_t> left = getConstantIntValue(lhs);
  std::optional<int64_t> right = getConstantIntValue(rhs);
  if (left && right) {
    if (*left == *right)
      return success();
    return op->emitOpError()
           << what << ", but they are " << *left << " and " << *right;
  }
  if (lhs == rhs)
    return success();
  place(op, {lhs, rhs});
  Value equal =
      arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::eq,
                            asValue(lhs), asValue(rhs));
  emitAssert(op, equal, what);

  // From here on they are one.
  auto isLocal = [&](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value && local.contains(value);
  };
  if (isLocal(lhs) || isLocal(rhs))
    return success();
  if (auto value = dyn_cast<Value>(rhs))
    representatives[value] = lhs;
  else
    representatives[cast<Value>(lhs)] = rhs;
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult ShapeResolver::run() {
  if (func.getFunctionBody().empty())
    return success();
  body = &func.getFunctionBody().front().front();
  builder.setInsertionPoint(body);
  visitArguments();
  for (Block &block : llvm::drop_begin(func.getFunctionBody()))
    visitBlockArguments(block);
  // The visits add ops, which are not to be visited. Blocks may stand in any
  // order; what no block leads to comes last.
  SetVector<Operation *> ops;
  auto add = [&](Operation *op) {
    if (op != func)
      ops.insert(op);
  };
  func->walk<WalkOrder::PreOrder, ForwardDominanceIterator<>>(add);
  func->walk<WalkOrder::PreOrder>(add);
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  return success();
}

void ShapeResolver::visitArguments() {
  for (BlockArgument argument : func.getArguments()) {
    RankedTensorType type = tensorType(argument);
    if (!type)
      continue;
    SmallVector<Dim> dims;
    if (ArrayAttr attribute = getArgDims(func, argument.getArgNumber()))
      dims = rlx::getDims(attribute);
    Sizes sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      llvm::StringRef symbol =
          i < static_cast<int64_t>(dims.size()) ? dims[i].symbol : "";
      OpFoldResult known = symbols.lookup(symbol);
      if (symbol.empty() || !known) {
        known = builder.getIndexAttr(type.getDimSize(i));
        if (type.isDynamicDim(i))
          known = tensor::DimOp::create(builder, func.getLoc(), argument, i)
                      .getResult();
        if (!symbol.empty())
          symbols[symbol] = known;
      }
      sizes.push_back(known);
    }
    record(argument, sizes);
  }
}

LogicalResult ShapeResolver::visit(Operation *op) {
  FailureOr<Sizes> sizes =
      llvm::TypeSwitch<Operation *, FailureOr<Sizes>>(op)
          .Case([&](ElementwiseOpInterface) { return visitBroadcast(op); })
          .Case([&](ReshapeOp reshape) { return visitReshape(reshape); })
          .Case([&](ExpandOp expand) { return visitExpand(expand); })
          .Case<RngNormalOp, RngUniformOp>(
              [&](auto rng) { return visitShape(rng, rng.getShape()); })
          .Case([&](TransposeOp transpose) {
            return FailureOr<Sizes>(
                llvm::map_to_vector(transpose.getPerm(), [&](int64_t dim) {
                  return getDim(transpose.getInput(), dim);
                }));
          })
          .Case([&](MatmulOp matmul) {
            return visitProduct(op, matmul.getLhs(), matmul.getRhs(), false);
          })
          .Case([&](LinearOp linear) {
            return visitProduct(op, linear.getInput(), linear.getWeight(),
                                true);
          })
          .Default([&](Operation *) {
            visitOther(op);
            return FailureOr<Sizes>(Sizes());
          });
  if (failed(sizes))
    return failure();
  if (!sizes->empty())
    record(op->getResult(0), *sizes);
  return success();
}

FailureOr<OpFoldResult> ShapeResolver::broadcast(Operation *op, Value lhs,
                                                 int64_t lhsDim, Value rhs,
                                                 int64_t rhsDim) {
  OpFoldResult left = getDim(lhs, lhsDim), right = getDim(rhs, rhsDim);
  if (tensorType(rhs).getDimSize(rhsDim) == 1)
    return left;
  if (tensorType(lhs).getDimSize(lhsDim) == 1)
    return right;
  if (failed(requireEqual(op, left, right,
                          "dim " + llvm::Twine(lhsDim) +
                              " of the lhs and dim " + llvm::Twine(rhsDim) +
                              " of the rhs must be equal")))
    return failure();
  return getConstantIntValue(left) ? left : right;
}

FailureOr<ShapeResolver::Sizes> ShapeResolver::visitBroadcast(Operation *op) {
  if (op->getNumOperands() == 1)
    return getDims(op->getOperand(0));
  Value longer = op->getOperand(0), shorter = op->getOperand(1);
  bool isSwapped = tensorType(longer).getRank() < tensorType(shorter).getRank();
  if (isSwapped)
    std::swap(longer, shorter);
  Sizes sizes = getDims(longer);
  int64_t rank = tensorType(shorter).getRank();
  int64_t offset = sizes.size() - rank;
  for (int64_t i = 0; i < rank; ++i) {
    FailureOr<OpFoldResult> size =
        isSwapped ? broadcast(op, shorter, i, longer, offset + i)
                  : broadcast(op, longer, offset + i, shorter, i);
    if (failed(size))
      return failure();
    sizes[offset + i] = *size;
  }
  return sizes;
}

FailureOr<ShapeResolver::Sizes> ShapeResolver::visitProduct(Operation *op,
                                                            Value lhs,
                                                            Value rhs,
                                                            bool isTransposed) {
  // A packed weight is KxN, or BxKxN, whatever it was before.
  Sizes right;
  if (auto packed = dyn_cast<PackedType>(rhs.getType())) {
    right = getAsIndexOpFoldResult(op->getContext(), packed.getShape());
  } else {
    right = getDims(rhs);
    if (isTransposed)
      std::swap(right[0], right[1]);
  }
  Sizes left = getDims(lhs);
  if (failed(
          requireEqual(op, left.back(), right[right.size() - 2],
                       "columns of the lhs and rows of the rhs must be equal")))
    return failure();

  size_t rank = std::max(left.size(), right.size());
  Sizes sizes(rank);
  for (size_t i = 0; i + 2 < rank; ++i) {
    // Counted from the innermost dim on.
    size_t back = rank - i;
    bool hasLeft = back <= left.size(), hasRight = back <= right.size();
    OpFoldResult a = hasLeft ? left[left.size() - back] : OpFoldResult();
    OpFoldResult b = hasRight ? right[right.size() - back] : OpFoldResult();
    if (!hasRight || (hasLeft && isOneInteger(b))) {
      sizes[i] = a;
      continue;
    }
    sizes[i] = b;
    if (!hasLeft || isOneInteger(a))
      continue;
    if (failed(requireEqual(op, a, b,
                            "outer dim " + llvm::Twine(i) +
                                " of lhs and rhs must be equal")))
      return failure();
  }
  sizes[rank - 2] = left[left.size() - 2];
  sizes[rank - 1] = right.back();
  return sizes;
}

FailureOr<ShapeResolver::Sizes> ShapeResolver::visitShape(Operation *op,
                                                          ArrayAttr shape) {
  Sizes sizes;
  for (const Dim &dim : rlx::getDims(shape)) {
    if (!dim.isSymbol()) {
      sizes.push_back(builder.getIndexAttr(dim.size));
      continue;
    }
    OpFoldResult size = getRepresentative(symbols.lookup(dim.symbol));
    if (!size)
      return op->emitOpError("shape names @")
             << dim.symbol
             << ", which no input and no earlier rlx.reshape carries";
    sizes.push_back(size);
  }
  return sizes;
}

FailureOr<ShapeResolver::Sizes> ShapeResolver::visitExpand(ExpandOp op) {
  FailureOr<Sizes> sizes = visitShape(op, op.getShape());
  if (failed(sizes))
    return failure();
  Sizes input = getDims(op.getInput());
  int64_t offset = sizes->size() - input.size();
  for (auto [i, size] : llvm::enumerate(input)) {
    OpFoldResult target = (*sizes)[offset + i];
    if (isOneInteger(size) || size == target)
      continue;
    if (getConstantIntValue(size)) {
      if (failed(requireEqual(op, size, target,
                              "input dim " + llvm::Twine(i) +
                                  " must be 1 or have its size in the shape")))
        return failure();
      continue;
    }
    // A `?` may be 1 when it comes to it, and then it stretches.
    place(op, {size, target});
    Value value = asValue(size);
    auto equals = [&](OpFoldResult other) -> Value {
      return arith::CmpIOp::create(builder, op.getLoc(),
                                   arith::CmpIPredicate::eq, value,
                                   asValue(other));
    };
    Value isOne = equals(builder.getIndexAttr(1));
    Value fits =
        arith::OrIOp::create(builder, op.getLoc(), isOne, equals(target));
    emitAssert(op, fits,
               "input dim " + llvm::Twine(i) +
                   " must be 1 or have its size in the shape");
  }
  return sizes;
}

void ShapeResolver::visitOther(Operation *op) {
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  auto empty = dyn_cast<tensor::EmptyOp>(op);
  for (OpResult result : op->getResults()) {
    RankedTensorType type = tensorType(result);
    if (!type)
      continue;
    if (type.hasStaticShape())
      continue;
    if (destinations) {
      record(result, getDims(destinations.getTiedOpOperand(result)->get()));
      continue;
    }
    if (empty) {
      record(result,
             llvm::map_to_vector(empty.getMixedSizes(), [&](OpFoldResult size) {
               auto value = dyn_cast<Value>(size);
               return value ? resolve(value) : size;
             }));
      continue;
    }
    builder.setInsertionPointAfter(op);
    recordByReading(result);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visitBlockArguments(block);
}

void ShapeResolver::visitBlockArguments(Block &block) {
  for (BlockArgument argument : block.getArguments()) {
    RankedTensorType type = tensorType(argument);
    if (!type || type.hasStaticShape())
      continue;
    builder.setInsertionPointToStart(&block);
    recordByReading(argument);
  }
}

void ShapeResolver::recordByReading(Value tensor) {
  RankedTensorType type = tensorType(tensor);
  Sizes sizes;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) {
      sizes.push_back(builder.getIndexAttr(type.getDimSize(i)));
      continue;
    }
    Value size = tensor::DimOp::create(builder, tensor.getLoc(), tensor, i);
    local.insert(size);
    sizes.push_back(size);
  }
  record(tensor, sizes);
}

OpFoldResult ShapeResolver::resolve(Value size) const {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  if (dim && dim.getConstantIndex() && sizesOf.contains(dim.getSource()))
    return getDim(dim.getSource(), *dim.getConstantIndex());
  return size;
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Takes the values that two products have in common out of both.
template <typename Product> static void cancel(Product &a, Product &b) {
  for (size_t i = a.values.size(); i-- > 0;) {
    auto *found = llvm::find(b.values, a.values[i]);
    if (found == b.values.end())
      continue;
    b.values.erase(found);
    a.values.erase(a.values.begin() + i);
  }
}

Value ShapeResolver::multiply(const Product &product) {
  Location loc = func.getLoc();
  Value result;
  if (product.constant != 1 || product.values.empty())
    result = arith::ConstantIndexOp::create(builder, loc, product.constant);
  for (Value value : product.values)
    result =
        result ? arith::MulIOp::create(builder, loc, result, value) : value;
  return result;
}

static SmallVector<OpFoldResult> toSizes(ArrayRef<Value> a, ArrayRef<Value> b) {
  SmallVector<OpFoldResult> sizes(a.begin(), a.end());
  sizes.append(b.begin(), b.end());
  return sizes;
}

constexpr llvm::StringLiteral kCountMessage =
    "the shape must hold as many elements as the input";

LogicalResult ShapeResolver::requireEqualProducts(Operation *op, Product in,
                                                  Product out) {
  place(op, toSizes(in.values, out.values));
  cancel(in, out);
  if (in.values.empty() && out.values.empty())
    return requireEqual(op, builder.getIndexAttr(in.constant),
                        builder.getIndexAttr(out.constant), kCountMessage);
  // The input exists, so its count fits; the shape's may not. Both are compared
  // as quotients, which can't overflow: dividing the input's count by each
  // factor of the shape must leave no rest and arrive at 1. A count of 0 has
  // any rest, so it is compared by itself.
  Location loc = op->getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value rest = multiply(in);
  Value isEmpty =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, zero);
  Value fits = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value hasZero = arith::ConstantIntOp::create(builder, loc, 0, 1);
  SmallVector<Value> factors = out.values;
  factors.push_back(arith::ConstantIndexOp::create(builder, loc, out.constant));
  for (Value factor : factors) {
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         factor, zero);
    hasZero = arith::OrIOp::create(builder, loc, hasZero, isZero);
    Value divisor = arith::MaxUIOp::create(builder, loc, factor, one);
    Value remainder = arith::RemUIOp::create(builder, loc, rest, divisor);
    Value divides = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, remainder, zero);
    fits = arith::AndIOp::create(builder, loc, fits, divides);
    rest = arith::DivUIOp::create(builder, loc, rest, divisor);
  }
  Value isOne =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, one);
  fits = arith::AndIOp::create(builder, loc, fits, isOne);
  Value equal = arith::SelectOp::create(builder, loc, isEmpty, hasZero, fits);
  emitAssert(op, equal, kCountMessage);
  return success();
}

FailureOr<OpFoldResult> ShapeResolver::divide(Operation *op, Product in,
                                              Product out) {
  place(op, toSizes(in.values, out.values));
  cancel(in, out);
  bool isWhole = out.constant != 0 && in.constant % out.constant == 0;
  if (out.values.empty() && isWhole) {
    in.constant /= out.constant;
    if (in.values.empty())
      return OpFoldResult(builder.getIndexAttr(in.constant));
    Value product = multiply(in);
    factors[product] = in;
    return OpFoldResult(product);
  }
  if (in.values.empty() && out.values.empty())
    return op->emitOpError("shape holds a multiple of ")
           << out.constant << " elements but the input has " << in.constant;
  Location loc = op->getLoc();
  Value count = multiply(in);
  Value known = multiply(out);
  Value divisor = known;
  if (!out.values.empty() || out.constant == 0) {
    // The quotient of nothing by nothing is taken as 0.
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    divisor = arith::MaxUIOp::create(builder, loc, known, one);
  }
  Value quotient = arith::DivUIOp::create(builder, loc, count, divisor);
  Value product = arith::MulIOp::create(builder, loc, quotient, known);
  Value isEqual = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        product, count);
  emitAssert(op, isEqual, kCountMessage);
  return OpFoldResult(quotient);
}

FailureOr<ShapeResolver::Sizes> ShapeResolver::visitReshape(ReshapeOp op) {
  auto collect = [&](Product &product, OpFoldResult size) {
    Product factor;
    if (auto value = dyn_cast<Value>(size)) {
      auto known = factors.find(value);
      factor = known == factors.end() ? Product{1, {value}} : known->second;
    } else {
      factor.constant = *getConstantIntValue(size);
    }
    llvm::append_range(product.values, factor.values);
    std::optional<int64_t> constant =
        llvm::checkedMul(product.constant, factor.constant);
    product.constant = constant.value_or(0);
    return constant.has_value();
  };
  Product in, out;
  bool fits = true;
  for (OpFoldResult size : getDims(op.getInput()))
    fits &= collect(in, size);

  // Entries by what is known of them; the type may know what the shape doesn't.
  Sizes sizes;
  SmallVector<size_t> unknown;
  SmallVector<Dim> dims = rlx::getDims(op.getShape());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    OpFoldResult size;
    if (dim.isSymbol())
      size = getRepresentative(symbols.lookup(dim.symbol));
    if (!dim.isSymbol() && dim.size >= 0)
      size = builder.getIndexAttr(dim.size);
    if (!size && !op.getType().isDynamicDim(i))
      size = builder.getIndexAttr(op.getType().getDimSize(i));
    if (size)
      fits &= collect(out, size);
    else
      unknown.push_back(i);
    sizes.push_back(size);
  }
  if (!fits)
    return op.emitOpError("counts more than 2^63 - 1 elements");
  if (unknown.size() > 1)
    return op.emitOpError("shape ")
           << op.getShape()
           << " has more than one entry that no input determines";
  if (unknown.empty()) {
    if (failed(requireEqualProducts(op, in, out)))
      return failure();
    return sizes;
  }
  FailureOr<OpFoldResult> size = divide(op, in, out);
  if (failed(size))
    return failure();
  sizes[unknown.front()] = *size;
  if (const Dim &dim = dims[unknown.front()]; dim.isSymbol())
    symbols[dim.symbol] = *size;
  return sizes;
}

} // namespace rlx
