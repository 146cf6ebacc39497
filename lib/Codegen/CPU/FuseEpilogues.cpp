// SPDX-License-Identifier: MIT OR Apache-2.0
//===- FuseEpilogues.cpp - Elementwise consumers join their product -------===//

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace rlx {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

/// The product that `generic` may join, null if there is none.
static GemmOp findProduct(linalg::GenericOp generic) {
  if (generic.getNumResults() != 1 || !generic.hasPureTensorSemantics() ||
      generic.getNumReductionLoops() != 0 || generic.hasIndexSemantics())
    return nullptr;
  auto type = dyn_cast<RankedTensorType>(generic.getResult(0).getType());
  if (!type || !type.getElementType().isF32())
    return nullptr;
  OpOperand *init = generic.getDpsInitOperand(0);
  // An old value of the destination would have to be read before the product
  // overwrites it.
  if (!generic.getMatchingIndexingMap(init).isIdentity() ||
      generic.payloadUsesValueFromOperand(init))
    return nullptr;
  for (AffineMap map : generic.getIndexingMapsArray())
    for (AffineExpr result : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(result))
        return nullptr;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    auto gemm = input->get().getDefiningOp<GemmOp>();
    if (!gemm || input->get().getType() != type)
      continue;
    auto isElementOfResult = [&](OpOperand &use) {
      return use.getOwner() == generic && generic.isDpsInput(&use) &&
             generic.getMatchingIndexingMap(&use).isIdentity();
    };
    if (llvm::all_of(input->get().getUses(), isElementOfResult))
      return gemm;
  }
  return nullptr;
}

/// Replaces `generic` by `gemm` with a longer epilogue, at the place of
/// `generic`, where all operands of both are defined.
static void fuse(RewriterBase &rewriter, GemmOp gemm,
                 linalg::GenericOp generic) {
  Location loc = generic.getLoc();
  rewriter.setInsertionPoint(generic);
  SmallVector<Value> extras(gemm.getExtras());
  SmallVector<Attribute> maps(gemm.getEpilogueMaps().begin(),
                              gemm.getEpilogueMaps().end());
  SmallVector<OpOperand *> added;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    // Scalars are captured like any other value of the body.
    if (input->get() == gemm->getResult(0) ||
        !isa<RankedTensorType>(input->get().getType()))
      continue;
    added.push_back(input);
    extras.push_back(input->get());
    maps.push_back(AffineMapAttr::get(generic.getMatchingIndexingMap(input)));
  }
  auto fused = GemmOp::create(
      rewriter, loc, generic.getResult(0).getType(), gemm.getLhs(),
      gemm.getRhs(), extras, generic.getDpsInitOperand(0)->get(),
      gemm.getPermutationAttr(), rewriter.getArrayAttr(maps));

  SmallVector<Type> types = {rewriter.getF32Type()};
  for (Value extra : extras)
    types.push_back(cast<RankedTensorType>(extra.getType()).getElementType());
  SmallVector<Location> locs(types.size(), loc);
  Block *body = rewriter.createBlock(&fused.getEpilogue(), {}, types, locs);

  IRMapping mapping;
  Value sum = body->getArgument(0);
  if (gemm.hasEpilogue()) {
    Block &old = gemm.getEpilogue().front();
    for (BlockArgument arg : old.getArguments())
      mapping.map(arg, body->getArgument(arg.getArgNumber()));
    for (Operation &op : old.without_terminator())
      rewriter.clone(op, mapping);
    sum =
        mapping.lookupOrDefault(cast<YieldOp>(old.getTerminator()).getValue());
  }
  unsigned next = gemm.getExtras().size() + 1;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    BlockArgument arg = generic.getMatchingBlockArgument(input);
    if (input->get() == gemm->getResult(0))
      mapping.map(arg, sum);
    else if (llvm::is_contained(added, input))
      mapping.map(arg, body->getArgument(next++));
    else
      mapping.map(arg, input->get());
  }
  for (Operation &op : generic.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  Value stored = generic.getBody()->getTerminator()->getOperand(0);
  YieldOp::create(rewriter, loc, mapping.lookupOrDefault(stored));

  rewriter.replaceOp(generic, fused->getResults());
  rewriter.eraseOp(gemm);
}

namespace {
struct FuseEpiloguesPass : rlx::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    // In program order, so that a chain of consumers joins link by link.
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk(
        [&](linalg::GenericOp generic) { generics.push_back(generic); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp generic : generics)
      if (GemmOp gemm = findProduct(generic))
        fuse(rewriter, gemm, generic);
  }
};
} // namespace
