// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Bake.h - From a graph and its weights to one file ------------------===//
//
// The library behind rlx-bake. The tools and the examples use nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef RLX_PIPELINES_BAKE_H
#define RLX_PIPELINES_BAKE_H

#include "RLX/Pipelines/Artifact.h"
#include "RLX/Pipelines/Phases.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <string>
#include <vector>

namespace rlx {

/// Values by weight name. Elements are row-major; large ones are resources that
/// alias a mapped file, so binding copies nothing.
using WeightBindings = llvm::StringMap<mlir::ElementsAttr>;

/// How far a bake may rewrite the graph.
enum class Profile {
  Merge, ///< one file, same compute
  Fold,  ///< weight-only work of known weights is done now; dense weights
  Exact  ///< lossless rewrites by value; equal to Fold in this release
};

/// The profile that a user's name or alias means, in any case: `merge` `none`
/// `raw`, `fold` `cleanup`, `exact` `lossless` `default` `compute`. The error
/// lists them.
llvm::Expected<Profile> parseProfile(llvm::StringRef name);
llvm::StringRef stringifyProfile(Profile profile);

/// The CPU classes that code can be generated for.
llvm::ArrayRef<llvm::StringRef> getCPUClasses();

/// The CPU classes that names of targets mean, in their order without repeats:
/// a class means itself, `native` that of this machine, `none` alone nothing.
llvm::Expected<std::vector<std::string>>
resolveTargets(llvm::ArrayRef<std::string> names);

struct BakeOptions {
  static BakeOptions fromProfile(Profile profile);

  Profile profile = Profile::Exact;
  /// Do weight-only work of known weights now.
  bool fold = true;
  /// Do the rest of it once at load instead of at every forward. The default
  /// comes from RLX_CACHE_PARAM_INVARIANT (`0` or `1`), else it is on.
  bool hoist = true;
  /// A fold may add this many bytes over what dies with it.
  uint64_t foldGrowthThreshold = 1 << 20;
  /// What to generate code for, as for `resolveTargets`; empty: a portable file
  /// without code.
  std::vector<std::string> targets = {"x86-64-v3", "x86-64-v4"};
  /// Store the graph too, so that the file can be baked again for targets that
  /// come later.
  bool storeGraph = true;
  /// Nothing else in the graph's context uses the values of `bindings`: free
  /// them as soon as a fold makes them dead.
  bool ownsWeights = false;
  /// Called between steps with what is being done now.
  std::function<void(llvm::StringRef step)> progress;
};

/// One row of the weight table.
struct WeightReport {
  std::string name;
  llvm::SmallVector<int64_t, 4> shape;
  std::string dtype;
  std::string encoding;
  std::string layout;
  /// Bytes in the file; 0 for weights that come at load.
  uint64_t bytes = 0;
  /// Bytes of the dense values.
  uint64_t rawBytes = 0;
  /// Names of the weights it was computed from; itself if it is stored as is.
  std::vector<std::string> origin;
  /// What happened to it, for people.
  std::string note;
};

/// What a bake did. Counts of ops leave out leaves' packing (`rlx.pack`).
struct BakeReport {
  std::string graph;
  std::string profile;
  uint64_t nodesBefore = 0;
  uint64_t nodesAfter = 0;
  /// Ops that run once at load.
  uint64_t nodesPrepared = 0;
  std::vector<std::string> paramsBaked;
  std::vector<std::string> paramsRemaining;
  uint64_t prepareComponents = 0;
  uint64_t prepareFunctions = 0;
  uint64_t foldedConstants = 0;
  uint64_t weightBytes = 0;
  /// Dense bytes of the params baked and of the graph's own constants.
  uint64_t rawWeightBytes = 0;
  uint64_t fileBytes = 0;
  std::vector<std::string> targets;
  std::vector<WeightReport> weights;

  llvm::json::Value toJSON() const;
};

struct BakeResult {
  /// Borrows the weights from the graph's MLIRContext.
  Artifact artifact;
  BakeReport report;
};

/// Bakes `graph` (the `import` phase: params, no constants by name needed) with
/// the values of `bindings`. Params without a value stay params. `graph` is
/// rewritten in place. Not thread-safe for one MLIRContext.
llvm::Expected<BakeResult> bake(mlir::ModuleOp graph,
                                const WeightBindings &bindings,
                                const BakeOptions &options);

/// Runs `graph` through the phases up to `phase` only (`import`, `weights` or
/// `lowered`), for the first of `options.targets` where a phase needs one.
llvm::Error runPhases(mlir::ModuleOp graph, const WeightBindings &bindings,
                      const BakeOptions &options, Phase phase);

} // namespace rlx

#endif // RLX_PIPELINES_BAKE_H
