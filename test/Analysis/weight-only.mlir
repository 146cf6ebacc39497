// RUN: rlx-opt %s --rlx-print-weight-only --split-input-file | FileCheck %s

// What leaves alone reach is weight-only, known if all of them have values; what
// an input reaches is not.
// CHECK-LABEL: func.func @leaves
func.func @leaves(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: rlx.param "w" {rlx.weight_only = "params"}
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: rlx.constant "c" {rlx.weight_only = "known"}
  %c = rlx.constant "c" dense<2.0> : tensor<4xf32>
  // CHECK: rlx.exp {{.*}}"known"
  %0 = rlx.exp %c : tensor<4xf32>
  // CHECK: rlx.mul {{.*}}"params"
  %1 = rlx.mul %w, %0 : tensor<4xf32>, tensor<4xf32>
  // CHECK: rlx.add {{.*}}"dynamic"
  %2 = rlx.add %x, %1 : tensor<2x4xf32>, tensor<4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// A random number is dynamic although nothing goes into it.
// CHECK-LABEL: func.func @random
func.func @random() -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: rlx.rng_normal {{.*}}"dynamic"
  %0 = rlx.rng_normal mean 0.0 scale 1.0 key 7 shape [4] : tensor<4xf32>
  // CHECK: rlx.add {{.*}}"dynamic"
  %1 = rlx.add %w, %0 : tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A symbol in the target shape is a dim of an input.
// CHECK-LABEL: func.func @symbol
func.func @symbol(%x: tensor<?x4xf32> {rlx.dims = [@batch, 4]}) -> (tensor<?x4xf32>, tensor<8x4xf32>) {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: rlx.expand {{.*}}"dynamic"
  %0 = rlx.expand %w to [@batch, 4] : tensor<4xf32> -> tensor<?x4xf32>
  // CHECK: rlx.expand {{.*}}"params"
  %1 = rlx.expand %w to [8, 4] : tensor<4xf32> -> tensor<8x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<8x4xf32>
}

// -----

// A resource that is not loaded has no value.
// CHECK-LABEL: func.func @not_loaded
func.func @not_loaded() -> tensor<4xf32> {
  // CHECK: rlx.constant "c" {rlx.weight_only = "params"}
  %c = rlx.constant "c" dense_resource<absent> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// Both branches yield weights, but an input chooses between them.
// CHECK-LABEL: func.func @if_on_input
func.func @if_on_input(%p: i1) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  // CHECK: rlx.exp {{.*}}"params"
  // CHECK: } {rlx.weight_only = "dynamic"}
  %0 = scf.if %p -> tensor<4xf32> {
    %1 = rlx.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A constant condition makes the whole weight-only; an input captured by the
// branch that is never taken still keeps it from moving.
// CHECK-LABEL: func.func @if_on_constant
func.func @if_on_constant(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  %true = arith.constant true
  // CHECK: } else {
  // CHECK: } {rlx.weight_only = "params"}
  %0 = scf.if %true -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  // CHECK: } else {
  // CHECK: } {rlx.weight_only = "dynamic"}
  %1 = scf.if %true -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A random number in a branch makes the result dynamic although it is captured
// by nothing and yielded by nothing.
// CHECK-LABEL: func.func @if_with_effect
func.func @if_with_effect() -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %true = arith.constant true
  // CHECK: } {rlx.weight_only = "dynamic"}
  %0 = scf.if %true -> tensor<4xf32> {
    %1 = rlx.rng_normal mean 0.0 scale 1.0 key 7 shape [4] : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A weight without a value inside a branch makes the result depend on params.
// CHECK-LABEL: func.func @leaf_inside
func.func @leaf_inside() -> tensor<4xf32> {
  %c = rlx.constant "c" dense<1.0> : tensor<4xf32>
  %true = arith.constant true
  // CHECK: } else {
  // CHECK: } {rlx.weight_only = "params"}
  %0 = scf.if %true -> tensor<4xf32> {
    %a = rlx.param "a" : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %c : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A loop with constant bounds is weight-only; its induction variable is, but
// can't be moved out of it.
// CHECK-LABEL: func.func @for_constant_bounds
func.func @for_constant_bounds() -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK: arith.addi {{.*}}"known, local"
  // CHECK: rlx.exp {{.*}}"params"
  // CHECK: rlx.add {{.*}}"params, local"
  // CHECK: } {rlx.weight_only = "params"}
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %w) -> tensor<4xf32> {
    %1 = arith.addi %i, %c1 : index
    %2 = rlx.exp %w : tensor<4xf32>
    %3 = rlx.add %sum, %2 : tensor<4xf32>, tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// With a bound from an input, induction variable, accumulator and result are
// dynamic, though all that is yielded comes from weights.
// CHECK-LABEL: func.func @for_input_bound
func.func @for_input_bound(%n: index) -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: arith.addi {{.*}}"dynamic"
  // CHECK: rlx.add {{.*}}"dynamic"
  // CHECK: } {rlx.weight_only = "dynamic"}
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %w) -> tensor<4xf32> {
    %1 = arith.addi %i, %c1 : index
    %2 = rlx.add %sum, %w : tensor<4xf32>, tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// What a loop yields from an input comes back as its accumulator.
// CHECK-LABEL: func.func @for_carries_input
func.func @for_carries_input(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK: arith.addi {{.*}}"known, local"
  // CHECK: rlx.exp {{.*}}"dynamic"
  // CHECK: } {rlx.weight_only = "dynamic"}
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%last = %w) -> tensor<4xf32> {
    %1 = arith.addi %i, %c1 : index
    %2 = rlx.exp %last : tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A while loop may not end: never moved. What an input decides about its
// repetition reaches all it carries.
// CHECK-LABEL: func.func @while_on_input
func.func @while_on_input(%x: tensor<i1>) -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: tensor.extract {{.*}}"dynamic"
  // CHECK: rlx.exp {{.*}}"dynamic"
  // CHECK: } attributes {rlx.weight_only = "dynamic"}
  %0 = scf.while (%a = %w) : (tensor<4xf32>) -> tensor<4xf32> {
    %p = tensor.extract %x[] : tensor<i1>
    scf.condition(%p) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %1 = rlx.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @while_on_constant
func.func @while_on_constant() -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %false = arith.constant false
  // CHECK: rlx.exp {{.*}}"params, local"
  // CHECK: } attributes {rlx.weight_only = "dynamic"}
  %0 = scf.while (%a = %w) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%false) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %1 = rlx.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Branches between blocks: an input chooses which weight arrives, however many
// blocks further on.
// CHECK-LABEL: func.func @cond_br_on_input
func.func @cond_br_on_input(%p: i1) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  cf.cond_br %p, ^left, ^right
^left:
  // CHECK: rlx.neg {{.*}}"params"
  %0 = rlx.neg %a : tensor<4xf32>
  cf.br ^join(%0 : tensor<4xf32>)
^right:
  cf.br ^join(%b : tensor<4xf32>)
^join(%1: tensor<4xf32>):
  // CHECK: rlx.exp {{.*}}"dynamic"
  %2 = rlx.exp %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @cond_br_on_constant
func.func @cond_br_on_constant() -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  %p = arith.constant true
  cf.cond_br %p, ^join(%a : tensor<4xf32>), ^join(%b : tensor<4xf32>)
^join(%1: tensor<4xf32>):
  // CHECK: rlx.exp {{.*}}"params, local"
  %2 = rlx.exp %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A weight and an input arrive at the same block argument.
// CHECK-LABEL: func.func @br_of_input
func.func @br_of_input(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %p = arith.constant true
  cf.cond_br %p, ^join(%a : tensor<4xf32>), ^join(%x : tensor<4xf32>)
^join(%1: tensor<4xf32>):
  // CHECK: rlx.exp {{.*}}"dynamic"
  %2 = rlx.exp %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// One caller passes a weight, the other an input. In the callee the argument is
// dynamic; the call with the weight is weight-only all the same.
// CHECK-LABEL: func.func private @two_callers
func.func private @two_callers(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rlx.exp {{.*}}"dynamic"
  %0 = rlx.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: call @two_callers{{.*}}"params"
  %0 = func.call @two_callers(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @two_callers{{.*}}"dynamic"
  %1 = func.call @two_callers(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Every caller passes a weight, so the argument is weight-only, but differs from
// call to call.
// CHECK-LABEL: func.func private @weight_callers
func.func private @weight_callers(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rlx.exp {{.*}}"params, local"
  %0 = rlx.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @calls() -> (tensor<4xf32>, tensor<4xf32>) {
  %w = rlx.param "w" : tensor<4xf32>
  %c = rlx.constant "c" dense<1.0> : tensor<4xf32>
  %0 = func.call @weight_callers(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @weight_callers{{.*}}"params"
  // CHECK: call @weight_callers{{.*}}"known"
  %1 = func.call @weight_callers(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A public function may be called from anywhere; a private one through its
// address; one without a body may do anything; one that calls itself may not end.
// CHECK-LABEL: func.func @public
func.func @public(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rlx.exp {{.*}}"dynamic"
  %0 = rlx.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func private @address_taken
func.func private @address_taken(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rlx.exp {{.*}}"dynamic"
  %0 = rlx.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func private @recursive(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @recursive(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @calls
func.func @calls() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: constant {{.*}}@address_taken
  %f = func.constant @address_taken : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @public{{.*}}"params"
  %0 = func.call @public(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call_indirect {{.*}}"dynamic"
  %1 = func.call_indirect %f(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @external{{.*}}"dynamic"
  %2 = func.call @external(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @recursive{{.*}}"dynamic"
  %3 = func.call @recursive(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A random number in the callee makes the call dynamic.
func.func private @noisy(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.rng_normal mean 0.0 scale 1.0 key 7 shape [4] : tensor<4xf32>
  return %a : tensor<4xf32>
}
// CHECK-LABEL: func.func @calls
func.func @calls() -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: call @noisy{{.*}}"dynamic"
  %0 = func.call @noisy(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The arguments of a prepare function are whatever its instances pass.
// CHECK-LABEL: func.func private @main.prepare0
func.func private @main.prepare0(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rlx.exp {{.*}}"dynamic"
  %0 = rlx.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
rlx.prepare @main.prepare0("w") -> ("p") : (tensor<4xf32>) -> tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  // CHECK: rlx.prepared "p" {{.*}}"params"
  %0 = rlx.prepared "p" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Ops of other dialects, with regions whose arguments are elements of operands,
// and an undefined tensor as destination.
// CHECK-LABEL: func.func @host_dialects
func.func @host_dialects(%x: tensor<4xf32>, %i: index) -> (tensor<4xf32>, tensor<4xf32>, f32, f32) {
  %w = rlx.param "w" : tensor<4xf32>
  // CHECK: tensor.empty() {rlx.weight_only = "known"}
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: arith.addf %in, {{.*}}"params, local"
  // CHECK: linalg.yield
  // CHECK-NEXT: } -> tensor<4xf32>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %in, %in : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  // CHECK: math.exp {{.*}}"params"
  %1 = math.exp %0 : tensor<4xf32>
  // CHECK: arith.mulf {{.*}}"dynamic"
  %2 = arith.mulf %1, %x : tensor<4xf32>
  %c0 = arith.constant 0 : index
  // CHECK: tensor.extract {{.*}}"params"
  %3 = tensor.extract %1[%c0] : tensor<4xf32>
  // CHECK: tensor.extract {{.*}}"dynamic"
  %4 = tensor.extract %1[%i] : tensor<4xf32>
  return %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, f32, f32
}

// -----

// A pure op without operands that is no leaf depends on something unseen, and
// memory may change.
memref.global "private" @buffer : memref<4xf32> = dense<1.0>
// CHECK-LABEL: func.func @memory
func.func @memory() -> f32 {
  %c0 = arith.constant 0 : index
  // CHECK: memref.get_global {{.*}}"dynamic"
  %0 = memref.get_global @buffer : memref<4xf32>
  // CHECK: memref.load {{.*}}"dynamic"
  %1 = memref.load %0[%c0] : memref<4xf32>
  return %1 : f32
}

// -----

// What a region captures counts, here the value to pad with.
// CHECK-LABEL: func.func @captures
func.func @captures(%x: f32) -> (tensor<5xf32>, tensor<5xf32>) {
  %w = rlx.param "w" : tensor<4xf32>
  %c = arith.constant 0.0 : f32
  // CHECK: tensor.yield %cst
  // CHECK-NEXT: } {rlx.weight_only = "params"}
  %0 = tensor.pad %w low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<4xf32> to tensor<5xf32>
  // CHECK: tensor.yield %{{.*}}
  // CHECK-NEXT: } {rlx.weight_only = "dynamic"}
  %1 = tensor.pad %w low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %x : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %0, %1 : tensor<5xf32>, tensor<5xf32>
}
