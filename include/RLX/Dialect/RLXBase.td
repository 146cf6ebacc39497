// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXBase.td - The rlx dialect ----------------------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXBASE_TD
#define RLX_DIALECT_RLXBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RLX_Dialect : Dialect {
  let name = "rlx";
  let cppNamespace = "::rlx";
  let summary = "Neural-network graphs in which weights are first-class leaves";
  let description = [{
    Tensors with value semantics; `?` dims are allowed everywhere but on weights.
    A graph is a `func.func`. Its inputs are arguments; its weights are leaf ops:
    `rlx.param` (value unknown), `rlx.constant` (value known) and, after the
    prepare/main split, `rlx.prepared` (value computed once, before the first
    forward). Everything a leaf reaches through pure ops alone is *weight-only*.

    Attributes on arguments and results of functions:

    | attribute  | value             | meaning                                      |
    |------------|-------------------|----------------------------------------------|
    | `rlx.name` | string            | the user's name of the input or output       |
    | `rlx.dims` | `[@batch, 784]`   | one entry per dim: a symbol for each `?`     |

    Lowering appends two i64 arguments, marked `rlx.rng_seed` and
    `rlx.rng_counter`, to functions that draw random numbers.

    Dims with the same symbol are equal at every call. Names are unique among the
    arguments, and among the results, of a function.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

class RLX_Op<string mnemonic, list<Trait> traits = []>
    : Op<RLX_Dialect, mnemonic, traits>;

/// Element types of this release. Arithmetic on f16 and bf16 happens in f32;
/// signless integers are signed, and i1 is a truth value.
def RLX_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def RLX_Signed : AnyTypeOf<[RLX_Float, I8, I16, I32, I64],
    "f16, bf16, f32, f64, i8, i16, i32 or i64">;
def RLX_Number : AnyTypeOf<[RLX_Signed, UI8, UI32],
    "f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or ui32">;
def RLX_Integer : AnyTypeOf<[I8, I16, I32, I64, UI8, UI32],
    "i8, i16, i32, i64, ui8 or ui32">;
def RLX_Bits : AnyTypeOf<[I1, RLX_Integer], "i1, i8, i16, i32, i64, ui8 or ui32">;
def RLX_Element : AnyTypeOf<[I1, RLX_Number],
    "f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8 or ui32">;

class RLX_TensorOf<Type element> : RankedTensorOf<[element],
    [CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">],
    "ranked tensor without encoding">;

def RLX_Tensor : RLX_TensorOf<RLX_Element>;
def RLX_BitsTensor : RLX_TensorOf<RLX_Bits>;
def RLX_FloatTensor : RLX_TensorOf<RLX_Float>;
def RLX_IntegerTensor : RLX_TensorOf<RLX_Integer>;
def RLX_NumberTensor : RLX_TensorOf<RLX_Number>;
def RLX_SignedTensor : RLX_TensorOf<RLX_Signed>;

/// Dims of a result that its operands don't determine: integers, symbols such as
/// `@batch`, and where the op says so one -1 for "what is left".
def RLX_DimsAttr : TypedArrayAttrBase<
    AnyAttrOf<[I64Attr, FlatSymbolRefAttr]>, "dims: integers and symbols">;

#endif // RLX_DIALECT_RLXBASE_TD
