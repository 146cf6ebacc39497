// RUN: rlx-opt %s --canonicalize --cse --split-input-file | FileCheck %s

// Weights keep their names: neither the canonicalizer nor CSE merges two that
// have the same value, moves them, or drops the name.
// CHECK-LABEL: func.func @named_constants_stay
func.func @named_constants_stay(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[X1:.+]] = rlx.relu
  %0 = rlx.relu %x : tensor<2xf32>
  // CHECK: %[[A:.+]] = rlx.constant "wte" dense<[1.000000e+00, 2.000000e+00]>
  %a = rlx.constant "wte" dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %[[B:.+]] = rlx.constant "lm_head" dense<[1.000000e+00, 2.000000e+00]>
  %b = rlx.constant "lm_head" dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %[[C:.+]] = rlx.constant "big" dense_resource<big>
  %c = rlx.constant "big" dense_resource<big> : tensor<2xf32>
  // CHECK: %[[P:.+]] = rlx.param "bias"
  %p = rlx.param "bias" : tensor<2xf32>
  // CHECK: %[[X2:.+]] = rlx.add %[[X1]], %[[A]]
  %1 = rlx.add %0, %a : tensor<2xf32>, tensor<2xf32>
  // CHECK: %[[X3:.+]] = rlx.add %[[X2]], %[[B]]
  %2 = rlx.add %1, %b : tensor<2xf32>, tensor<2xf32>
  // CHECK: %[[X4:.+]] = rlx.add %[[X3]], %[[C]]
  %3 = rlx.add %2, %c : tensor<2xf32>, tensor<2xf32>
  // CHECK: rlx.add %[[X4]], %[[P]]
  %4 = rlx.add %3, %p : tensor<2xf32>, tensor<2xf32>
  return %4 : tensor<2xf32>
}

{-# dialect_resources: { builtin: { big: "0x040000000000803F0000803F" } } #-}

// -----

// Literals have no name to lose, and one leaf read twice is one leaf.
// CHECK-LABEL: func.func @equal_leaves_are_one
func.func @equal_leaves_are_one() -> (tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: %[[C:.+]] = rlx.constant dense<1.000000e+00>
  // CHECK-DAG: %[[P:.+]] = rlx.param "w"
  // CHECK-NOT: rlx
  // CHECK:     return %[[C]], %[[C]], %[[P]], %[[P]]
  %0 = rlx.constant dense<1.0> : tensor<f32>
  %1 = rlx.constant dense<1.0> : tensor<f32>
  %2 = rlx.param "w" : tensor<2xf32>
  %3 = rlx.param "w" : tensor<2xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Dead weights go; dead random numbers advance the generator and stay, and two
// equal draws are two.
// CHECK-LABEL: func.func @dead_code
func.func @dead_code() {
  // CHECK-NEXT: rlx.rng_normal
  // CHECK-NEXT: rlx.rng_normal
  // CHECK-NEXT: return
  %0 = rlx.param "w" : tensor<2xf32>
  %1 = rlx.rng_normal mean 0.0 scale 1.0 key 0 shape [2] : tensor<2xf32>
  %2 = rlx.rng_normal mean 0.0 scale 1.0 key 0 shape [2] : tensor<2xf32>
  return
}

// -----

// CHECK-LABEL: func.func @sign_changes
// CHECK-SAME: (%[[X:.+]]: tensor<?xf16>)
func.func @sign_changes(%x: tensor<?xf16>) -> (tensor<?xf16>, tensor<?xf16>, tensor<?xf16>, tensor<?xf16>) {
  // CHECK-DAG: %[[ABS:.+]] = rlx.abs %[[X]]
  // CHECK-DAG: %[[RELU:.+]] = rlx.relu %[[X]]
  // CHECK-NOT: rlx
  // CHECK:     return %[[X]], %[[ABS]], %[[ABS]], %[[RELU]]
  %0 = rlx.neg %x : tensor<?xf16>
  %1 = rlx.neg %0 : tensor<?xf16>
  %2 = rlx.abs %x : tensor<?xf16>
  %3 = rlx.abs %2 : tensor<?xf16>
  %4 = rlx.abs %0 : tensor<?xf16>
  %5 = rlx.relu %x : tensor<?xf16>
  %6 = rlx.relu %5 : tensor<?xf16>
  return %1, %3, %4, %6 : tensor<?xf16>, tensor<?xf16>, tensor<?xf16>, tensor<?xf16>
}

// -----

// A cast to the same type goes; a cast there and back rounds and stays.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[X:.+]]: tensor<?xf32>)
func.func @casts(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[H:.+]] = rlx.cast %[[X]] : tensor<?xf32> to tensor<?xf16>
  // CHECK: %[[F:.+]] = rlx.cast %[[H]] : tensor<?xf16> to tensor<?xf32>
  // CHECK: return %[[X]], %[[F]]
  %0 = rlx.cast %x : tensor<?xf32> to tensor<?xf32>
  %1 = rlx.cast %x : tensor<?xf32> to tensor<?xf16>
  %2 = rlx.cast %1 : tensor<?xf16> to tensor<?xf32>
  return %0, %2 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Nothing that would change a bit: x + 0 turns -0 into 0, x * 0 hides NaN.
// CHECK-LABEL: func.func @no_algebra
func.func @no_algebra(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: rlx.add
  // CHECK: rlx.mul
  // CHECK: rlx.sub
  %c = rlx.constant dense<0.0> : tensor<2xf32>
  %0 = rlx.add %x, %c : tensor<2xf32>, tensor<2xf32>
  %1 = rlx.mul %0, %c : tensor<2xf32>, tensor<2xf32>
  %2 = rlx.sub %1, %1 : tensor<2xf32>, tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: (%[[X:.+]]: tensor<?x3x4xi8>)
func.func @transposes(%x: tensor<?x3x4xi8>) -> (tensor<?x3x4xi8>, tensor<?x3x4xi8>, tensor<4x?x3xi8>) {
  // CHECK: %[[T:.+]] = rlx.transpose %[[X]] [2, 0, 1] : tensor<?x3x4xi8>
  // CHECK-NOT: rlx
  // CHECK: return %[[X]], %[[X]], %[[T]]
  %0 = rlx.transpose %x [0, 1, 2] : tensor<?x3x4xi8>
  %1 = rlx.transpose %x [1, 2, 0] : tensor<?x3x4xi8>
  %2 = rlx.transpose %1 [2, 0, 1] : tensor<3x4x?xi8>
  %3 = rlx.transpose %1 [1, 2, 0] : tensor<3x4x?xi8>
  return %0, %2, %3 : tensor<?x3x4xi8>, tensor<?x3x4xi8>, tensor<4x?x3xi8>
}

// -----

// Moving dims of size 1 is a reshape. Not with `?` dims, whose symbols the
// reshape would have to name, and not where two other dims change places.
// CHECK-LABEL: func.func @transposes_of_unit_dims
func.func @transposes_of_unit_dims(%x: tensor<1x3x1x4xf32>, %y: tensor<1x?xf32>) -> (tensor<3x4x1x1xf32>, tensor<4x1x1x3xf32>, tensor<?x1xf32>) {
  // CHECK: rlx.reshape %{{.+}} to [3, 4, 1, 1] : tensor<1x3x1x4xf32> -> tensor<3x4x1x1xf32>
  %0 = rlx.transpose %x [1, 3, 0, 2] : tensor<1x3x1x4xf32>
  // CHECK: rlx.transpose %{{.+}} [3, 0, 2, 1] : tensor<1x3x1x4xf32>
  %1 = rlx.transpose %x [3, 0, 2, 1] : tensor<1x3x1x4xf32>
  // CHECK: rlx.transpose %{{.+}} [1, 0] : tensor<1x?xf32>
  %2 = rlx.transpose %y [1, 0] : tensor<1x?xf32>
  return %0, %1, %2 : tensor<3x4x1x1xf32>, tensor<4x1x1x3xf32>, tensor<?x1xf32>
}

// -----

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: (%[[X:[^:]+]]: tensor<?x6xf32> {{.*}}, %[[Y:[^:]+]]: tensor<?x?xf32> {{.*}}, %[[Z:[^:]+]]: tensor<?x0xf32>
func.func @reshapes(%x: tensor<?x6xf32> {rlx.dims = [@batch, 6]}, %y: tensor<?x?xf32> {rlx.dims = [@batch, @seq]}, %z: tensor<?x0xf32> {rlx.dims = [@batch, 0]})
    -> (tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x6xf32>, tensor<?x?xf32>, tensor<?x0xf32>) {
  // The element count alone fixes the one `?`.
  %0 = rlx.reshape %x to [-1, 6] : tensor<?x6xf32> -> tensor<?x6xf32>
  // The second reshape of two decides, also where the first made up a symbol.
  // CHECK: %[[R1:.+]] = rlx.reshape %[[X]] to [@batch, 2, 3] : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %1 = rlx.reshape %x to [@n] : tensor<?x6xf32> -> tensor<?xf32>
  %2 = rlx.reshape %1 to [@batch, 2, 3] : tensor<?xf32> -> tensor<?x2x3xf32>
  // There and back again is nothing.
  %3 = rlx.reshape %2 to [@batch, 6] : tensor<?x2x3xf32> -> tensor<?x6xf32>
  // Two `?` may trade factors.
  // CHECK: %[[R2:.+]] = rlx.reshape %[[Y]] to [@seq, @batch] : tensor<?x?xf32> -> tensor<?x?xf32>
  %4 = rlx.reshape %y to [@seq, @batch] : tensor<?x?xf32> -> tensor<?x?xf32>
  // Beside a 0 any size would do.
  // CHECK: %[[R3:.+]] = rlx.reshape %[[Z]] to [@seq, 0] : tensor<?x0xf32> -> tensor<?x0xf32>
  %5 = rlx.reshape %z to [@seq, 0] : tensor<?x0xf32> -> tensor<?x0xf32>
  // CHECK: return %[[X]], %[[R1]], %[[X]], %[[R2]], %[[R3]]
  return %0, %2, %3, %4, %5 : tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x6xf32>, tensor<?x?xf32>, tensor<?x0xf32>
}

// -----

// Two reshapes that cannot both hold at run time are left alone.
// CHECK-LABEL: func.func @reshapes_that_fail_at_run_time
func.func @reshapes_that_fail_at_run_time(%x: tensor<12xf32>) -> tensor<5x?xf32> {
  // CHECK: rlx.reshape
  // CHECK: rlx.reshape
  %0 = rlx.reshape %x to [@n, 3] : tensor<12xf32> -> tensor<?x3xf32>
  %1 = rlx.reshape %0 to [5, @m] : tensor<?x3xf32> -> tensor<5x?xf32>
  return %1 : tensor<5x?xf32>
}

// -----

// A static expand to the same shape goes; a `?` may be 1 and stretch.
// CHECK-LABEL: func.func @expands
// CHECK-SAME: (%[[X:[^:]+]]: tensor<2x3xf32>, %[[Y:[^:]+]]: tensor<?xf32>
func.func @expands(%x: tensor<2x3xf32>, %y: tensor<?xf32>, %z: tensor<?xf32> {rlx.dims = [@batch]}) -> (tensor<2x3xf32>, tensor<?xf32>) {
  // CHECK: %[[E:.+]] = rlx.expand %[[Y]]
  // CHECK: return %[[X]], %[[E]]
  %0 = rlx.expand %x to [2, 3] : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = rlx.expand %y to [@batch] : tensor<?xf32> -> tensor<?xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?xf32>
}

// -----

// What torch exports for a linear layer: a transposed weight and a product. Not
// for stacks of matrices, nor where a dim moves across the stack.
// CHECK-LABEL: func.func @products_of_transposes
// CHECK-SAME: (%[[X:[^:]+]]: tensor<2x?x4xf32>
func.func @products_of_transposes(%x: tensor<2x?x4xf32>, %s: tensor<2x3x4xf32>) -> (tensor<2x?x3xf32>, tensor<2x?x3xf32>) {
  // CHECK: %[[W:.+]] = rlx.param "fc1.weight" : tensor<3x4xf32>
  // CHECK: rlx.linear %[[X]], %[[W]] : (tensor<2x?x4xf32>, tensor<3x4xf32>) -> tensor<2x?x3xf32>
  %w = rlx.param "fc1.weight" : tensor<3x4xf32>
  %0 = rlx.transpose %w [1, 0] : tensor<3x4xf32>
  %1 = rlx.matmul %x, %0 : (tensor<2x?x4xf32>, tensor<4x3xf32>) -> tensor<2x?x3xf32>
  // CHECK: %[[T:.+]] = rlx.transpose
  // CHECK: rlx.matmul %[[X]], %[[T]]
  %2 = rlx.transpose %s [0, 2, 1] : tensor<2x3x4xf32>
  %3 = rlx.matmul %x, %2 : (tensor<2x?x4xf32>, tensor<2x4x3xf32>) -> tensor<2x?x3xf32>
  return %1, %3 : tensor<2x?x3xf32>, tensor<2x?x3xf32>
}

// -----

// The other way round, where there is no bias to add and the input is a matrix.
// CHECK-LABEL: func.func @linears_of_transposes
// CHECK-SAME: (%[[X:[^:]+]]: tensor<?x4xf32>
func.func @linears_of_transposes(%x: tensor<?x4xf32>, %v: tensor<4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>) {
  // CHECK: %[[T:.+]] = rlx.transpose
  %0 = rlx.transpose %w [1, 0] : tensor<4x3xf32>
  // CHECK: rlx.matmul %[[X]], %{{.+}} : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %1 = rlx.linear %x, %0 : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  // CHECK: rlx.linear %[[X]], %[[T]] bias
  %2 = rlx.linear %x, %0 bias(%b : tensor<3xf32>) : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  // CHECK: rlx.linear %{{.+}}, %[[T]] : (tensor<4xf32>
  %3 = rlx.linear %v, %0 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3xf32>
  return %1, %2, %3 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>
}

// -----

// Packing reads either order, so a transpose before it is free.
// CHECK-LABEL: func.func @packs_of_transposes
// CHECK-SAME: (%[[W:[^:]+]]: tensor<4x3xf32>, %[[S:[^:]+]]: tensor<2x4x3xf32>)
func.func @packs_of_transposes(%w: tensor<4x3xf32>, %s: tensor<2x4x3xf32>) -> (!rlx.packed<3x4xf32, dense, panel64>, !rlx.packed<4x3xf32, dense, panel64>, !rlx.packed<2x3x4xf32, dense, panel64>) {
  // CHECK: rlx.pack %[[W]] transposed : tensor<4x3xf32> -> !rlx.packed<3x4xf32, dense, panel64>
  %0 = rlx.transpose %w [1, 0] : tensor<4x3xf32>
  %1 = rlx.pack %0 : tensor<3x4xf32> -> !rlx.packed<3x4xf32, dense, panel64>
  // CHECK: rlx.pack %[[W]] : tensor<4x3xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  %2 = rlx.pack %0 transposed : tensor<3x4xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  // CHECK: rlx.pack %[[S]] transposed : tensor<2x4x3xf32> -> !rlx.packed<2x3x4xf32, dense, panel64>
  %3 = rlx.transpose %s [0, 2, 1] : tensor<2x4x3xf32>
  %4 = rlx.pack %3 : tensor<2x3x4xf32> -> !rlx.packed<2x3x4xf32, dense, panel64>
  return %1, %2, %4 : !rlx.packed<3x4xf32, dense, panel64>, !rlx.packed<4x3xf32, dense, panel64>, !rlx.packed<2x3x4xf32, dense, panel64>
}
