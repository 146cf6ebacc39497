// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Passes from rlx to rlx that use what is known of weights.
#ifndef RLX_TRANSFORMS_PASSES_H
#define RLX_TRANSFORMS_PASSES_H

#include "RLX/Transforms/ConstantEvaluator.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir::func {
class FuncDialect;
} // namespace mlir::func

namespace rlx {
class RLXDialect;

#define GEN_PASS_DECL
#include "RLX/Transforms/Passes.h.inc"

/// Discardable attribute of a constant: an array of the names of the weights
/// that it was computed from.
constexpr llvm::StringLiteral kOriginAttr = "rlx.origin";

/// Values for params by name; of two values for one name the later wins.
using ParamBindings = std::vector<std::pair<std::string, mlir::ElementsAttr>>;

/// Appends the values in a weight file. Emits no diagnostic; the error names
/// the file.
using WeightLoader = std::function<llvm::Error(
    llvm::StringRef path, mlir::MLIRContext *context, ParamBindings &bindings)>;

/// What passes need from libraries above them.
struct PassServices {
  /// Null: `rlx-const-fold` fails where it has something to fold.
  std::shared_ptr<ConstantEvaluator> evaluator;
  /// Null: option `weights` of `rlx-specialize-params` is an error.
  WeightLoader loadWeights;
};

std::unique_ptr<mlir::Pass>
createSpecializeParamsPass(ParamBindings bindings,
                           SpecializeParamsPassOptions options = {},
                           WeightLoader loadWeights = {});
std::unique_ptr<mlir::Pass>
createConstFoldPass(std::shared_ptr<ConstantEvaluator> evaluator,
                    ConstFoldPassOptions options = {});

/// Registers all passes of this library under their flags.
void registerRLXPasses(const PassServices &services = {});

#define GEN_PASS_REGISTRATION
#include "RLX/Transforms/Passes.h.inc"

} // namespace rlx

#endif // RLX_TRANSFORMS_PASSES_H
