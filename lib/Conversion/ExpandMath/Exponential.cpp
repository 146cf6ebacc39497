// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Exponential.cpp - exp, log and what is near them -------------------===//

#include "Exponential.h"
#include "Polynomials.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"

namespace rlx {

constexpr double kLog2E = 1.4426950408889634;
// ln(2) as a sum of two f32.
constexpr double kLn2High = 0x1.62e430p-1;
constexpr double kLn2Low = -0x1.05c610p-29;
// Adding 1.5 * 2^23 to an f32 (1.5 * 2^52 to an f64) rounds it to an integer,
// which the low bits of the sum then hold: fptosi of NaN would be poison.
constexpr double kRoundF32 = 0x1.8p23;
constexpr double kRoundF64 = 0x1.8p52;

/// 2^n in f32 for n in [-126, 127].
static Scalar powerOfTwo(Scalar n) { return (n + 127).shiftLeft(23).asF32(); }

namespace {
/// x = n ln(2) + r, |r| <= ln(2)/2; n as an i32.
struct ReducedExponent {
  Scalar n, r;
};
} // namespace

static ReducedExponent reduceExponent(Scalar x) {
  Scalar shifted = fma(x, x.like(kLog2E), x.like(kRoundF32));
  Scalar n = shifted - kRoundF32;
  Scalar r = fma(n, x.like(-kLn2High), x);
  r = fma(n, x.like(-kLn2Low), r);
  return {shifted.bits() - 0x4b400000, r};
}

Exponential emitExponential(Scalar x, std::optional<Scalar> low) {
  auto [n, r] = reduceExponent(x);
  if (low)
    r = r + *low;
  Scalar fraction = fma(r * r, horner(r, kExpTail), r) + 1.0;
  Scalar half = n.arithmeticShiftRight(1);
  return {fraction, powerOfTwo(half), powerOfTwo(n - half)};
}

Scalar emitExp(Scalar x) {
  return emitExponential(atMost(atLeast(x, kExpLow), 90)).value();
}

Scalar emitExpm1(Scalar x) {
  // Below -30 the result is -1; above 89 it overflows.
  auto [n, r] = reduceExponent(atMost(atLeast(x, -30), 89));
  Scalar q = fma(r * r, horner(r, kExpTail), r);
  // 2^n q + (2^n - 1), halved on the way because 2^128 is no f32.
  Scalar half = powerOfTwo(n - 1);
  Scalar result = 2.0 * fma(q, half, half - 0.5);
  return select(x.abs() < 0x1p-25, x, result);
}

namespace {
/// x = 2^e m, 1/sqrt(2) <= m < sqrt(2).
struct Decomposed {
  Scalar e, m;
};
} // namespace

Scalar emitLog(Scalar x) {
  Scalar isSubnormal = x < 0x1p-126;
  Scalar scaled = select(isSubnormal, x * 0x1p23, x);
  Scalar bits = scaled.bits();
  // The bits of sqrt(1/2): the exponent counts from there.
  Scalar exponent = (bits - 0x3f3504f3).arithmeticShiftRight(23);
  Scalar f = (bits - exponent.shiftLeft(23)).asF32() - 1.0;
  Scalar e = exponent.signedToFloat(x.getBuilder().getF32Type()) +
             select(isSubnormal, x.like(-23.0), x.like(0.0));
  Scalar square = f * f;
  Scalar tail = f * square * horner(f, kLogTail);
  tail = fma(e, x.like(kLn2Low), tail);
  tail = fma(x.like(-0.5), square, tail);
  Scalar result = fma(e, x.like(kLn2High), f + tail);

  result = select(x == x.infinity(), x, result);
  Scalar notPositive = select(x == 0.0, -x.infinity(), x.nan());
  return select(x > 0.0, result, notPositive);
}

Scalar emitLog1pUnit(Scalar e) {
  Scalar s = e / (e + 2.0);
  Scalar square = s * s;
  return fma(s, square * horner(square, kAtanhTail), s + s);
}

Scalar emitLog2F64(Scalar x) {
  Scalar bits = x.bits();
  // Exponents by 32-bit operations: AVX2 has no 64-bit arithmetic shift.
  Scalar high = bits.logicalShiftRight(32).truncate(32);
  Scalar exponent = (high - 0x3fe6a09e).arithmeticShiftRight(20);
  Scalar m = (bits - exponent.signExtend(64).shiftLeft(52)).asF64();
  Scalar e = exponent.signedToFloat(x.getBuilder().getF64Type());
  Scalar s = (m - 1.0) / (m + 1.0);
  return fma(s, horner(s * s, kLog2), e);
}

Scalar emitExp2F64(Scalar t) {
  Scalar shifted = t + kRoundF64;
  Scalar r = t - (shifted - kRoundF64);
  Scalar power =
      (shifted.bits().shiftLeft(52) + (INT64_C(0x3ff) << 52)).asF64();
  return horner(r, kExp2) * power;
}

Scalar emitExp2(Scalar x) {
  return emitExp2F64(atMost(atLeast(x.toF64(), -400), 400)).toF32();
}

/// log2(x) * scale with the special values of a logarithm; x in f64.
static Scalar scaledLog(Scalar x, double scale) {
  Scalar result = emitLog2F64(x) * scale;
  result = select(x == x.infinity(), x, result);
  Scalar notPositive = select(x == 0.0, -x.infinity(), x.nan());
  return select(x > 0.0, result, notPositive);
}

Scalar emitLog2(Scalar x) { return scaledLog(x.toF64(), 1.0).toF32(); }

Scalar emitLog10(Scalar x) {
  return scaledLog(x.toF64(), 0.30102999566398120).toF32();
}

Scalar emitLog1p(Scalar x) {
  // What adding 1 rounds away in f64 comes back through the derivative.
  Scalar wide = x.toF64();
  Scalar sum = wide + 1.0;
  Scalar lost = wide - (sum - 1.0);
  Scalar result = scaledLog(sum, 0.69314718055994531);
  Scalar corrected = result + lost / sum;
  Scalar isOrdinary = (sum > 0.0) & (sum < sum.infinity());
  // Below 2^-30 log(1 + x) rounds to x, which also keeps -0.
  return select(x.abs() < 0x1p-30, x,
                select(isOrdinary, corrected, result).toF32());
}

Scalar emitTanh(Scalar x) {
  Scalar t = emitExpm1(-2.0 * x.abs());
  return (-t / (t + 2.0)).withSignOf(x);
}

Scalar emitErf(Scalar x) {
  Scalar magnitude = x.abs();
  Scalar small =
      fma(magnitude, horner(magnitude * magnitude, kErfSmall), magnitude);
  // erf(4) rounds to 1.
  Scalar log = horner(atMost(magnitude, 4), kErfcLog);
  Scalar large = 1.0 - emitExponential(log).value();
  return select(magnitude < 0.94, small, large).withSignOf(x);
}

} // namespace rlx
