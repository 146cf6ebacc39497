// RUN: rlx-opt %s --rlx-const-fold | FileCheck %s
// RUN: rlx-opt %s --rlx-const-fold -o /dev/null \
// RUN:   --remarks-filter=weights 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: rlx-opt %s --rlx-const-fold=growth-threshold=2000000 \
// RUN:   | FileCheck %s --check-prefix=GROW

// One module rather than a split input: the linker of the compiled evaluator
// resets the command line that the next part would be run by.

// A weight that was transposed and scaled at every forward is stored that way. It
// keeps the name of the one weight that dies; of two, the op names it.
// REMARK-DAG: [Passed] ConstFold {{.*}} Ops=1, Remark="folded 1 ops into 1 constants", ResultBytes=24, Weights=fc1
// CHECK-LABEL: func.func @transpose
// CHECK-NEXT:    %[[W:.+]] = rlx.constant "fc1" {rlx.origin = ["fc1"]}
// CHECK-SAME:      dense<{{\[}}[1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]>
// CHECK-NEXT:    rlx.matmul %{{.+}}, %[[W]]
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = rlx.constant "fc1" dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = rlx.transpose %w [1, 0] : tensor<2x3xf32>
  %1 = rlx.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// A product of weights, broadcasting, and scalars: whatever runs folds.
// CHECK-LABEL: func.func @merge
// CHECK-NEXT:    %[[W:.+]] = rlx.constant "merged" {rlx.origin = ["base", "a", "b", "scale"]}
// CHECK-SAME:      dense<{{\[}}[9.000000e+00, 1.200000e+01], [1.300000e+01, 1.800000e+01]]>
// CHECK-NEXT:    rlx.matmul %{{.+}}, %[[W]]
func.func @merge(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = rlx.constant "base" dense<[[1.0, 0.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %a = rlx.constant "a" dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %b = rlx.constant "b" dense<[[1.0, 1.5]]> : tensor<1x2xf32>
  %s = rlx.constant "scale" dense<4.0> : tensor<f32>
  %0 = rlx.matmul %a, %b : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %1 = rlx.mul %0, %s : tensor<2x2xf32>, tensor<f32>
  %2 = rlx.add %w, %1 : tensor<2x2xf32>, tensor<2x2xf32> loc("merged")
  %3 = rlx.matmul %x, %2 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// Params stay, and what depends on them; so do random numbers.
// CHECK-LABEL: func.func @not_known
// CHECK:         rlx.exp
// CHECK:         rlx.rng_normal
// CHECK:         rlx.add
func.func @not_known() -> (tensor<4xf32>, tensor<4xf32>) {
  %w = rlx.param "open" : tensor<4xf32>
  %c = rlx.constant "c" dense<2.0> : tensor<4xf32>
  %0 = rlx.exp %w : tensor<4xf32>
  %1 = rlx.rng_normal mean 0.0 scale 1.0 key 7 shape [4] : tensor<4xf32>
  %2 = rlx.add %1, %c : tensor<4xf32>, tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// A broadcast that would be much larger than what dies is left, and what comes
// before it folded.
// REMARK-DAG: [Missed] ConstFold {{.*}}Reason="not folded: the results would take 1200000 bytes and the weights that die take 12"
// CHECK-LABEL: func.func @broadcast
// CHECK:         %[[W:.+]] = rlx.constant "gamma" {{.*}} dense<[-1.000000e+00, -2.000000e+00, -3.000000e+00]>
// CHECK:         rlx.expand %[[W]]
// GROW-LABEL:  func.func @broadcast
// GROW-NOT:      rlx.expand
// GROW:          rlx.constant "gamma" {{.*}} dense_resource<gamma> : tensor<100000x3xf32>
func.func @broadcast(%x: tensor<100000x3xf32>) -> tensor<100000x3xf32> {
  %w = rlx.constant "gamma" dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = rlx.neg %w : tensor<3xf32>
  %1 = rlx.expand %0 to [100000, 3] : tensor<3xf32> -> tensor<100000x3xf32>
  %2 = rlx.mul %x, %1 : tensor<100000x3xf32>, tensor<100000x3xf32>
  return %2 : tensor<100000x3xf32>
}

// Packing is weight-only work as any other: with four rows and three columns the
// panel holds the matrix as it is.
// CHECK-LABEL: func.func @pack
// CHECK-NEXT:    %[[W:.+]] = rlx.constant "fc2" {{.*}} : tensor<48xi8> -> !rlx.packed<4x3xf32, dense, panel64>
// CHECK-NEXT:    rlx.linear %{{.+}}, %[[W]]
func.func @pack(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w = rlx.constant "fc2" dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<3x4xf32>
  %0 = rlx.pack %w transposed : tensor<3x4xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  %1 = rlx.linear %x, %0 : (tensor<2x4xf32>, !rlx.packed<4x3xf32, dense, panel64>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// What literals alone make is a literal: small ones, and splats of any size.
// CHECK-LABEL: func.func @literals
// CHECK-DAG:     rlx.constant dense<-1.000000e+00> : tensor<f32>
// CHECK-DAG:     rlx.constant dense<-1.000000e+00> : tensor<1000xf32>
// CHECK-NOT:     rlx.neg
func.func @literals() -> (tensor<f32>, tensor<1000xf32>) {
  %one = rlx.constant dense<1.0> : tensor<f32>
  %ones = rlx.constant dense<1.0> : tensor<1000xf32>
  %0 = rlx.neg %one : tensor<f32>
  %1 = rlx.neg %ones : tensor<1000xf32>
  return %0, %1 : tensor<f32>, tensor<1000xf32>
}

// A weight that an instance of an earlier split names keeps its name and its
// value.
// CHECK-LABEL: func.func @split_before
// CHECK-NEXT:    rlx.constant "shared.prep"
// CHECK:       rlx.constant "shared" dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:  rlx.prepare @split_before.prepare0("gate", "shared")
func.func @split_before(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = rlx.constant "shared" dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = rlx.neg %w : tensor<2xf32>
  %1 = rlx.prepared "product" : tensor<2xf32>
  %2 = rlx.add %x, %0 : tensor<2xf32>, tensor<2xf32>
  %3 = rlx.add %2, %1 : tensor<2xf32>, tensor<2xf32>
  return %3 : tensor<2xf32>
}
func.func private @split_before.prepare0(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = rlx.mul %a, %b : tensor<2xf32>, tensor<2xf32>
  return %0 : tensor<2xf32>
}
rlx.constant "shared" dense<[1.0, 2.0]> : tensor<2xf32>
rlx.prepare @split_before.prepare0("gate", "shared") -> ("product") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
