// SPDX-License-Identifier: MIT OR Apache-2.0
//===- KernelBody.cpp - The function of one kernel ------------------------===//

#include "KernelBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace rlx;

/// Below this a parallel region costs more than it saves: waking a worker takes
/// about 10 us when it sleeps.
constexpr double kTaskNanoseconds = 10000;
/// More tasks than workers, so that a worker that lags holds up less.
constexpr int64_t kTasksPerWorker = 4;

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

SmallVector<Value> rlx::getUsedValues(Operation *op) {
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return used.takeVector();
}

KernelBody::KernelBody(Operation *op, ArrayRef<Value> values,
                       TypeRange extraTypes)
    : builder(op->getContext()), loc(op->getLoc()) {
  for (Value value : values)
    capture(value);

  Type ptr = LLVM::LLVMPointerType::get(op->getContext());
  SmallVector<Type> types(buffers.size(), ptr);
  for (Value scalar : scalars)
    types.push_back(scalar.getType());
  llvm::append_range(types, extraTypes);
  auto parent = op->getParentOfType<func::FuncOp>();
  builder.setInsertionPointAfter(parent);
  function = func::FuncOp::create(builder, loc, "rlx.kernel",
                                  builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  for (size_t i = 0; i < buffers.size(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  for (auto [i, scalar] : llvm::enumerate(scalars))
    mapping.map(scalar, block->getArgument(buffers.size() + i));
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    SmallVector<Value> dims;
    for (OpFoldResult size : sizes[buffer]) {
      auto value = dyn_cast<Value>(size);
      dims.push_back(value
                         ? get(value)
                         : getValueOrCreateConstantIndexOp(builder, loc, size));
    }
    mapping.map(buffer, buildBuffer(builder, loc, block->getArgument(i),
                                    cast<MemRefType>(buffer.getType()), dims));
  }
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(block->getTerminator());
}

void KernelBody::capture(Value value) {
  if (isConstant(value))
    return;
  if (!isa<MemRefType>(value.getType())) {
    scalars.insert(value);
    return;
  }
  Value root = getRoot(value);
  for (Value view = value; view != root;) {
    auto op = cast<ViewLikeOpInterface>(view.getDefiningOp());
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()))
        capture(operand);
    view = op.getViewSource();
  }
  if (root.getDefiningOp<memref::GetGlobalOp>() || !buffers.insert(root))
    return;
  OpBuilder above(builder.getContext());
  if (Operation *op = root.getDefiningOp())
    above.setInsertionPointAfter(op);
  else
    above.setInsertionPointToStart(root.getParentBlock());
  sizes[root] = getDims(above, root);
  for (OpFoldResult size : sizes[root])
    if (auto dynamic = dyn_cast<Value>(size))
      capture(dynamic);
}

Value KernelBody::get(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  // A view, a global or a constant.
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    get(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

Value KernelBody::getPointer(Value buffer) {
  // Views of identity layout start where their root does.
  Value root = getRoot(buffer);
  auto *captured = llvm::find(buffers, root);
  if (captured != buffers.end())
    return function.getArgument(captured - buffers.begin());
  Value index =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, get(root));
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), integer);
}

SmallVector<Value> KernelBody::getSizes(Value buffer) {
  SmallVector<Value> result;
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  for (int64_t i = 0; i < rank; ++i)
    result.push_back(builder.createOrFold<memref::DimOp>(loc, get(buffer), i));
  return result;
}

BlockArgument KernelBody::getExtra(unsigned i) {
  return function.getArgument(buffers.size() + scalars.size() + i);
}

Value rlx::buildBuffer(OpBuilder &builder, Location loc, Value pointer,
                       MemRefType type, ValueRange sizes) {
  MLIRContext *context = builder.getContext();
  Type ptr = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  int64_t rank = type.getRank();
  SmallVector<Type> fields = {ptr, ptr, i64};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
  Type structType = LLVM::LLVMStructType::getLiteral(context, fields);
  Value descriptor = LLVM::PoisonOp::create(builder, loc, structType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    if (isa<IndexType>(value.getType()))
      value = arith::IndexCastOp::create(builder, loc, i64, value);
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(LLVM::ConstantOp::create(builder, loc, i64, 0), {2});
  Value stride = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t i = rank - 1; i >= 0; --i) {
    insert(sizes[i], {3, i});
    insert(stride, {4, i});
    stride = builder.createOrFold<arith::MulIOp>(loc, stride, sizes[i]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

Value rlx::getCost(OpBuilder &builder, Location loc, double factor,
                   ArrayRef<OpFoldResult> sizes) {
  Type f64 = builder.getF64Type();
  SmallVector<OpFoldResult> dynamic;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> known = getConstantIntValue(size))
      factor *= static_cast<double>(*known);
    else
      dynamic.push_back(size);
  }
  Value cost =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(factor));
  for (OpFoldResult size : dynamic) {
    Value integer = arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(), cast<Value>(size));
    Value number = arith::SIToFPOp::create(builder, loc, f64, integer);
    cost = arith::MulFOp::create(builder, loc, cost, number);
  }
  return cost;
}

Value rlx::getTaskCount(OpBuilder &builder, Location loc, Value nanoseconds,
                        Value workers, Value units) {
  Type f64 = builder.getF64Type(), i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  };
  Value most =
      arith::MulIOp::create(builder, loc, workers, constant(kTasksPerWorker));
  Value mostNumber = arith::SIToFPOp::create(
      builder, loc, f64, arith::IndexCastOp::create(builder, loc, i64, most));
  Value worth = arith::MulFOp::create(builder, loc, nanoseconds,
                                      number(1.0 / kTaskNanoseconds));
  // Bounded before it is an integer: the conversion of a large number is
  // undefined.
  Value isMore = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                       worth, mostNumber);
  worth = arith::SelectOp::create(builder, loc, isMore, mostNumber, worth);
  Value count = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      arith::FPToSIOp::create(builder, loc, i64, worth));
  count = arith::MinSIOp::create(builder, loc, count, units);
  count = arith::MaxSIOp::create(builder, loc, count, constant(1));
  Value alone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      workers, constant(1));
  return arith::SelectOp::create(builder, loc, alone, constant(1), count);
}

/// Equal functions have equal hashes; names of ops tell most others apart.
static llvm::hash_code hashFunction(func::FuncOp func) {
  llvm::hash_code hash = hash_value(Type(func.getFunctionType()));
  func.walk([&](Operation *op) {
    if (op != func)
      hash = llvm::hash_combine(hash, op->getName());
  });
  return hash;
}

func::FuncOp FunctionPool::intern(func::FuncOp func, StringRef prefix) {
  SmallVector<func::FuncOp, 1> &candidates = functions[hashFunction(func)];
  for (func::FuncOp known : candidates) {
    if (known.getFunctionType() != func.getFunctionType() ||
        known.getAllArgAttrs() != func.getAllArgAttrs() ||
        !OperationEquivalence::isRegionEquivalentTo(
            &known.getBody(), &func.getBody(),
            OperationEquivalence::IgnoreLocations))
      continue;
    func.erase();
    return known;
  }
  func.setName((prefix + Twine(counts[prefix]++)).str());
  candidates.push_back(func);
  return func;
}
