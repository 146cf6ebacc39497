// RUN: rlx-opt %s --rlx-layout-weights --split-input-file | FileCheck %s
// RUN: rlx-opt %s --rlx-layout-weights --split-input-file -o /dev/null \
// RUN:   --remarks-filter=weights 2>&1 | FileCheck %s --check-prefix=REMARK

// A weight on the right of a product is packed once for all its products; that
// of rlx.linear has a row per output feature.
// REMARK: [Passed] LayoutWeights {{.*}} Bytes=48, Products=2
// REMARK: [Passed] LayoutWeights {{.*}} Bytes=72, Products=1
// CHECK-LABEL: func.func @main
// CHECK:         %[[W:.+]] = rlx.param "w"
// CHECK-NEXT:    %[[P:.+]] = rlx.pack %[[W]] : tensor<4x3xf32> -> !rlx.packed<4x3xf32, dense, panel64>
// CHECK:         %[[V:.+]] = rlx.constant "v"
// CHECK-NEXT:    %[[Q:.+]] = rlx.pack %[[V]] transposed : tensor<6x3xf32> -> !rlx.packed<3x6xf32, dense, panel64>
// CHECK-NOT:     rlx.pack %
// CHECK:         rlx.matmul %{{.+}}, %[[P]]
// CHECK:         rlx.matmul %{{.+}}, %[[P]]
// CHECK:         rlx.linear %{{.+}}, %[[Q]]
func.func @main(%x: tensor<2x4xf32>, %y: tensor<?x4xf32> {rlx.dims = [@n, 4]}) -> (tensor<2x6xf32>, tensor<?x3xf32>) {
  %w = rlx.param "w" : tensor<4x3xf32>
  %v = rlx.constant "v" dense<1.0> : tensor<6x3xf32>
  %0 = rlx.matmul %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = rlx.matmul %y, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %2 = rlx.linear %0, %v : (tensor<2x3xf32>, tensor<6x3xf32>) -> tensor<2x6xf32>
  return %2, %1 : tensor<2x6xf32>, tensor<?x3xf32>
}

// -----

// A computed weight is packed, and so is one that other weight-only work reads:
// that work leaves main.
// CHECK-LABEL: func.func @computed
// CHECK:         %[[M:.+]] = rlx.mul
// CHECK-NEXT:    %[[P:.+]] = rlx.pack %[[M]]
// CHECK:         rlx.matmul %{{.+}}, %[[P]]
func.func @computed(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  %w = rlx.param "w" : tensor<4x3xf32>
  %s = rlx.param "s" : tensor<4x3xf32>
  %0 = rlx.mul %w, %s : tensor<4x3xf32>, tensor<4x3xf32>
  %1 = rlx.matmul %x, %0 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %2 = rlx.exp %0 : tensor<4x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<4x3xf32>
}

// -----

// A product of weights runs once; what an input reaches is no weight.
// CHECK-LABEL: func.func @not_in_main
// CHECK-NOT:     rlx.pack %
func.func @not_in_main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = rlx.param "a" : tensor<4x4xf32>
  %b = rlx.param "b" : tensor<4x4xf32>
  %0 = rlx.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = rlx.matmul %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Other element types, and stacks of matrices, have no such layout.
// CHECK-LABEL: func.func @other_types
// CHECK-NOT:     rlx.pack %
func.func @other_types(%x: tensor<2x4xf16>, %y: tensor<5x2x4xf32>) -> (tensor<2x3xf16>, tensor<5x2x3xf32>) {
  %w = rlx.param "w" : tensor<4x3xf16>
  %v = rlx.param "v" : tensor<5x4x3xf32>
  %0 = rlx.matmul %x, %w : (tensor<2x4xf16>, tensor<4x3xf16>) -> tensor<2x3xf16>
  %1 = rlx.matmul %y, %v : (tensor<5x2x4xf32>, tensor<5x4x3xf32>) -> tensor<5x2x3xf32>
  return %0, %1 : tensor<2x3xf16>, tensor<5x2x3xf32>
}

// -----

// A weight that main reads in another way would be stored twice: as the left side
// of a product, as an output, in a function that has no product of it.
// REMARK: [Missed] LayoutWeights {{.*}}stays row-major: rlx.add reads it as it is, so it would be stored twice
// REMARK: [Missed] LayoutWeights {{.*}}stays row-major: func.return reads it as it is
// REMARK: [Missed] LayoutWeights {{.*}}stays row-major: rlx.matmul reads it as it is
// REMARK: [Missed] LayoutWeights {{.*}}stays row-major: rlx.sub reads it as it is
// CHECK-LABEL: func.func @stored_twice
// CHECK-NOT:     rlx.pack %
func.func @stored_twice(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = rlx.param "a" : tensor<4x4xf32>
  %b = rlx.param "b" : tensor<4x4xf32>
  %c = rlx.param "c" : tensor<4x4xf32>
  %d = rlx.param "d" : tensor<4x4xf32>
  %0 = rlx.matmul %x, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = rlx.add %0, %a : tensor<4x4xf32>, tensor<4x4xf32>
  %2 = rlx.matmul %1, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = rlx.matmul %2, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = rlx.matmul %c, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = rlx.matmul %4, %d : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %b, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = rlx.param "d" : tensor<4x4xf32>
  %0 = rlx.sub %x, %d : tensor<4x4xf32>, tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A view that main reads is a view of the row-major matrix; one that leads to
// other weight-only work leaves main with it.
// REMARK: [Missed] LayoutWeights {{.*}}stays row-major: rlx.reshape reads it as it is
// CHECK-LABEL: func.func @views
// CHECK:         %[[B:.+]] = rlx.param "b"
// CHECK-NEXT:    rlx.pack %[[B]]
// CHECK-NOT:     rlx.pack %
func.func @views(%x: tensor<4x4xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<4x4xf32>) {
  %a = rlx.param "a" : tensor<4x4xf32>
  %b = rlx.param "b" : tensor<4x4xf32>
  %0 = rlx.reshape %a to [16] : tensor<4x4xf32> -> tensor<16xf32>
  %1 = rlx.add %y, %0 : tensor<16xf32>, tensor<16xf32>
  %2 = rlx.reshape %b to [16] : tensor<4x4xf32> -> tensor<16xf32>
  %3 = rlx.exp %2 : tensor<16xf32>
  %4 = rlx.matmul %x, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = rlx.matmul %4, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %3, %5 : tensor<16xf32>, tensor<16xf32>, tensor<4x4xf32>
}

// -----

// As rows for rlx.linear and as columns for rlx.matmul are two layouts.
// REMARK: [Missed] LayoutWeights {{.*}}stays row-major: products read it as rows and as columns
// CHECK-LABEL: func.func @rows_and_columns
// CHECK-NOT:     rlx.pack %
func.func @rows_and_columns(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = rlx.param "w" : tensor<4x4xf32>
  %0 = rlx.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = rlx.linear %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// A weight that changes with a loop's counter is no one matrix.
// CHECK-LABEL: func.func @in_loop
// CHECK-NOT:     rlx.pack %
func.func @in_loop(%x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %w = rlx.param "w" : tensor<8x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<4x4xf32> {
    %1 = tensor.extract_slice %w[%i, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
    %2 = rlx.matmul %h, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
