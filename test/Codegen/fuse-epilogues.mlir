// RUN: rlx-opt %s --rlx-fuse-epilogues | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>

// Consumers join one after the other: bias, then a residual; operands and maps
// follow, and the destination is that of the last.
// CHECK-DAG:   #[[$ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$COLUMN:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[A:.+]]: tensor<4x8xf32>, %[[P:.+]]: tensor<64xf32>, %[[B:.+]]: tensor<8xf32>
func.func @chain(%a: tensor<4x8xf32>, %p: tensor<64xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %e0 = tensor.empty() : tensor<4x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e0 : tensor<4x8xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %2 = arith.addf %x, %y : f32
      linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  // CHECK:     %[[E:.+]] = tensor.empty() {last}
  %e1 = tensor.empty() {last} : tensor<4x8xf32>
  // CHECK:     %[[R:.+]] = rlx.gemm ins(%[[A]], %[[P]] : {{.+}}) outs(%[[E]] : tensor<4x8xf32>)
  // CHECK-SAME:  epilogue(%[[B]], %[[A]] : tensor<8xf32>, tensor<4x8xf32>) maps [#[[$COLUMN]], #[[$ID]]] {
  // CHECK-NEXT:  ^bb0(%[[SUM:.+]]: f32, %[[BIAS:.+]]: f32, %[[RES:.+]]: f32):
  // CHECK-NEXT:    %[[T:.+]] = arith.addf %[[SUM]], %[[BIAS]]
  // CHECK-NEXT:    %[[U:.+]] = arith.mulf %[[RES]], %[[T]]
  // CHECK-NEXT:    rlx.yield %[[U]]
  // CHECK-NOT: linalg.generic
  // CHECK:     return %[[R]]
  %3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e1 : tensor<4x8xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %4 = arith.mulf %x, %y : f32
      linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// One consumer that reads the product twice still is the only one.
// CHECK-LABEL: func.func @read_twice
func.func @read_twice(%a: tensor<4x8xf32>, %p: tensor<64xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK:     rlx.gemm
  // CHECK-SAME:  epilogue() {
  // CHECK-NEXT:  ^bb0(%[[SUM:.+]]: f32):
  // CHECK-NEXT:    arith.mulf %[[SUM]], %[[SUM]]
  // CHECK-NOT: linalg.generic
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %2 = arith.mulf %x, %y : f32
      linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Refused: the product has another user.
// CHECK-LABEL: func.func @two_users
func.func @two_users(%a: tensor<4x8xf32>, %p: tensor<64xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: rlx.gemm
  // CHECK-NOT: epilogue
  // CHECK: linalg.generic
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %2 = arith.negf %x : f32
      linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Refused: the product is read transposed.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: tensor<8x8xf32>, %p: tensor<64xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<8x8xf32>, tensor<64xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: rlx.gemm
  // CHECK-NOT: epilogue
  // CHECK: linalg.generic
  %1 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %2 = arith.negf %x : f32
      linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Refused: a sum over columns isn't elementwise.
// CHECK-LABEL: func.func @reduction
func.func @reduction(%a: tensor<4x8xf32>, %p: tensor<64xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: rlx.gemm
  // CHECK-NOT: epilogue
  // CHECK: linalg.generic
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %2 = arith.addf %o, %x : f32
      linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Refused: the old value of the destination would be gone.
// CHECK-LABEL: func.func @accumulates
func.func @accumulates(%a: tensor<4x8xf32>, %p: tensor<64xf32>, %old: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: rlx.gemm
  // CHECK-NOT: epilogue
  // CHECK: linalg.generic
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%old : tensor<4x8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %2 = arith.addf %o, %x : f32
      linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Refused: C holds f32 sums, so that another element type has no room in it.
// CHECK-LABEL: func.func @other_type
func.func @other_type(%a: tensor<4x8xf32>, %p: tensor<64xf32>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf32>
  %e16 = tensor.empty() : tensor<4x8xf16>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: rlx.gemm
  // CHECK-NOT: epilogue
  // CHECK: linalg.generic
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%e16 : tensor<4x8xf16>) {
    ^bb0(%x: f32, %o: f16):
      %2 = arith.truncf %x : f32 to f16
      linalg.yield %2 : f16
  } -> tensor<4x8xf16>
  return %1 : tensor<4x8xf16>
}

// Refused: the element depends on its position.
// CHECK-LABEL: func.func @position
func.func @position(%a: tensor<4x8xf32>, %p: tensor<64xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = rlx.gemm ins(%a, %p : tensor<4x8xf32>, tensor<64xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: rlx.gemm
  // CHECK-NOT: epilogue
  // CHECK: linalg.generic
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      %k = arith.sitofp %j : i32 to f32
      %2 = arith.mulf %x, %k : f32
      linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
