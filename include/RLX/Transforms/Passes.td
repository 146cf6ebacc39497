// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Passes.td - rlx to rlx passes ---------------------------*- tablegen -*-===//

#ifndef RLX_TRANSFORMS_PASSES_TD
#define RLX_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintWeightOnlyPass : Pass<"rlx-print-weight-only", "::mlir::ModuleOp"> {
  let summary = "Say of each op whether its results depend on weights alone";
  let description = [{
    Sets `rlx.weight_only` on every op that has results:

    | value     | results depend on                                              |
    |-----------|----------------------------------------------------------------|
    | `known`   | weights and constants whose values are known now               |
    | `params`  | weights alone, of which one at least has no value yet          |
    | `dynamic` | an input, a random number or a side effect                     |

    `known, local` and `params, local` also depend on an argument of a block,
    such as an induction variable, so that they can't be moved out of it.
  }];
}

def SpecializeParamsPass : Pass<"rlx-specialize-params", "::mlir::ModuleOp"> {
  let summary = "Turn params whose values are given into named constants";
  let description = [{
    Values come from weight files (`weights`), from the caller of
    `createSpecializeParamsPass`, and from the module's own attribute
    `rlx.bindings`, a dictionary by name, which the pass removes. The last one
    that gives a value to a name wins.

    A value of another shape or element type than its param is an error that
    names both. Params without a value stay params; values without a param are
    listed in one warning. If no value fits any param, that is an error.

    ```mlir
    module attributes {rlx.bindings = {w = dense<2.0> : tensor<4xf32>}} {
      ...
      %0 = rlx.param "w" : tensor<4xf32>  // becomes rlx.constant "w" dense<2.0>
    ```
  }];
  let options = [
    ListOption<"weights", "weights", "std::string",
               "Weight files that give values, by the names in them">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "A param without a value is an error">
  ];
  let dependentDialects = ["::rlx::RLXDialect"];
}

def NameConstantsPass : Pass<"rlx-name-constants", "::mlir::ModuleOp"> {
  let summary = "Give every constant that is stored a name of its own";
  let description = [{
    A name means one weight: files, prepare functions and `set_param` know no
    other identity. A constant of more than 256 bytes that is no splat has to
    have one, and is called after the op, or `const<i>`; smaller ones stay
    literals of the code that reads them. A constant called as a param, or as an
    earlier constant of another value or type, becomes `<name>.<i>`.
  }];
}

def LayoutWeightsPass : Pass<"rlx-layout-weights", "::mlir::ModuleOp"> {
  let summary = "Give weights of products the layout that kernels read";
  let description = [{
    Inserts one `rlx.pack` to layout `panel64` per f32 matrix that is weight-only
    and used as the right-hand side of `rlx.matmul` or the weight of
    `rlx.linear`. The pack is weight-only itself, so it runs at bake or at load.

    A matrix stays as it is where packing would store it twice: it is also an
    output, or main uses it in some other way, or as rows and as columns.
  }];
  let dependentDialects = ["::rlx::RLXDialect"];
}

def ConstFoldPass : Pass<"rlx-const-fold", "::mlir::ModuleOp"> {
  let summary = "Compute what depends on known weights alone";
  let description = [{
    Hands the weight-only part whose weights all have values to an evaluator,
    one function for each structure in it, and puts constants in the place of
    the results that main uses. Params are never folded.

    A constant made of one named weight keeps the name if that weight dies;
    others are called after the op that made them, or `prep<i>`. Every constant
    lists the named weights that it was made of in `rlx.origin`.

    Declines ops whose results take `growth-threshold` bytes more than the
    weights that die by folding them, such as a broadcast to a large shape.
  }];
  let options = [
    Option<"growthThreshold", "growth-threshold", "uint64_t",
           /*default=*/"1 << 20",
           "Bytes that the constants may grow by in one connected part">,
    Option<"releaseDead", "release-dead", "bool", /*default=*/"false",
           "Free the values of weights that die as soon as they do. For a module "
           "whose weights no other module in the context uses">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::rlx::RLXDialect"];
}

def SplitPreparePass : Pass<"rlx-split-prepare", "::mlir::ModuleOp"> {
  let summary = "Move what depends on weights alone to prepare functions";
  let description = [{
    What is weight-only and no leaf moves to functions `@<entry>.prepare<i>`,
    which run once before the first forward; the module's `rlx.prepare` ops list
    each instance with the weights that it reads. Main reads the results as
    `rlx.prepared` leaves.

    Instances are the connected parts of the graph without its leaves, so that a
    changed weight recomputes only what it touches. Parts of equal structure
    share one function; equal parts of several entry functions are one instance.
    What several results need is an instance of its own if it is small.

    A result is called after the op that makes it, else after the one weight it
    is made of, else `prep<i>`. A broadcast (`rlx.expand`) stays in main unless
    something in prepare needs it: main reads the smaller tensor. Calls stay too;
    inline first.
  }];
  let options = [
    Option<"maxSharedBytes", "max-shared-bytes", "int64_t",
           /*default=*/"1 << 20",
           "Largest intermediate that is kept so that the parts which share it "
           "can be recomputed alone">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::rlx::RLXDialect"];
}

def DropUnusedPass : Pass<"rlx-drop-unused", "::mlir::ModuleOp"> {
  let summary = "Remove weights, ops, prepare instances and functions without use";
  let description = [{
    Unlike `symbol-dce` it knows that `rlx.prepare` uses weights by name, and
    that an instance none of whose results is read is dead. Arguments of
    functions stay: an input that dies keeps its place.
  }];
}

#endif // RLX_TRANSFORMS_PASSES_TD
