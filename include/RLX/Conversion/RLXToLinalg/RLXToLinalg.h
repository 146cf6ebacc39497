// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXToLinalg.h - rlx ops to linalg and tensor ops ---------*- C++ -*-===//

#ifndef RLX_CONVERSION_RLXTOLINALG_RLXTOLINALG_H
#define RLX_CONVERSION_RLXTOLINALG_RLXTOLINALG_H

#include "RLX/Conversion/RLXToLinalg/ShapeResolver.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace rlx {

/// Where random numbers begin: both i64, dominating the op that asks.
struct RngStateValues {
  /// The session's seed.
  mlir::Value seed;
  /// The number of this forward.
  mlir::Value counter;
};

/// Provides the state to an `rlx.rng_*` op; fails if there is none.
using RngStateProvider =
    std::function<mlir::FailureOr<RngStateValues>(mlir::Operation *)>;

/// The arguments of the enclosing function that carry kRngSeedAttr and
/// kRngCounterAttr (RLXShape.h).
mlir::FailureOr<RngStateValues> getRngStateFromArguments(mlir::Operation *op);

/// Appends those two i64 arguments to `func` unless it has them. Whoever builds
/// the entry point passes `rlx_abi_params::rng_seed` and `rng_counter` for
/// them.
void addRngStateArguments(mlir::FunctionOpInterface func);

/// Lowers elementwise ops, reshape, expand, transpose, random numbers and
/// unnamed constants. `shapes` has run on the function and outlives the
/// patterns.
void populateRLXToLinalgPatterns(
    mlir::RewritePatternSet &patterns, const ShapeResolver &shapes,
    RngStateProvider rngState = getRngStateFromArguments);

} // namespace rlx

#endif // RLX_CONVERSION_RLXTOLINALG_RLXTOLINALG_H
