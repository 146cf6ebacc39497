// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXInterfaces.td - What analyses ask of an op -----------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXINTERFACES_TD
#define RLX_DIALECT_RLXINTERFACES_TD

include "mlir/IR/OpBase.td"

def RLX_WeightLeafOpInterface : OpInterface<"WeightLeafOpInterface"> {
  let cppNamespace = "::rlx";
  let description = [{
    An op without operands whose result is a weight: the roots of weight-only
    computation. A host compiler attaches it to its own weight ops (or to its
    global loads) to use the analysis and the split on its dialect.
  }];
  let methods = [
    InterfaceMethod<[{
      The user's name of the weight; empty if it has none.
    }], "::llvm::StringRef", "getWeightName">,
    InterfaceMethod<[{
      The value where it is known now; null where it comes at load time.
    }], "::mlir::ElementsAttr", "getWeightValue">
  ];
}

def RLX_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::rlx";
  let description = [{
    An op that computes each element of its one result from the elements at the
    same place of its operands, which broadcast as in NumPy.
  }];
}

#endif // RLX_DIALECT_RLXINTERFACES_TD
