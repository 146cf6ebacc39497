// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ElementConversion.cpp - One element to another type ----------------===//

#include "Elements.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;

namespace rlx {

/// Integers of one bit are truth values, others without a sign are signed.
static bool isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

Type getArithmeticType(Type type) {
  if (type.isF16() || type.isBF16())
    return Float32Type::get(type.getContext());
  if (type.isUnsignedInteger())
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

/// Between an unsigned integer and the signless one of its width.
static Scalar reinterpret(Scalar value, Type type) {
  if (value.getType() == type)
    return value;
  return value.wrap(
      UnrealizedConversionCastOp::create(value.getBuilder(), type, Value(value))
          .getResult(0));
}

/// f32 to bf16 by integers: LLVM would call a function for it.
static Scalar roundToBF16(Scalar value) {
  Scalar bits = value.bits();
  Scalar isLastBitSet = bits.logicalShiftRight(16) & 1;
  Scalar rounded = (bits + 0x7fff + isLastBitSet).logicalShiftRight(16);
  // Rounding could carry a NaN into infinity; setting a bit keeps it one.
  Scalar quiet = bits.logicalShiftRight(16) | 0x40;
  Scalar result = select(isNan(value), quiet, rounded);
  return result.truncate(16).bitcast(value.getBuilder().getBF16Type());
}

static Scalar extendBF16(Scalar element) {
  return element.bits().zeroExtend(32).shiftLeft(16).asF32();
}

/// f64 to f32 so that rounding the result again to fewer bits gives what
/// rounding once would: towards zero, and the last bit set if anything was lost
/// (Boldo and Melquiond, "When double rounding is odd", 2005).
static Scalar roundToOddF32(Scalar value) {
  Scalar nearest = value.toF32();
  Scalar back = nearest.toF64();
  Scalar isTooLarge = back.abs() > value.abs();
  Scalar bits = nearest.bits();
  Scalar towardsZero = select(isTooLarge, bits - 1, bits);
  Scalar isExact = (back == value) | isNan(value);
  return select(isExact, bits, towardsZero | 1).asF32();
}

Scalar loadElement(Scalar element) {
  Type type = element.getType();
  if (type.isBF16())
    return extendBF16(element);
  if (type.isF16())
    return element.toF32();
  return reinterpret(element, getArithmeticType(type));
}

Scalar storeElement(Scalar value, Type type) {
  if (!isa<FloatType>(type))
    return reinterpret(value, type);
  if (value.getType() == type)
    return value;
  if (value.getType().isF64() && !type.isF32())
    value = roundToOddF32(value);
  if (type.isBF16())
    return roundToBF16(value);
  return value.toFloat(cast<FloatType>(type));
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

static Scalar integerToInteger(Scalar value, Type from, unsigned width) {
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  if (width < fromWidth)
    return value.truncate(width);
  if (width == fromWidth)
    return value;
  return isUnsigned(from) ? value.zeroExtend(width) : value.signExtend(width);
}

static Scalar integerToFloat(Scalar value, Type from, FloatType type) {
  ImplicitLocOpBuilder &builder = value.getBuilder();
  auto convert = [&](Scalar integer, FloatType to) -> Scalar {
    if (isUnsigned(from))
      return integer.wrap(arith::UIToFPOp::create(builder, to, Value(integer)));
    return integer.signedToFloat(to);
  };
  if (type.isF32() || type.isF64())
    return convert(value, type);
  // f16 ends below 2^17, where f32 has all integers.
  if (type.isF16())
    return storeElement(convert(value, builder.getF32Type()), type);
  // To bf16 through a f64 that has lost nothing, or that is odd if it has.
  if (from.getIntOrFloatBitWidth() < 64)
    return storeElement(convert(value, builder.getF64Type()), type);
  Scalar lost = value.wrap(arith::ExtUIOp::create(
      builder, value.getType(), Value(!((value & 0x7ff) == 0))));
  Scalar high = value.arithmeticShiftRight(11) | lost;
  Scalar isSmall =
      value.arithmeticShiftRight(52) == value.arithmeticShiftRight(63);
  Scalar wide = select(isSmall, convert(value, builder.getF64Type()),
                       convert(high, builder.getF64Type()) * 0x1p11);
  return storeElement(wide, type);
}

/// Truncated towards zero; the nearest bound outside of the range; NaN is 0.
static Scalar floatToInteger(Scalar value, Type type) {
  ImplicitLocOpBuilder &builder = value.getBuilder();
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsignedType = isUnsigned(type);
  double end = std::ldexp(1.0, isUnsignedType ? width : width - 1);
  double begin = isUnsignedType ? 0 : -end;
  Scalar isBelow = value < begin, isAbove = value >= end;
  Scalar isInside = (value >= begin) & (value < end);
  Scalar safe = select(isInside, value, value.like(0.0));
  // Vectors convert to and from signed 32 bits.
  unsigned wide = std::max(width, 32u);
  Type wideType = builder.getIntegerType(wide);
  bool needsUnsigned = isUnsignedType && width == wide;
  Scalar integer =
      needsUnsigned
          ? value.wrap(arith::FPToUIOp::create(builder, wideType, Value(safe)))
          : value.wrap(arith::FPToSIOp::create(builder, wideType, Value(safe)));
  llvm::APInt lowest = isUnsignedType ? llvm::APInt(width, 0)
                                      : llvm::APInt::getSignedMinValue(width);
  llvm::APInt highest = isUnsignedType ? llvm::APInt::getMaxValue(width)
                                       : llvm::APInt::getSignedMaxValue(width);
  Scalar result = wide > width ? integer.truncate(width) : integer;
  result = select(isAbove, result.like(highest.getSExtValue()), result);
  return select(isBelow, result.like(lowest.getSExtValue()), result);
}

Scalar castElement(Scalar element, Type type) {
  Type from = element.getType();
  if (from == type)
    return element;
  Scalar value = loadElement(element);
  bool toFloat = isa<FloatType>(type), fromFloat = isa<FloatType>(from);
  if (type.isInteger(1)) {
    if (!fromFloat)
      return !(value == 0);
    return value.wrap(arith::CmpFOp::create(
        value.getBuilder(), arith::CmpFPredicate::UNE, value, value.like(0.0)));
  }
  if (toFloat && fromFloat)
    return type.isF64() ? value.toF64() : storeElement(value, type);
  if (toFloat)
    return integerToFloat(value, from, cast<FloatType>(type));
  Scalar result =
      fromFloat ? floatToInteger(value, type)
                : integerToInteger(value, from, type.getIntOrFloatBitWidth());
  return reinterpret(result, type);
}

} // namespace rlx
