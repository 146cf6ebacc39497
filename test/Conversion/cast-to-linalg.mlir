// RUN: rlx-opt %s --rlx-to-linalg --split-input-file | FileCheck %s

// Float to integer saturates: the conversion itself sees only what fits.
// CHECK-LABEL: func.func @saturate
// CHECK:         %[[SAFE:.+]] = arith.select
// CHECK:         arith.fptosi %[[SAFE]] : f32 to i32
// CHECK:         arith.trunci %{{.+}} : i32 to i8
func.func @saturate(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = rlx.cast %x : tensor<4xf32> to tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// f64 to f16 rounds once: to odd on the way through f32.
// CHECK-LABEL: func.func @round_once
// CHECK:         arith.truncf %{{.+}} : f64 to f32
// CHECK:         arith.ori
// CHECK:         arith.truncf %{{.+}} : f32 to f16
func.func @round_once(%x: tensor<4xf64>) -> tensor<4xf16> {
  %0 = rlx.cast %x : tensor<4xf64> to tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// To i1: whether it is not zero; NaN is not.
// CHECK-LABEL: func.func @truth
// CHECK:         arith.cmpf une
// CHECK:         arith.uitofp %{{.+}} : i1 to f32
func.func @truth(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.cast %x : tensor<4xf32> to tensor<4xi1>
  %1 = rlx.cast %0 : tensor<4xi1> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Integers keep their low bits; unsigned ones extend by zeros.
// CHECK-LABEL: func.func @integers
// CHECK:         arith.trunci %{{.+}} : i64 to i8
// CHECK:         arith.extui %{{.+}} : i8 to i32
func.func @integers(%x: tensor<4xi64>) -> tensor<4xi32> {
  %0 = rlx.cast %x : tensor<4xi64> to tensor<4xui8>
  %1 = rlx.cast %0 : tensor<4xui8> to tensor<4xi32>
  return %1 : tensor<4xi32>
}
