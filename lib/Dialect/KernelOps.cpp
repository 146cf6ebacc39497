// SPDX-License-Identifier: MIT OR Apache-2.0
//===- KernelOps.cpp - Products as tile kernels see them --------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace rlx;

//===----------------------------------------------------------------------===//
// Shared by all kernel ops
//===----------------------------------------------------------------------===//

/// Buffers are read and written; tensors have no effects.
static void getKernelEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// The result has the shape of the destination.
static LogicalResult reifyInit(OpBuilder &builder,
                               DestinationStyleOpInterface op,
                               ReifiedRankedShapedTypeDims &shapes) {
  Value init = op.getDpsInitOperand(0)->get();
  auto type = cast<ShapedType>(init.getType());
  SmallVector<OpFoldResult> dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    dims.push_back(type.isDynamicDim(i)
                       ? OpFoldResult(builder.createOrFold<tensor::DimOp>(
                             op.getLoc(), init, i))
                       : builder.getIndexAttr(type.getDimSize(i)));
  shapes.push_back(std::move(dims));
  return success();
}

/// Tensors give one result of the destination's type, buffers none.
static LogicalResult verifyDestination(DestinationStyleOpInterface op) {
  Type init = op.getDpsInitOperand(0)->get().getType();
  bool onTensors = isa<TensorType>(init);
  for (Value operand : op->getOperands())
    if (isa<TensorType>(operand.getType()) != onTensors)
      return op->emitOpError("mixes tensors and buffers: destination is ")
             << init << " but an operand is " << operand.getType();
  unsigned expected = onTensors ? 1 : 0;
  if (op->getNumResults() != expected)
    return op->emitOpError("has ")
           << op->getNumResults() << " results but a destination " << init
           << " gives " << expected;
  return success();
}

static LogicalResult verifyPermutation(Operation *op,
                                       std::optional<ArrayRef<int64_t>> perm,
                                       int64_t rank) {
  if (!perm)
    return success();
  if (static_cast<int64_t>(perm->size()) != rank)
    return op->emitOpError("permutes ")
           << perm->size() << " dims but the operand has " << rank;
  if (!isPermutationVector(*perm))
    return op->emitOpError("permutation [")
           << *perm << "] does not name each dim below " << rank << " once";
  return success();
}

/// True if a dim of static size `operand` can stand for one of size `result`.
static bool fits(int64_t operand, int64_t result) {
  return operand == result || operand == 1 || ShapedType::isDynamic(operand) ||
         ShapedType::isDynamic(result);
}

/// Outer dims `operand`, aligned at the innermost one, broadcast to `result`.
static LogicalResult verifyOuterDims(Operation *op, StringRef what,
                                     ArrayRef<int64_t> operand,
                                     ArrayRef<int64_t> result) {
  if (operand.size() > result.size())
    return op->emitOpError()
           << what << " has " << operand.size()
           << " outer dims but the destination has " << result.size();
  result = result.take_back(operand.size());
  for (auto [i, size] : llvm::enumerate(operand))
    if (!fits(size, result[i]))
      return op->emitOpError()
             << what << " has size " << size << " in outer dim " << i
             << " but the destination has " << result[i];
  return success();
}

/// Checks that `flat` can hold a KxN matrix.
static LogicalResult verifyPackedSize(Operation *op, StringRef what,
                                      int64_t flat, int64_t k, int64_t n) {
  if (ShapedType::isDynamic(flat) || ShapedType::isDynamic(k) ||
      ShapedType::isDynamic(n))
    return success();
  // Compared without a product that could overflow.
  bool equal = k == 0 || n == 0 ? flat == 0 : flat % k == 0 && flat / k == n;
  if (equal)
    return success();
  return op->emitOpError()
         << what << " holds " << flat
         << " elements per matrix but the other operands make it " << k << "x"
         << n;
}

//===----------------------------------------------------------------------===//
// GemmOp
//===----------------------------------------------------------------------===//

void GemmOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                   Value rhs, Value init, ArrayRef<int64_t> permutation) {
  DenseI64ArrayAttr perm;
  if (!permutation.empty())
    perm = builder.getDenseI64ArrayAttr(permutation);
  SmallVector<Type> results;
  if (isa<TensorType>(init.getType()))
    results.push_back(init.getType());
  build(builder, state, results, lhs, rhs, ValueRange{}, init, perm,
        builder.getArrayAttr({}));
}

void GemmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getKernelEffects(*this, effects);
}

LogicalResult GemmOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyInit(builder, *this, shapes);
}

LogicalResult GemmOp::verify() {
  if (failed(verifyDestination(*this)))
    return failure();
  auto lhs = cast<ShapedType>(getLhs().getType());
  auto rhs = cast<ShapedType>(getRhs().getType());
  auto init = cast<ShapedType>(getInit().getType());
  int64_t lhsRank = lhs.getRank(), rank = init.getRank();
  if (lhsRank < 2 || rank < 2 || rhs.getRank() < 1)
    return emitOpError("multiplies ")
           << lhs << " by " << rhs << " into " << init
           << " but needs ...xMxK, ...x(K*N) and ...xMxN";
  if (failed(verifyPermutation(*this, getPermutation(), lhsRank)))
    return failure();
  if (getLhsDim(lhsRank - 1) != lhsRank - 1)
    return emitOpError("permutation [")
           << *getPermutation() << "] moves the innermost dim of lhs; the "
           << "kernel reads K contiguously";

  SmallVector<int64_t> lhsShape;
  for (int64_t i = 0; i < lhsRank; ++i)
    lhsShape.push_back(lhs.getDimSize(getLhsDim(i)));
  ArrayRef<int64_t> outer = init.getShape().drop_back(2);
  if (failed(verifyOuterDims(*this, "lhs", ArrayRef(lhsShape).drop_back(2),
                             outer)) ||
      failed(
          verifyOuterDims(*this, "rhs", rhs.getShape().drop_back(), outer)) ||
      failed(verifyPackedSize(*this, "rhs", rhs.getShape().back(),
                              lhsShape.back(), init.getShape().back())))
    return failure();
  int64_t lhsM = lhsShape[lhsRank - 2], m = init.getDimSize(rank - 2);
  if (lhsM != m && !ShapedType::isDynamic(lhsM) && !ShapedType::isDynamic(m))
    return emitOpError("lhs has ")
           << lhsM << " rows but the destination has " << m;

  if (!hasEpilogue()) {
    if (!getExtras().empty() || !getEpilogueMaps().empty())
      return emitOpError("has operands of an epilogue but no epilogue");
    return success();
  }
  Block &body = getEpilogue().front();
  if (body.getNumArguments() != getExtras().size() + 1)
    return emitOpError("epilogue has ")
           << body.getNumArguments()
           << " arguments but takes the sum and one element of each of "
           << getExtras().size() << " operands";
  if (getEpilogueMaps().size() != getExtras().size())
    return emitOpError("has ")
           << getEpilogueMaps().size() << " maps for " << getExtras().size()
           << " operands of the epilogue";
  if (!body.getArgument(0).getType().isF32())
    return emitOpError("epilogue takes the sum as ")
           << body.getArgument(0).getType() << " but sums are f32";
  YieldOp yield;
  if (!body.empty())
    yield = dyn_cast<YieldOp>(body.back());
  if (!yield || !yield.getValue().getType().isF32())
    return emitOpError("epilogue does not end in rlx.yield of an f32");
  for (auto [i, extra] : llvm::enumerate(getExtras())) {
    auto type = cast<ShapedType>(extra.getType());
    AffineMap map = cast<AffineMapAttr>(getEpilogueMaps()[i]).getAffineMap();
    if (static_cast<int64_t>(map.getNumDims()) != rank ||
        static_cast<int64_t>(map.getNumResults()) != type.getRank())
      return emitOpError("epilogue map ")
             << getEpilogueMaps()[i] << " does not lead from " << init << " to "
             << type;
    for (AffineExpr result : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(result))
        return emitOpError("epilogue map ")
               << getEpilogueMaps()[i]
               << " has a result that is neither a dim nor a constant";
    if (body.getArgument(i + 1).getType() != type.getElementType())
      return emitOpError("epilogue takes ")
             << body.getArgument(i + 1).getType() << " of an operand " << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// PackPanelsOp
//===----------------------------------------------------------------------===//

void PackPanelsOp::build(OpBuilder &builder, OperationState &state,
                         Value source, Value init,
                         ArrayRef<int64_t> permutation) {
  DenseI64ArrayAttr perm;
  if (!permutation.empty())
    perm = builder.getDenseI64ArrayAttr(permutation);
  SmallVector<Type> results;
  if (isa<TensorType>(init.getType()))
    results.push_back(init.getType());
  build(builder, state, results, source, init, perm);
}

void PackPanelsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getKernelEffects(*this, effects);
}

LogicalResult
PackPanelsOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  return reifyInit(builder, *this, shapes);
}

LogicalResult PackPanelsOp::verify() {
  if (failed(verifyDestination(*this)))
    return failure();
  auto source = cast<ShapedType>(getSource().getType());
  auto init = cast<ShapedType>(getInit().getType());
  int64_t rank = source.getRank();
  if (rank < 2 || init.getRank() != rank - 1)
    return emitOpError("packs ")
           << source << " into " << init
           << " but needs ...xKxN and ...x(K*N) with the same outer dims";
  if (failed(verifyPermutation(*this, getPermutation(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(source.getDimSize(getSourceDim(i)));
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t lhs = shape[i], rhs = init.getDimSize(i);
    if (lhs != rhs && !ShapedType::isDynamic(lhs) &&
        !ShapedType::isDynamic(rhs))
      return emitOpError("source has size ")
             << lhs << " in outer dim " << i << " but the destination has "
             << rhs;
  }
  return verifyPackedSize(*this, "destination", init.getShape().back(),
                          shape[rank - 2], shape[rank - 1]);
}
