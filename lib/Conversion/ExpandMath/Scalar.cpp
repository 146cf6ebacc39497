// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Scalar.cpp - Arithmetic on SSA values, written as formulas ---------===//

#include "RLX/Conversion/ExpandMath/Scalar.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;

namespace rlx {

static Value makeConstant(ImplicitLocOpBuilder &builder, Type type,
                          TypedAttr element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    element = DenseElementsAttr::get(shaped, Attribute(element));
  return arith::ConstantOp::create(builder, element);
}

static Scalar floatConstant(Scalar model, const APFloat &constant) {
  auto type = cast<FloatType>(model.getElementType());
  return model.wrap(makeConstant(model.getBuilder(), model.getType(),
                                 FloatAttr::get(type, constant)));
}

Scalar Scalar::floatLike(double constant) const {
  auto type = cast<FloatType>(getElementType());
  return wrap(
      makeConstant(*builder, getType(), FloatAttr::get(type, constant)));
}

Scalar Scalar::integerLike(int64_t constant) const {
  auto type = cast<IntegerType>(getElementType());
  // Constants are written as the number whose low bits are meant.
  llvm::APInt bits = llvm::APInt(64, constant).sextOrTrunc(type.getWidth());
  return wrap(makeConstant(*builder, getType(), IntegerAttr::get(type, bits)));
}

Scalar Scalar::infinity() const {
  return floatConstant(
      *this,
      APFloat::getInf(cast<FloatType>(getElementType()).getFloatSemantics()));
}

Scalar Scalar::nan() const {
  return floatConstant(
      *this,
      APFloat::getNaN(cast<FloatType>(getElementType()).getFloatSemantics()));
}

Type Scalar::typeWith(Type elementType) const {
  if (auto shaped = dyn_cast<ShapedType>(getType()))
    return shaped.clone(elementType);
  return elementType;
}

Scalar Scalar::toFloat(FloatType type) const {
  unsigned from = getElementType().getIntOrFloatBitWidth();
  if (getElementType() == type)
    return *this;
  if (from < type.getWidth())
    return wrap(arith::ExtFOp::create(*builder, typeWith(type), value));
  return wrap(arith::TruncFOp::create(*builder, typeWith(type), value));
}

Scalar Scalar::bitcast(Type elementType) const {
  if (getElementType() == elementType)
    return *this;
  return wrap(arith::BitcastOp::create(*builder, typeWith(elementType), value));
}

Scalar Scalar::bits() const {
  return bitcast(
      builder->getIntegerType(getElementType().getIntOrFloatBitWidth()));
}

Scalar Scalar::zeroExtend(unsigned width) const {
  return wrap(arith::ExtUIOp::create(
      *builder, typeWith(builder->getIntegerType(width)), value));
}

Scalar Scalar::signExtend(unsigned width) const {
  return wrap(arith::ExtSIOp::create(
      *builder, typeWith(builder->getIntegerType(width)), value));
}

Scalar Scalar::truncate(unsigned width) const {
  return wrap(arith::TruncIOp::create(
      *builder, typeWith(builder->getIntegerType(width)), value));
}

Scalar Scalar::signedToFloat(FloatType type) const {
  return wrap(arith::SIToFPOp::create(*builder, typeWith(type), value));
}

Scalar Scalar::abs() const {
  return wrap(math::AbsFOp::create(*builder, value));
}

Scalar Scalar::withSignOf(Scalar sign) const {
  return wrap(math::CopySignOp::create(*builder, value, sign));
}

Scalar Scalar::logicalShiftRight(int64_t amount) const {
  return wrap(arith::ShRUIOp::create(*builder, value, like(amount)));
}

Scalar Scalar::arithmeticShiftRight(int64_t amount) const {
  return wrap(arith::ShRSIOp::create(*builder, value, like(amount)));
}

Scalar Scalar::shiftLeft(int64_t amount) const {
  return wrap(arith::ShLIOp::create(*builder, value, like(amount)));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntegerOp>
static Scalar makeBinary(Scalar a, Scalar b) {
  if (a.isFloat())
    return a.wrap(FloatOp::create(a.getBuilder(), Value(a), Value(b)));
  return a.wrap(IntegerOp::create(a.getBuilder(), Value(a), Value(b)));
}

static Scalar compare(Scalar a, Scalar b, arith::CmpFPredicate floats,
                      arith::CmpIPredicate integers) {
  if (a.isFloat())
    return a.wrap(arith::CmpFOp::create(a.getBuilder(), floats, a, b));
  return a.wrap(arith::CmpIOp::create(a.getBuilder(), integers, a, b));
}

Scalar operator-(Scalar a) {
  if (a.isFloat())
    return a.wrap(arith::NegFOp::create(a.getBuilder(), Value(a)));
  return a.like(0) - a;
}
Scalar operator+(Scalar a, Scalar b) {
  return makeBinary<arith::AddFOp, arith::AddIOp>(a, b);
}
Scalar operator-(Scalar a, Scalar b) {
  return makeBinary<arith::SubFOp, arith::SubIOp>(a, b);
}
Scalar operator*(Scalar a, Scalar b) {
  return makeBinary<arith::MulFOp, arith::MulIOp>(a, b);
}
Scalar operator/(Scalar a, Scalar b) {
  return a.wrap(arith::DivFOp::create(a.getBuilder(), Value(a), Value(b)));
}
Scalar operator&(Scalar a, Scalar b) {
  return a.wrap(arith::AndIOp::create(a.getBuilder(), Value(a), Value(b)));
}
Scalar operator|(Scalar a, Scalar b) {
  return a.wrap(arith::OrIOp::create(a.getBuilder(), Value(a), Value(b)));
}
Scalar operator^(Scalar a, Scalar b) {
  return a.wrap(arith::XOrIOp::create(a.getBuilder(), Value(a), Value(b)));
}

Scalar operator<(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Scalar operator>(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Scalar operator>=(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Scalar operator==(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Scalar isNan(Scalar a) { return isEitherNan(a, a); }
Scalar isEitherNan(Scalar a, Scalar b) {
  return a.wrap(
      arith::CmpFOp::create(a.getBuilder(), arith::CmpFPredicate::UNO, a, b));
}
Scalar operator!(Scalar a) { return a ^ a.like(1); }

Scalar fma(Scalar a, Scalar b, Scalar c) {
  return a.wrap(
      math::FmaOp::create(a.getBuilder(), Value(a), Value(b), Value(c)));
}
Scalar select(Scalar condition, Scalar whenTrue, Scalar whenFalse) {
  return condition.wrap(arith::SelectOp::create(
      condition.getBuilder(), Value(condition), whenTrue, whenFalse));
}
Scalar floor(Scalar a) {
  return a.wrap(math::FloorOp::create(a.getBuilder(), Value(a)));
}
Scalar sqrt(Scalar a) {
  return a.wrap(math::SqrtOp::create(a.getBuilder(), Value(a)));
}

Scalar atLeast(Scalar a, double bound) {
  Scalar constant = a.like(bound);
  return select(a < constant, constant, a);
}
Scalar atMost(Scalar a, double bound) {
  Scalar constant = a.like(bound);
  return select(a > constant, constant, a);
}

Scalar horner(Scalar x, ArrayRef<double> coefficients) {
  Scalar sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, x.like(coefficient));
  return sum;
}

} // namespace rlx
