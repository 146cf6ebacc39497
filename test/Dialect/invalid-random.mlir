// RUN: rlx-opt %s --split-input-file --verify-diagnostics

func.func @negative_scale() {
  // expected-error @+1 {{has mean 0.000000e+00 : f32 and scale -1.000000e+00 : f32 but needs a finite mean and a finite scale of at least 0}}
  %0 = rlx.rng_normal mean 0.0 scale -1.0 key 0 shape [2] : tensor<2xf32>
  return
}

// -----

func.func @infinite_mean() {
  // expected-error @+1 {{has mean 0x7F800000 : f32 and scale 1.000000e+00 : f32 but needs a finite mean}}
  %0 = rlx.rng_normal mean 0x7F800000 scale 1.0 key 0 shape [2] : tensor<2xf32>
  return
}

// -----

func.func @bounds_in_the_wrong_order() {
  // expected-error @+1 {{has low 1.000000e+00 : f32 and high 0.000000e+00 : f32 but needs finite bounds with low <= high}}
  %0 = rlx.rng_uniform low 1.0 high 0.0 key 0 shape [2] : tensor<2xf32>
  return
}

// -----

func.func @bound_that_is_no_number() {
  // expected-error @+1 {{has low 0x7FC00000 : f32 and high 1.000000e+00 : f32 but needs finite bounds}}
  %0 = rlx.rng_uniform low 0x7FC00000 high 1.0 key 0 shape [2] : tensor<2xf32>
  return
}

// -----

func.func @shape_of_another_rank() {
  // expected-error @+1 {{shape has 1 entries but result 'tensor<2x3xf32>' has rank 2}}
  %0 = rlx.rng_uniform low 0.0 high 1.0 key 0 shape [6] : tensor<2x3xf32>
  return
}

// -----

// expected-note @+1 {{inputs carry symbols}}
func.func @symbol_of_no_input() {
  // expected-error @+1 {{shape has symbol @batch but no input of @symbol_of_no_input carries it}}
  %0 = rlx.rng_normal mean 0.0 scale 1.0 key 0 shape [@batch] : tensor<?xf32>
  return
}

// -----

// expected-note @+1 {{inputs carry symbols}}
func.func @uniform_with_a_symbol_of_no_input() {
  // expected-error @+1 {{shape has symbol @batch but no input}}
  %0 = rlx.rng_uniform low 0.0 high 1.0 key 0 shape [@batch] : tensor<?xf32>
  return
}
