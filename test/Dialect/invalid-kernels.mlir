// RUN: rlx-opt %s --split-input-file --verify-diagnostics

func.func @tensors_beside_buffers(%x: memref<2x4xf32>, %p: tensor<20xf32>, %y: tensor<2x5xf32>) {
  // expected-error @+1 {{mixes tensors and buffers: destination is 'tensor<2x5xf32>' but an operand is 'memref<2x4xf32>'}}
  %0 = rlx.gemm ins(%x, %p : memref<2x4xf32>, tensor<20xf32>) outs(%y : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @tensor_without_a_result(%x: tensor<2x4xf32>, %p: tensor<20xf32>, %y: tensor<2x5xf32>) {
  // expected-error @+1 {{has 0 results but a destination 'tensor<2x5xf32>' gives 1}}
  rlx.gemm ins(%x, %p : tensor<2x4xf32>, tensor<20xf32>) outs(%y : tensor<2x5xf32>)
  return
}

// -----

func.func @packed_size_that_differs(%x: memref<2x4xf32>, %p: memref<16xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{rhs holds 16 elements per matrix but the other operands make it 4x5}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<16xf32>) outs(%y : memref<2x5xf32>)
  return
}

// -----

func.func @rows_that_differ(%x: memref<3x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{lhs has 3 rows but the destination has 2}}
  rlx.gemm ins(%x, %p : memref<3x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>)
  return
}

// -----

func.func @product_of_vectors(%x: memref<4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{multiplies 'memref<4xf32>' by 'memref<20xf32>' into 'memref<2x5xf32>' but needs ...xMxK, ...x(K*N) and ...xMxN}}
  rlx.gemm ins(%x, %p : memref<4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>)
  return
}

// -----

func.func @stack_that_does_not_broadcast(%x: memref<3x2x4xf32>, %p: memref<20xf32>, %y: memref<7x2x5xf32>) {
  // expected-error @+1 {{lhs has size 3 in outer dim 0 but the destination has 7}}
  rlx.gemm ins(%x, %p : memref<3x2x4xf32>, memref<20xf32>) outs(%y : memref<7x2x5xf32>)
  return
}

// -----

func.func @more_outer_dims_than_the_destination(%x: memref<2x4xf32>, %p: memref<3x20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{rhs has 1 outer dims but the destination has 0}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<3x20xf32>) outs(%y : memref<2x5xf32>)
  return
}

// -----

func.func @permutation_of_the_innermost_dim(%x: memref<4x2xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{permutation [1, 0] moves the innermost dim of lhs; the kernel reads K contiguously}}
  rlx.gemm ins(%x, %p : memref<4x2xf32>, memref<20xf32>) permuted [1, 0] outs(%y : memref<2x5xf32>)
  return
}

// -----

func.func @permutation_of_another_rank(%w: memref<4x5xf32>, %p: memref<20xf32>) {
  // expected-error @+1 {{permutes 3 dims but the operand has 2}}
  rlx.pack_panels ins(%w : memref<4x5xf32>) permuted [0, 1, 2] outs(%p : memref<20xf32>)
  return
}

// -----

func.func @permutation_with_a_repeated_dim(%w: memref<4x5xf32>, %p: memref<20xf32>) {
  // expected-error @+1 {{permutation [0, 0] does not name each dim below 2 once}}
  rlx.pack_panels ins(%w : memref<4x5xf32>) permuted [0, 0] outs(%p : memref<20xf32>)
  return
}

// -----

func.func @extras_without_an_epilogue(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{has operands of an epilogue but no epilogue}}
  "rlx.gemm"(%x, %p, %y, %y) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({}) : (memref<2x4xf32>, memref<20xf32>, memref<2x5xf32>, memref<2x5xf32>) -> ()
  return
}

// -----

func.func @epilogue_without_the_sum(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>, %c: f32) {
  // expected-error @+1 {{epilogue has 0 arguments but takes the sum and one element of each of 0 operands}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue() {
      rlx.yield %c : f32
  }
  return
}

// -----

func.func @epilogue_of_another_type(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{epilogue takes the sum as 'f16' but sums are f32}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue() {
    ^bb0(%sum: f16):
      rlx.yield %sum : f16
  }
  return
}

// -----

func.func @epilogue_that_yields_a_half(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{epilogue does not end in rlx.yield of an f32}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue() {
    ^bb0(%sum: f32):
      %0 = arith.truncf %sum : f32 to f16
      rlx.yield %0 : f16
  }
  return
}

// -----

func.func @extra_without_a_map(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>, %b: memref<5xf32>) {
  // expected-error @+1 {{has 0 maps for 1 operands of the epilogue}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue(%b : memref<5xf32>) {
    ^bb0(%sum: f32, %bias: f32):
      rlx.yield %sum : f32
  }
  return
}

// -----

func.func @map_of_another_rank(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>, %b: memref<5xf32>) {
  // expected-error @+1 {{does not lead from 'memref<2x5xf32>' to 'memref<5xf32>'}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue(%b : memref<5xf32>) maps [affine_map<(d0, d1) -> (d0, d1)>] {
    ^bb0(%sum: f32, %bias: f32):
      rlx.yield %sum : f32
  }
  return
}

// -----

func.func @map_that_computes(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>, %b: memref<9xf32>) {
  // expected-error @+1 {{has a result that is neither a dim nor a constant}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue(%b : memref<9xf32>) maps [affine_map<(d0, d1) -> (d0 + d1)>] {
    ^bb0(%sum: f32, %bias: f32):
      rlx.yield %sum : f32
  }
  return
}

// -----

func.func @extra_of_another_type(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>, %b: memref<5xf16>) {
  // expected-error @+1 {{epilogue takes 'f32' of an operand 'memref<5xf16>'}}
  rlx.gemm ins(%x, %p : memref<2x4xf32>, memref<20xf32>) outs(%y : memref<2x5xf32>) epilogue(%b : memref<5xf16>) maps [affine_map<(d0, d1) -> (d1)>] {
    ^bb0(%sum: f32, %bias: f32):
      rlx.yield %sum : f32
  }
  return
}

// -----

func.func @panels_of_another_rank(%w: memref<4x5xf32>, %p: memref<1x20xf32>) {
  // expected-error @+1 {{packs 'memref<4x5xf32>' into 'memref<1x20xf32>' but needs ...xKxN and ...x(K*N) with the same outer dims}}
  rlx.pack_panels ins(%w : memref<4x5xf32>) outs(%p : memref<1x20xf32>)
  return
}

// -----

func.func @panels_of_another_stack(%w: memref<2x4x5xf32>, %p: memref<3x20xf32>) {
  // expected-error @+1 {{source has size 2 in outer dim 0 but the destination has 3}}
  rlx.pack_panels ins(%w : memref<2x4x5xf32>) outs(%p : memref<3x20xf32>)
  return
}

// -----

func.func @panels_of_another_size(%w: memref<4x5xf32>, %p: memref<21xf32>) {
  // expected-error @+1 {{destination holds 21 elements per matrix but the other operands make it 4x5}}
  rlx.pack_panels ins(%w : memref<4x5xf32>) outs(%p : memref<21xf32>)
  return
}

// -----

func.func @epilogue_that_ends_in_nothing(%x: memref<2x4xf32>, %p: memref<20xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{epilogue does not end in rlx.yield of an f32}}
  "rlx.gemm"(%x, %p, %y) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
    ^bb0(%sum: f32):
  }) : (memref<2x4xf32>, memref<20xf32>, memref<2x5xf32>) -> ()
  return
}
