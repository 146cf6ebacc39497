// RUN: rlx-opt %s --rlx-split-prepare --split-input-file | FileCheck %s
// RUN: rlx-opt %s --rlx-split-prepare --split-input-file -o /dev/null \
// RUN:   --remarks-filter=weights 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: rlx-opt %s --rlx-split-prepare=max-shared-bytes=15 --split-input-file \
// RUN:   | FileCheck %s --check-prefix=WHOLE

// The weight-only part runs once; main reads its result as a leaf. The result is
// called after the op that makes it.
// REMARK: [Passed] SplitPrepare {{.*}} Ops=1, Remark="scaled is computed once, by @main.prepare0", ResultBytes=48, Results=1, Weights=2
// CHECK-LABEL: func.func @main
// CHECK:         %[[P:.+]] = rlx.prepared "scaled" : tensor<4x3xf32>
// CHECK-NEXT:    %[[Y:.+]] = rlx.matmul %{{.+}}, %[[P]]
// CHECK-NEXT:    return %[[Y]]
// CHECK:       func.func private @main.prepare0(%[[W:.+]]: tensor<4x3xf32>, %[[S:.+]]: tensor<4x3xf32>)
// CHECK-NEXT:    %[[M:.+]] = rlx.mul %[[W]], %[[S]]
// CHECK-NEXT:    return %[[M]]
// CHECK:       rlx.prepare @main.prepare0("w", "scale") -> ("scaled")
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w = rlx.param "w" : tensor<4x3xf32>
  %s = rlx.param "scale" : tensor<4x3xf32>
  %0 = rlx.mul %w, %s : tensor<4x3xf32>, tensor<4x3xf32> loc("scaled")
  %1 = rlx.matmul %x, %0 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Nothing is weight-only but the leaves: the program stays as it is.
// CHECK-LABEL: func.func @main
// CHECK:         rlx.param "w"
// CHECK:         rlx.add
// CHECK-NOT:   rlx.prepare
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %0 = rlx.add %x, %w : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Random numbers are drawn at every forward.
// CHECK-LABEL: func.func @main
// CHECK:         rlx.rng_normal
// CHECK:         rlx.exp
// CHECK-NOT:   rlx.prepare
func.func @main() -> tensor<4xf32> {
  %0 = rlx.rng_normal mean 0.0 scale 1.0 key 1 shape [4] : tensor<4xf32>
  %1 = rlx.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Parts that share a leaf alone are two instances, so that a change of "b" does
// not recompute what comes of "c"; being equal in structure they share a function.
// Without names for the ops, results are called after the one weight, else prep0.
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @main.prepare0
// CHECK-NOT:   func.func
// CHECK:       rlx.prepare @main.prepare0("b", "a") -> ("prep0")
// CHECK-NEXT:  rlx.prepare @main.prepare0("c", "a") -> ("prep1")
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  %c = rlx.param "c" : tensor<4xf32>
  %0 = rlx.mul %b, %a : tensor<4xf32>, tensor<4xf32>
  %1 = rlx.mul %c, %a : tensor<4xf32>, tensor<4xf32>
  %2 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  %3 = rlx.add %x, %1 : tensor<4xf32>, tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A literal is copied into each part and welds none together; another literal is
// another structure.
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @main.prepare0(%{{.+}}: tensor<4xf32>)
// CHECK:         rlx.constant dense<2.000000e+00> : tensor<f32>
// CHECK:       func.func private @main.prepare1(%{{.+}}: tensor<4xf32>)
// CHECK:         rlx.constant dense<3.000000e+00> : tensor<f32>
// CHECK:       rlx.prepare @main.prepare0("a") -> ("a.prep")
// CHECK-NEXT:  rlx.prepare @main.prepare0("b") -> ("b.prep")
// CHECK-NEXT:  rlx.prepare @main.prepare1("c") -> ("c.prep")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = rlx.constant dense<2.0> : tensor<f32>
  %three = rlx.constant dense<3.0> : tensor<f32>
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  %c = rlx.param "c" : tensor<4xf32>
  %0 = rlx.mul %a, %two : tensor<4xf32>, tensor<f32>
  %1 = rlx.mul %b, %two : tensor<4xf32>, tensor<f32>
  %2 = rlx.mul %c, %three : tensor<4xf32>, tensor<f32>
  %3 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  %4 = rlx.add %3, %1 : tensor<4xf32>, tensor<4xf32>
  %5 = rlx.add %4, %2 : tensor<4xf32>, tensor<4xf32>
  return %5 : tensor<4xf32>
}

// -----

// Equal parts are one structure however the program interleaves their ops.
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @main.prepare0
// CHECK-NOT:   func.func
// CHECK:       rlx.prepare @main.prepare0("a", "b")
// CHECK-NEXT:  rlx.prepare @main.prepare0("c", "d")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  %c = rlx.param "c" : tensor<4xf32>
  %d = rlx.param "d" : tensor<4xf32>
  %d1 = rlx.neg %d : tensor<4xf32>
  %a1 = rlx.exp %a : tensor<4xf32>
  %b1 = rlx.neg %b : tensor<4xf32>
  %c1 = rlx.exp %c : tensor<4xf32>
  %0 = rlx.mul %a1, %b1 : tensor<4xf32>, tensor<4xf32>
  %1 = rlx.mul %c1, %d1 : tensor<4xf32>, tensor<4xf32>
  %2 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  %3 = rlx.add %2, %1 : tensor<4xf32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// What two results need is an instance of its own: a change of "b" recomputes
// the second without the exponential and without the first. An intermediate that
// is too large to be kept joins them into one instance.
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @main.prepare0(%{{.+}}: tensor<4xf32>)
// CHECK-NEXT:    rlx.exp
// CHECK:       func.func private @main.prepare1
// CHECK-NEXT:    rlx.mul
// CHECK:       rlx.prepare @main.prepare0("s") -> ("shared")
// CHECK-NEXT:  rlx.prepare @main.prepare1("a", "shared") -> ("prep0")
// CHECK-NEXT:  rlx.prepare @main.prepare1("b", "shared") -> ("prep1")
// WHOLE:       rlx.prepare @main.prepare0("s", "a", "b") -> ("prep0", "prep1")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = rlx.param "s" : tensor<4xf32>
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<4xf32>
  %e = rlx.exp %s : tensor<4xf32> loc("shared")
  %0 = rlx.mul %a, %e : tensor<4xf32>, tensor<4xf32>
  %1 = rlx.mul %b, %e : tensor<4xf32>, tensor<4xf32>
  %2 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  %3 = rlx.add %2, %1 : tensor<4xf32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Two entry functions that make the same of a weight share the instance.
// CHECK-LABEL: func.func @prefill
// CHECK:         rlx.prepared "w.prep"
// CHECK:       func.func private @prefill.prepare0
// CHECK-LABEL: func.func @decode
// CHECK:         rlx.prepared "w.prep"
// CHECK-NOT:   func.func
// CHECK:       rlx.prepare @prefill.prepare0("w") -> ("w.prep")
// CHECK-NOT:   rlx.prepare
func.func @prefill(%x: tensor<8x4xf32>) -> tensor<8x3xf32> {
  %w = rlx.param "w" : tensor<3x4xf32>
  %0 = rlx.transpose %w [1, 0] : tensor<3x4xf32>
  %1 = rlx.matmul %x, %0 : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}
func.func @decode(%x: tensor<1x4xf32>) -> tensor<1x3xf32> {
  %w = rlx.param "w" : tensor<3x4xf32>
  %0 = rlx.transpose %w [1, 0] : tensor<3x4xf32>
  %1 = rlx.matmul %x, %0 : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

// A result that is an output, one that main also uses, and one that nothing uses.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[O:.+]] = rlx.prepared "output"
// CHECK-DAG:     %[[B:.+]] = rlx.prepared "both"
// CHECK-NOT:     unused
// CHECK:         %[[Y:.+]] = rlx.add %{{.+}}, %[[B]]
// CHECK:         return %[[O]], %[[B]], %[[Y]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = rlx.param "a" : tensor<4xf32>
  %0 = rlx.exp %a : tensor<4xf32> loc("output")
  %1 = rlx.neg %a : tensor<4xf32> loc("both")
  %2 = rlx.sqrt %a : tensor<4xf32> loc("unused")
  %3 = rlx.add %x, %1 : tensor<4xf32>, tensor<4xf32>
  return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A result that another result is computed from.
// CHECK-LABEL: func.func @main
// CHECK:       rlx.prepare @main.prepare0("a") -> ("first")
// CHECK-NEXT:  rlx.prepare @main.prepare1("first") -> ("second")
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = rlx.param "a" : tensor<4xf32>
  %0 = rlx.exp %a : tensor<4xf32> loc("first")
  %1 = rlx.neg %0 : tensor<4xf32> loc("second")
  %2 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A weight that main reads too keeps its leaf there.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     rlx.param "a"
// CHECK-DAG:     rlx.prepared "a.prep"
// CHECK:       rlx.prepare @main.prepare0("a") -> ("a.prep")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %0 = rlx.exp %a : tensor<4xf32>
  %1 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = rlx.add %1, %a : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A constant may stand among params. The module keeps the value that main no
// longer holds.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     rlx.constant
// CHECK:       func.func private @main.prepare0
// CHECK:       {{^}}  %{{.+}} = rlx.constant "c"
// CHECK-NEXT:  rlx.prepare @main.prepare0("a", "c")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %c = rlx.constant "c" dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = rlx.mul %a, %c : tensor<4xf32>, tensor<4xf32>
  %1 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// It keeps the value that main reads too: what becomes of main is no matter of
// the instance's.
// CHECK-LABEL: func.func @main
// CHECK:         {{^}}    %{{.+}} = rlx.constant "c"
// CHECK:       func.func private @main.prepare0
// CHECK:       {{^}}  %{{.+}} = rlx.constant "c"
// CHECK-NEXT:  rlx.prepare @main.prepare0("a", "c")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %c = rlx.constant "c" dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = rlx.mul %a, %c : tensor<4xf32>, tensor<4xf32>
  %1 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = rlx.add %1, %c : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Names of results are free ones: the op's name is a weight's here, and prep0 is
// taken too.
// CHECK-LABEL: func.func @main
// CHECK:       rlx.prepare @main.prepare0("a", "prep0") -> ("prep1")
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "prep0" : tensor<4xf32>
  %0 = rlx.mul %a, %b : tensor<4xf32>, tensor<4xf32> loc("a")
  %1 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A broadcast of a weight stays in main, which would else read the larger tensor;
// what comes before it moves. So does a view.
// CHECK-LABEL: func.func @main
// CHECK:         %[[P:.+]] = rlx.prepared "a.prep" : tensor<4xf32>
// CHECK:         %[[E:.+]] = rlx.expand %[[P]]
// CHECK:         %[[R:.+]] = rlx.reshape
// CHECK:       rlx.prepare @main.prepare0("a") -> ("a.prep")
// CHECK-NOT:   rlx.prepare
func.func @main(%x: tensor<1000x4xf32>) -> (tensor<1000x4xf32>, tensor<1000x4xf32>) {
  %a = rlx.param "a" : tensor<4xf32>
  %b = rlx.param "b" : tensor<2x2xf32>
  %0 = rlx.exp %a : tensor<4xf32>
  %1 = rlx.expand %0 to [1000, 4] : tensor<4xf32> -> tensor<1000x4xf32>
  %2 = rlx.add %x, %1 : tensor<1000x4xf32>, tensor<1000x4xf32>
  %3 = rlx.reshape %b to [4] : tensor<2x2xf32> -> tensor<4xf32>
  %4 = rlx.add %x, %3 : tensor<1000x4xf32>, tensor<4xf32>
  return %2, %4 : tensor<1000x4xf32>, tensor<1000x4xf32>
}

// -----

// What a loop over an input computes again and again moves out of it; what
// depends on the induction variable can't.
// CHECK-LABEL: func.func @main
// CHECK:         %[[P:.+]] = rlx.prepared "w.prep"
// CHECK:         scf.for
// CHECK-NOT:       rlx.exp
// CHECK:           rlx.add %{{.+}}, %[[P]]
// CHECK:       rlx.prepare @main.prepare0("w") -> ("w.prep")
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %w = rlx.param "w" : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x) -> tensor<4xf32> {
    %1 = rlx.exp %w : tensor<4xf32>
    %2 = rlx.add %sum, %1 : tensor<4xf32>, tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Ops of other dialects move, whole loops too. A scalar is no tensor that could
// be stored: main computes it, from the tensor that prepare made.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[L:.+]] = rlx.prepared "looped"
// CHECK-DAG:     %[[P:.+]] = rlx.prepared "squared"
// CHECK-NOT:     rlx.param
// CHECK-NOT:     scf.for
// CHECK:         %[[S:.+]] = tensor.extract %[[P]]
// CHECK:         tensor.insert %[[S]]
// CHECK:       func.func private @main.prepare0
// CHECK-NEXT:    arith.mulf
// CHECK:       func.func private @main.prepare1
// CHECK:         scf.for
// CHECK:       rlx.prepare @main.prepare0("w") -> ("squared")
// CHECK-NEXT:  rlx.prepare @main.prepare1("squared", "w") -> ("looped")
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = rlx.param "w" : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = arith.mulf %w, %w : tensor<4xf32> loc("squared")
  %1 = tensor.extract %0[%c1] : tensor<4xf32>
  %3 = tensor.insert %1 into %x[%c0] : tensor<4xf32>
  %4 = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %0) -> tensor<4xf32> {
    %6 = rlx.add %sum, %w : tensor<4xf32>, tensor<4xf32>
    scf.yield %6 : tensor<4xf32>
  } loc("looped")
  %5 = arith.addf %x, %4 : tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A program that was split before has nothing left to split, and prepare
// functions are no entries.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    rlx.prepared "w.prep"
// CHECK:       func.func private @main.prepare0
// CHECK-NOT:   func.func
// CHECK:       rlx.prepare @main.prepare0("w") -> ("w.prep")
// CHECK-NOT:   rlx.prepare
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.prepared "w.prep" : tensor<4xf32>
  %1 = rlx.add %x, %0 : tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @main.prepare0(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.constant dense<2.0> : tensor<f32>
  %1 = rlx.neg %0 : tensor<f32>
  %2 = rlx.mul %a, %1 : tensor<4xf32>, tensor<f32>
  return %2 : tensor<4xf32>
}
rlx.prepare @main.prepare0("w") -> ("w.prep") : (tensor<4xf32>) -> tensor<4xf32>
