// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Phases.h - The phases of a bake and their pipelines ----------------===//

#ifndef RLX_PIPELINES_PHASES_H
#define RLX_PIPELINES_PHASES_H

#include "RLX/Transforms/ConstantEvaluator.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace rlx {

/// In the order in which data flows. `rlx-bake --compile-to=<phase>` prints the
/// module at the end of the first three, the object code and the file.
enum class Phase { Import, Weights, Lowered, Codegen, Artifact };

llvm::Expected<Phase> parsePhase(llvm::StringRef name);

/// Options of the `weights` phase.
struct WeightsPhaseOptions {
  /// Values by weight name; copied into the pipeline, so they must be cheap
  /// (resources).
  llvm::StringMap<mlir::ElementsAttr> bindings;
  /// Weight files that give further values.
  std::vector<std::string> weightFiles;
  bool fold = true;
  bool hoist = true;
  uint64_t foldGrowthThreshold = 1 << 20;
  /// Free the values of weights as soon as a fold makes them dead: nothing else
  /// in the context uses them.
  bool ownsWeights = false;
  /// Runs weight-only functions for the fold; the compiled one by default.
  std::shared_ptr<ConstantEvaluator> evaluator;
};

/// name -> specialise -> canonicalise, CSE, fold -> layout -> fold -> DCE ->
/// split.
void buildWeightsPipeline(mlir::OpPassManager &pm,
                          const WeightsPhaseOptions &options);

/// An evaluator that compiles a function as a model is compiled, for the best
/// CPU class of this machine, and runs it: folded bits equal run-time bits.
std::shared_ptr<ConstantEvaluator> createCompiledEvaluator();

/// Registers all passes of RLX and the pipelines `rlx-weights` and
/// `rlx-lower-cpu` with the global registry, for rlx-opt and hosts like it.
void registerAllRLXPasses();

/// Registers the dialects and interfaces that the phases need.
void registerAllRLXDialects(mlir::DialectRegistry &registry);

} // namespace rlx

#endif // RLX_PIPELINES_PHASES_H
