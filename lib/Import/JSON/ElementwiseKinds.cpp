// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ElementwiseKinds.h"

#include "RLX/Dialect/RLXDialect.h"

using namespace llvm;
using namespace mlir;
using namespace rlx;

bool rlx::includes(Takes takes, ElementKind kind) {
  switch (kind) {
  case ElementKind::F32:
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::F64:
    return takes == Takes::Floats || takes == Takes::Signed ||
           takes == Takes::Numbers;
  case ElementKind::Bool:
    return takes == Takes::Bits;
  case ElementKind::U8:
  case ElementKind::U32:
    return takes == Takes::Numbers || takes == Takes::Integers ||
           takes == Takes::Bits;
  default:
    return takes != Takes::Floats;
  }
}

StringRef rlx::describe(Takes takes) {
  switch (takes) {
  case Takes::Floats:
    return "floats";
  case Takes::Signed:
    return "floats and signed integers";
  case Takes::Numbers:
    return "numbers";
  case Takes::Integers:
    return "integers";
  case Takes::Bits:
    return "integers and truth values";
  }
  llvm_unreachable("all are listed");
}

template <typename OpT>
static Value unary(OpBuilder &builder, Location location, Value input) {
  return OpT::create(builder, location, input.getType(), input);
}

template <typename OpT>
static Value binary(OpBuilder &builder, Location location, Type result,
                    Value lhs, Value rhs) {
  return OpT::create(builder, location, result, lhs, rhs);
}

ArrayRef<ActivationKind> rlx::activationKinds() {
  static constexpr ActivationKind kinds[] = {
      {"Abs", Takes::Signed, unary<AbsOp>},
      {"Atan", Takes::Floats, unary<AtanOp>},
      {"Ceil", Takes::Floats, unary<CeilOp>},
      {"Cos", Takes::Floats, unary<CosOp>},
      {"Elu", Takes::Floats, unary<EluOp>},
      {"Erf", Takes::Floats, unary<ErfOp>},
      {"Exp", Takes::Floats, unary<ExpOp>},
      {"Floor", Takes::Floats, unary<FloorOp>},
      {"Gelu", Takes::Floats, unary<GeluOp>},
      {"GeluApprox", Takes::Floats, unary<GeluApproxOp>},
      {"HardSigmoid", Takes::Floats, unary<HardSigmoidOp>},
      {"HardSwish", Takes::Floats, unary<HardSwishOp>},
      {"Log", Takes::Floats, unary<LogOp>},
      {"LogSigmoid", Takes::Floats, unary<LogSigmoidOp>},
      {"Mish", Takes::Floats, unary<MishOp>},
      {"Neg", Takes::Signed, unary<NegOp>},
      {"Recip", Takes::Floats, unary<RecipOp>},
      {"Relu", Takes::Signed, unary<ReluOp>},
      {"Round", Takes::Floats, unary<RoundOp>},
      {"Rsqrt", Takes::Floats, unary<RsqrtOp>},
      {"Sigmoid", Takes::Floats, unary<SigmoidOp>},
      {"Sign", Takes::Signed, unary<SignOp>},
      {"Silu", Takes::Floats, unary<SiluOp>},
      {"Sin", Takes::Floats, unary<SinOp>},
      {"Softplus", Takes::Floats, unary<SoftplusOp>},
      {"Softsign", Takes::Floats, unary<SoftsignOp>},
      {"Sqrt", Takes::Floats, unary<SqrtOp>},
      {"Tan", Takes::Floats, unary<TanOp>},
      {"Tanh", Takes::Floats, unary<TanhOp>},
  };
  return kinds;
}

ArrayRef<BinaryKind> rlx::binaryKinds() {
  static constexpr BinaryKind kinds[] = {
      {"Add", Takes::Numbers, binary<AddOp>},
      {"Atan2", Takes::Floats, binary<Atan2Op>},
      {"BitAnd", Takes::Bits, binary<BitAndOp>},
      {"BitOr", Takes::Bits, binary<BitOrOp>},
      {"BitXor", Takes::Bits, binary<BitXorOp>},
      {"Div", Takes::Numbers, binary<DivOp>},
      {"Max", Takes::Numbers, binary<MaxOp>},
      {"Min", Takes::Numbers, binary<MinOp>},
      {"Mod", Takes::Numbers, binary<ModOp>},
      {"Mul", Takes::Numbers, binary<MulOp>},
      {"Pow", Takes::Floats, binary<PowOp>},
      {"Shl", Takes::Integers, binary<ShlOp>},
      {"Shr", Takes::Integers, binary<ShrOp>},
      {"Sub", Takes::Numbers, binary<SubOp>},
  };
  return kinds;
}
