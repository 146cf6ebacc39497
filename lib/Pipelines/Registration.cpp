// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Conversion/Passes.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Import/TensorSource.h"
#include "RLX/Import/WeightBindings.h"
#include "RLX/Pipelines/Phases.h"
#include "RLX/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace rlx;

namespace {

struct WeightsPipelineOptions : PassPipelineOptions<WeightsPipelineOptions> {
  ListOption<std::string> weights{
      *this, "weights",
      llvm::cl::desc("Weight files that give values to params")};
  Option<bool> fold{*this, "fold",
                    llvm::cl::desc("Do weight-only work of known weights now"),
                    llvm::cl::init(true)};
  Option<bool> hoist{*this, "hoist",
                     llvm::cl::desc("Move the rest of it to prepare functions"),
                     llvm::cl::init(true)};
  Option<uint64_t> foldGrowthThreshold{
      *this, "fold-growth-threshold",
      llvm::cl::desc("Bytes that one fold may add over what dies with it"),
      llvm::cl::init(1 << 20)};
};

} // namespace

void rlx::registerAllRLXDialects(DialectRegistry &registry) {
  registry.insert<RLXDialect, func::FuncDialect>();
  registerCPUCodegenInterfaces(registry);
}

void rlx::registerAllRLXPasses() {
  PassServices services;
  services.evaluator = createCompiledEvaluator();
  services.loadWeights = loadWeightFile;
  registerRLXPasses(services);
  registerRLXConversionPasses();
  registerCPUCodegenPasses();
  registerLowerCPUPipeline();
  PassPipelineRegistration<WeightsPipelineOptions>(
      "rlx-weights", "The weights phase: specialise, fold, lay out, split",
      [](OpPassManager &pm, const WeightsPipelineOptions &options) {
        WeightsPhaseOptions phase;
        phase.weightFiles.assign(options.weights.begin(),
                                 options.weights.end());
        phase.fold = options.fold;
        phase.hoist = options.hoist;
        phase.foldGrowthThreshold = options.foldGrowthThreshold;
        phase.evaluator = createCompiledEvaluator();
        buildWeightsPipeline(pm, phase);
      });
}
