// RUN: rlx-opt %s --verify-roundtrip | FileCheck %s
// RUN: rlx-opt %s --mlir-print-op-generic | rlx-opt | FileCheck %s

#bias = affine_map<(d0, d1) -> (d1)>
#scalar = affine_map<(d0, d1) -> (0)>

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<?x784xf32>, %w: tensor<64x784xf32>, %b: tensor<64xf32>, %s: tensor<1xf32>, %e: tensor<?x64xf32>, %pe: tensor<50176xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // CHECK: %[[P:.+]] = rlx.pack_panels ins(%{{.+}} : tensor<64x784xf32>) permuted [1, 0] outs(%{{.+}} : tensor<50176xf32>) -> tensor<50176xf32>
  %p = rlx.pack_panels ins(%w : tensor<64x784xf32>) permuted [1, 0] outs(%pe : tensor<50176xf32>) -> tensor<50176xf32>
  // CHECK: rlx.gemm ins(%{{.+}}, %[[P]] : tensor<?x784xf32>, tensor<50176xf32>) outs(%{{.+}} : tensor<?x64xf32>) -> tensor<?x64xf32>
  %0 = rlx.gemm ins(%x, %p : tensor<?x784xf32>, tensor<50176xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: rlx.gemm ins(%{{.+}}, %[[P]] : tensor<?x784xf32>, tensor<50176xf32>) outs(%{{.+}} : tensor<?x64xf32>) epilogue(%{{.+}}, %{{.+}} : tensor<64xf32>, tensor<1xf32>) maps [#{{.+}}, #{{.+}}] {
  // CHECK-NEXT: ^bb0(%[[SUM:.+]]: f32, %[[BIAS:.+]]: f32, %{{.+}}: f32):
  // CHECK:   rlx.yield %{{.+}} : f32
  %1 = rlx.gemm ins(%x, %p : tensor<?x784xf32>, tensor<50176xf32>) outs(%e : tensor<?x64xf32>)
      epilogue(%b, %s : tensor<64xf32>, tensor<1xf32>) maps [#bias, #scalar] {
    ^bb0(%sum: f32, %bias: f32, %scale: f32):
      %2 = arith.addf %sum, %bias : f32
      %3 = arith.mulf %2, %scale : f32
      rlx.yield %3 : f32
  } -> tensor<?x64xf32>
  return %0, %1 : tensor<?x64xf32>, tensor<?x64xf32>
}

// After bufferization there are no results; a stack of matrices broadcasts.
// CHECK-LABEL: func.func @buffers
func.func @buffers(%x: memref<8x2x4xf32>, %p: memref<2x20xf32>, %y: memref<2x8x5xf32>, %w: memref<2x4x5xf32>) {
  // CHECK: rlx.pack_panels ins(%{{.+}} : memref<2x4x5xf32>) outs(%{{.+}} : memref<2x20xf32>)
  rlx.pack_panels ins(%w : memref<2x4x5xf32>) outs(%p : memref<2x20xf32>)
  // CHECK: rlx.gemm ins(%{{.+}}, %{{.+}} : memref<8x2x4xf32>, memref<2x20xf32>) permuted [1, 0, 2] outs(%{{.+}} : memref<2x8x5xf32>)
  rlx.gemm ins(%x, %p : memref<8x2x4xf32>, memref<2x20xf32>) permuted [1, 0, 2] outs(%y : memref<2x8x5xf32>)
  return
}
