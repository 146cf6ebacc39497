// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Which values are computed from weights and constants alone.
#ifndef RLX_ANALYSIS_WEIGHTONLY_H
#define RLX_ANALYSIS_WEIGHTONLY_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace rlx {

/// Finds the *weight-only* values below an operation: those that no input,
/// random number or side effect reaches. Works on any dialect through
/// interfaces:
///
/// - Leaves are ops with `WeightLeafOpInterface`, and `ConstantLike` ops.
/// - A pure op, calls and ops with regions included, is weight-only if all its
///   operands are and all values that its regions capture. So a branch is only
///   if its condition is, a loop only if its bounds are, and what is
///   weight-only can be moved as a whole.
/// - Any other op is not: side effects, unknown effects, loops that might not
///   end, and pure ops without operands that are no leaves (a thread's index).
/// - Arguments of functions are not, unless every caller is known and passes
///   weight-only values.
///
/// Usable through the AnalysisManager. Values created after the analysis ran
/// are not weight-only.
class WeightOnlyAnalysis {
public:
  /// Analyses everything below `root`. Callers and callees are followed where
  /// `root` is a symbol table such as a module.
  explicit WeightOnlyAnalysis(mlir::Operation *root);

  /// True if nothing but weights and constants determines `value`.
  bool isWeightOnly(mlir::Value value) const {
    return !(facts(value) & Dynamic);
  }

  /// True if `value` is weight-only and depends on a weight whose value is not
  /// known yet.
  bool isParamDependent(mlir::Value value) const {
    return isWeightOnly(value) && (facts(value) & Open);
  }

  /// True if `value` is weight-only and every weight it depends on has a value,
  /// so that it can be computed now.
  bool isValueKnown(mlir::Value value) const {
    return !(facts(value) & (Dynamic | Open));
  }

  /// True if `value` is weight-only and depends on no argument of a region or
  /// block: it has one value in a program and its computation can be moved out
  /// of where it stands. The induction variable of a loop with constant bounds
  /// is weight-only, but not this.
  bool isHoistable(mlir::Value value) const {
    return !(facts(value) & (Dynamic | Varying));
  }

private:
  class Solver;

  /// What reaches a value; no bit set means that its value is known.
  enum Fact : uint8_t {
    Open = 1,    ///< a weight without a value
    Varying = 2, ///< an argument of a block
    Dynamic = 4, ///< an input, a random number or a side effect
  };

  uint8_t facts(mlir::Value value) const {
    auto it = state.find(value);
    return it == state.end() ? uint8_t(Dynamic) : it->second;
  }

  llvm::DenseMap<mlir::Value, uint8_t> state;
};

} // namespace rlx

#endif // RLX_ANALYSIS_WEIGHTONLY_H
