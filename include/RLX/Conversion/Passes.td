// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Passes.td - Conversion passes ---------------------------*- tablegen -*-===//

#ifndef RLX_CONVERSION_PASSES_TD
#define RLX_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def RLXToLinalgPass : Pass<"rlx-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower elementwise, shape and random ops to linalg and tensor ops";
  let description = [{
    Elementwise ops, expand, transpose and random numbers become `linalg.generic`
    with bodies of arith and math ops, so that `linalg-fuse-elementwise-ops` joins
    chains of them; reshape becomes a view (`tensor.collapse_shape`,
    `tensor.expand_shape`); unnamed constants become `arith.constant`. Leaves,
    products and packs stay.

    All arithmetic on sizes is put at the start of the function and reads nothing
    but the dims of its arguments. So are the checks that the dims of a call fit
    the graph, as `cf.assert` with a message that names the op. A function that
    draws random numbers gets two more arguments, the seed and the number of the
    forward.

    | op                      | becomes                                          |
    |-------------------------|--------------------------------------------------|
    | elementwise, `rlx.cast` | `linalg.generic`; f16 and bf16 compute in f32    |
    | `rlx.expand`            | `linalg.generic` that yields its input           |
    | `rlx.transpose`         | `linalg.generic` that yields its input           |
    | `rlx.reshape`           | `tensor.collapse_shape`, `tensor.expand_shape`   |
    | `rlx.rng_*`             | `linalg.generic` of the element's number         |
    | unnamed `rlx.constant`  | `arith.constant`                                 |
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def ExpandMathPass : Pass<"rlx-expand-math"> {
  let summary = "Expand elementary functions on f32 into arith ops that vectorise";
  let description = [{
    Replaces every math op that LLVM would turn into a call of libm, and
    `arith.remf`, by straight-line arith ops: no calls, no branches, no fast-math
    flags. Results have the same bits whatever the vector width. `docs/Numerics.md`
    has the measured error of each function. Fails on those that it can't expand,
    f64 among them: calls would need a libm where the artifact runs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def LowerExpandShapePass : Pass<"rlx-lower-expand-shape"> {
  let summary = "Lower memref.expand_shape with two dynamic dims in one group";
  let description = [{
    MLIR 22's `expand-strided-metadata` crashes on one, for instance on a
    `memref<?x8xf32>` that is expanded to `memref<?x?x8xf32>` of a batch and a
    sequence. As the op carries its sizes, it is a `memref.reinterpret_cast` of a
    contiguous buffer. To be run before that pass.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // RLX_CONVERSION_PASSES_TD
