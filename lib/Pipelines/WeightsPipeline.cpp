// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Import/WeightBindings.h"
#include "RLX/Pipelines/Phases.h"
#include "RLX/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace rlx;

/// The values of a map in an order that does not depend on its hashes.
static ParamBindings sortBindings(const llvm::StringMap<ElementsAttr> &map) {
  ParamBindings bindings;
  for (const auto &entry : map)
    bindings.emplace_back(entry.getKey().str(), entry.getValue());
  llvm::sort(bindings,
             [](const auto &a, const auto &b) { return a.first < b.first; });
  return bindings;
}

static void addCleanup(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}

void rlx::buildWeightsPipeline(OpPassManager &pm,
                               const WeightsPhaseOptions &options) {
  auto addFold = [&] {
    if (!options.fold)
      return;
    ConstFoldPassOptions fold;
    fold.growthThreshold = options.foldGrowthThreshold;
    fold.releaseDead = options.ownsWeights;
    pm.addPass(createConstFoldPass(options.evaluator, fold));
  };
  // While params and constants are still told apart.
  pm.addPass(createNameConstantsPass());
  if (!options.bindings.empty() || !options.weightFiles.empty()) {
    SpecializeParamsPassOptions specialize;
    specialize.weights.assign(options.weightFiles.begin(),
                              options.weightFiles.end());
    pm.addPass(createSpecializeParamsPass(sortBindings(options.bindings),
                                          specialize, loadWeightFile));
  }
  addCleanup(pm);
  addFold();
  // After the first fold a weight that reached its product through other ops is
  // a constant there.
  pm.addPass(createLayoutWeightsPass());
  addFold();
  addCleanup(pm);
  pm.addPass(createDropUnusedPass());
  if (options.hoist)
    pm.addPass(createSplitPreparePass());
  addCleanup(pm);
  pm.addPass(createDropUnusedPass());
}
