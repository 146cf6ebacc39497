// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXTypes.td - Types of the rlx dialect ------------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXTYPES_TD
#define RLX_DIALECT_RLXTYPES_TD

include "RLX/Dialect/RLXBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def RLX_EncodingDense : I32EnumAttrCase<"Dense", 0, "dense">;
def RLX_Encoding : I32EnumAttr<"Encoding",
    "which numbers a packed weight stores", [RLX_EncodingDense]> {
  let cppNamespace = "::rlx";
}

def RLX_LayoutRowMajor : I32EnumAttrCase<"RowMajor", 0, "row_major">;
def RLX_LayoutPanel64 : I32EnumAttrCase<"Panel64", 1, "panel64">;
def RLX_Layout : I32EnumAttr<"Layout",
    "in which order a packed weight stores its numbers",
    [RLX_LayoutRowMajor, RLX_LayoutPanel64]> {
  let cppNamespace = "::rlx";
}

def RLX_PackedType : TypeDef<RLX_Dialect, "Packed"> {
  let mnemonic = "packed";
  let summary = "packed weight";
  let description = [{
    `!rlx.packed<784x64xf32, dense, panel64>` is a KxN matrix, or a stack of them
    (`BxKxN`), as a run of bytes that only ops which ask for it can read. It is
    neither a shaped type nor a tensor encoding, so that nothing takes its bytes
    for a plain tensor.

    Layout `panel64` of a dense KxN matrix: for each block of 512 rows (the last
    one K mod 512), for each panel of 64 columns (the last one at its true width
    w), the rows of the panel one after the other, w elements each. It takes
    exactly as many bytes as the matrix and can be inverted.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "logical shape: KxN, or BxKxN">:$shape,
    "::mlir::Type":$elementType,
    "::rlx::Encoding":$encoding,
    "::rlx::Layout":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Number of bytes that a value of this type takes.
    int64_t getSizeInBytes() const;
  }];
}

#endif // RLX_DIALECT_RLXTYPES_TD
