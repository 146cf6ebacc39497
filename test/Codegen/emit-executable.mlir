// RUN: rlx-opt %s --rlx-lower-cpu=cpu-class=x86-64-v4 | FileCheck %s
// RUN: not rlx-opt %s --rlx-lower-cpu=cpu-class=x86-64-v9 2>&1 | FileCheck %s --check-prefix=CLASS
// CLASS: error: no CPU class is called 'x86-64-v9', known: x86-64-v3, x86-64-v4

// The pipeline ends in the LLVM dialect: a plan and a run for each function, one
// table, and one symbol that is visible outside.
// CHECK-NOT:   unrealized_conversion_cast
// CHECK-DAG:   llvm.func internal @main.plan(%{{.+}}: !llvm.ptr, %{{.+}}: i64, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr) -> i32
// CHECK-DAG:   llvm.func internal @main.run(%{{.+}}: !llvm.ptr) -> i32
// CHECK-DAG:   llvm.func internal @main.prepare0.run(%{{.+}}: !llvm.ptr) -> i32
// CHECK-DAG:   llvm.func hidden @rlx_gemm_f32(
// CHECK-DAG:   llvm.func hidden @rlx_pack_f32(
// CHECK-DAG:   llvm.mlir.global internal constant @rlx.functions()
// CHECK-DAG:   llvm.mlir.global internal constant @rlx.executable()
// CHECK-DAG:   llvm.mlir.global internal constant @{{.+}}("main\00")
// CHECK-DAG:   llvm.mlir.global internal constant @{{.+}}("main.prepare0\00")
// CHECK-DAG:   llvm.mlir.global internal constant @{{.+}}("x86-64-v4\00")
// CHECK-DAG:   llvm.func @rlx_executable_query(%{{.+}}: i32) -> !llvm.ptr
// CHECK-NOT:   func.func
func.func @main(%x: tensor<?x784xf32> {rlx.name = "x", rlx.dims = [@batch, 784]})
    -> (tensor<?x64xf32> {rlx.name = "y", rlx.dims = [@batch, 64]}) {
  %w = rlx.prepared "p" : !rlx.packed<784x64xf32, dense, panel64>
  %b = rlx.param "b" : tensor<64xf32>
  %0 = rlx.linear %x, %w bias(%b : tensor<64xf32>)
      : (tensor<?x784xf32>, !rlx.packed<784x64xf32, dense, panel64>) -> tensor<?x64xf32>
  %1 = rlx.relu %0 : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
func.func private @main.prepare0(%w: tensor<64x784xf32>) -> !rlx.packed<784x64xf32, dense, panel64> {
  %0 = rlx.pack %w transposed : tensor<64x784xf32> -> !rlx.packed<784x64xf32, dense, panel64>
  return %0 : !rlx.packed<784x64xf32, dense, panel64>
}
rlx.prepare @main.prepare0("w") -> ("p") : (tensor<64x784xf32>) -> !rlx.packed<784x64xf32, dense, panel64>
