// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LoopKernels.cpp - linalg ops as loops over a range -----------------===//

#include "KernelBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rlx;

/// A task of a flat loop begins at a cache line of f32.
constexpr int64_t kFlatChunk = 16;

/// Nanoseconds that an element takes one worker, by the ops of the body:
/// measured on an Ice Lake server core, vectorised, operands in L2.
static double getElementCost(linalg::LinalgOp op) {
  double cost = 0.1 + 0.03 * op->getNumOperands();
  op.getBlock()->walk([&](Operation *nested) {
    bool isElementary = isa<math::MathDialect>(nested->getDialect());
    cost += isElementary ? 0.4 : 0.02;
  });
  return cost;
}

/// Size of each loop.
static FailureOr<SmallVector<OpFoldResult>> getLoopSizes(linalg::LinalgOp op) {
  OpBuilder builder(op);
  SmallVector<OpFoldResult> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    SmallVector<OpFoldResult> dims = getDims(builder, operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      // A known size is worth more than an equal one that isn't.
      if (dim && (!sizes[dim.getPosition()] || isa<Attribute>(dims[i])))
        sizes[dim.getPosition()] = dims[i];
    }
  }
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!size)
      return op->emitError("loop ")
             << i << " has no operand that tells its size";
  return sizes;
}

/// Neighbouring loops that all operands walk through as if they were one.
static SmallVector<ReassociationIndices> getGroups(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool canCollapse =
      isa<linalg::GenericOp, linalg::CopyOp>(op) &&
      llvm::all_of(
          maps, [](AffineMap map) { return map.isProjectedPermutation(); }) &&
      llvm::all_of(op->getOperandTypes(), [](Type type) {
        auto memref = dyn_cast<MemRefType>(type);
        return !memref || memref.getLayout().isIdentity();
      });
  SmallVector<ReassociationIndices> groups;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (int64_t i = 0; i < op.getNumLoops(); ++i) {
    if (canCollapse && i > 0 && kinds[i] == kinds[i - 1]) {
      ReassociationIndices longer = groups.back();
      longer.push_back(i);
      if (linalg::areDimSequencesPreserved(maps, {longer})) {
        groups.back() = longer;
        continue;
      }
    }
    groups.push_back({i});
  }
  return groups;
}

FailureOr<Kernel> rlx::emitLoopKernel(linalg::LinalgOp op, Value workers,
                                      FunctionPool &pool) {
  Location loc = op.getLoc();
  FailureOr<SmallVector<OpFoldResult>> sizes = getLoopSizes(op);
  if (failed(sizes))
    return failure();
  SmallVector<ReassociationIndices> groups = getGroups(op);

  // Divide the outermost loop that is parallel and not trivially short.
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  std::optional<size_t> divided;
  OpBuilder builder(op);
  SmallVector<OpFoldResult> dividedSizes;
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (kinds[group.front()] != utils::IteratorType::parallel)
      continue;
    SmallVector<OpFoldResult> groupSizes;
    uint64_t known = 1;
    for (int64_t dim : group) {
      groupSizes.push_back((*sizes)[dim]);
      known = llvm::SaturatingMultiply<uint64_t>(
          known, getConstantIntValue((*sizes)[dim]).value_or(1 << 20));
    }
    if (!divided || known > 4) {
      divided = i;
      dividedSizes = groupSizes;
    }
    if (known > 4)
      break;
  }
  Kernel kernel;
  kernel.units = getProduct(builder, loc, dividedSizes);
  bool isFlat = divided && *divided + 1 == groups.size();
  kernel.chunkMultiple = isFlat ? kFlatChunk : 1;
  Value cost = getCost(builder, loc, getElementCost(op), *sizes);
  kernel.count = getTaskCount(builder, loc, cost, workers, kernel.units);

  Type index = builder.getIndexType();
  SmallVector<Value> used = getUsedValues(op);
  KernelBody body(op, used, {index, index});
  llvm::append_range(kernel.buffers, body.getBuffers());
  llvm::append_range(kernel.scalars, body.getScalars());
  for (Value value : used)
    body.get(value);
  IRRewriter rewriter(body.getBuilder());
  auto clone = cast<linalg::LinalgOp>(
      rewriter.clone(*op.getOperation(), body.getMapping()));
  if (!isa<linalg::GenericOp>(clone)) {
    rewriter.setInsertionPoint(clone);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, clone);
    if (failed(generic))
      return op.emitError("has no form as a loop nest");
    clone = *generic;
  }
  if (groups.size() < op.getNumLoops()) {
    rewriter.setInsertionPoint(clone);
    FailureOr<linalg::CollapseResult> collapsed =
        linalg::collapseOpIterationDims(clone, groups, rewriter);
    if (failed(collapsed))
      return op.emitError("cannot be collapsed to fewer loops");
    rewriter.eraseOp(clone);
    clone = collapsed->collapsedOp;
  }
  rewriter.setInsertionPoint(clone);
  FailureOr<linalg::LinalgLoops> loops =
      linalg::linalgOpToLoops(rewriter, clone);
  if (failed(loops))
    return op.emitError("has no form as a loop nest");
  rewriter.eraseOp(clone);
  if (divided) {
    auto loop = cast<scf::ForOp>((*loops)[*divided]);
    loop.setLowerBound(body.getExtra(0));
    loop.setUpperBound(body.getExtra(1));
  }
  kernel.function = pool.intern(body.getFunction(), "rlx.loops");
  return kernel;
}
