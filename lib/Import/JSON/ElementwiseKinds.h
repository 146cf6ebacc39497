// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The kinds of the graph operators Activation and Binary and the ops they
/// become.
#ifndef RLX_LIB_IMPORT_JSON_ELEMENTWISEKINDS_H
#define RLX_LIB_IMPORT_JSON_ELEMENTWISEKINDS_H

#include "RLX/Import/ElementKind.h"

#include "mlir/IR/Builders.h"

namespace rlx {

/// Which elements an operator takes.
enum class Takes {
  Floats,
  /// Floats and signed integers.
  Signed,
  /// All but BOOL.
  Numbers,
  Integers,
  /// Integers and BOOL.
  Bits,
};

/// Whether `kind` is among them.
bool includes(Takes takes, ElementKind kind);

/// As in `takes floats`.
llvm::StringRef describe(Takes takes);

struct ActivationKind {
  llvm::StringLiteral name;
  Takes takes;
  mlir::Value (*create)(mlir::OpBuilder &, mlir::Location, mlir::Value);
};

struct BinaryKind {
  llvm::StringLiteral name;
  Takes takes;
  mlir::Value (*create)(mlir::OpBuilder &, mlir::Location, mlir::Type result,
                        mlir::Value lhs, mlir::Value rhs);
};

llvm::ArrayRef<ActivationKind> activationKinds();
llvm::ArrayRef<BinaryKind> binaryKinds();

} // namespace rlx

#endif // RLX_LIB_IMPORT_JSON_ELEMENTWISEKINDS_H
