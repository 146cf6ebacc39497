// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Elements.cpp - What elementwise ops do with one element ------------===//

#include "Elements.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"
#include "RLX/Dialect/RLXDialect.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace rlx {

using Operands = ArrayRef<Scalar>;

template <typename Op> static Scalar make(Operands x) {
  SmallVector<Value> operands(x.begin(), x.end());
  Operation *op =
      Op::create(x[0].getBuilder(), x[0].getType(), ValueRange(operands));
  return x[0].wrap(op->getResult(0));
}

template <typename Op> static Scalar makeInteger(Operands x, bool) {
  return make<Op>(x);
}

template <Scalar (*emit)(Scalar)> static Scalar unary(Operands x) {
  return emit(x[0]);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Scalar lessThan(Scalar a, Scalar b, bool isUnsigned) {
  return a.wrap(arith::CmpIOp::create(a.getBuilder(),
                                      isUnsigned ? arith::CmpIPredicate::ult
                                                 : arith::CmpIPredicate::slt,
                                      a, b));
}

static Scalar minimum(Operands x, bool isUnsigned) {
  return isUnsigned ? make<arith::MinUIOp>(x) : make<arith::MinSIOp>(x);
}

static Scalar maximum(Operands x, bool isUnsigned) {
  return isUnsigned ? make<arith::MaxUIOp>(x) : make<arith::MaxSIOp>(x);
}

/// x / y or x mod y where that is defined. Undefined are y = 0, and y = -1 for
/// the smallest x, where wrapping around makes -x the quotient of all x.
template <typename SignedOp, typename UnsignedOp>
static Scalar divide(Operands x, bool isUnsigned, Scalar whenMinusOne) {
  Scalar zero = x[1].like(0), one = x[1].like(1);
  Scalar isZero = x[1] == zero;
  if (isUnsigned)
    return select(isZero, zero,
                  make<UnsignedOp>({x[0], select(isZero, one, x[1])}));
  Scalar isMinusOne = x[1] == -1;
  Scalar divisor = select(isZero | isMinusOne, one, x[1]);
  return select(
      isZero, zero,
      select(isMinusOne, whenMinusOne, make<SignedOp>({x[0], divisor})));
}

static Scalar quotient(Operands x, bool isUnsigned) {
  return divide<arith::DivSIOp, arith::DivUIOp>(x, isUnsigned, -x[0]);
}

static Scalar remainder(Operands x, bool isUnsigned) {
  return divide<arith::RemSIOp, arith::RemUIOp>(x, isUnsigned, x[0].like(0));
}

static Scalar shiftLeft(Operands x, bool) {
  Scalar width = x[1].like(x[1].getElementType().getIntOrFloatBitWidth());
  Scalar isInside = lessThan(x[1], width, /*isUnsigned=*/true);
  Scalar amount = select(isInside, x[1], x[1].like(0));
  return select(isInside, make<arith::ShLIOp>({x[0], amount}), x[0].like(0));
}

static Scalar shiftRight(Operands x, bool isUnsigned) {
  int64_t width = x[1].getElementType().getIntOrFloatBitWidth();
  if (!isUnsigned)
    return make<arith::ShRSIOp>(
        {x[0], make<arith::MinUIOp>({x[1], x[1].like(width - 1)})});
  Scalar isInside = lessThan(x[1], x[1].like(width), /*isUnsigned=*/true);
  Scalar amount = select(isInside, x[1], x[1].like(0));
  return select(isInside, make<arith::ShRUIOp>({x[0], amount}), x[0].like(0));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename Op>
static ElementBody entry(Scalar (*onFloats)(Operands),
                         Scalar (*onIntegers)(Operands, bool) = nullptr) {
  return {Op::getOperationName(), onFloats, onIntegers};
}

template <typename Op>
static ElementBody f32Entry(Scalar (*onFloats)(Operands),
                            Scalar (*onIntegers)(Operands, bool) = nullptr) {
  return {Op::getOperationName(), onFloats, onIntegers, /*isF32Only=*/true};
}

static const ElementBody kBodies[] = {
    entry<AbsOp>(
        [](Operands x) { return x[0].abs(); },
        [](Operands x, bool) { return select(x[0] < 0, -x[0], x[0]); }),
    f32Entry<AtanOp>(make<math::AtanOp>),
    entry<CeilOp>(make<math::CeilOp>),
    f32Entry<CosOp>(make<math::CosOp>),
    f32Entry<EluOp>(unary<emitElu>),
    f32Entry<ErfOp>(make<math::ErfOp>),
    f32Entry<ExpOp>(make<math::ExpOp>),
    entry<FloorOp>(make<math::FloorOp>),
    f32Entry<GeluOp>(unary<emitGelu>),
    f32Entry<GeluApproxOp>(unary<emitGeluApprox>),
    entry<HardSigmoidOp>(unary<emitHardSigmoid>),
    entry<HardSwishOp>(unary<emitHardSwish>),
    f32Entry<LogOp>(make<math::LogOp>),
    f32Entry<LogSigmoidOp>(unary<emitLogSigmoid>),
    f32Entry<MishOp>(unary<emitMish>),
    entry<NegOp>([](Operands x) { return -x[0]; },
                 [](Operands x, bool) { return -x[0]; }),
    entry<RecipOp>([](Operands x) { return 1.0 / x[0]; }),
    entry<ReluOp>([](Operands x) { return atLeast(x[0], 0.0); },
                  [](Operands x, bool isUnsigned) {
                    return maximum({x[0], x[0].like(0)}, isUnsigned);
                  }),
    entry<RoundOp>(make<math::RoundEvenOp>),
    entry<RsqrtOp>(unary<emitRsqrt>),
    f32Entry<SigmoidOp>(unary<emitSigmoid>),
    entry<SignOp>(
        // Zeros and NaN are their own sign.
        [](Operands x) {
          return select(x[0].abs() > 0.0, x[0].like(1.0).withSignOf(x[0]),
                        x[0]);
        },
        [](Operands x, bool) {
          return select(x[0] > 0, x[0].like(1),
                        select(x[0] < 0, x[0].like(-1), x[0].like(0)));
        }),
    f32Entry<SiluOp>(unary<emitSilu>),
    f32Entry<SinOp>(make<math::SinOp>),
    f32Entry<SoftplusOp>(unary<emitSoftplus>),
    entry<SoftsignOp>(unary<emitSoftsign>),
    entry<SqrtOp>(make<math::SqrtOp>),
    f32Entry<TanOp>(make<math::TanOp>),
    f32Entry<TanhOp>(make<math::TanhOp>),

    entry<AddOp>(make<arith::AddFOp>, makeInteger<arith::AddIOp>),
    f32Entry<Atan2Op>(make<math::Atan2Op>),
    entry<BitAndOp>(nullptr, makeInteger<arith::AndIOp>),
    entry<BitOrOp>(nullptr, makeInteger<arith::OrIOp>),
    entry<BitXorOp>(nullptr, makeInteger<arith::XOrIOp>),
    entry<DivOp>(make<arith::DivFOp>, quotient),
    entry<MaxOp>(make<arith::MaximumFOp>, maximum),
    entry<MinOp>(make<arith::MinimumFOp>, minimum),
    f32Entry<ModOp>(make<arith::RemFOp>, remainder),
    entry<MulOp>(make<arith::MulFOp>, makeInteger<arith::MulIOp>),
    f32Entry<PowOp>(make<math::PowFOp>),
    entry<ShlOp>(nullptr, shiftLeft),
    entry<ShrOp>(nullptr, shiftRight),
    entry<SubOp>(make<arith::SubFOp>, makeInteger<arith::SubIOp>),
};

const ElementBody *findElementBody(StringRef op) {
  const auto *found = llvm::find_if(
      kBodies, [&](const ElementBody &body) { return body.op == op; });
  return found == std::end(kBodies) ? nullptr : found;
}

} // namespace rlx
