// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Activations.cpp - Activation functions -----------------------------===//

#include "Exponential.h"
#include "Polynomials.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"
#include <cfloat>

namespace rlx {

/// e^-|x|: never overflows.
static Exponential emitDecay(Scalar x) {
  return emitExponential(atLeast(-x.abs(), kExpLow));
}

Scalar emitElu(Scalar x) { return select(x > 0.0, x, emitExpm1(x)); }

Scalar emitSigmoid(Scalar x) {
  Scalar decay = emitDecay(x).value();
  return select(x < 0.0, decay, x.like(1.0)) / (1.0 + decay);
}

Scalar emitSilu(Scalar x) {
  Exponential decay = emitDecay(x);
  // The bound matters at -inf, where x e^x would be -inf * 0.
  Scalar numerator = select(x < 0.0, decay.times(atLeast(x, kExpLow)), x);
  return numerator / (1.0 + decay.value());
}

Scalar emitSoftplus(Scalar x) {
  return atLeast(x, 0.0) + emitLog1pUnit(emitDecay(x).value());
}

Scalar emitLogSigmoid(Scalar x) {
  return atMost(x, 0.0) - emitLog1pUnit(emitDecay(x).value());
}

Scalar emitMish(Scalar x) {
  // tanh(log(1 + e^x)) = e (e + 2) / (e (e + 2) + 2), in e = e^x for negative
  // x; divided by e^2, in e = e^-x, for the rest.
  Exponential decay = emitDecay(x);
  Scalar e = decay.value();
  Scalar isNegative = x < 0.0;
  Scalar twice = e + e;
  Scalar onePlusTwice = 1.0 + twice;
  Scalar product = fma(decay.fraction, e, decay.fraction + decay.fraction);
  Scalar numerator = select(
      isNegative, decay.scale(atLeast(x, kExpLow) * product), x * onePlusTwice);
  Scalar denominator =
      select(isNegative, fma(e, e, 2.0 + twice), fma(twice, e, onePlusTwice));
  return numerator / denominator;
}

Scalar emitGelu(Scalar x) {
  // x P(Z < x). Outside of +-15 the tail is 0 beside x.
  Scalar bounded = atMost(atLeast(x, -15), 15);
  Scalar z = bounded.abs();
  // The square's rounding error would be worth 100 ulp in the exponent, so it
  // is carried along.
  Scalar square = z * z;
  Scalar squareLow = fma(z, z, -square);
  Exponential density = emitExponential(-0.5 * square, -0.5 * squareLow);
  Scalar shifted = z + 4.0;
  Scalar inverse = 1.0 / shifted;
  Scalar dividend =
      bounded * horner((z - 4.0) * inverse, kNormalTail) * density.fraction;
  // One Newton step: the reciprocal's rounding error goes.
  Scalar quotient = dividend * inverse;
  quotient = fma(fma(-quotient, shifted, dividend), inverse, quotient);
  Scalar tail = density.scale(quotient);
  // The tail's errors weigh most where it is half of the whole.
  Scalar center = x * fma(x, horner(square, kNormalCenter), x.like(0.5));
  return select(z < 0.75, center, select(x < 0.0, tail, x - tail));
}

Scalar emitGeluApprox(Scalar x) {
  // (1 + tanh(u)) / 2 = 1 / (1 + e^-2u). In f64 up to the reduced exponent: an
  // ulp of 2u would be worth 100 ulp of the result.
  Scalar wide = x.toF64();
  // 2 sqrt(2/pi) and its product with 0.044715.
  Scalar u = wide * fma(wide * wide, wide.like(0.071354816272600249),
                        wide.like(1.5957691216057308));
  Scalar exponent = atLeast(-u.abs(), kExpLow);
  Scalar high = exponent.toF32();
  Scalar low = (exponent - high.toF64()).toF32();
  Exponential decay = emitExponential(high, low);
  // Below -15 the product is 0 whatever x.
  Scalar numerator = select(x < 0.0, decay.times(atLeast(x, -15)), x);
  return numerator / (1.0 + decay.value());
}

Scalar emitHardSigmoid(Scalar x) {
  // x + 3 is exact where the result is small.
  return atMost(atLeast((x + 3.0) * (1.0 / 6.0), 0.0), 1.0);
}

Scalar emitHardSwish(Scalar x) {
  // The bound matters at -inf, where it would be -inf * 0.
  return atLeast(x, -3.0) * emitHardSigmoid(x);
}

Scalar emitSoftsign(Scalar x) {
  // The bounds make it +-1 at +-inf.
  Scalar bounded = atMost(atLeast(x, -FLT_MAX), FLT_MAX);
  return bounded / (1.0 + bounded.abs());
}

} // namespace rlx
