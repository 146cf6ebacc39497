// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXShapeOps.td - Shape and data movement ----------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXSHAPEOPS_TD
#define RLX_DIALECT_RLXSHAPEOPS_TD

include "RLX/Dialect/RLXBase.td"
include "mlir/IR/SymbolInterfaces.td"

def RLX_ShapeGroup : OpDocGroup {
  let summary = "Shape and data movement";
  let description = "The elements of the operand in another shape or order.";
}
let opDocGroup = RLX_ShapeGroup in {

def RLX_ReshapeOp : RLX_Op<"reshape", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The same elements in the same order under another shape";
  let description = [{
    `shape` has one entry per result dim: an integer, a symbol, or at most one -1
    for what the element count leaves. A symbol that no input of the function
    carries is found in the same way, so at most one entry is unknown.

    ```mlir
    %1 = rlx.reshape %0 to [@batch, 784] : tensor<?x28x28xf32> -> tensor<?x784xf32>
    ```
  }];
  let arguments = (ins RLX_Tensor:$input, RLX_DimsAttr:$shape);
  let results = (outs RLX_Tensor:$result);
  let assemblyFormat = "$input `to` $shape attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def RLX_ExpandOp : RLX_Op<"expand", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Broadcast to a shape";
  let description = [{
    The input's dims are aligned at the innermost one; size 1 stretches. `shape`
    holds integers and symbols of inputs, one per result dim.

    ```mlir
    %1 = rlx.expand %0 to [@batch, 64] : tensor<64xf32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins RLX_Tensor:$input, RLX_DimsAttr:$shape);
  let results = (outs RLX_Tensor:$result);
  let assemblyFormat = "$input `to` $shape attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def RLX_TransposeOp : RLX_Op<"transpose", [Pure, InferTypeOpAdaptor]> {
  let summary = "Permute dims: result dim i is input dim perm[i]";
  let description = [{
    ```mlir
    %1 = rlx.transpose %0 [1, 0] : tensor<64x784xf32>
    ```
  }];
  let arguments = (ins RLX_Tensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs RLX_Tensor:$result);
  let assemblyFormat = "$input $perm attr-dict `:` type($input)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

} // opDocGroup

#endif // RLX_DIALECT_RLXSHAPEOPS_TD
