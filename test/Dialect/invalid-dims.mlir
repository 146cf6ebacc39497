// RUN: rlx-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 has rlx.name = 7 : i64 but a name is a string that is not empty}}
func.func @name_that_is_no_string(%x: tensor<4xf32> {rlx.name = 7})  { return }

// -----

// expected-error @+1 {{argument 0 has rlx.name = "" but a name is a string that is not empty}}
func.func @name_that_is_empty(%x: tensor<4xf32> {rlx.name = ""})  { return }

// -----

// expected-error @+1 {{arguments 0 and 1 both have the name "x"}}
func.func @name_given_twice(%x: tensor<4xf32> {rlx.name = "x"}, %y: tensor<4xf32> {rlx.name = "x"})  { return }

// -----

// expected-error @+1 {{results 0 and 1 both have the name "y"}}
func.func private @result_name_given_twice() -> (tensor<4xf32> {rlx.name = "y"}, tensor<4xf32> {rlx.name = "y"})

// -----

// expected-error @+1 {{argument 0 of type 'i32' has rlx.dims = [] but is no ranked tensor}}
func.func @dims_of_a_scalar(%x: i32 {rlx.dims = []})  { return }

// -----

// expected-error @+1 {{argument 0 of type 'tensor<4xf32>' has rlx.dims = ["a"] but dims are a list of integers and symbols, such as [@batch, 784]}}
func.func @dims_of_strings(%x: tensor<4xf32> {rlx.dims = ["a"]})  { return }

// -----

// expected-error @+1 {{has rlx.dims = 4 : i64 but dims are a list of integers and symbols}}
func.func @dims_that_are_no_list(%x: tensor<4xf32> {rlx.dims = 4})  { return }

// -----

// expected-error @+1 {{has rlx.dims = [4, 4] with 2 entries for 1 dims}}
func.func @dims_of_another_rank(%x: tensor<4xf32> {rlx.dims = [4, 4]})  { return }

// -----

// expected-error @+1 {{has rlx.dims = [5] but dim 0 has the static size 4}}
func.func @dim_of_another_size(%x: tensor<4xf32> {rlx.dims = [5]})  { return }

// -----

// expected-error @+1 {{has rlx.dims = [@n] but dim 0 has the static size 4}}
func.func @symbol_for_a_static_dim(%x: tensor<4xf32> {rlx.dims = [@n]})  { return }

// -----

// expected-error @+1 {{result 0 of type 'tensor<?xf32>' has rlx.dims = [4] but dim 0 is `?`, which takes a symbol such as @batch}}
func.func private @size_for_a_dynamic_dim() -> (tensor<?xf32> {rlx.dims = [4]})

// -----

// expected-error @+1 {{argument 0 has the unknown attribute rlx.dim; there are rlx.name, rlx.dims, rlx.rng_seed and rlx.rng_counter}}
func.func @misspelt_attribute(%x: tensor<4xf32> {rlx.dim = [4]})  { return }

// -----

// expected-error @+1 {{argument 0 has rlx.rng_counter but is 'f32'; seeds and counters are i64}}
func.func @counter_that_is_no_integer(%n: f32 {rlx.rng_counter})  { return }
