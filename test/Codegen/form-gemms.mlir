// RUN: rlx-opt %s --rlx-form-gemms --split-input-file --verify-diagnostics | FileCheck %s

// A packed weight is read as it is; the bias is added in the epilogue.
// CHECK-DAG:   #[[$COLUMN:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @linear_packed
// CHECK-SAME:    %[[X:.+]]: tensor<?x784xf32>, %[[W:.+]]: tensor<50176xf32>, %[[B:.+]]: tensor<64xf32>
func.func @linear_packed(%x: tensor<?x784xf32>, %w: !rlx.packed<784x64xf32, dense, panel64>,
                         %b: tensor<64xf32>) -> tensor<?x64xf32> {
  // CHECK:     %[[ROWS:.+]] = tensor.dim %[[X]], %{{.+}}
  // CHECK:     %[[E:.+]] = tensor.empty(%[[ROWS]]) : tensor<?x64xf32>
  // CHECK:     rlx.gemm ins(%[[X]], %[[W]] : tensor<?x784xf32>, tensor<50176xf32>) outs(%[[E]] : tensor<?x64xf32>)
  // CHECK-SAME:  epilogue(%[[B]] : tensor<64xf32>) maps [#[[$COLUMN]]] {
  // CHECK-NEXT:  ^bb0(%[[SUM:.+]]: f32, %[[BIAS:.+]]: f32):
  // CHECK-NEXT:    %[[ADD:.+]] = arith.addf %[[SUM]], %[[BIAS]]
  // CHECK-NEXT:    rlx.yield %[[ADD]]
  // CHECK-NOT: rlx.pack_panels
  %0 = rlx.linear %x, %w bias(%b : tensor<64xf32>)
      : (tensor<?x784xf32>, !rlx.packed<784x64xf32, dense, panel64>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// A dense weight is packed where it is used; `linear` reads it transposed, and a
// transpose in front of it cancels out.
// CHECK-LABEL: func.func @linear_dense
// CHECK-SAME:    %[[X:.+]]: tensor<8x3xf32>, %[[W:.+]]: tensor<3x5xf32>
func.func @linear_dense(%x: tensor<8x3xf32>, %w: tensor<3x5xf32>) -> tensor<8x5xf32> {
  %t = rlx.transpose %w [1, 0] : tensor<3x5xf32>
  // CHECK: %[[P:.+]] = rlx.pack_panels ins(%[[W]] : tensor<3x5xf32>) outs(%{{.+}} : tensor<15xf32>)
  // CHECK: rlx.gemm ins(%[[X]], %[[P]] : tensor<8x3xf32>, tensor<15xf32>) outs(%{{.+}} : tensor<8x5xf32>) -> tensor<8x5xf32>
  %0 = rlx.linear %x, %t : (tensor<8x3xf32>, tensor<5x3xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// Operands are read through transposes as long as K stays innermost in lhs.
// CHECK-LABEL: func.func @attention_scores
// CHECK-SAME:    %[[Q:.+]]: tensor<2x9x4x16xf32>, %[[K:.+]]: tensor<2x11x4x16xf32>
func.func @attention_scores(%q: tensor<2x9x4x16xf32>, %k: tensor<2x11x4x16xf32>) -> tensor<2x4x9x11xf32> {
  %0 = rlx.transpose %q [0, 2, 1, 3] : tensor<2x9x4x16xf32>
  %1 = rlx.transpose %k [0, 2, 3, 1] : tensor<2x11x4x16xf32>
  // CHECK: %[[P:.+]] = rlx.pack_panels ins(%[[K]] : {{.+}}) permuted [0, 2, 3, 1] outs(%{{.+}} : tensor<2x4x176xf32>)
  // CHECK: rlx.gemm ins(%[[Q]], %[[P]] : {{.+}}) permuted [0, 2, 1, 3] outs(%{{.+}} : tensor<2x4x9x11xf32>)
  %2 = rlx.matmul %0, %1 : (tensor<2x4x9x16xf32>, tensor<2x4x16x11xf32>) -> tensor<2x4x9x11xf32>
  return %2 : tensor<2x4x9x11xf32>
}

// CHECK-LABEL: func.func @transposed_lhs
// CHECK-SAME:    %[[A:.+]]: tensor<40x6xf32>
func.func @transposed_lhs(%a: tensor<40x6xf32>, %b: tensor<40x8xf32>) -> tensor<6x8xf32> {
  // CHECK: %[[T:.+]] = rlx.transpose %[[A]] [1, 0]
  // CHECK: rlx.gemm ins(%[[T]], %{{.+}} : tensor<6x40xf32>, tensor<320xf32>)
  // CHECK-NOT: permuted
  %0 = rlx.transpose %a [1, 0] : tensor<40x6xf32>
  %1 = rlx.matmul %0, %b : (tensor<6x40xf32>, tensor<40x8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// Sizes that only a call knows are checked at the call.
// CHECK-LABEL: func.func @unknown_sizes
// CHECK-SAME:    %[[A:.+]]: tensor<?x?xf32>, %[[B:.+]]: tensor<?x8xf32>
func.func @unknown_sizes(%a: tensor<?x?xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[EQUAL:.+]] = arith.cmpi eq
  // CHECK: cf.assert %[[EQUAL]], "rlx.matmul: lhs has another number of columns than rhs has rows"
  %0 = rlx.matmul %a, %b : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Half precision is widened on the way in and narrowed on the way out.
// CHECK-LABEL: func.func @half
// CHECK-SAME:    %[[A:.+]]: tensor<2x3xf16>
func.func @half(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>) -> tensor<2x4xf16> {
  // CHECK: rlx.pack_panels ins(%{{.+}} : tensor<3x4xf32>)
  // CHECK: %[[WIDE:.+]] = rlx.cast %[[A]] : tensor<2x3xf16> to tensor<2x3xf32>
  // CHECK: %[[SUM:.+]] = rlx.gemm ins(%[[WIDE]],
  // CHECK: rlx.cast %[[SUM]] : tensor<2x4xf32> to tensor<2x4xf16>
  %0 = rlx.matmul %a, %b : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// -----

// A pack on its own, as in a prepare function; its result is a flat tensor. A
// stack of matrices is packed one by one.
// CHECK-LABEL: func.func @pack
// CHECK-SAME:    -> tensor<30xf32>
func.func @pack(%w: tensor<2x3x5xf32>) -> !rlx.packed<2x3x5xf32, dense, panel64> {
  // CHECK: %[[P:.+]] = rlx.pack_panels ins(%{{.+}} : tensor<2x3x5xf32>) outs(%{{.+}} : tensor<2x15xf32>)
  // CHECK: %[[FLAT:.+]] = tensor.collapse_shape %[[P]] {{\[\[}}0, 1]] : tensor<2x15xf32> into tensor<30xf32>
  // CHECK: return %[[FLAT]]
  %0 = rlx.pack %w : tensor<2x3x5xf32> -> !rlx.packed<2x3x5xf32, dense, panel64>
  return %0 : !rlx.packed<2x3x5xf32, dense, panel64>
}

// CHECK-LABEL: func.func @packed_stack
// CHECK-SAME:    %[[X:.+]]: tensor<4x2x6x3xf32>, %[[W:.+]]: tensor<30xf32>
func.func @packed_stack(%x: tensor<4x2x6x3xf32>, %w: !rlx.packed<2x3x5xf32, dense, panel64>) -> tensor<4x2x6x5xf32> {
  // CHECK: %[[P:.+]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1]] output_shape [2, 15]
  // CHECK: rlx.gemm ins(%[[X]], %[[P]] : tensor<4x2x6x3xf32>, tensor<2x15xf32>) outs(%{{.+}} : tensor<4x2x6x5xf32>)
  %0 = rlx.matmul %x, %w : (tensor<4x2x6x3xf32>, !rlx.packed<2x3x5xf32, dense, panel64>) -> tensor<4x2x6x5xf32>
  return %0 : tensor<4x2x6x5xf32>
}

// -----

// A weight in row order is packed where it is used.
// CHECK-LABEL: func.func @row_major
// CHECK-SAME:    %[[W:[^:]+]]: tensor<15xf32>)
func.func @row_major(%x: tensor<2x3xf32>, %w: !rlx.packed<3x5xf32, dense, row_major>) -> tensor<2x5xf32> {
  // CHECK: %[[MATRIX:.+]] = tensor.expand_shape %[[W]]
  // CHECK: rlx.pack_panels ins(%[[MATRIX]] : tensor<3x5xf32>)
  %0 = rlx.matmul %x, %w : (tensor<2x3xf32>, !rlx.packed<3x5xf32, dense, row_major>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @double(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x4xf64> {
  // expected-error @below {{has an operand 'tensor<2x3xf64>' but the CPU kernels take f32 (f16 and bf16 are widened); cast it to f32}}
  // expected-error @below {{failed to legalize operation 'rlx.matmul'}}
  %0 = rlx.matmul %a, %b : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

// -----

func.func @enormous(%a: tensor<2x0xf32>, %b: tensor<4611686018427387904x4xf32>) -> tensor<?x4xf32> {
  %c = tensor.cast %a : tensor<2x0xf32> to tensor<?x?xf32>
  // expected-error @below {{has a matrix of 4611686018427387904x4 elements, more than 2^63}}
  // expected-error @below {{failed to legalize operation 'rlx.matmul'}}
  %0 = rlx.matmul %c, %b : (tensor<?x?xf32>, tensor<4611686018427387904x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
