/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The exact remainder x - trunc(x / y) * y. It is always representable, so
   there is one right answer, whichever library computes it. */
#include <stdint.h>

/* value * 2^exponent mod divisor, for a divisor below 2^(64 - step). */
static uint64_t remainderOfPower(uint64_t value, int exponent, uint64_t divisor,
                                 int step) {
  value %= divisor;
  while (exponent > 0) {
    int shift = exponent < step ? exponent : step;
    value = (value << shift) % divisor;
    exponent -= shift;
  }
  return value;
}

/* The fields of a finite number: magnitude = fraction * 2^exponent up to the
   scale of the format. Subnormal numbers share the exponent of the smallest
   normal one. */
struct parts {
  uint64_t fraction;
  int exponent;
};

static struct parts split(uint64_t magnitude, int fractionBits) {
  int exponent = (int)(magnitude >> fractionBits);
  uint64_t fraction = magnitude & ((UINT64_C(1) << fractionBits) - 1);
  if (exponent == 0)
    return (struct parts){fraction, 1};
  return (struct parts){fraction | UINT64_C(1) << fractionBits, exponent};
}

static uint64_t join(struct parts parts, int fractionBits) {
  uint64_t implicitBit = UINT64_C(1) << fractionBits;
  while (parts.exponent > 1 && parts.fraction < implicitBit) {
    parts.fraction <<= 1;
    --parts.exponent;
  }
  if (parts.fraction < implicitBit)
    return parts.fraction;
  return (parts.fraction & (implicitBit - 1)) | (uint64_t)parts.exponent
                                                    << fractionBits;
}

/* Remainder of two finite magnitudes, the divisor not zero. */
static uint64_t remainderOf(uint64_t dividend, uint64_t divisor,
                            int fractionBits) {
  if (dividend < divisor)
    return dividend;
  struct parts x = split(dividend, fractionBits);
  struct parts y = split(divisor, fractionBits);
  x.fraction = remainderOfPower(x.fraction, x.exponent - y.exponent, y.fraction,
                                64 - fractionBits - 1);
  x.exponent = y.exponent;
  return join(x, fractionBits);
}

union f32 {
  float value;
  uint32_t bits;
};
union f64 {
  double value;
  uint64_t bits;
};

float fmodf(float x, float y) {
  const uint32_t infinity = UINT32_C(0xff) << 23;
  union f32 dividend = {x}, divisor = {y};
  uint32_t sign = dividend.bits & UINT32_C(1) << 31;
  dividend.bits &= ~(UINT32_C(1) << 31);
  divisor.bits &= ~(UINT32_C(1) << 31);
  if (dividend.bits >= infinity || divisor.bits > infinity || divisor.bits == 0)
    return (x * y) / (x * y);
  if (divisor.bits == infinity)
    return x;
  dividend.bits = sign | (uint32_t)remainderOf(dividend.bits, divisor.bits, 23);
  return dividend.value;
}

double fmod(double x, double y) {
  const uint64_t infinity = UINT64_C(0x7ff) << 52;
  union f64 dividend = {x}, divisor = {y};
  uint64_t sign = dividend.bits & UINT64_C(1) << 63;
  dividend.bits &= ~(UINT64_C(1) << 63);
  divisor.bits &= ~(UINT64_C(1) << 63);
  if (dividend.bits >= infinity || divisor.bits > infinity || divisor.bits == 0)
    return (x * y) / (x * y);
  if (divisor.bits == infinity)
    return x;
  dividend.bits = sign | remainderOf(dividend.bits, divisor.bits, 52);
  return dividend.value;
}
