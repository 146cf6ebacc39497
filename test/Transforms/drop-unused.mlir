// RUN: rlx-opt %s --rlx-drop-unused --split-input-file | FileCheck %s

// Unused weights and ops go; an input that dies keeps its place, and a random
// number is drawn whether it is used or not.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>)
// CHECK-NEXT:    rlx.rng_normal
// CHECK-NEXT:    return %arg0
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %0 = rlx.add %y, %w : tensor<4xf32>, tensor<4xf32>
  %1 = rlx.rng_normal mean 0.0 scale 1.0 key 7 shape [4] : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// A private function that only an unused one calls goes with it.
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @used
// CHECK-NOT:   func.func
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @used(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @used(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @unused_too(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unused_too(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// An instance that no one reads goes, with its function and its constant; one
// that another instance reads stays.
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @main.prepare0
// CHECK-NOT:   func.func
// CHECK-NOT:   rlx.constant "c"
// CHECK:       rlx.constant "d"
// CHECK-NEXT:  rlx.prepare @main.prepare0("d") -> ("p")
// CHECK-NEXT:  rlx.prepare @main.prepare0("p") -> ("q")
// CHECK-NOT:   rlx.prepare
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %q = rlx.prepared "q" : tensor<4xf32>
  %r = rlx.prepared "r" : tensor<4xf32>
  %0 = rlx.add %x, %q : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @main.prepare0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @main.prepare1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
%c = rlx.constant "c" dense<1.0> : tensor<4xf32>
%d = rlx.constant "d" dense<2.0> : tensor<4xf32>
rlx.prepare @main.prepare0("d") -> ("p") : (tensor<4xf32>) -> tensor<4xf32>
rlx.prepare @main.prepare0("p") -> ("q") : (tensor<4xf32>) -> tensor<4xf32>
rlx.prepare @main.prepare1("c") -> ("r") : (tensor<4xf32>) -> tensor<4xf32>
