// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Verify.h - What verifiers of several families share ------*- C++ -*-===//

#ifndef RLX_LIB_DIALECT_VERIFY_H
#define RLX_LIB_DIALECT_VERIFY_H

#include "RLX/Dialect/RLXShape.h"

namespace rlx {

/// Whether a `shape` attribute may hold -1 for "what is left".
enum class Inferred { Refused, Allowed };

/// Checks that `shape` describes `result`: one entry per dim, an integer equal
/// to each static size and a symbol (or -1, if allowed) for each `?`.
llvm::LogicalResult verifyShapeAttr(mlir::Operation *op, mlir::ArrayAttr shape,
                                    mlir::RankedTensorType result,
                                    Inferred inferred = Inferred::Refused);

/// Checks that an argument of the enclosing function carries each symbol of
/// `shape`, so that its value is known when the function is called.
llvm::LogicalResult verifySymbolsOfInputs(mlir::Operation *op,
                                          mlir::ArrayAttr shape);

/// Prints a value for messages: `weight "fc1.weight"` for a weight that has a
/// name, `what` for anything else.
std::string describe(mlir::Value value, llvm::StringRef what);

/// True if both are known and differ.
inline bool areDifferent(int64_t lhs, int64_t rhs) {
  return lhs != rhs && !mlir::ShapedType::isDynamic(lhs) &&
         !mlir::ShapedType::isDynamic(rhs);
}

} // namespace rlx

#endif // RLX_LIB_DIALECT_VERIFY_H
