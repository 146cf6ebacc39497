// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXKernelOps.td - Products as tile kernels see them -----*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXKERNELOPS_TD
#define RLX_DIALECT_RLXKERNELOPS_TD

include "RLX/Dialect/RLXBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

/// A tensor before bufferization, a buffer after it.
def RLX_F32Operand : AnyTypeOf<[RankedTensorOf<[F32]>, MemRefOf<[F32]>]>;
def RLX_KernelOperand : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

def RLX_KernelGroup : OpDocGroup {
  let summary = "Kernels";
  let description = "What products become before bufferization; the graph has none of them.";
}

let opDocGroup = RLX_KernelGroup in {

class RLX_KernelOp<string mnemonic, list<Trait> traits = []>
    : RLX_Op<mnemonic, traits # [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

def RLX_GemmOp : RLX_KernelOp<"gemm"> {
  let summary = "Matrix product with a panel-packed rhs, written to a destination";
  let description = [{
    | value  | shape       | meaning                                              |
    |--------|-------------|------------------------------------------------------|
    | lhs    | `...xMxK`   | after `permutation`, which keeps K innermost         |
    | rhs    | `...x(K*N)` | each row a KxN matrix in layout `panel64`            |
    | extras |             | further operands of the epilogue                     |
    | init   | `...xMxN`   | overwritten; each element is one chain of f32 FMAs   |

    Outer dims are aligned at the innermost one and broadcast where they are
    absent or of static size 1. Logical dim i of lhs is its dim `permutation[i]`.

    The epilogue computes the element that is stored from the sum and one element
    of each extra operand, found by the map from the result's dims to its own:
    what a `linalg.generic` reading the result would compute, bit for bit.

    ```mlir
    %y = rlx.gemm ins(%x, %p : tensor<?x784xf32>, tensor<50176xf32>)
        outs(%e : tensor<?x64xf32>)
        epilogue(%b : tensor<64xf32>) maps [affine_map<(d0, d1) -> (d1)>] {
      ^bb0(%sum: f32, %bias: f32):
        %0 = arith.addf %sum, %bias : f32
        rlx.yield %0 : f32
      } -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins RLX_F32Operand:$lhs, RLX_F32Operand:$rhs,
                       Variadic<RLX_KernelOperand>:$extras, RLX_F32Operand:$init,
                       OptionalAttr<DenseI64ArrayAttr>:$permutation,
                       DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogueMaps);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)`
    (`permuted` $permutation^)? `outs` `(` $init `:` type($init) `)`
    (`epilogue` `(` ($extras^ `:` type($extras))? `)` (`maps` $epilogueMaps^)?  $epilogue^)?
    attr-dict (`->` type($results)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
      "::mlir::Value":$init, CArg<"::llvm::ArrayRef<int64_t>", "{}">:$permutation)>];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    bool hasEpilogue() { return !getEpilogue().empty(); }
    /// Dim of lhs that holds logical dim `dim`.
    int64_t getLhsDim(int64_t dim) {
      return getPermutation() ? (*getPermutation())[dim] : dim;
    }
  }];
}

def RLX_PackPanelsOp : RLX_KernelOp<"pack_panels"> {
  let summary = "Bring matrices into layout `panel64`, written to a destination";
  let description = [{
    Source `...xKxN` after `permutation` (logical dim i is its dim
    `permutation[i]`), destination `...x(K*N)` with the same outer dims.

    ```mlir
    %p = rlx.pack_panels ins(%w : tensor<64x784xf32>) permuted [1, 0]
        outs(%e : tensor<50176xf32>) -> tensor<50176xf32>
    ```
  }];
  let arguments = (ins RLX_F32Operand:$source, RLX_F32Operand:$init,
                       OptionalAttr<DenseI64ArrayAttr>:$permutation);
  let assemblyFormat = [{
    `ins` `(` $source `:` type($source) `)` (`permuted` $permutation^)?
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($results)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$init,
      CArg<"::llvm::ArrayRef<int64_t>", "{}">:$permutation)>];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// Dim of the source that holds logical dim `dim`.
    int64_t getSourceDim(int64_t dim) {
      return getPermutation() ? (*getPermutation())[dim] : dim;
    }
  }];
}

def RLX_YieldOp : RLX_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"::rlx::GemmOp">]> {
  let summary = "The element that an epilogue stores";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

} // opDocGroup

#endif // RLX_DIALECT_RLXKERNELOPS_TD
