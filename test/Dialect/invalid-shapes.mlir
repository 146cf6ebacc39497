// RUN: rlx-opt %s --split-input-file --verify-diagnostics

func.func @fewer_entries_than_dims(%x: tensor<4xf32>) {
  // expected-error @+1 {{shape has 1 entries but result 'tensor<2x2xf32>' has rank 2}}
  %0 = rlx.reshape %x to [4] : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @entry_of_another_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{shape entry 1 is 3 but result dim 1 has size 2}}
  %0 = rlx.reshape %x to [2, 3] : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @entry_of_a_negative_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{shape entry 0 is -2 but sizes are not negative}}
  %0 = rlx.reshape %x to [-2, 2] : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @symbol_for_a_static_dim(%x: tensor<4xf32>) {
  // expected-error @+1 {{shape entry 0 is @n but result dim 0 has the static size 4}}
  %0 = rlx.reshape %x to [@n] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @size_for_a_dynamic_dim(%x: tensor<4xf32>) {
  // expected-error @+1 {{shape entry 0 is 4 but result dim 0 is `?`, which takes a symbol such as @batch}}
  %0 = rlx.reshape %x to [4] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @two_inferred_entries(%x: tensor<4xf32>) {
  // expected-error @+1 {{shape [-1, -1] has 2 entries -1 but the element count determines only one}}
  %0 = rlx.reshape %x to [-1, -1] : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @inferred_entry_beside_zero(%x: tensor<0xf32>) {
  // expected-error @+1 {{shape [0, -1] has an entry -1 but result 'tensor<0x3xf32>' has a dim of size 0, so that any size would do}}
  %0 = rlx.reshape %x to [0, -1] : tensor<0xf32> -> tensor<0x3xf32>
  return
}

// -----

func.func @element_counts_that_differ(
    // expected-note @+1 {{input is 'tensor<2x3xf32>'}}
    %x: tensor<2x3xf32>) {
  // expected-error @+1 {{result 'tensor<4x2xf32>' has 8 elements but input has 6}}
  %0 = rlx.reshape %x to [4, 2] : tensor<2x3xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @element_count_that_does_not_divide(
    // expected-note @+1 {{input is 'tensor<2x3xf32>'}}
    %x: tensor<2x3xf32>) {
  // expected-error @+1 {{result 'tensor<?x4xf32>' has a multiple of 4 elements but input has 6}}
  %0 = rlx.reshape %x to [-1, 4] : tensor<2x3xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @element_count_that_is_no_multiple(
    // expected-note @+1 {{input is 'tensor<?x3xf32>'}}
    %x: tensor<?x3xf32>) {
  // expected-error @+1 {{result 'tensor<4xf32>' has 4 elements but input has a multiple of 3}}
  %0 = rlx.reshape %x to [4] : tensor<?x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @elements_above_int64(%x: tensor<4294967296x4294967296x?xf32>) {
  // expected-error @+1 {{reshapes 'tensor<4294967296x4294967296x?xf32>' to 'tensor<?xf32>' but counts more than 2^63 - 1 elements}}
  %0 = rlx.reshape %x to [-1] : tensor<4294967296x4294967296x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @two_symbols_of_no_input(%x: tensor<?x4xf32> {rlx.dims = [@batch, 4]}) {
  // expected-error @+1 {{shape has @rows and @columns, but the element count determines only one entry that no input of @two_symbols_of_no_input carries}}
  %0 = rlx.reshape %x to [@rows, @batch, @columns] : tensor<?x4xf32> -> tensor<?x?x?xf32>
  return
}

// -----

func.func @symbol_of_no_input_beside_inferred_entry(%x: tensor<?x4xf32> {rlx.dims = [@batch, 4]}) {
  // expected-error @+1 {{shape has @rows and -1 : i64, but the element count determines only one entry}}
  %0 = rlx.reshape %x to [@rows, -1] : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @expand_to_a_lower_rank(
    // expected-note @+1 {{input is 'tensor<1x4xf32>'}}
    %x: tensor<1x4xf32>) {
  // expected-error @+1 {{result 'tensor<4xf32>' has rank 1 but input has rank 2}}
  %0 = rlx.expand %x to [4] : tensor<1x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @expand_of_a_dim_that_is_not_one(
    // expected-note @+1 {{input is 'tensor<3xf32>'}}
    %x: tensor<3xf32>) {
  // expected-error @+1 {{input dim 0 has size 3 but result dim 1 has size 6; only size 1 stretches}}
  %0 = rlx.expand %x to [2, 6] : tensor<3xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @expand_with_an_inferred_entry(%x: tensor<3xf32>) {
  // expected-error @+1 {{shape entry 0 is -1 but sizes are not negative}}
  %0 = rlx.expand %x to [-1, 3] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

// expected-note @+1 {{inputs carry symbols by rlx.dims on arguments}}
func.func @expand_to_a_symbol_of_no_input(%x: tensor<3xf32>) {
  // expected-error @+1 {{shape has symbol @batch but no input of @expand_to_a_symbol_of_no_input carries it}}
  %0 = rlx.expand %x to [@batch, 3] : tensor<3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @permutation_of_another_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{perm has 3 entries but input 'tensor<2x3xf32>' has rank 2}}
  %0 = rlx.transpose %x [1, 0, 2] : tensor<2x3xf32>
  return
}

// -----

func.func @permutation_with_a_repeated_dim(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{perm [1, 1] does not name each dim below 2 once}}
  %0 = rlx.transpose %x [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @shape_entry_that_is_a_string(%x: tensor<3xf32>) {
  // expected-error @+1 {{attribute 'shape' failed to satisfy constraint: dims: integers and symbols}}
  %0 = rlx.expand %x to ["batch"] : tensor<3xf32> -> tensor<3xf32>
  return
}
