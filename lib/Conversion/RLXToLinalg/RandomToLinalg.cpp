// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RandomToLinalg.cpp - Random numbers to linalg.generic --------------===//

#include "Elements.h"
#include "Patterns.h"
#include "RLX/Conversion/ExpandMath/ScalarMath.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include <array>

using namespace mlir;
using llvm::APFloat;

namespace rlx {

FailureOr<RngStateValues> getRngStateFromArguments(Operation *op) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  RngStateValues state;
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (func.getArgAttr(index, kRngSeedAttr))
      state.seed = argument;
    if (func.getArgAttr(index, kRngCounterAttr))
      state.counter = argument;
  }
  if (!state.seed || !state.counter)
    return failure();
  return state;
}

void addRngStateArguments(FunctionOpInterface func) {
  Builder builder(func.getContext());
  for (StringRef name : {kRngSeedAttr, kRngCounterAttr}) {
    unsigned count = func.getNumArguments();
    bool hasIt = llvm::any_of(llvm::seq(count), [&](unsigned i) {
      return func.getArgAttr(i, name) != nullptr;
    });
    if (hasIt)
      continue;
    auto attributes = builder.getDictionaryAttr(
        {builder.getNamedAttr(name, builder.getUnitAttr())});
    (void)func.insertArgument(count, builder.getI64Type(), attributes,
                              func.getLoc());
  }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): one-to-one, so that different keys of one session give
/// different streams, and without structure, so that those of two don't meet.
static uint64_t mixKey(uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// 2011) of a counter, four i32, and a key, two i32.
static std::array<Scalar, 4> emitPhilox(std::array<Scalar, 4> x,
                                        std::array<Scalar, 2> key) {
  constexpr int64_t kMultipliers[] = {0xd2511f53, 0xcd9e8d57};
  constexpr int64_t kWeyl[] = {0x9e3779b9, 0xbb67ae85};
  for (int round = 0; round < 10; ++round) {
    Scalar product0 = x[0].zeroExtend(64) * kMultipliers[0];
    Scalar product1 = x[2].zeroExtend(64) * kMultipliers[1];
    x = {product1.logicalShiftRight(32).truncate(32) ^ x[1] ^ key[0],
         product1.truncate(32),
         product0.logicalShiftRight(32).truncate(32) ^ x[3] ^ key[1],
         product0.truncate(32)};
    key = {key[0] + kWeyl[0], key[1] + kWeyl[1]};
  }
  return x;
}

/// u in [0, 1): the upper 24 bits of a word.
static Scalar toUnitInterval(Scalar word) {
  return word.logicalShiftRight(8).signedToFloat(
             word.getBuilder().getF32Type()) *
         0x1p-24;
}

static Scalar emitUniform(RngUniformOp op, ArrayRef<Scalar> words) {
  Scalar u = toUnitInterval(words[0]);
  double low = op.getLow().convertToDouble();
  double high = op.getHigh().convertToDouble();
  // Not low + (high - low) * u: the difference may overflow.
  Scalar x = fma(u, u.like(high), (1.0 - u) * low);
  // Rounding may leave [low, high), here or when the element is stored; the
  // bound is the last number below `high` that the element type has.
  auto elementType = cast<FloatType>(op.getType().getElementType());
  APFloat last = op.getHigh();
  bool losesInfo;
  const llvm::fltSemantics &semantics = elementType.isF64()
                                            ? APFloat::IEEEsingle()
                                            : elementType.getFloatSemantics();
  if (last.convert(semantics, APFloat::rmTowardNegative, &losesInfo) ==
      APFloat::opOK)
    last.next(/*nextDown=*/true);
  last.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return atLeast(atMost(x, last.convertToDouble()), low);
}

static Scalar emitNormal(RngNormalOp op, ArrayRef<Scalar> words) {
  // Box-Muller. The logarithm's argument is in (0, 1] with 32 bits, which gives
  // tails up to 6.8 standard deviations.
  FloatType f32 = words[0].getBuilder().getF32Type();
  Scalar u = words[0].wrap(
      arith::UIToFPOp::create(words[0].getBuilder(), f32, Value(words[0])));
  u = fma(u, u.like(0x1p-32), u.like(0x1p-33));
  Scalar radius = sqrt(-2.0 * emitLog(u));
  Scalar angle = toUnitInterval(words[1]) * 6.2831853071795865;
  Scalar z = radius * emitCos(angle);
  return fma(z, z.like(op.getScale().convertToDouble()),
             z.like(op.getMean().convertToDouble()));
}

namespace {
template <typename Op, Scalar (*emit)(Op, ArrayRef<Scalar>)>
struct LowerRandom : OpRewritePattern<Op> {
  LowerRandom(MLIRContext *context, const ShapeResolver &shapes,
              RngStateProvider provider)
      : OpRewritePattern<Op>(context), shapes(shapes),
        provider(std::move(provider)) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    FailureOr<RngStateValues> state = provider(op);
    if (failed(state))
      return rewriter.notifyMatchFailure(op, "no random number state");
    Value key = arith::XOrIOp::create(
        rewriter, op.getLoc(), state->seed,
        arith::ConstantIntOp::create(rewriter, op.getLoc(), mixKey(op.getKey()),
                                     64));
    rewriter.replaceOp(
        op, createGeneric(rewriter, op.getLoc(), shapes, op.getResult(), {}, {},
                          [&](ImplicitLocOpBuilder &builder, ValueRange) {
                            return compute(op, builder, key, state->counter);
                          }));
    return success();
  }

private:
  Value compute(Op op, ImplicitLocOpBuilder &builder, Value key,
                Value counter) const {
    auto low = [](Scalar x) { return x.truncate(32); };
    auto high = [](Scalar x) { return x.logicalShiftRight(32).truncate(32); };
    Scalar element(builder, elementNumber(op, builder));
    Scalar forward = element.wrap(counter), keyed = element.wrap(key);
    std::array<Scalar, 4> words =
        emitPhilox({low(element), high(element), low(forward), high(forward)},
                   {low(keyed), high(keyed)});
    Scalar value = emit(op, words);
    Type type = op.getType().getElementType();
    return type.isF64() ? value.toF64() : storeElement(value, type);
  }

  /// The row-major number of the element, as an i64.
  Value elementNumber(Op op, ImplicitLocOpBuilder &builder) const {
    Value number = arith::ConstantIndexOp::create(builder, 0);
    for (int64_t i = 0; i < op.getType().getRank(); ++i) {
      Value size = getValueOrCreateConstantIndexOp(
          builder, op.getLoc(), shapes.getDim(op.getResult(), i));
      number = arith::MulIOp::create(builder, number, size);
      number = arith::AddIOp::create(builder, number,
                                     linalg::IndexOp::create(builder, i));
    }
    return arith::IndexCastOp::create(builder, builder.getI64Type(), number);
  }

  const ShapeResolver &shapes;
  RngStateProvider provider;
};
} // namespace

void populateRandomToLinalgPatterns(RewritePatternSet &patterns,
                                    const ShapeResolver &shapes,
                                    RngStateProvider rngState) {
  patterns.add<LowerRandom<RngNormalOp, emitNormal>,
               LowerRandom<RngUniformOp, emitUniform>>(patterns.getContext(),
                                                       shapes, rngState);
}

} // namespace rlx
