// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Trigonometry.cpp - sin, cos, tan, atan -----------------------------===//

#include "Polynomials.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"

namespace rlx {

constexpr double kPi = 3.1415926535897932;

namespace {
/// x = (quadrant + 4 i) pi/2 + r, |r| <= pi/4; quadrant an i32 in 0..3.
struct ReducedAngle {
  Scalar quadrant, r;
};
} // namespace

/// 32 bits of 2/pi from bit `position` on, `position` given as a word index and
/// an offset; as an i64.
static Scalar selectWord(Scalar word, Scalar offset, unsigned skip) {
  // 2/pi after 32 zero bits (Payne and Hanek, "Radian reduction for
  // trigonometric functions", 1983).
  constexpr uint64_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529,
                                     0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                     0x3c439041, 0xfe5163ab};
  auto pairAt = [&](unsigned i) {
    return offset.like(
        static_cast<int64_t>(kTwoOverPi[i] << 32 | kTwoOverPi[i + 1]));
  };
  Scalar pair = pairAt(skip);
  for (unsigned i = 1; i <= 4; ++i)
    pair = select(word == static_cast<int>(i), pairAt(skip + i), pair);
  Scalar shifted = offset.wrap(mlir::arith::ShLIOp::create(
      offset.getBuilder(), mlir::Value(pair), mlir::Value(offset)));
  return shifted.logicalShiftRight(32);
}

/// Exact for every finite f32: no multiple of pi/2 comes nearer to one than
/// 2^-31 or so, and the fraction is known to 2^-60.
static ReducedAngle reduceAngle(Scalar x) {
  Scalar bits = x.bits();
  Scalar exponent = bits.logicalShiftRight(23) & 0xff;
  Scalar mantissa = ((bits & 0x7fffff) | 0x800000).zeroExtend(64);

  // x = mantissa * 2^(exponent - 150). Bits of 2/pi above `position` give
  // multiples of 4 in x * 2/pi and are left out; 96 bits are enough after it.
  Scalar position = exponent - 120;
  Scalar word = position.arithmeticShiftRight(5);
  Scalar offset = (position & 31).zeroExtend(64);
  Scalar fixed = (mantissa * selectWord(word, offset, 0)).shiftLeft(32) +
                 mantissa * selectWord(word, offset, 1) +
                 (mantissa * selectWord(word, offset, 2)).logicalShiftRight(32);

  // `fixed` is x * 2/pi modulo 4 in units of 2^-62.
  Scalar quadrant = (fixed + (INT64_C(1) << 61)).logicalShiftRight(62);
  Scalar fraction = fixed - quadrant.shiftLeft(62);
  // To f64 in two halves: AVX2 can't convert 64-bit integers. The low half is
  // placed in the mantissa of 2^52.
  mlir::FloatType f64 = x.getBuilder().getF64Type();
  Scalar high = fraction.logicalShiftRight(32).truncate(32).signedToFloat(f64);
  Scalar low =
      ((fraction & INT64_C(0xffffffff)) | INT64_C(0x4330000000000000)).asF64() -
      0x1p52;
  Scalar r = fma(high, high.like(0x1p32), low) * (kPi / 2 * 0x1p-62);

  Scalar narrow = quadrant.truncate(32);
  Scalar isNegative = bits < 0;
  Scalar isSmall = x.abs() < kPi / 4;
  return {select(isSmall, narrow.like(0), select(isNegative, -narrow, narrow)),
          select(isSmall, x.toF64(), select(isNegative, -r, r))};
}

static Scalar sinCore(Scalar r) {
  Scalar square = r * r;
  return r * fma(square, horner(square, kSin), square.like(1.0));
}

static Scalar cosCore(Scalar r) {
  Scalar square = r * r;
  return fma(square, horner(square, kCos), square.like(1.0));
}

/// sin(r + quadrant * pi/2).
static Scalar sinOf(Scalar quadrant, Scalar r) {
  Scalar value = select((quadrant & 1) == 1, cosCore(r), sinCore(r));
  return select((quadrant & 2) == 2, -value, value).toF32();
}

/// `result`, and NaN where x is infinite or NaN.
static Scalar whereFinite(Scalar x, Scalar result) {
  return select(x.abs() < x.infinity(), result, x - x);
}

Scalar emitSin(Scalar x) {
  auto [quadrant, r] = reduceAngle(x);
  return whereFinite(x, sinOf(quadrant, r));
}

Scalar emitCos(Scalar x) {
  auto [quadrant, r] = reduceAngle(x);
  return whereFinite(x, sinOf(quadrant + 1, r));
}

Scalar emitTan(Scalar x) {
  auto [quadrant, r] = reduceAngle(x);
  Scalar sine = sinCore(r), cosine = cosCore(r);
  Scalar isOdd = (quadrant & 1) == 1;
  Scalar result = select(isOdd, -cosine, sine) / select(isOdd, sine, cosine);
  return whereFinite(x, result.toF32());
}

/// The angle of the point (|x|, |y|), in f64.
static Scalar firstQuadrantAngle(Scalar y, Scalar x) {
  y = y.abs();
  x = x.abs();
  Scalar isSteep = y > x;
  Scalar smaller = select(isSteep, x, y);
  Scalar larger = select(isSteep, y, x);
  // 0/0 stands for 0/1 and inf/inf for 1/1.
  Scalar areInfinite =
      (smaller == smaller.infinity()) & (larger == larger.infinity());
  smaller = select(areInfinite, smaller.like(1.0), smaller);
  larger = select(areInfinite | (larger == 0.0), larger.like(1.0), larger);
  // atan(q) = pi/4 + atan((q - 1) / (q + 1)) above tan(pi/8).
  Scalar isWide = smaller > 0.41421356237309503 * larger;
  Scalar q = select(isWide, smaller - larger, smaller) /
             select(isWide, smaller + larger, larger);
  Scalar square = q * q;
  Scalar angle = q * fma(square, horner(square, kAtan), square.like(1.0)) +
                 select(isWide, q.like(kPi / 4), q.like(0.0));
  return select(isSteep, kPi / 2 - angle, angle);
}

Scalar emitAtan(Scalar x) {
  Scalar wide = x.toF64();
  return firstQuadrantAngle(wide, wide.like(1.0)).withSignOf(wide).toF32();
}

Scalar emitAtan2(Scalar y, Scalar x) {
  Scalar wideY = y.toF64(), wideX = x.toF64();
  Scalar angle = firstQuadrantAngle(wideY, wideX);
  angle = select(x.bits() < 0, kPi - angle, angle);
  return angle.withSignOf(wideY).toF32();
}

} // namespace rlx
