// RUN: rlx-opt %s --rlx-specialize-params --split-input-file | FileCheck %s
// RUN: rlx-opt %s --rlx-specialize-params --split-input-file -o /dev/null \
// RUN:   --remarks-filter=weights 2>&1 | FileCheck %s --check-prefix=REMARK

// Params with a value become constants of their name wherever they are read, the
// others stay; attributes that the user set stay too.
// REMARK:      remark: [Passed] SpecializeParams
// REMARK-SAME:   Bound=1, Open=1, Remark="1 of 2 params have values"
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[W:.+]] = rlx.constant "w" {note = "kept"} dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[S:.+]] = rlx.param "s"
// CHECK-NEXT:    rlx.mul %[[W]], %[[S]]
// CHECK-LABEL: func.func @other
// CHECK-NEXT:    rlx.constant "w" dense<2.000000e+00>
module attributes {rlx.bindings = {w = dense<2.0> : tensor<4xf32>}} {
  func.func @main() -> tensor<4xf32> {
    %w = rlx.param "w" {note = "kept"} : tensor<4xf32>
    %s = rlx.param "s" : tensor<4xf32>
    %0 = rlx.mul %w, %s : tensor<4xf32>, tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @other() -> tensor<4xf32> {
    %w = rlx.param "w" : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

// Without values nothing changes.
// CHECK-LABEL: func.func @no_values
// CHECK:         rlx.param "w"
func.func @no_values() -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// A packed weight takes the bytes that it is stored as.
// CHECK-LABEL: func.func @packed
// CHECK:         rlx.constant "w" dense<0> : tensor<16xi8> -> !rlx.packed<2x2xf32, dense, panel64>
module attributes {rlx.bindings = {w = dense<0> : tensor<16xi8>}} {
  func.func @packed(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %w = rlx.param "w" : !rlx.packed<2x2xf32, dense, panel64>
    %0 = rlx.matmul %x, %w : (tensor<2x2xf32>, !rlx.packed<2x2xf32, dense, panel64>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}
