// RUN: rlx-opt %s --split-input-file --verify-diagnostics

func.func @columns_that_are_not_rows(
    // expected-note @+1 {{lhs is 'tensor<2x3xf32>'}}
    %x: tensor<2x3xf32>) {
  // expected-note @+1 {{rhs is 'tensor<4x5xf32>'}}
  %w = rlx.param "fc1.weight" : tensor<4x5xf32>
  // expected-error @+1 {{lhs has 3 columns but rhs "fc1.weight" has 4 rows}}
  %0 = rlx.matmul %x, %w : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @packed_rows(
    // expected-note @+1 {{lhs is 'tensor<2x3xf32>'}}
    %x: tensor<2x3xf32>,
    // expected-note @+1 {{rhs is '!rlx.packed<4x5xf32, dense, panel64>'}}
    %w: !rlx.packed<4x5xf32, dense, panel64>) {
  // expected-error @+1 {{lhs has 3 columns but rhs has 4 rows}}
  %0 = rlx.matmul %x, %w : (tensor<2x3xf32>, !rlx.packed<4x5xf32, dense, panel64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @product_of_vectors(%x: tensor<3xf32>) {
  // expected-error @+1 {{multiplies 'tensor<3xf32>' by 'tensor<3xf32>' but matrices have rank 2 or more; rlx.reshape adds dims of size 1}}
  %0 = rlx.matmul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @outer_dims_that_do_not_broadcast(
    %x: tensor<2x3x4xf32>,
    // expected-note @+1 {{rhs is 'tensor<5x4x3xf32>'}}
    %y: tensor<5x4x3xf32>) {
  // expected-error @+1 {{outer dims of lhs 'tensor<2x3x4xf32>' and rhs 'tensor<5x4x3xf32>' do not broadcast: aligned at the innermost one, sizes must be equal or 1}}
  %0 = rlx.matmul %x, %y : (tensor<2x3x4xf32>, tensor<5x4x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @product_of_another_type(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{result is 'tensor<?x5xf32>' but the operands give 'tensor<2x5xf32>'}}
  %0 = rlx.matmul %x, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @element_types_that_differ(%x: tensor<2x3xf32>) {
  // expected-note @+1 {{operand is 'tensor<3x5xf16>'}}
  %w = rlx.param "w" : tensor<3x5xf16>
  // expected-error @+1 {{result has elements of type 'f32' but an operand "w" has 'f16'; rlx.cast converts}}
  %0 = rlx.matmul %x, %w : (tensor<2x3xf32>, tensor<3x5xf16>) -> tensor<2x5xf32>
  return
}

// -----

func.func @product_of_integers(%x: tensor<2x2xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of f16, bf16, f32 or f64 values, but got 'tensor<2x2xi32>'}}
  %0 = rlx.matmul %x, %x : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @features_that_differ(%x: tensor<?x3xf32>) {
  // expected-note @+1 {{weight is 'tensor<5x4xf32>'; rows are output features (NxK)}}
  %w = rlx.param "fc1.weight" : tensor<5x4xf32>
  // expected-error @+1 {{input has 3 features but weight "fc1.weight" expects 4}}
  %0 = rlx.linear %x, %w : (tensor<?x3xf32>, tensor<5x4xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @packed_features_that_differ(
    %x: tensor<?x3xf32>,
    // expected-note @+1 {{weight is '!rlx.packed<4x5xf32, dense, panel64>'; packed weights are KxN}}
    %w: !rlx.packed<4x5xf32, dense, panel64>) {
  // expected-error @+1 {{input has 3 features but weight expects 4}}
  %0 = rlx.linear %x, %w : (tensor<?x3xf32>, !rlx.packed<4x5xf32, dense, panel64>) -> tensor<?x5xf32>
  return
}

// -----

func.func @input_without_features(%x: tensor<f32>, %w: tensor<5x4xf32>) {
  // expected-error @+1 {{input is 'tensor<f32>' but has no dim to hold the features}}
  %0 = rlx.linear %x, %w : (tensor<f32>, tensor<5x4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @stack_of_linear_weights(%x: tensor<2x4xf32>, %w: tensor<2x5x4xf32>) {
  // expected-error @+1 {{weight is 'tensor<2x5x4xf32>' but a linear weight has rank 2}}
  %0 = rlx.linear %x, %w : (tensor<2x4xf32>, tensor<2x5x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @bias_of_another_size(
    %x: tensor<2x4xf32>,
    // expected-note @+1 {{weight is 'tensor<5x4xf32>'; rows are output features (NxK)}}
    %w: tensor<5x4xf32>) {
  %b = rlx.param "fc1.bias" : tensor<4xf32>
  // expected-error @+1 {{bias "fc1.bias" is 'tensor<4xf32>' but weight has 5 output features}}
  %0 = rlx.linear %x, %w bias(%b : tensor<4xf32>) : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @bias_of_rank_two(
    %x: tensor<2x4xf32>,
    // expected-note @+1 {{weight is 'tensor<5x4xf32>'}}
    %w: tensor<5x4xf32>, %b: tensor<1x5xf32>) {
  // expected-error @+1 {{bias is 'tensor<1x5xf32>' but weight has 5 output features}}
  %0 = rlx.linear %x, %w bias(%b : tensor<1x5xf32>) : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @affine_result_of_another_type(%x: tensor<2x4xf32>, %w: tensor<5x4xf32>) {
  // expected-error @+1 {{result is 'tensor<2x4xf32>' but the operands give 'tensor<2x5xf32>'}}
  %0 = rlx.linear %x, %w : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @pack_of_another_shape(
    // expected-note @+1 {{input is 'tensor<5x4xf32>'}}
    %w: tensor<5x4xf32>) {
  // expected-error @+1 {{input is 'tensor<5x4xf32>' but result '!rlx.packed<5x3xf32, dense, panel64>' takes 'tensor<5x3xf32>'}}
  %0 = rlx.pack %w : tensor<5x4xf32> -> !rlx.packed<5x3xf32, dense, panel64>
  return
}

// -----

func.func @transposed_pack_of_another_shape() {
  // expected-note @+1 {{input is 'tensor<5x4xf32>'}}
  %w = rlx.param "w" : tensor<5x4xf32>
  // expected-error @+1 {{input "w" is 'tensor<5x4xf32>' but result '!rlx.packed<5x4xf32, dense, panel64>' takes 'tensor<4x5xf32>' when transposed}}
  %0 = rlx.pack %w transposed : tensor<5x4xf32> -> !rlx.packed<5x4xf32, dense, panel64>
  return
}

// -----

func.func @pack_of_another_element_type(
    // expected-note @+1 {{operand is 'tensor<5x4xf16>'}}
    %w: tensor<5x4xf16>) {
  // expected-error @+1 {{result has elements of type 'f32' but an operand has 'f16'; rlx.cast converts}}
  %0 = rlx.pack %w : tensor<5x4xf16> -> !rlx.packed<5x4xf32, dense, panel64>
  return
}
