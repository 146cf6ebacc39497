// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Elements.h - What elementwise ops do with one element ----*- C++ -*-===//

#ifndef RLX_LIB_CONVERSION_RLXTOLINALG_ELEMENTS_H
#define RLX_LIB_CONVERSION_RLXTOLINALG_ELEMENTS_H

#include "RLX/Conversion/ExpandMath/Scalar.h"

namespace rlx {

/// What one elementwise op computes. `x` holds f32, f64 or signless integers.
struct ElementBody {
  llvm::StringRef op;
  Scalar (*onFloats)(llvm::ArrayRef<Scalar> x);
  Scalar (*onIntegers)(llvm::ArrayRef<Scalar> x, bool isUnsigned);
  /// The float formula knows the bits of f32 alone, now or in rlx-expand-math.
  bool isF32Only = false;
};

/// The body of an op by its name; null if it has none.
const ElementBody *findElementBody(llvm::StringRef op);

/// The type that arithmetic on elements of `type` happens in: f32 for f16 and
/// bf16, a signless integer for an unsigned one.
mlir::Type getArithmeticType(mlir::Type type);

/// An element to its arithmetic type (exact) and back (rounded to nearest
/// even).
Scalar loadElement(Scalar element);
Scalar storeElement(Scalar value, mlir::Type type);

/// `rlx.cast` of one element.
Scalar castElement(Scalar element, mlir::Type type);

} // namespace rlx

#endif // RLX_LIB_CONVERSION_RLXTOLINALG_ELEMENTS_H
