// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXLeafOps.td - Weights -----------------------------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXLEAFOPS_TD
#define RLX_DIALECT_RLXLEAFOPS_TD

include "RLX/Dialect/RLXInterfaces.td"
include "RLX/Dialect/RLXTypes.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def RLX_LeafGroup : OpDocGroup {
  let summary = "Weights";
  let description = "The leaves of a graph, and what the prepare/main split makes of them.";
}

def RLX_WeightType : AnyTypeOf<[RLX_Tensor, RLX_PackedType]>;

let opDocGroup = RLX_LeafGroup in {

class RLX_LeafOp<string mnemonic, list<Trait> traits = []>
    : RLX_Op<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<RLX_WeightLeafOpInterface>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]>;

def RLX_ParamOp : RLX_LeafOp<"param"> {
  let summary = "A weight whose value is not known yet";
  let description = [{
    The value comes when the program is loaded (`set_param`, a weight file), or
    from `rlx-specialize-params`. Its shape is static.

    ```mlir
    %w = rlx.param "fc1.weight" : tensor<64x784xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs RLX_WeightType:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RLX_ConstantOp : RLX_LeafOp<"constant"> {
  let summary = "A weight whose value is known";
  let description = [{
    `value` holds the elements in row-major order, or for a packed weight its
    bytes as a `tensor<Nxi8>`. Values above a few hundred bytes are resources
    (`dense_resource<...>`), so that they are mapped rather than copied. A name
    is what the user calls the weight; literals have none.

    Not `ConstantLike`: MLIR's folder merges such ops by value alone, and a weight
    that changes later must keep its name. Equal weights are merged by
    `rlx-dedupe-constants`.

    ```mlir
    %w = rlx.constant "fc1.weight" dense_resource<fc1> : tensor<64x784xf32>
    %c = rlx.constant dense<1.0> : tensor<f32>
    %p = rlx.constant "fc1.weight" dense_resource<fc1_packed>
        : tensor<200704xi8> -> !rlx.packed<784x64xf32, dense, panel64>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, ElementsAttr:$value);
  let results = (outs RLX_WeightType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::ElementsAttr":$value, CArg<"::llvm::StringRef", "{}">:$name)>
  ];
}

def RLX_PreparedOp : RLX_LeafOp<"prepared", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A value that an instance of a prepare function computes";
  let description = [{
    Stands in `main` for a boundary tensor of the prepare/main split. The name is
    a result name of one `rlx.prepare` of the module.

    ```mlir
    %p = rlx.prepared "prep0" : tensor<4x3xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs RLX_WeightType:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RLX_PrepareOp : RLX_Op<"prepare", [
    HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One instance of a prepare function: its weights and its results by name";
  let description = [{
    Runs once before the first forward, and again when one of its weights changes.
    Instances whose computation has the same structure share `callee`. An operand
    is the name of a weight, or of a result of an earlier instance. No result has the
    name of a weight or of another result. An `rlx.param` that only prepare
    functions read has no op left in the module; its type is the operand's.

    ```mlir
    rlx.prepare @main.prepare0("w", "scale") -> ("prep0")
        : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, StrArrayAttr:$weights,
                       StrArrayAttr:$outputs, TypeAttrOf<FunctionType>:$type);
  let assemblyFormat = [{ $callee `` custom<Names>($weights) `->` custom<Names>($outputs)
    attr-dict `:` $type }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // RLX_DIALECT_RLXLEAFOPS_TD
