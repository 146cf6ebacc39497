// RUN: rlx-opt %s --rlx-plan-arena --split-input-file --verify-diagnostics | FileCheck %s

// Of three buffers in a row two are alive at a time, so the third takes the place
// of the first; 100 bytes take 128.
// CHECK-LABEL: func.func @reuse
// CHECK-SAME:    %[[ARENA:[^:]+]]: memref<?xi8> {rlx_cpu.arena}, %{{[^:]+}}: index {rlx_cpu.workers}
// CHECK-NOT:     memref.alloc
func.func @reuse(%x: memref<25xf32> {rlx_cpu.input = []}, %y: memref<25xf32> {rlx_cpu.output = 0 : i64}) -> index {
  %c25 = arith.constant 25 : index
  // CHECK-DAG: %[[FIRST:.+]] = memref.view %[[ARENA]][%[[C0:.+]]][] : memref<?xi8> to memref<25xf32>
  // CHECK-DAG: %[[SECOND:.+]] = memref.view %[[ARENA]][%[[C128:.+]]][] : memref<?xi8> to memref<25xf32>
  // CHECK-DAG: %[[THIRD:.+]] = memref.view %[[ARENA]][%[[C0B:.+]]][] : memref<?xi8> to memref<25xf32>
  // CHECK:     linalg.exp ins(%{{.+}}) outs(%[[FIRST]]
  %a = memref.alloc() : memref<25xf32>
  linalg.exp ins(%x : memref<25xf32>) outs(%a : memref<25xf32>)
  // CHECK:     linalg.exp ins(%[[FIRST]] : {{.+}}) outs(%[[SECOND]]
  %b = memref.alloc() : memref<25xf32>
  linalg.exp ins(%a : memref<25xf32>) outs(%b : memref<25xf32>)
  // CHECK:     linalg.exp ins(%[[SECOND]] : {{.+}}) outs(%[[THIRD]]
  %c = memref.alloc() : memref<25xf32>
  linalg.exp ins(%b : memref<25xf32>) outs(%c : memref<25xf32>)
  linalg.exp ins(%c : memref<25xf32>) outs(%y : memref<25xf32>)
  return %c25 : index
}
// CHECK-LABEL: func.func private @reuse.plan(
// CHECK-SAME:    %{{.+}}: !llvm.ptr, %{{.+}}: i64, %[[BYTES:.+]]: !llvm.ptr, %[[DIMS:.+]]: !llvm.ptr) -> i32
// CHECK-DAG:     %[[TOTAL:.+]] = arith.constant 256 : i64
// CHECK:         llvm.store %[[TOTAL]], %[[BYTES]]

// -----

// A view keeps its buffer alive: the second buffer can't take its place.
// CHECK-LABEL: func.func @view
func.func @view(%x: memref<16xf32> {rlx_cpu.input = []}, %y: memref<4x4xf32> {rlx_cpu.output = 0 : i64}) -> (index, index) {
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<16xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.exp ins(%v : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return %c4, %c4 : index, index
}
// CHECK-LABEL: @view.plan
// CHECK-DAG:     %[[TOTAL:.+]] = arith.constant 128 : i64
// CHECK:         llvm.store %[[TOTAL]], %{{.+}} : i64

// -----

// Sizes of one product share a slot however the product is written; slots
// follow the static part.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME:    %[[N:[^:]+]]: index {rlx_cpu.symbol = "n"}, %[[ARENA:[^:]+]]: memref<?xi8> {rlx_cpu.arena}, %{{[^:]+}}: index {rlx_cpu.workers}
func.func @symbolic(%x: memref<?x8xf32> {rlx_cpu.input = ["n", ""]}, %y: memref<?x8xf32> {rlx_cpu.output = 0 : i64},
                    %w: memref<64xf32> {rlx_cpu.weight = "w"}, %n: index {rlx_cpu.symbol = "n"}) -> (index, index) {
  %c8 = arith.constant 8 : index
  %n8 = arith.muli %n, %c8 : index
  // CHECK:     %[[SLOT:.+]] = arith.constant 64 : index
  // CHECK-DAG: memref.view %[[ARENA]][%[[SLOT]]][%[[N]]] : memref<?xi8> to memref<?x8xf32>
  // CHECK-DAG: memref.view %[[ARENA]][%[[SLOT]]][%{{.+}}] : memref<?xi8> to memref<?xf32>
  // CHECK-DAG: memref.view %[[ARENA]][%{{.+}}][] : memref<?xi8> to memref<3xf32>
  %s = memref.alloc() : memref<3xf32>
  linalg.exp ins(%s : memref<3xf32>) outs(%s : memref<3xf32>)
  %a = memref.alloc(%n) : memref<?x8xf32>
  rlx.gemm ins(%x, %w : memref<?x8xf32>, memref<64xf32>) outs(%a : memref<?x8xf32>)
  rlx.gemm ins(%a, %w : memref<?x8xf32>, memref<64xf32>) outs(%y : memref<?x8xf32>)
  %b = memref.alloc(%n8) : memref<?xf32>
  linalg.exp ins(%b : memref<?xf32>) outs(%b : memref<?xf32>)
  return %n, %c8 : index, index
}
// Every product is checked; the dims of the output are the symbol and 8.
// CHECK-LABEL: func.func private @symbolic.plan(
// CHECK-SAME:    %[[SYMBOLS:.+]]: !llvm.ptr, %{{.+}}: i64, %[[BYTES:.+]]: !llvm.ptr, %[[DIMS:.+]]: !llvm.ptr)
// CHECK:         %[[N:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i64
// CHECK:         arith.mulsi_extended
// CHECK:         llvm.store %{{.+}}, %[[BYTES]] : i64
// CHECK:         %[[DIM0:.+]] = llvm.getelementptr %[[DIMS]][0]
// CHECK:         llvm.store %{{.+}}, %[[DIM0]] : i64
// CHECK:         %[[OVERFLOW:.+]] = arith.constant 1 : i32
// CHECK:         arith.select %{{.+}}, %[[OVERFLOW]], %{{.+}} : i32

// -----

// Checks of a call are part of its plan; equal texts are kept once.
// CHECK:       rlx_cpu.messages = ["n is odd", "n is small"]
// CHECK-LABEL: func.func @checks
// CHECK-NOT:     cf.assert
func.func @checks(%x: memref<?xf32> {rlx_cpu.input = ["n"]}, %n: index {rlx_cpu.symbol = "n"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rest = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %rest, %c0 : index
  %large = arith.cmpi ugt, %n, %c2 : index
  cf.assert %even, "n is odd"
  cf.assert %large, "n is small"
  cf.assert %even, "n is odd"
  return
}
// CHECK-LABEL: @checks.plan
// CHECK:         %[[SMALL:.+]] = arith.constant 257 : i32
// CHECK:         arith.select %{{.+}}, %{{.+}}, %[[SMALL]] : i32
// CHECK:         %[[ODD:.+]] = arith.constant 256 : i32
// CHECK:         arith.select %{{.+}}, %{{.+}}, %[[ODD]] : i32

// -----

func.func @depends_on_data(%x: memref<4xi1> {rlx_cpu.input = []}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{a size or a check depends on 'memref.load', which is no arithmetic on symbols}}
  %0 = memref.load %x[%c0] : memref<4xi1>
  cf.assert %0, "the first is false"
  return
}

// -----

func.func @in_a_loop(%x: memref<4xf32> {rlx_cpu.input = []}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @below {{an intermediate buffer is allocated inside a loop}}
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  }
  return
}

// -----

func.func @enormous() {
  // expected-error @below {{an intermediate tensor 'memref<4611686018427387904xf32>' takes more than 2^63 bytes}}
  %a = memref.alloc() : memref<4611686018427387904xf32>
  linalg.exp ins(%a : memref<4611686018427387904xf32>) outs(%a : memref<4611686018427387904xf32>)
  return
}

// -----

func.func @escapes(%x: memref<4xf32> {rlx_cpu.input = []}) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = arith.constant true
  // expected-error @below {{lets an intermediate buffer escape from its function}}
  %d = arith.select %c, %a, %b : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  return
}
