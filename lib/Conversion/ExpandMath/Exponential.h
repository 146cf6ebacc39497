// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Exponential.h - What functions made of exp share ---------*- C++ -*-===//

#ifndef RLX_LIB_CONVERSION_EXPANDMATH_EXPONENTIAL_H
#define RLX_LIB_CONVERSION_EXPANDMATH_EXPONENTIAL_H

#include "RLX/Conversion/ExpandMath/Scalar.h"

namespace rlx {

/// e^x in f32 as `fraction` * 2^n, the power in two factors because 2^n itself
/// may lie outside of f32. A function that multiplies e^x by something should
/// take `fraction` first: e^x may have lost bits below the smallest normal
/// number that the product still has.
struct Exponential {
  Scalar fraction, scale1, scale2;

  /// number * 2^n, rounded only if it is below the normal numbers.
  Scalar scale(Scalar number) const { return number * scale1 * scale2; }
  Scalar value() const { return scale(fraction); }
  /// factor * e^x.
  Scalar times(Scalar factor) const { return scale(factor * fraction); }
};

/// Smallest argument of emitExponential; f32's e^x and x e^x are 0 below it.
constexpr double kExpLow = -120;

/// e^(x + low) for x in [kExpLow, 90] or NaN and |low| much smaller than x's
/// ulp is to 1. Without `low` it is 0.
Exponential emitExponential(Scalar x, std::optional<Scalar> low = std::nullopt);

/// log(1 + e) for e in [0, 1] or NaN.
Scalar emitLog1pUnit(Scalar e);

/// log2(x) in f64 for positive x, finite and normal; other x give a number.
Scalar emitLog2F64(Scalar x);
/// 2^t in f64 for |t| <= 400 or NaN.
Scalar emitExp2F64(Scalar t);

} // namespace rlx

#endif // RLX_LIB_CONVERSION_EXPANDMATH_EXPONENTIAL_H
