/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Conversions to half and bfloat for which the CPU classes have no
   instruction. The others (half to and from f32, bfloat to f32) are inline. */
#include <stdint.h>

/* The 16-bit format with `fractionBits` stored fraction bits and the bias
   `bias` that is nearest to the f64 `bits`, ties to even; overflow gives
   infinity, NaN stays quiet NaN with its leading payload bits. */
static uint16_t narrow(uint64_t bits, int fractionBits, int bias) {
  const int f64Fraction = 52, f64Bias = 1023;
  const uint16_t infinity = (uint16_t)((2 * bias + 1) << fractionBits);
  uint16_t sign = (uint16_t)(bits >> 63 << 15);
  uint64_t magnitude = bits & ~(UINT64_C(1) << 63);
  int dropped = f64Fraction - fractionBits;
  if (magnitude > UINT64_C(0x7ff) << f64Fraction) {
    uint16_t payload =
        (uint16_t)(magnitude >> dropped) & (uint16_t)((1 << fractionBits) - 1);
    return sign | infinity | payload | (uint16_t)(1 << (fractionBits - 1));
  }
  int exponent = (int)(magnitude >> f64Fraction) - f64Bias + bias;
  if (exponent > 2 * bias)
    return sign | infinity;
  uint64_t fraction = magnitude;
  if (exponent >= 1)
    fraction -= (uint64_t)(f64Bias - bias) << f64Fraction;
  else {
    /* Subnormal in the target: the leading one becomes explicit and moves
       right. Past 63 places nothing but zero is left. */
    if (exponent < -fractionBits - 1)
      return sign;
    fraction = (magnitude & ((UINT64_C(1) << f64Fraction) - 1)) |
               UINT64_C(1) << f64Fraction;
    dropped += 1 - exponent;
  }
  uint64_t kept = fraction >> dropped;
  uint64_t rest = fraction & ((UINT64_C(1) << dropped) - 1);
  uint64_t half = UINT64_C(1) << (dropped - 1);
  /* A carry out of the fraction is the next exponent, at the end infinity. */
  kept += rest > half || (rest == half && (kept & 1));
  return sign | (uint16_t)kept;
}

union f64 {
  double value;
  uint64_t bits;
};
union f16 {
  uint16_t bits;
  _Float16 value;
};
union bf16 {
  uint16_t bits;
  __bf16 value;
};

_Float16 __truncdfhf2(double value) {
  union f64 source = {value};
  union f16 result = {narrow(source.bits, 10, 15)};
  return result.value;
}

__bf16 __truncdfbf2(double value) {
  union f64 source = {value};
  union bf16 result = {narrow(source.bits, 7, 127)};
  return result.value;
}

__bf16 __truncsfbf2(float value) {
  /* Every f32 is an f64, so this rounds once. */
  union f64 source = {(double)value};
  union bf16 result = {narrow(source.bits, 7, 127)};
  return result.value;
}
