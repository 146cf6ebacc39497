// RUN: rlx-opt %s --rlx-specialize-params=strict --split-input-file --verify-diagnostics

// Under `strict` every param that stays open is an error of its own.
module attributes {rlx.bindings = {w = dense<2.0> : tensor<4xf32>}} {
  func.func @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %w = rlx.param "w" : tensor<4xf32>
    // expected-error@+1 {{param 'gamma' has no value}}
    %g = rlx.param "gamma" : tensor<4xf32>
    // expected-error@+1 {{param 'beta' has no value}}
    %b = rlx.param "beta" : tensor<4xf32>
    return %w, %g, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
