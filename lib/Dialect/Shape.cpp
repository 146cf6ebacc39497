// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Shape.cpp - Shapes and symbols of the rlx dialect --------*- C++ -*-===//

#include "RLX/Dialect/RLXShape.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using llvm::StringRef;

namespace rlx {

Dim getDim(Attribute entry) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(entry))
    return {symbol.getValue(), ShapedType::kDynamic};
  return {StringRef(), cast<IntegerAttr>(entry).getInt()};
}

SmallVector<Dim> getDims(ArrayAttr dims) {
  return llvm::map_to_vector(dims, getDim);
}

ArrayAttr getArgDims(FunctionOpInterface func, unsigned index) {
  return func.getArgAttrOfType<ArrayAttr>(index, kDimsAttr);
}

ArrayAttr getResultDims(FunctionOpInterface func, unsigned index) {
  return func.getResultAttrOfType<ArrayAttr>(index, kDimsAttr);
}

StringRef getArgName(FunctionOpInterface func, unsigned index) {
  auto name = func.getArgAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.getValue() : StringRef();
}

StringRef getResultName(FunctionOpInterface func, unsigned index) {
  auto name = func.getResultAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.getValue() : StringRef();
}

std::optional<SymbolSource> findSymbol(FunctionOpInterface func,
                                       StringRef symbol) {
  for (unsigned arg = 0, e = func.getNumArguments(); arg < e; ++arg) {
    ArrayAttr dims = getArgDims(func, arg);
    if (!dims)
      continue;
    for (auto [dim, entry] : llvm::enumerate(dims))
      if (getDim(entry).symbol == symbol)
        return SymbolSource{arg, static_cast<unsigned>(dim)};
  }
  return std::nullopt;
}

SmallVector<std::pair<StringRef, SymbolSource>>
getSymbols(FunctionOpInterface func) {
  SmallVector<std::pair<StringRef, SymbolSource>> symbols;
  llvm::StringSet<> seen;
  for (unsigned arg = 0, e = func.getNumArguments(); arg < e; ++arg) {
    ArrayAttr dims = getArgDims(func, arg);
    if (!dims)
      continue;
    for (auto [i, entry] : llvm::enumerate(dims)) {
      Dim dim = getDim(entry);
      if (dim.isSymbol() && seen.insert(dim.symbol).second)
        symbols.push_back({dim.symbol, {arg, static_cast<unsigned>(i)}});
    }
  }
  return symbols;
}

std::optional<int64_t> broadcastDim(int64_t lhs, int64_t rhs) {
  if (lhs == rhs || rhs == 1)
    return lhs;
  if (lhs == 1 || ShapedType::isDynamic(lhs))
    return rhs;
  if (ShapedType::isDynamic(rhs))
    return lhs;
  return std::nullopt;
}

LogicalResult broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                              SmallVectorImpl<int64_t> &result) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  result.assign(lhs.begin(), lhs.end());
  size_t offset = lhs.size() - rhs.size();
  for (auto [i, size] : llvm::enumerate(rhs)) {
    std::optional<int64_t> merged = broadcastDim(lhs[offset + i], size);
    if (!merged)
      return failure();
    result[offset + i] = *merged;
  }
  return success();
}

LogicalResult inferBroadcast(std::optional<Location> location, Value lhs,
                             Value rhs, SmallVectorImpl<Type> &inferred) {
  auto lhsType = cast<RankedTensorType>(lhs.getType());
  auto rhsType = cast<RankedTensorType>(rhs.getType());
  SmallVector<int64_t> shape;
  if (succeeded(
          broadcastShapes(lhsType.getShape(), rhsType.getShape(), shape))) {
    inferred.push_back(RankedTensorType::get(shape, lhsType.getElementType()));
    return success();
  }
  if (!location)
    return failure();
  InFlightDiagnostic diag = emitError(*location)
                            << "operands " << lhsType << " and " << rhsType
                            << " do not broadcast: aligned at the innermost "
                               "dim, sizes must be equal or 1";
  diag.attachNote(lhs.getLoc()) << "lhs is " << lhsType;
  diag.attachNote(rhs.getLoc()) << "rhs is " << rhsType;
  return diag;
}

std::optional<int64_t> getStaticElementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    std::optional<int64_t> product = llvm::checkedMul(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

bool isWeightLeaf(Operation *op) { return isa<WeightLeafOpInterface>(op); }

} // namespace rlx
