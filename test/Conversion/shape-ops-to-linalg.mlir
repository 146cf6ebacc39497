// RUN: rlx-opt %s --rlx-to-linalg --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// A reshape is a view: dims merge and split where their products agree.
// CHECK-LABEL: func.func @merge
// CHECK-NOT:     cf.assert
// CHECK:         tensor.collapse_shape %{{.+}} {{\[}}[0], [1, 2]]
func.func @merge(%x: tensor<?x28x28xf32> {rlx.dims = [@batch, 28, 28]}) -> tensor<?x784xf32> {
  %0 = rlx.reshape %x to [@batch, 784] : tensor<?x28x28xf32> -> tensor<?x784xf32>
  return %0 : tensor<?x784xf32>
}

// -----

// CHECK-LABEL: func.func @split
// CHECK:         %[[B:.+]] = tensor.dim
// CHECK-NOT:     cf.assert
// CHECK:         tensor.expand_shape %{{.+}} {{\[}}[0], [1, 2]] output_shape [%[[B]], 28, 28]
func.func @split(%x: tensor<?x784xf32> {rlx.dims = [@batch, 784]}) -> tensor<?x28x28xf32> {
  %0 = rlx.reshape %x to [@batch, 28, 28] : tensor<?x784xf32> -> tensor<?x28x28xf32>
  return %0 : tensor<?x28x28xf32>
}

// -----

// Dims that match in neither direction go through one dim.
// CHECK-LABEL: func.func @regroup
// CHECK:         %[[FLAT:.+]] = tensor.collapse_shape %{{.+}} {{\[}}[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK:         tensor.expand_shape %[[FLAT]] {{\[}}[0, 1]] output_shape [3, 8]
func.func @regroup(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %0 = rlx.reshape %x to [3, 8] : tensor<4x6xf32> -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

// Ones come and go, and so do all dims.
// CHECK-LABEL: func.func @ones
// CHECK-DAG:     tensor.expand_shape %{{.+}} {{\[}}[0, 1]] output_shape [3, 1]
// CHECK-DAG:     tensor.expand_shape %{{.+}} [] output_shape [1, 1]
// CHECK-DAG:     tensor.collapse_shape %{{.+}} [] : tensor<1x1xf32> into tensor<f32>
func.func @ones(%x: tensor<3xf32>, %y: tensor<f32>, %z: tensor<1x1xf32>) -> (tensor<3x1xf32>, tensor<1x1xf32>, tensor<f32>) {
  %0 = rlx.reshape %x to [3, 1] : tensor<3xf32> -> tensor<3x1xf32>
  %1 = rlx.reshape %y to [1, 1] : tensor<f32> -> tensor<1x1xf32>
  %2 = rlx.reshape %z to [] : tensor<1x1xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<3x1xf32>, tensor<1x1xf32>, tensor<f32>
}

// -----

// -1 is what is left, checked where it needs to be.
// CHECK-LABEL: func.func @inferred
// CHECK:         %[[N:.+]] = tensor.dim
// CHECK:         %[[Q:.+]] = arith.divui %{{.+}}, %c4
// CHECK:         cf.assert %{{.+}}, "rlx.reshape: the shape must hold as many elements as the input"
// CHECK:         tensor.expand_shape %{{.+}} output_shape [%[[Q]], 4]
func.func @inferred(%x: tensor<?xf32> {rlx.dims = [@n]}) -> tensor<?x4xf32> {
  %0 = rlx.reshape %x to [-1, 4] : tensor<?xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A new symbol has a value from there on: no check, and undone without one.
// CHECK-LABEL: func.func @new_symbol
// CHECK:         %[[B:.+]] = tensor.dim
// CHECK:         %[[N:.+]] = arith.muli %[[B]], %c8
// CHECK-NOT:     cf.assert
// CHECK:         tensor.collapse_shape %{{.+}} {{\[}}[0, 1]]
// CHECK:         tensor.empty(%[[N]])
// CHECK:         tensor.expand_shape %{{.+}} output_shape [%[[B]], 8]
func.func @new_symbol(%x: tensor<?x8xf32> {rlx.dims = [@batch, 8]}) -> tensor<?x8xf32> {
  %0 = rlx.reshape %x to [@rows] : tensor<?x8xf32> -> tensor<?xf32>
  %1 = rlx.exp %0 : tensor<?xf32>
  %2 = rlx.reshape %1 to [@batch, 8] : tensor<?xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// Symbols that trade elements are checked without overflow.
// CHECK-LABEL: func.func @trade
// CHECK-NOT:     arith.muli
// CHECK:         arith.remui
// CHECK:         cf.assert %{{.+}}, "'r' (rlx.reshape): the shape must hold as many elements as the input"
func.func @trade(%x: tensor<?xf32> {rlx.dims = [@n]}, %y: tensor<?x?xf32> {rlx.dims = [@a, @b]}) -> tensor<?x?xf32> {
  %0 = rlx.reshape %x to [@a, @b] : tensor<?xf32> -> tensor<?x?xf32> loc("r")
  %1 = rlx.add %0, %y : tensor<?x?xf32>, tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// A transpose yields its input, read through the inverse permutation.
// CHECK-DAG:   #[[$IN:.+]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG:   #[[$OUT:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @transpose
// CHECK:         linalg.generic {indexing_maps = [#[[$IN]], #[[$OUT]]]
// CHECK-SAME:      ins(%{{.+}} : tensor<2x3x4xf32>) outs(%{{.+}} : tensor<4x2x3xf32>)
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = rlx.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  return %0 : tensor<4x2x3xf32>
}

// -----

// So does an expand.
// CHECK-DAG:   #[[$IN:.+]] = affine_map<(d0, d1, d2) -> (d1, 0)>
// CHECK-LABEL: func.func @expand
// CHECK:         %[[B:.+]] = tensor.dim
// CHECK-NOT:     cf.assert
// CHECK:         tensor.empty(%[[B]]) : tensor<?x3x5xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[$IN]], #{{.+}}]
func.func @expand(%x: tensor<3x1xf32>, %y: tensor<?xf32> {rlx.dims = [@batch]}) -> tensor<?x3x5xf32> {
  %0 = rlx.expand %x to [@batch, 3, 5] : tensor<3x1xf32> -> tensor<?x3x5xf32>
  return %0 : tensor<?x3x5xf32>
}

// -----

// A `?` may be 1 when it comes to it, and then it stretches.
// CHECK-LABEL: func.func @expand_undecided
// CHECK:         cf.assert %{{.+}}, "rlx.expand: input dim 0 must be 1 or have its size in the shape"
// CHECK:         linalg.generic
// CHECK:           %[[I:.+]] = linalg.index 0
// CHECK:           %[[AT:.+]] = arith.select %{{.+}}, %c0, %[[I]]
// CHECK:           tensor.extract %{{.+}}[%[[AT]]]
func.func @expand_undecided(%x: tensor<?xf32> {rlx.dims = [@a]}, %y: tensor<?xf32> {rlx.dims = [@b]}) -> tensor<?xf32> {
  %0 = rlx.expand %x to [@b] : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Blocks may stand in any order.
// CHECK-LABEL: func.func @blocks_out_of_order
// CHECK:         %[[N:.+]] = tensor.dim
// CHECK:         tensor.empty(%[[N]])
// CHECK:         arith.negf
// CHECK:         tensor.empty(%[[N]])
// CHECK:         math.exp
func.func @blocks_out_of_order(%x: tensor<?x4xf32> {rlx.dims = [@n, 4]}) -> tensor<?x4xf32> {
  cf.br ^first
^last:
  %1 = rlx.exp %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
^first:
  %0 = rlx.neg %x : tensor<?x4xf32>
  cf.br ^last
}

// -----

// Sizes may be known where types don't say them.
func.func @known_sizes_differ(%x: tensor<6xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  %0 = rlx.reshape %x to [-1] : tensor<6xf32> -> tensor<?xf32>
  %1 = rlx.reshape %y to [-1] : tensor<4xf32> -> tensor<?xf32>
  // expected-error @below {{dim 0 of the lhs and dim 0 of the rhs must be equal, but they are 6 and 4}}
  %2 = rlx.add %0, %1 : tensor<?xf32>, tensor<?xf32>
  return %2 : tensor<?xf32>
}
