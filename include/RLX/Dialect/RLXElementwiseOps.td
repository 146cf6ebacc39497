// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXElementwiseOps.td - Elementwise ops ------------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXELEMENTWISEOPS_TD
#define RLX_DIALECT_RLXELEMENTWISEOPS_TD

include "RLX/Dialect/RLXBase.td"
include "RLX/Dialect/RLXInterfaces.td"

def RLX_ElementwiseGroup : OpDocGroup {
  let summary = "Elementwise ops";
  let description = "Each element of the result comes from the elements at the same place of the operands.";
}
let opDocGroup = RLX_ElementwiseGroup in {

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class RLX_UnaryOp<string mnemonic, TypeConstraint tensor, list<Trait> traits = []>
    : RLX_Op<mnemonic, traits # [Pure, SameOperandsAndResultType, RLX_ElementwiseOpInterface]> {
  let arguments = (ins tensor:$input);
  let results = (outs tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class RLX_FloatUnaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : RLX_UnaryOp<mnemonic, RLX_FloatTensor, traits> {
  let summary = "Elementwise " # formula;
}

def RLX_AbsOp : RLX_UnaryOp<"abs", RLX_SignedTensor> { let summary = "Elementwise |x|"; let hasFolder = 1; }
def RLX_NegOp : RLX_UnaryOp<"neg", RLX_SignedTensor> { let summary = "Elementwise -x"; let hasFolder = 1; }
def RLX_SignOp : RLX_UnaryOp<"sign", RLX_SignedTensor> {
  let summary = "Elementwise sign: -1, 0 or 1; keeps signed zero and NaN";
}
def RLX_AtanOp : RLX_FloatUnaryOp<"atan", "arctangent in radians">;
def RLX_CeilOp : RLX_FloatUnaryOp<"ceil", "rounding towards +infinity">;
def RLX_CosOp : RLX_FloatUnaryOp<"cos", "cosine of radians">;
def RLX_EluOp : RLX_FloatUnaryOp<"elu", "ELU with alpha 1: x > 0 ? x : exp(x) - 1">;
def RLX_ErfOp : RLX_FloatUnaryOp<"erf", "error function">;
def RLX_ExpOp : RLX_FloatUnaryOp<"exp", "e^x">;
def RLX_FloorOp : RLX_FloatUnaryOp<"floor", "rounding towards -infinity">;
def RLX_GeluOp : RLX_FloatUnaryOp<"gelu", "GELU: x * (1 + erf(x / sqrt(2))) / 2">;
def RLX_GeluApproxOp : RLX_FloatUnaryOp<"gelu_approx",
    "GELU by tanh: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2">;
def RLX_HardSigmoidOp : RLX_FloatUnaryOp<"hard_sigmoid", "clamp(x / 6 + 1/2, 0, 1)">;
def RLX_HardSwishOp : RLX_FloatUnaryOp<"hard_swish", "x * clamp(x / 6 + 1/2, 0, 1)">;
def RLX_LogOp : RLX_FloatUnaryOp<"log", "natural logarithm">;
def RLX_LogSigmoidOp : RLX_FloatUnaryOp<"log_sigmoid", "log(1 / (1 + exp(-x)))">;
def RLX_MishOp : RLX_FloatUnaryOp<"mish", "x * tanh(log(1 + exp(x)))">;
def RLX_RecipOp : RLX_FloatUnaryOp<"recip", "1 / x">;
def RLX_ReluOp : RLX_UnaryOp<"relu", RLX_SignedTensor, [Idempotent]> {
  let summary = "Elementwise max(x, 0); keeps NaN";
}
def RLX_RoundOp : RLX_FloatUnaryOp<"round", "rounding to the nearest integer, halves to even">;
def RLX_RsqrtOp : RLX_FloatUnaryOp<"rsqrt", "1 / sqrt(x)">;
def RLX_SigmoidOp : RLX_FloatUnaryOp<"sigmoid", "1 / (1 + exp(-x))">;
def RLX_SiluOp : RLX_FloatUnaryOp<"silu", "x / (1 + exp(-x))">;
def RLX_SinOp : RLX_FloatUnaryOp<"sin", "sine of radians">;
def RLX_SoftplusOp : RLX_FloatUnaryOp<"softplus", "log(1 + exp(x))">;
def RLX_SoftsignOp : RLX_FloatUnaryOp<"softsign", "x / (1 + |x|)">;
def RLX_SqrtOp : RLX_FloatUnaryOp<"sqrt", "square root">;
def RLX_TanOp : RLX_FloatUnaryOp<"tan", "tangent of radians">;
def RLX_TanhOp : RLX_FloatUnaryOp<"tanh", "hyperbolic tangent">;

def RLX_CastOp : RLX_Op<"cast", [Pure, RLX_ElementwiseOpInterface]> {
  let summary = "Elementwise conversion to another element type";
  let description = [{
    Float to float rounds to nearest even. Float to integer truncates towards zero
    and saturates; NaN becomes 0. Integer to float rounds to nearest even, integer
    to integer keeps the low bits. To i1: x != 0; from i1: 0 or 1.

    ```mlir
    %1 = rlx.cast %0 : tensor<?x4xf32> to tensor<?x4xf16>
    ```
  }];
  let arguments = (ins RLX_Tensor:$input);
  let results = (outs RLX_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class RLX_BinaryOp<string mnemonic, TypeConstraint tensor, list<Trait> traits = []>
    : RLX_Op<mnemonic, traits # [Pure, SameOperandsAndResultElementType, RLX_ElementwiseOpInterface,
        InferTypeOpAdaptor]> {
  let description = [{
    Operands broadcast as in NumPy: shapes are aligned at the innermost dim; a dim
    of size 1 stretches. A `?` is taken to equal what it meets, unless that is 1.
    Integers wrap around.
  }];
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::rlx::inferBroadcast(location, adaptor.getLhs(), adaptor.getRhs(), inferred);
    }
  }];
}

def RLX_AddOp : RLX_BinaryOp<"add", RLX_NumberTensor, [Commutative]> { let summary = "Elementwise x + y"; }
def RLX_SubOp : RLX_BinaryOp<"sub", RLX_NumberTensor> { let summary = "Elementwise x - y"; }
def RLX_MulOp : RLX_BinaryOp<"mul", RLX_NumberTensor, [Commutative]> { let summary = "Elementwise x * y"; }
def RLX_DivOp : RLX_BinaryOp<"div", RLX_NumberTensor> {
  let summary = "Elementwise x / y; integers truncate, and x / 0 is 0";
}
def RLX_MaxOp : RLX_BinaryOp<"max", RLX_NumberTensor, [Commutative]> {
  let summary = "Elementwise maximum; NaN if either is NaN";
}
def RLX_MinOp : RLX_BinaryOp<"min", RLX_NumberTensor, [Commutative]> {
  let summary = "Elementwise minimum; NaN if either is NaN";
}
def RLX_ModOp : RLX_BinaryOp<"mod", RLX_NumberTensor> {
  let summary = "Elementwise remainder with the sign of x, as C's fmod; integers mod 0 are 0";
}
def RLX_PowOp : RLX_BinaryOp<"pow", RLX_FloatTensor> { let summary = "Elementwise x^y"; }
def RLX_Atan2Op : RLX_BinaryOp<"atan2", RLX_FloatTensor> {
  let summary = "Elementwise angle of the point (y, x) in radians; lhs is y";
}
def RLX_BitAndOp : RLX_BinaryOp<"bit_and", RLX_BitsTensor, [Commutative]> { let summary = "Elementwise x & y"; }
def RLX_BitOrOp : RLX_BinaryOp<"bit_or", RLX_BitsTensor, [Commutative]> { let summary = "Elementwise x | y"; }
def RLX_BitXorOp : RLX_BinaryOp<"bit_xor", RLX_BitsTensor, [Commutative]> { let summary = "Elementwise x ^ y"; }
def RLX_ShlOp : RLX_BinaryOp<"shl", RLX_IntegerTensor> {
  let summary = "Elementwise x << y; 0 where y is not in [0, bits)";
}
def RLX_ShrOp : RLX_BinaryOp<"shr", RLX_IntegerTensor> {
  let summary = "Elementwise x >> y, arithmetic for signed x; the sign where y is not in [0, bits)";
}

} // opDocGroup

#endif // RLX_DIALECT_RLXELEMENTWISEOPS_TD
