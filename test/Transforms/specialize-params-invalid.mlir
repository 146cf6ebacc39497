// RUN: rlx-opt %s --rlx-specialize-params --split-input-file --verify-diagnostics

// Another shape.
module attributes {rlx.bindings = {w = dense<2.0> : tensor<3x4xf32>}} {
  func.func @main() -> tensor<4x3xf32> {
    // expected-error@+1 {{param 'w' is 'tensor<4x3xf32>' but the value given for it is 'tensor<3x4xf32>'}}
    %w = rlx.param "w" : tensor<4x3xf32>
    return %w : tensor<4x3xf32>
  }
}

// -----

// Another element type.
module attributes {rlx.bindings = {w = dense<2.0> : tensor<4xf16>}} {
  func.func @main() -> tensor<4xf32> {
    // expected-error@+1 {{param 'w' is 'tensor<4xf32>' but the value given for it is 'tensor<4xf16>'}}
    %w = rlx.param "w" : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

// Elements for a packed weight, which is stored as bytes.
module attributes {rlx.bindings = {w = dense<2.0> : tensor<2x2xf32>}} {
  func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    // expected-error@+1 {{param 'w' is 'tensor<16xi8>' but the value given for it is 'tensor<2x2xf32>'}}
    %w = rlx.param "w" : !rlx.packed<2x2xf32, dense, panel64>
    %0 = rlx.matmul %x, %w : (tensor<2x2xf32>, !rlx.packed<2x2xf32, dense, panel64>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}

// -----

// A value that is not there.
module attributes {rlx.bindings = {w = dense_resource<absent> : tensor<4xf32>}} {
  func.func @main() -> tensor<4xf32> {
    // expected-error@+1 {{the value given for param 'w' is not loaded}}
    %w = rlx.param "w" : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

// Something that is no value.
// expected-error@+1 {{'rlx.bindings' gives param 'w' no elements but 2 : i64}}
module attributes {rlx.bindings = {w = 2}} {
  func.func @main() -> tensor<4xf32> {
    %w = rlx.param "w" : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

// No names.
// expected-error@+1 {{'rlx.bindings' has to be a dictionary of values by name}}
module attributes {rlx.bindings = [dense<2.0> : tensor<4xf32>]} {
}

// -----

// Values, of which none fits.
// expected-error@+1 {{none of the 2 values fits a param; values are given for 'a', 'b', params are 'w'}}
module attributes {rlx.bindings = {a = dense<2.0> : tensor<4xf32>, b = dense<2.0> : tensor<4xf32>}} {
  func.func @main() -> tensor<4xf32> {
    %w = rlx.param "w" : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

// Values for a program without params.
// expected-error@+1 {{none of the 1 value fits a param; values are given for 'a', and there are no params}}
module attributes {rlx.bindings = {a = dense<2.0> : tensor<4xf32>}} {
}

// -----

// A slip of the pen is a near name, an extra value is listed; neither is an error.
// expected-warning@+1 {{1 value fits no param: 'fc1.wieght'}}
module attributes {rlx.bindings = {fc1.wieght = dense<2.0> : tensor<4xf32>, fc2 = dense<2.0> : tensor<4xf32>}} {
  func.func @main() -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-warning@+1 {{param 'fc1.weight' has no value, did you mean 'fc1.wieght'?}}
    %w = rlx.param "fc1.weight" : tensor<4xf32>
    %b = rlx.param "fc2" : tensor<4xf32>
    return %w, %b : tensor<4xf32>, tensor<4xf32>
  }
}
