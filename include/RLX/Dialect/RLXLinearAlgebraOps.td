// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXLinearAlgebraOps.td - Products and packing -----------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXLINEARALGEBRAOPS_TD
#define RLX_DIALECT_RLXLINEARALGEBRAOPS_TD

include "RLX/Dialect/RLXBase.td"
include "RLX/Dialect/RLXTypes.td"

def RLX_LinearAlgebraGroup : OpDocGroup {
  let summary = "Linear algebra";
  let description = "Products, and the layouts of their weights.";
}

def RLX_MatrixOrPacked : AnyTypeOf<[RLX_FloatTensor, RLX_PackedType]>;

let opDocGroup = RLX_LinearAlgebraGroup in {

def RLX_MatmulOp : RLX_Op<"matmul", [Pure]> {
  let summary = "Matrix product of the two innermost dims; outer dims broadcast";
  let description = [{
    | value  | shape      | meaning                                          |
    |--------|------------|--------------------------------------------------|
    | lhs    | `...xMxK`  |                                                  |
    | rhs    | `...xKxN`  | or packed: `KxN`, or `BxKxN`                     |
    | result | `...xMxN`  | summed over k in order in f32 by FMA             |

    ```mlir
    %y = rlx.matmul %x, %w : (tensor<?x784xf32>, tensor<784x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins RLX_FloatTensor:$lhs, RLX_MatrixOrPacked:$rhs);
  let results = (outs RLX_FloatTensor:$result);
  let assemblyFormat = [{ $lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)`
    `->` type($result) }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def RLX_LinearOp : RLX_Op<"linear", [Pure]> {
  let summary = "Affine map of the innermost dim, y = x * W^T + b";
  let description = [{
    | value  | shape    | meaning                                                |
    |--------|----------|--------------------------------------------------------|
    | input  | `...xK`  | activations                                            |
    | weight | `NxK`    | one row per output feature, as in PyTorch; packed: `KxN` |
    | bias   | `N`      | absent means zero                                      |
    | result | `...xN`  | summed over k in order in f32 by FMA, then + bias      |

    ```mlir
    %y = rlx.linear %x, %w bias(%b : tensor<32xf32>)
        : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins RLX_FloatTensor:$input, RLX_MatrixOrPacked:$weight,
                       Optional<RLX_FloatTensor>:$bias);
  let results = (outs RLX_FloatTensor:$result);
  let assemblyFormat = [{ $input `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)?
    attr-dict `:` `(` type($input) `,` type($weight) `)` `->` type($result) }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def RLX_PackOp : RLX_Op<"pack", [Pure]> {
  let summary = "Bring a matrix into the encoding and layout of its result type";
  let description = [{
    Weight-only when its operand is, so it runs at bake, at load or again after a
    changed weight like any other op. With `transposed` the operand is NxK.

    ```mlir
    %p = rlx.pack %w transposed
        : tensor<64x784xf32> -> !rlx.packed<784x64xf32, dense, panel64>
    ```
  }];
  let arguments = (ins RLX_FloatTensor:$input, UnitAttr:$transposed);
  let results = (outs RLX_PackedType:$result);
  let assemblyFormat = [{ $input (`transposed` $transposed^)? attr-dict
    `:` type($input) `->` qualified(type($result)) }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

} // opDocGroup

#endif // RLX_DIALECT_RLXLINEARALGEBRAOPS_TD
