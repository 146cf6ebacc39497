// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Scalar.h - Arithmetic on SSA values, written as formulas -*- C++ -*-===//

#ifndef RLX_CONVERSION_EXPANDMATH_SCALAR_H
#define RLX_CONVERSION_EXPANDMATH_SCALAR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <type_traits>

namespace rlx {

/// A float or signless integer, or a vector of them, together with the builder
/// that appends what is computed from it. Every operator makes one arith or
/// math op without fast-math flags, so a formula's bits are those of its IEEE
/// operations in the order written.
class Scalar {
public:
  Scalar(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : builder(&builder), value(value) {}

  operator mlir::Value() const { return value; }
  mlir::Type getType() const { return value.getType(); }
  mlir::Type getElementType() const {
    return mlir::getElementTypeOrSelf(getType());
  }
  mlir::ImplicitLocOpBuilder &getBuilder() const { return *builder; }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(getElementType()); }

  /// A constant of this value's type.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar like(T constant) const {
    if constexpr (std::is_integral_v<T>)
      if (!isFloat())
        return integerLike(static_cast<int64_t>(constant));
    return floatLike(static_cast<double>(constant));
  }
  Scalar infinity() const;
  Scalar nan() const;

  /// This value's type with another element type.
  mlir::Type typeWith(mlir::Type elementType) const;
  Scalar wrap(mlir::Value other) const { return {*builder, other}; }

  /// Conversions; each is the identity where the type fits already.
  Scalar toFloat(mlir::FloatType type) const;
  Scalar toF32() const { return toFloat(builder->getF32Type()); }
  Scalar toF64() const { return toFloat(builder->getF64Type()); }
  /// The bits of a float as an integer of its width, and back.
  Scalar bits() const;
  Scalar asF32() const { return bitcast(builder->getF32Type()); }
  Scalar asF64() const { return bitcast(builder->getF64Type()); }
  Scalar bitcast(mlir::Type elementType) const;
  /// Integer to the wider or narrower integer.
  Scalar zeroExtend(unsigned width) const;
  Scalar signExtend(unsigned width) const;
  Scalar truncate(unsigned width) const;
  /// Signed integer to a float that holds it.
  Scalar signedToFloat(mlir::FloatType type) const;

  Scalar abs() const;
  /// This value's magnitude with the sign of `sign`.
  Scalar withSignOf(Scalar sign) const;
  Scalar logicalShiftRight(int64_t amount) const;
  Scalar arithmeticShiftRight(int64_t amount) const;
  Scalar shiftLeft(int64_t amount) const;

  friend Scalar operator-(Scalar a);

private:
  Scalar floatLike(double constant) const;
  Scalar integerLike(int64_t constant) const;

  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;
};

Scalar operator-(Scalar a);
Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
/// Floats only.
Scalar operator/(Scalar a, Scalar b);
Scalar operator&(Scalar a, Scalar b);
Scalar operator|(Scalar a, Scalar b);
Scalar operator^(Scalar a, Scalar b);

/// Comparisons are false where a side is NaN; integers compare as signed.
Scalar operator<(Scalar a, Scalar b);
Scalar operator>(Scalar a, Scalar b);
Scalar operator>=(Scalar a, Scalar b);
Scalar operator==(Scalar a, Scalar b);
Scalar isNan(Scalar a);
Scalar isEitherNan(Scalar a, Scalar b);
/// The complement of an i1.
Scalar operator!(Scalar a);

/// a * b + c, rounded once.
Scalar fma(Scalar a, Scalar b, Scalar c);
Scalar select(Scalar condition, Scalar whenTrue, Scalar whenFalse);
Scalar floor(Scalar a);
Scalar sqrt(Scalar a);

// One side may be a constant.
#define RLX_SCALAR_OPERATOR(OP)                                                \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>  \
  Scalar operator OP(Scalar a, T b) {                                          \
    return a OP a.like(b);                                                     \
  }                                                                            \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>  \
  Scalar operator OP(T a, Scalar b) {                                          \
    return b.like(a) OP b;                                                     \
  }
RLX_SCALAR_OPERATOR(+)
RLX_SCALAR_OPERATOR(-)
RLX_SCALAR_OPERATOR(*)
RLX_SCALAR_OPERATOR(/)
RLX_SCALAR_OPERATOR(&)
RLX_SCALAR_OPERATOR(|)
RLX_SCALAR_OPERATOR(<)
RLX_SCALAR_OPERATOR(>)
RLX_SCALAR_OPERATOR(>=)
RLX_SCALAR_OPERATOR(==)
#undef RLX_SCALAR_OPERATOR

/// The larger or smaller of a value and a constant. NaN stays, and so does a
/// zero that equals the constant; x86 has one instruction for it.
Scalar atLeast(Scalar a, double bound);
Scalar atMost(Scalar a, double bound);

/// c[0] + x * (c[1] + x * ...), by fused multiply-adds.
Scalar horner(Scalar x, llvm::ArrayRef<double> coefficients);

} // namespace rlx

#endif // RLX_CONVERSION_EXPANDMATH_SCALAR_H
