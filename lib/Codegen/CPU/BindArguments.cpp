// SPDX-License-Identifier: MIT OR Apache-2.0
//===- BindArguments.cpp - Buffers and symbols as arguments ---------------===//

#include "Buffers.h"
#include "FunctionInfo.h"
#include "Names.h"

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Conversion/RLXToLinalg/RLXToLinalg.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Support/Error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace rlx {
#define GEN_PASS_DEF_BINDARGUMENTSPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

/// Rewrites one function.
class Binder {
public:
  explicit Binder(func::FuncOp func)
      : func(func), block(func.front()), builder(func.getContext()),
        oldCount(func.getNumArguments()) {}

  FailureOr<ExecutableFunction> run();

private:
  LogicalResult collectSymbols();
  BlockArgument addArgument(Type type, StringRef attr, Attribute value);
  void bindTensor(unsigned oldIndex, BlockArgument buffer);
  void writeResult(Value result, Value buffer, Location loc);

  func::FuncOp func;
  Block &block;
  OpBuilder builder;
  unsigned oldCount;
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  /// Value of each symbol, in order of first appearance.
  llvm::MapVector<StringRef, BlockArgument> symbols;
};

} // namespace

/// Fails if the sizes that the type knows take more than 2^63 - 1 bytes.
static LogicalResult checkSize(func::FuncOp func, StringRef what,
                               unsigned index, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return func.emitOpError(what) << ' ' << index << " is " << type << " but "
                                  << what << "s are tensors of known rank";
  int64_t bytes = getElementBytes(tensor.getElementType());
  for (int64_t size : tensor.getShape())
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(bytes, size, bytes))
      return func.emitOpError(what) << ' ' << index << " is " << type
                                    << ", which takes more than 2^63 - 1 bytes";
  return success();
}

/// Names the symbols of all inputs.
LogicalResult Binder::collectSymbols() {
  for (unsigned i = 0; i < oldCount; ++i) {
    auto type = dyn_cast<RankedTensorType>(func.getArgument(i).getType());
    if (!type || type.hasStaticShape())
      continue;
    ArrayAttr dims = getArgDims(func, i);
    std::string name = quoteName(getArgName(func, i));
    if (!dims || static_cast<int64_t>(dims.size()) != type.getRank())
      return func.emitOpError("input ")
             << i << " (" << name << ") is " << type
             << " but has no rlx.dims to name its dynamic dims";
    for (auto [axis, dim] : llvm::enumerate(getDims(dims))) {
      if (!type.isDynamicDim(axis))
        continue;
      if (!dim.isSymbol())
        return func.emitOpError("input ")
               << i << " (" << name << ") has a dynamic dim " << axis
               << " but rlx.dims gives it no symbol";
      symbols.insert({dim.symbol, BlockArgument()});
    }
  }
  return success();
}

BlockArgument Binder::addArgument(Type type, StringRef attr, Attribute value) {
  types.push_back(type);
  attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(attr, value)));
  return block.addArgument(type, func.getLoc());
}

/// Reads argument `oldIndex` from `buffer` and its dims from the symbols.
void Binder::bindTensor(unsigned oldIndex, BlockArgument buffer) {
  BlockArgument old = block.getArgument(oldIndex);
  auto type = cast<RankedTensorType>(old.getType());
  SmallVector<Dim> dims;
  if (ArrayAttr attr = getArgDims(func, oldIndex))
    dims = getDims(attr);
  for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
    if (!axis || *axis >= type.getRank() || !type.isDynamicDim(*axis))
      continue;
    dim.getResult().replaceAllUsesWith(symbols[dims[*axis].symbol]);
    dim.erase();
  }
  Value tensor = bufferization::ToTensorOp::create(builder, old.getLoc(), type,
                                                   buffer, /*restrict=*/true);
  old.replaceAllUsesWith(tensor);
}

/// Writes `result` to `buffer`; a reshape of the result becomes a view of the
/// buffer, so that what it reshapes can be computed in place.
void Binder::writeResult(Value result, Value buffer, Location loc) {
  while (true) {
    if (auto expand = result.getDefiningOp<tensor::ExpandShapeOp>()) {
      result = expand.getSrc();
      buffer = memref::CollapseShapeOp::create(
          builder, loc, buffer, expand.getReassociationIndices());
    } else if (auto collapse =
                   result.getDefiningOp<tensor::CollapseShapeOp>()) {
      result = collapse.getSrc();
      auto type = cast<RankedTensorType>(result.getType());
      buffer = memref::ExpandShapeOp::create(
          builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
          buffer, collapse.getReassociationIndices(),
          tensor::getMixedSizes(builder, loc, result));
    } else {
      break;
    }
  }
  auto type = cast<RankedTensorType>(result.getType());
  auto memrefType = MemRefType::get(type.getShape(), type.getElementType());
  if (buffer.getType() != memrefType)
    buffer = memref::CastOp::create(builder, loc, memrefType, buffer);
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, /*result=*/Type(), result, buffer, /*restrict=*/true,
      /*writable=*/true);
}

FailureOr<ExecutableFunction> Binder::run() {
  ExecutableFunction info;
  info.name = func.getName().str();
  info.isPrepare = func->hasAttr(kPrepareFunctionAttr);
  if (failed(collectSymbols()))
    return failure();
  if (info.isPrepare && !symbols.empty())
    return func.emitOpError("is a prepare function but depends on the symbol ")
           << quoteName(symbols.front().first);

  auto toBuffer = [](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  };
  struct OldTensor {
    unsigned index;
    BlockArgument buffer;
  };
  SmallVector<OldTensor> tensors;
  SmallVector<BlockArgument> outputs;
  SmallVector<std::pair<unsigned, StringAttr>> weightIndices;
  SmallVector<unsigned> rngIndices;
  for (unsigned i = 0; i < oldCount; ++i) {
    Type type = func.getArgument(i).getType();
    if (func.getArgAttr(i, kRngSeedAttr) ||
        func.getArgAttr(i, kRngCounterAttr)) {
      rngIndices.push_back(i);
      continue;
    }
    if (failed(checkSize(func, "input", i, type)))
      return failure();
    if (auto weight = func.getArgAttrOfType<StringAttr>(i, kWeightAttr)) {
      weightIndices.push_back({i, weight});
      continue;
    }
    StringRef name = getArgName(func, i);
    info.inputs.push_back(
        name.empty() ? ("in" + Twine(info.inputs.size())).str() : name.str());
    SmallVector<Attribute> dims;
    if (!cast<RankedTensorType>(type).hasStaticShape())
      for (Dim dim : getDims(getArgDims(func, i)))
        dims.push_back(builder.getStringAttr(dim.symbol));
    tensors.push_back({i, addArgument(toBuffer(type), kInputAttr,
                                      builder.getArrayAttr(dims))});
  }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    StringRef name = getResultName(func, i);
    info.outputs.push_back(name.empty() ? ("out" + Twine(i)).str()
                                        : name.str());
    info.outputDimCount += cast<RankedTensorType>(type).getRank();
    outputs.push_back(
        addArgument(toBuffer(type), kOutputAttr, builder.getI64IntegerAttr(i)));
  }
  for (auto [i, name] : weightIndices) {
    info.weights.push_back(name.str());
    tensors.push_back({i, addArgument(toBuffer(func.getArgument(i).getType()),
                                      kWeightAttr, name)});
  }
  for (auto &[symbol, value] : symbols) {
    info.symbols.push_back(symbol.str());
    value = addArgument(builder.getIndexType(), kSymbolAttr,
                        builder.getStringAttr(symbol));
  }
  for (unsigned i : rngIndices) {
    BlockArgument old = func.getArgument(i);
    StringRef attr =
        func.getArgAttr(i, kRngSeedAttr) ? kRngSeedAttr : kRngCounterAttr;
    old.replaceAllUsesWith(
        addArgument(old.getType(), attr, builder.getUnitAttr()));
  }

  builder.setInsertionPointToStart(&block);
  for (OldTensor tensor : tensors)
    bindTensor(tensor.index, tensor.buffer);
  auto terminator = cast<func::ReturnOp>(block.getTerminator());
  builder.setInsertionPoint(terminator);
  SmallVector<Value> dims;
  for (auto [result, buffer] : llvm::zip(terminator.getOperands(), outputs)) {
    Location loc = terminator.getLoc();
    for (OpFoldResult dim : tensor::getMixedSizes(builder, loc, result))
      dims.push_back(getValueOrCreateConstantIndexOp(builder, loc, dim));
    writeResult(result, buffer, loc);
  }
  terminator.getOperandsMutable().assign(dims);

  block.eraseArguments(0, oldCount);
  SmallVector<Type> dimTypes(dims.size(), builder.getIndexType());
  func.setFunctionType(builder.getFunctionType(types, dimTypes));
  func.setAllArgAttrs(attrs);
  func.setAllResultAttrs(
      SmallVector<Attribute>(dims.size(), builder.getDictionaryAttr({})));
  return info;
}

namespace {
struct BindArgumentsPass : rlx::impl::BindArgumentsPassBase<BindArgumentsPass> {
  void runOnOperation() override {
    std::vector<ExecutableFunction> functions;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
        if (failed(checkSize(func, "output", i, type)))
          return signalPassFailure();
      FailureOr<ExecutableFunction> function = Binder(func).run();
      if (failed(function))
        return signalPassFailure();
      functions.push_back(std::move(*function));
    }
    setFunctions(getOperation(), functions);
  }
};
} // namespace
