// RUN: rlx-opt %s --rlx-weights-to-arguments --split-input-file --verify-diagnostics | FileCheck %s

// Each name is one argument behind the inputs, in order of first use; the value
// of a named constant is left behind, a literal stays.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<4xf32> {rlx.name = "x"},
// CHECK-SAME:    %[[W:[^:]+]]: tensor<4xf32> {rlx_cpu.weight = "w"},
// CHECK-SAME:    %[[P:[^:]+]]: tensor<4xf32> {rlx_cpu.weight = "scale"})
func.func @main(%x: tensor<4xf32> {rlx.name = "x"}) -> tensor<4xf32> {
  // CHECK-NOT: rlx.param
  // CHECK:     %[[ONE:.+]] = rlx.constant dense<1.0{{.*}}> : tensor<f32>
  %w = rlx.param "w" : tensor<4xf32>
  %s = rlx.constant "scale" dense<2.0> : tensor<4xf32>
  %one = rlx.constant dense<1.0> : tensor<f32>
  %again = rlx.param "w" : tensor<4xf32>
  // CHECK:     rlx.mul %[[X]], %[[W]]
  %0 = rlx.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  // CHECK:     rlx.mul %{{.+}}, %[[P]]
  %1 = rlx.mul %0, %s : tensor<4xf32>, tensor<4xf32>
  // CHECK:     rlx.add %{{.+}}, %[[W]]
  %2 = rlx.add %1, %again : tensor<4xf32>, tensor<4xf32>
  // CHECK:     rlx.add %{{.+}}, %[[ONE]]
  %3 = rlx.add %2, %one : tensor<4xf32>, tensor<f32>
  return %3 : tensor<4xf32>
}

// -----

// What rlx.prepare names is a prepare function; private functions without users
// go.
// CHECK-LABEL: func.func private @main.prepare0
// CHECK-SAME:    attributes {rlx_cpu.prepare_function}
func.func private @main.prepare0(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.neg %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-NOT:   @unused
func.func private @unused(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
// CHECK-NOT:   rlx.prepare @
rlx.prepare @main.prepare0("w") -> ("p") : (tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @below {{is called by another function; CPU code generation needs calls inlined}}
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A prepare function is shared by instances, so that it can't name a weight.
func.func private @main.prepare0(%w: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{reads weight 'scale' inside the prepare function 'main.prepare0'}}
  %s = rlx.param "scale" : tensor<4xf32>
  %0 = rlx.mul %w, %s : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}
rlx.prepare @main.prepare0("w") -> ("p") : (tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{has control flow; CPU code generation takes graphs of one block}}
func.func @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^exit
^exit:
  return %x : tensor<4xf32>
}

// -----

func.func @one_name_two_types() -> (tensor<4xf32>, tensor<2xf32>) {
  // expected-note @below {{which is read here as 'tensor<4xf32>'}}
  %0 = rlx.param "w" : tensor<4xf32>
  // expected-error @below {{reads weight 'w' as 'tensor<2xf32>'}}
  %1 = rlx.param "w" : tensor<2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}

// -----

// expected-error @below {{has no body to compile}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
rlx.prepare @declared("w") -> ("p") : (tensor<4xf32>) -> tensor<4xf32>

// -----

// What instances read is left behind with them.
// CHECK-LABEL: func.func private @instance
// CHECK-NOT:   rlx.constant
func.func private @instance(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
rlx.constant "w" dense<1.0> : tensor<4xf32>
rlx.prepare @instance("w") -> ("p") : (tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @unnamed_resource() -> tensor<2xf32> {
  // expected-error @below {{has no name to find its value by; only small literals are part of the code}}
  %0 = rlx.constant dense_resource<blob> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { blob: "0x040000000000803F0000803F" } } #-}
