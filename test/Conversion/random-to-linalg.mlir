// RUN: rlx-opt %s --rlx-to-linalg --split-input-file | FileCheck %s

// The state comes in two arguments behind the others; the element's number is
// its place in row-major order.
// CHECK-LABEL: func.func @uniform
// CHECK-SAME:    %[[X:.+]]: tensor<?x3xf32> {rlx.dims = [@batch, 3]}
// CHECK-SAME:    %[[SEED:.+]]: i64 {rlx.rng_seed}
// CHECK-SAME:    %[[COUNTER:.+]]: i64 {rlx.rng_counter}
// CHECK:         %[[B:.+]] = tensor.dim %[[X]]
// CHECK:         arith.xori %[[SEED]]
// CHECK:         tensor.empty(%[[B]])
// CHECK:         linalg.generic {{.+}} outs(
// CHECK:           linalg.index 0
// CHECK:           linalg.index 1
// CHECK:           arith.trunci %[[COUNTER]] : i64 to i32
func.func @uniform(%x: tensor<?x3xf32> {rlx.dims = [@batch, 3]}) -> tensor<?x3xf32> {
  %0 = rlx.rng_uniform low -1.0 high 1.0 key 7 shape [@batch, 3] : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// Two ops share the state.
// CHECK-LABEL: func.func @two
// CHECK-SAME:    (%[[SEED:.+]]: i64 {rlx.rng_seed}, %{{.+}}: i64 {rlx.rng_counter})
// CHECK-COUNT-2: arith.xori %[[SEED]]
func.func @two() -> (tensor<2xf32>, tensor<2xbf16>) {
  %0 = rlx.rng_normal mean 0.0 scale 1.0 key 1 shape [2] : tensor<2xf32>
  %1 = rlx.rng_normal mean 0.0 scale 1.0 key 2 shape [2] : tensor<2xbf16>
  return %0, %1 : tensor<2xf32>, tensor<2xbf16>
}

// -----

// A function that draws no numbers keeps its signature.
// CHECK-LABEL: func.func @none(%{{[a-z0-9]+}}: tensor<2xf32>) ->
func.func @none(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = rlx.exp %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
