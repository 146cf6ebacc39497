// RUN: rlx-opt %s --rlx-outline-tasks --split-input-file --verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// An elementwise op on dense buffers is one flat loop over a range; the task
// finds buffers and sizes in the parameters of the call.
// CHECK-LABEL: func.func private @main.task0(
// CHECK-SAME:    %[[PARAMS:.+]]: !llvm.ptr, %[[INDEX:.+]]: i64, %{{.+}}: i64)
// CHECK:         llvm.getelementptr %[[PARAMS]][8]
// CHECK:         call @rlx.loops0(
// CHECK-LABEL: func.func private @main.task1(
// CHECK:         call @rlx.loops0(
// CHECK-LABEL: func.func private @main.run(
// CHECK-SAME:    %[[PARAMS:.+]]: !llvm.ptr) -> i32
// CHECK:         constant @main.task0
// CHECK:         call @rlx.start_tasks(%[[PARAMS]], %{{.+}}, %{{.+}})
// CHECK:         constant @main.task1
// CHECK:         call @rlx.start_tasks(%[[PARAMS]], %{{.+}}, %{{.+}})
// CHECK:         return %{{.+}} : i32
// Two equal ops share one function.
// CHECK-LABEL: func.func private @rlx.loops0(
// CHECK-SAME:    %{{.+}}: !llvm.ptr {llvm.noalias}, %{{.+}}: !llvm.ptr {llvm.noalias}, %{{.+}}: index, %[[BEGIN:.+]]: index, %[[END:.+]]: index)
// CHECK:         memref.collapse_shape
// CHECK:         scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK-NOT:     scf.for
// CHECK:           math.exp
// CHECK-NOT:   @rlx.loops1
// CHECK-NOT:   func.func @main(
func.func @main(%x: memref<?x8xf32> {rlx_cpu.input = ["n", ""]}, %y: memref<?x8xf32> {rlx_cpu.output = 0 : i64},
                %z: memref<?x8xf32> {rlx_cpu.output = 1 : i64}, %n: index {rlx_cpu.symbol = "n"},
                %arena: memref<?xi8> {rlx_cpu.arena}, %workers: index {rlx_cpu.workers}) -> (index, index, index, index) {
  %c8 = arith.constant 8 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x8xf32>) outs(%z : memref<?x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
  }
  return %n, %c8, %n, %c8 : index, index, index, index
}

// -----

#column = affine_map<(d0, d1) -> (d1)>

// A product calls the tile kernel for ranges of panels, and its epilogue for
// each block that is done.
// CHECK-LABEL: func.func private @rlx.gemm0(
// CHECK:         %[[RECORD:.+]] = llvm.alloca
// CHECK:         constant @rlx.callback0
// CHECK:         scf.for
// CHECK:           call @rlx_gemm_f32(
// CHECK-LABEL: func.func private @rlx.callback0(
// CHECK:         call @rlx.epilogue0(
// CHECK-LABEL: func.func private @rlx.epilogue0(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[SUM:.+]] = memref.load
// CHECK:             %[[BIAS:.+]] = memref.load
// CHECK:             %[[R:.+]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK:             memref.store %[[R]]
// CHECK:       func.func private @rlx_gemm_f32(
func.func @main(%x: memref<?x8xf32> {rlx_cpu.input = ["n", ""]}, %y: memref<?x8xf32> {rlx_cpu.output = 0 : i64},
                %w: memref<64xf32> {rlx_cpu.weight = "w"}, %b: memref<8xf32> {rlx_cpu.weight = "b"},
                %n: index {rlx_cpu.symbol = "n"},
                %arena: memref<?xi8> {rlx_cpu.arena}, %workers: index {rlx_cpu.workers}) -> (index, index) {
  %c8 = arith.constant 8 : index
  rlx.gemm ins(%x, %w : memref<?x8xf32>, memref<64xf32>) outs(%y : memref<?x8xf32>)
      epilogue(%b : memref<8xf32>) maps [#column] {
    ^bb0(%sum: f32, %bias: f32):
      %0 = arith.addf %sum, %bias : f32
      rlx.yield %0 : f32
  }
  return %n, %c8 : index, index
}

// -----

// Loops of unknown size are long ones, however many of them are one.
#all = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#last = affine_map<(d0, d1, d2, d3, d4) -> (d4)>
// CHECK-LABEL: func.func private @rlx.loops0(
// CHECK-SAME:    %[[BEGIN:[^ ]+]]: index, %[[END:[^ ]+]]: index)
// CHECK:         scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK:           scf.for
func.func @many_dims(%x: memref<8xf32> {rlx_cpu.input = [""]}, %y: memref<?x?x?x?x8xf32> {rlx_cpu.output = 0 : i64},
                     %n: index {rlx_cpu.symbol = "n"},
                     %arena: memref<?xi8> {rlx_cpu.arena}, %workers: index {rlx_cpu.workers})
    -> (index, index, index, index, index) {
  %c8 = arith.constant 8 : index
  linalg.generic {indexing_maps = [#last, #all],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<8xf32>) outs(%y : memref<?x?x?x?x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
  }
  return %n, %n, %n, %n, %c8 : index, index, index, index, index
}

// -----

func.func @strided(%x: memref<4x8xf32, strided<[16, 1]>> {rlx_cpu.input = []}, %y: memref<4x8xf32> {rlx_cpu.output = 0 : i64},
                   %w: memref<64xf32> {rlx_cpu.weight = "w"},
                   %arena: memref<?xi8> {rlx_cpu.arena}, %workers: index {rlx_cpu.workers}) {
  // expected-error @below {{has a strided operand 'memref<4x8xf32, strided<[16, 1]>>' but tile kernels take dense ones}}
  rlx.gemm ins(%x, %w : memref<4x8xf32, strided<[16, 1]>>, memref<64xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @store(%y: memref<f32> {rlx_cpu.output = 0 : i64},
                 %arena: memref<?xi8> {rlx_cpu.arena}, %workers: index {rlx_cpu.workers}) {
  %0 = arith.constant 1.0 : f32
  // expected-error @below {{'memref.store' has no form as a task of CPU code}}
  memref.store %0, %y[] : memref<f32>
  return
}
