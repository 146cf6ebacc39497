// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Buffers.cpp - Buffers in the lowered functions ---------------------===//

#include "Buffers.h"

#include "Names.h"

#include "RLX/Conversion/RLXToLinalg/RLXToLinalg.h"
#include "RLX/Dialect/RLXShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace rlx;

BoundArguments::BoundArguments(func::FuncOp func) {
  for (BlockArgument arg : func.getArguments()) {
    auto has = [&](StringRef attr) {
      return func.getArgAttr(arg.getArgNumber(), attr) != nullptr;
    };
    if (has(kSymbolAttr))
      symbols.push_back(arg);
    else if (has(kArenaAttr))
      arena = arg;
    else if (has(kWorkersAttr))
      workers = arg;
    else if (has(kRngSeedAttr))
      rngSeed = arg;
    else if (has(kRngCounterAttr))
      rngCounter = arg;
    else
      buffers.push_back(arg);
    if (has(kOutputAttr))
      outputs.push_back(arg);
  }
}

Value rlx::getRoot(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    // A view of the arena is what an allocation became.
    if (!view || isa<memref::ViewOp>(op))
      break;
    buffer = view.getViewSource();
  }
  return buffer;
}

/// Dims of an argument.
static SmallVector<OpFoldResult> getArgumentDims(OpBuilder &builder,
                                                 BlockArgument arg) {
  auto func = cast<func::FuncOp>(arg.getOwner()->getParentOp());
  auto type = cast<MemRefType>(arg.getType());
  SmallVector<OpFoldResult> dims =
      getAsIndexOpFoldResult(arg.getContext(), type.getShape());
  if (type.hasStaticShape())
    return dims;
  BoundArguments arguments(func);
  unsigned index = arg.getArgNumber();
  if (auto names = func.getArgAttrOfType<ArrayAttr>(index, kInputAttr)) {
    for (auto [dim, name] : llvm::zip_equal(dims, names)) {
      if (cast<StringAttr>(name).empty())
        continue;
      for (BlockArgument symbol : arguments.symbols)
        if (func.getArgAttr(symbol.getArgNumber(), kSymbolAttr) == name)
          dim = symbol;
    }
    return dims;
  }
  // What the function returns are the dims of its outputs.
  auto terminator = cast<func::ReturnOp>(func.front().getTerminator());
  unsigned first = 0;
  for (BlockArgument output : arguments.outputs) {
    if (output == arg)
      break;
    first += cast<MemRefType>(output.getType()).getRank();
  }
  for (auto [i, dim] : llvm::enumerate(dims))
    if (type.isDynamicDim(i))
      dim = terminator.getOperand(first + i);
  return dims;
}

SmallVector<OpFoldResult> rlx::getDims(OpBuilder &builder, Value buffer) {
  if (auto arg = dyn_cast<BlockArgument>(buffer))
    return getArgumentDims(builder, arg);
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> dims =
      getAsIndexOpFoldResult(buffer.getContext(), type.getShape());
  if (type.hasStaticShape())
    return dims;
  Operation *op = buffer.getDefiningOp();
  auto fillDynamic = [&](auto &&next) {
    for (auto [i, dim] : llvm::enumerate(dims))
      if (type.isDynamicDim(i))
        dim = next(i);
    return dims;
  };
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    auto sizes = alloc.getDynamicSizes().begin();
    return fillDynamic([&](size_t) { return OpFoldResult(*sizes++); });
  }
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    auto sizes = view.getSizes().begin();
    return fillDynamic([&](size_t) { return OpFoldResult(*sizes++); });
  }
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    SmallVector<OpFoldResult> source = getDims(builder, cast.getSource());
    return fillDynamic([&](size_t i) { return source[i]; });
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    return fillDynamic([&](size_t i) { return sizes[i]; });
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<OpFoldResult> source = getDims(builder, collapse.getSrc());
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    return fillDynamic([&](size_t i) {
      SmallVector<OpFoldResult> sizes;
      for (int64_t dim : groups[i])
        sizes.push_back(source[dim]);
      return OpFoldResult(getProduct(builder, op->getLoc(), sizes));
    });
  }
  return fillDynamic([&](size_t i) {
    return OpFoldResult(
        memref::DimOp::create(builder, op->getLoc(), buffer, i).getResult());
  });
}

Value rlx::getProduct(OpBuilder &builder, Location loc,
                      ArrayRef<OpFoldResult> sizes) {
  Value product;
  int64_t constant = 1;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      constant *= *known;
      continue;
    }
    Value value = cast<Value>(size);
    product = product ? builder.createOrFold<arith::MulIOp>(loc, product, value)
                      : value;
  }
  if (!product)
    return arith::ConstantIndexOp::create(builder, loc, constant);
  if (constant == 1)
    return product;
  return arith::MulIOp::create(
      builder, loc, product,
      arith::ConstantIndexOp::create(builder, loc, constant));
}

int64_t rlx::getElementBytes(Type elementType) {
  if (isa<IndexType>(elementType))
    return 8;
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

FailureOr<Value> Rematerializer::get(Value root) {
  // With a stack of its own: sizes can depend on each other in long chains.
  SmallVector<Value> stack = {root};
  while (!stack.empty()) {
    Value value = stack.back();
    if (mapping.contains(value)) {
      stack.pop_back();
      continue;
    }
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      Value result = leaf(arg);
      if (!result)
        return emitError(arg.getLoc(), "a size depends on the contents of a "
                                       "buffer; only symbols can be used");
      mapping.map(value, result);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>))
      return op->emitError("a size or a check depends on '")
             << op->getName() << "', which is no arithmetic on symbols";
    size_t height = stack.size();
    for (Value operand : llvm::reverse(op->getOperands()))
      if (!mapping.contains(operand))
        stack.push_back(operand);
    if (stack.size() != height)
      continue;
    if (Value result = special ? special(op) : Value())
      mapping.map(value, result);
    else
      builder.clone(*op, mapping);
  }
  return mapping.lookup(root);
}
