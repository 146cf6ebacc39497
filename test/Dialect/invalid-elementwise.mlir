// RUN: rlx-opt %s --split-input-file --verify-diagnostics

func.func @sizes_that_do_not_broadcast(
    // expected-note @+1 {{lhs is 'tensor<2x3xf32>'}}
    %x: tensor<2x3xf32>,
    // expected-note @+1 {{rhs is 'tensor<2xf32>'}}
    %y: tensor<2xf32>) {
  // expected-error @+1 {{operands 'tensor<2x3xf32>' and 'tensor<2xf32>' do not broadcast: aligned at the innermost dim, sizes must be equal or 1}}
  %0 = rlx.add %x, %y : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @element_types_that_differ(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = rlx.mul %x, %y : tensor<2xf32>, tensor<2xf16>
  return
}

// -----

func.func @result_of_another_shape(%x: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<?xf32>'}}
  %0 = "rlx.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @arithmetic_on_truth_values(%x: tensor<2xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or ui32 values, but got 'tensor<2xi1>'}}
  %0 = rlx.add %x, %x : tensor<2xi1>, tensor<2xi1>
  return
}

// -----

func.func @negation_of_unsigned(%x: tensor<2xui8>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of f16, bf16, f32, f64, i8, i16, i32 or i64 values, but got 'tensor<2xui8>'}}
  %0 = rlx.neg %x : tensor<2xui8>
  return
}

// -----

func.func @exponential_of_integers(%x: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of f16, bf16, f32 or f64 values, but got 'tensor<2xi32>'}}
  %0 = rlx.exp %x : tensor<2xi32>
  return
}

// -----

func.func @bits_of_floats(%x: tensor<2xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of i1, i8, i16, i32, i64, ui8 or ui32 values, but got 'tensor<2xf32>'}}
  %0 = rlx.bit_and %x, %x : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @shift_of_truth_values(%x: tensor<2xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of i8, i16, i32, i64, ui8 or ui32 values, but got 'tensor<2xi1>'}}
  %0 = rlx.shl %x, %x : tensor<2xi1>, tensor<2xi1>
  return
}

// -----

func.func @complex_elements(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{but got 'tensor<2xcomplex<f32>>'}}
  %0 = rlx.cast %x : tensor<2xcomplex<f32>> to tensor<2xf32>
  return
}

// -----

func.func @tensor_with_an_encoding(%x: tensor<2xf32, "csr">) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding}}
  %0 = rlx.relu %x : tensor<2xf32, "csr">
  return
}

// -----

func.func @tensor_without_a_rank(%x: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor without encoding of f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or ui32 values, but got 'tensor<*xf32>'}}
  %0 = "rlx.add"(%x, %x) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @cast_to_another_shape(
    // expected-note @+1 {{input is 'tensor<?xf32>'}}
    %x: tensor<?xf32>) {
  // expected-error @+1 {{result is 'tensor<2xf16>' but input is 'tensor<?xf32>'; a cast keeps the shape}}
  %0 = rlx.cast %x : tensor<?xf32> to tensor<2xf16>
  return
}
