// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Power.cpp - pow, rsqrt, fmod ---------------------------------------===//

#include "Exponential.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"

namespace rlx {

Scalar emitRsqrt(Scalar x) { return 1.0 / sqrt(x); }

Scalar emitPow(Scalar x, Scalar y) {
  // 2^(y log2|x|) in f64, whose logarithm is good to 2^-50 where 2^-32 would
  // do.
  Scalar wide = x.toF64().abs();
  Scalar log = emitLog2F64(wide);
  log = select(wide == 0.0, -wide.infinity(), log);
  log = select(wide == wide.infinity(), wide, log);
  Scalar product = y.toF64() * log;
  // 1^inf is 1, not e^(inf * 0).
  product = select(wide == 1.0, wide.like(0.0), product);
  Scalar result = emitExp2F64(atMost(atLeast(product, -400), 400)).toF32();

  Scalar half = 0.5 * y;
  Scalar isInteger = floor(y) == y;
  Scalar isOdd = isInteger & !(floor(half) == half);
  Scalar isNegative = x.bits() < 0;
  result = select(isNegative & isOdd, -result, result);
  // A negative number has real powers of integer exponent only; zero and
  // infinity have all.
  Scalar isOrdinaryNegative = (x < 0.0) & (x > -x.infinity());
  result = select(isOrdinaryNegative & !isInteger, x.nan(), result);
  result = select(isEitherNan(x, y), x + y, result);
  return select((x == 1.0) | (y == 0.0), x.like(1.0), result);
}

Scalar emitFmod(Scalar x, Scalar y) {
  // Long division in f64. Each step takes 27 bits of the quotient, rounded
  // towards zero, so that its product with y is exact and so is the difference;
  // a quotient of two f32 has at most 277.
  constexpr int kSteps = 11;
  constexpr int64_t kKeepBits = ~((INT64_C(1) << 26) - 1);
  Scalar divisor = y.toF64().abs();
  Scalar inverse = 1.0 / divisor;
  // Never above the true quotient, whatever the rounding.
  inverse = inverse * (1.0 - 0x1p-50);
  Scalar rest = x.toF64().abs();
  for (int step = 0; step < kSteps; ++step) {
    Scalar quotient = rest * inverse;
    quotient = floor((quotient.bits() & kKeepBits).asF64());
    rest = fma(-quotient, divisor, rest);
  }
  rest = select(rest >= divisor, rest - divisor, rest);

  Scalar result = rest.toF32().withSignOf(x);
  result = select(y.abs() == y.infinity(), x, result);
  Scalar isDefined = (x.abs() < x.infinity()) & (y.abs() > 0.0);
  return select(isDefined, result, x.nan());
}

} // namespace rlx
