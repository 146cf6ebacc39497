// RUN: rlx-opt %s --split-input-file --verify-diagnostics

func.func @weight_with_a_dynamic_shape() {
  // expected-error @+1 {{weight "w" has type 'tensor<?x4xf32>' but weights have static shapes}}
  %0 = rlx.param "w" : tensor<?x4xf32>
  return
}

// -----

func.func @weight_above_the_address_space() {
  // expected-error @+1 {{weight "w" has type 'tensor<4294967296x4294967296xf32>' of more than 2^63 - 1 elements}}
  %0 = rlx.param "w" : tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @weight_without_letters() {
  // expected-error @+1 {{has an empty name}}
  %0 = rlx.param "" : tensor<4xf32>
  return
}

// -----

func.func @constant_without_letters() {
  // expected-error @+1 {{has an empty name}}
  %0 = rlx.constant "" dense<1.0> : tensor<4xf32>
  return
}

// -----

func.func @value_of_another_type() {
  // expected-error @+1 {{value "w" is 'tensor<4xf32>' but result is 'tensor<2x2xf32>'}}
  %0 = rlx.constant "w" dense<1.0> : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @value_of_a_vector_type() {
  // expected-error @+1 {{result #0 must be ranked tensor without encoding of f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8 or ui32 values or packed weight, but got 'vector<4xf32>'}}
  %0 = rlx.constant "w" dense<1.0> : vector<4xf32>
  return
}

// -----

func.func @packed_bytes_of_another_count() {
  // expected-error @+1 {{value "w" is 'tensor<15xi8>' but '!rlx.packed<2x2xf32, dense, panel64>' takes tensor<16xi8>}}
  %0 = rlx.constant "w" dense<0> : tensor<15xi8> -> !rlx.packed<2x2xf32, dense, panel64>
  return
}

// -----

func.func @packed_value_that_is_no_bytes() {
  // expected-error @+1 {{value "w" is 'tensor<2x2xf32>' but '!rlx.packed<2x2xf32, dense, panel64>' takes tensor<16xi8>}}
  %0 = rlx.constant "w" dense<0.0> : tensor<2x2xf32> -> !rlx.packed<2x2xf32, dense, panel64>
  return
}

// -----

func.func @resource_of_another_size() {
  // expected-error @+1 {{resource 'short' has 3 bytes but 'tensor<2xi16>' takes 4}}
  %0 = rlx.constant "w" dense_resource<short> : tensor<2xi16>
  return
}

{-# dialect_resources: { builtin: { short: "0x02000000010203" } } #-}

// -----

// expected-error @+1 {{has 2 names of weights but its type has 1}}
rlx.prepare @f("a", "b") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{has 1 names of results but its type has 0}}
rlx.prepare @f("a") -> ("c") : (tensor<4xf32>) -> ()

// -----

// expected-error @+1 {{has an empty name among its results}}
rlx.prepare @f("a") -> ("") : (tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{names "a" twice among its weights}}
rlx.prepare @f("a", "a") -> ("c") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{"a" is 'tensor<?xf32>' but weights are static tensors or packed}}
rlx.prepare @f("a") -> ("c") : (tensor<?xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{calls @f but the module has no such function}}
rlx.prepare @f("a") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{has type '(tensor<4xf32>) -> tensor<4xf32>' but @f has '(tensor<5xf32>) -> tensor<4xf32>'}}
rlx.prepare @f("a") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
// expected-note @+1 {{the function is here}}
func.func private @f(tensor<5xf32>) -> tensor<4xf32>

// -----

// expected-note @+1 {{the other one is here}}
rlx.prepare @f("a") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
// expected-error @+1 {{result "c" is also the result of another rlx.prepare}}
rlx.prepare @f("b") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{result "w" has the name of a weight}}
rlx.prepare @f("a") -> ("w") : (tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @result_named_as_a_weight() {
  // expected-note @+1 {{the weight is here}}
  %0 = rlx.param "w" : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{takes "w" as 'tensor<4xf32>' but it is 'tensor<2x2xf32>'}}
rlx.prepare @f("w") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @weight_of_another_type() {
  // expected-note @+1 {{"w" is 'tensor<2x2xf32>'}}
  %0 = rlx.param "w" : tensor<2x2xf32>
  return
}

// -----

// expected-note @+1 {{"c" is 'tensor<4xf32>'}}
rlx.prepare @f("w") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
// expected-error @+1 {{takes "c" as 'tensor<5xf32>' but it is 'tensor<4xf32>'}}
rlx.prepare @g("c") -> ("d") : (tensor<5xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func private @g(tensor<5xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{takes "d", which is not made before}}
rlx.prepare @f("d") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
// expected-note @+1 {{made here}}
rlx.prepare @f("c") -> ("d") : (tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+2 {{takes "c", which is not made before}}
// expected-note @+1 {{made here}}
rlx.prepare @f("c") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @prepared_by_nothing() {
  // expected-error @+1 {{"c" is no result of an rlx.prepare of the module}}
  %0 = rlx.prepared "c" : tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{made here}}
rlx.prepare @f("w") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @prepared_of_another_type() {
  // expected-error @+1 {{"c" is 'tensor<2x2xf32>' but its rlx.prepare makes 'tensor<4xf32>'}}
  %0 = rlx.prepared "c" : tensor<2x2xf32>
  return
}

// -----

func.func @prepare_inside_a_function() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  rlx.prepare @f("w") -> ("c") : (tensor<4xf32>) -> tensor<4xf32>
  return
}
