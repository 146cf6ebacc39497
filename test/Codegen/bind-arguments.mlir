// RUN: rlx-opt %s --rlx-bind-arguments --split-input-file --verify-diagnostics | FileCheck %s

// Buffers come as inputs, outputs, weights; then one index per symbol. The dims
// of outputs are returned; reads of an input's dim are reads of its symbol.
// CHECK:       rlx_cpu.functions = [
// CHECK-SAME:    inputs = ["x", "in1"]
// CHECK-SAME:    name = "main"
// CHECK-SAME:    output_dims = 2
// CHECK-SAME:    outputs = ["y"]
// CHECK-SAME:    symbols = ["batch", "n"]
// CHECK-SAME:    weights = ["w"]
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[^:]+]]: memref<?x4xf32> {rlx_cpu.input = ["batch", ""]},
// CHECK-SAME:    %[[X1:[^:]+]]: memref<?x?xf32> {rlx_cpu.input = ["n", "batch"]},
// CHECK-SAME:    %[[Y:[^:]+]]: memref<?x4xf32> {rlx_cpu.output = 0 : i64},
// CHECK-SAME:    %[[W:[^:]+]]: memref<4xf32> {rlx_cpu.weight = "w"},
// CHECK-SAME:    %[[BATCH:[^:]+]]: index {rlx_cpu.symbol = "batch"},
// CHECK-SAME:    %[[N:[^:]+]]: index {rlx_cpu.symbol = "n"}) -> (index, index)
func.func @main(%x: tensor<?x4xf32> {rlx.name = "x", rlx.dims = [@batch, 4]},
                %x1: tensor<?x?xf32> {rlx.dims = [@n, @batch]},
                %w: tensor<4xf32> {rlx_cpu.weight = "w"})
    -> (tensor<?x4xf32> {rlx.name = "y", rlx.dims = [@batch, 4]}) {
  // CHECK-DAG: %[[T:.+]] = bufferization.to_tensor %[[X]] restrict :
  // CHECK-DAG: bufferization.to_tensor %[[W]] restrict :
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x1, %c1 : tensor<?x?xf32>
  // CHECK:     %[[E:.+]] = tensor.empty(%[[BATCH]])
  %e = tensor.empty(%batch) : tensor<?x4xf32>
  // CHECK:     %[[R:.+]] = linalg.exp
  // CHECK:     bufferization.materialize_in_destination %[[R]] in restrict writable %[[Y]]
  %0 = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A reshape of a result is a view of the output.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME:    %{{.+}}: memref<12xf32> {{.+}}, %[[Y:[^:]+]]: memref<3x4xf32>
func.func @reshaped(%x: tensor<12xf32>) -> tensor<3x4xf32> {
  // CHECK: %[[R:.+]] = linalg.exp
  // CHECK: %[[FLAT:.+]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1]]
  // CHECK: materialize_in_destination %[[R]] in restrict writable %[[FLAT]]
  %e = tensor.empty() : tensor<12xf32>
  %0 = linalg.exp ins(%x : tensor<12xf32>) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// The state of random numbers stays behind the symbols.
// CHECK-LABEL: func.func @draws(
// CHECK-SAME:    memref<?xf32> {rlx_cpu.output = 0 : i64}, %{{[^:]+}}: index {rlx_cpu.symbol = "n"},
// CHECK-SAME:    %{{[^:]+}}: i64 {rlx.rng_seed}, %{{[^:]+}}: i64 {rlx.rng_counter})
func.func @draws(%x: tensor<?xf32> {rlx.dims = [@n]}, %seed: i64 {rlx.rng_seed},
                 %counter: i64 {rlx.rng_counter}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{input 0 ('x') is 'tensor<?xf32>' but has no rlx.dims to name its dynamic dims}}
func.func @no_symbol(%x: tensor<?xf32> {rlx.name = "x"}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{input 0 is 'f32' but inputs are tensors of known rank}}
func.func @scalar(%x: f32) {
  return
}

// -----

// expected-error @below {{is a prepare function but depends on the symbol 'n'}}
func.func private @dynamic_prepare(%x: tensor<?xf32> {rlx.dims = [@n]}) -> tensor<?xf32>
    attributes {rlx_cpu.prepare_function} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{output 0 is 'f32' but outputs are tensors of known rank}}
func.func @returns_scalar() -> f32 {
  %0 = arith.constant 1.0 : f32
  return %0 : f32
}

// -----

// expected-error @below {{input 0 is 'tensor<1099511627776x1099511627776x?xf32>', which takes more than 2^63 - 1 bytes}}
func.func @enormous_input(%x: tensor<1099511627776x1099511627776x?xf32> {rlx.dims = [1099511627776, 1099511627776, @n]}) {
  return
}

// -----

// expected-error @below {{output 0 is 'tensor<4611686018427387904xf32>', which takes more than 2^63 - 1 bytes}}
func.func @enormous_output(%x: tensor<1xf32>) -> tensor<4611686018427387904xf32> {
  %0 = tensor.empty() : tensor<4611686018427387904xf32>
  return %0 : tensor<4611686018427387904xf32>
}
