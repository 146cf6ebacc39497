// SPDX-License-Identifier: MIT OR Apache-2.0
//===- WeightNames.cpp - Names of weights and of derived values -----------===//

#include "WeightNames.h"
#include "PreparePartition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace rlx {

WeightNames::WeightNames(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (auto leaf = dyn_cast<WeightLeafOpInterface>(op))
      taken.insert(leaf.getWeightName());
    if (auto prepare = dyn_cast<PrepareOp>(op)) {
      for (auto name : prepare.getWeights().getAsRange<StringAttr>())
        taken.insert(name);
      for (auto name : prepare.getOutputs().getAsRange<StringAttr>())
        taken.insert(name);
    }
  });
}

std::string WeightNames::takeFor(Location loc,
                                 ArrayRef<WeightLeafOpInterface> weights) {
  StringRef own = getLocationName(loc);
  if (take(own))
    return own.str();
  if (weights.size() == 1) {
    WeightLeafOpInterface weight = weights.front();
    std::string derived = (weight.getWeightName() + ".prep").str();
    if (take(derived))
      return derived;
  }
  for (;;) {
    std::string name = "prep" + std::to_string(next++);
    if (take(name))
      return name;
  }
}

Value LeafBuilder::getOrCreate(Operation *near, StringRef name,
                               function_ref<Value(OpBuilder &)> create) {
  Operation *function =
      near->getParentWithTrait<OpTrait::IsIsolatedFromAbove>();
  Region *body = &function->getRegion(0);
  Value &leaf = leaves[body][name];
  if (leaf)
    return leaf;
  OpBuilder builder(near->getContext());
  Operation *&previous = last[body];
  if (previous)
    builder.setInsertionPointAfter(previous);
  else
    builder.setInsertionPointToStart(&body->front());
  leaf = create(builder);
  previous = leaf.getDefiningOp();
  return leaf;
}

void eraseDeadOps(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  // What a dead loop uses is dead only once the loop is gone.
  for (auto function : module.getOps<func::FuncOp>())
    while (succeeded(runRegionDCE(rewriter, function->getRegions())))
      ;
}

} // namespace rlx
