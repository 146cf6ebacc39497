// REQUIRES: rlx-opt
// RUN: rlx-opt %s --rlx-weights --rlx-lower-cpu='cpu-class=x86-64-v3' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,V3
// RUN: rlx-opt %s --pass-pipeline='builtin.module(rlx-weights{hoist=1},rlx-lower-cpu{cpu-class=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,V4

// Both phases as one textual pipeline: LLVM's dialect alone is left, with one
// exported function and the table that it returns.
// CHECK:      rlx_cpu.functions = [
// CHECK-SAME:   name = "main"
// CHECK-SAME:   weights = ["prep0"]
// CHECK-SAME:   name = "main.prepare0"
// CHECK-SAME:   prepare
// CHECK-NOT:  {{= rlx\.|linalg\.|memref\.|func\.}}
// V3:         "x86-64-v3
// V4:         "x86-64-v4
// CHECK:      llvm.func @rlx_executable_query
// CHECK-NOT:  {{= rlx\.|linalg\.|memref\.|func\.}}
func.func @main(%x: tensor<?x2xf32> {rlx.dims = [@n, 2]}) -> (tensor<?x2xf32> {rlx.dims = [@n, 2]}) {
  %w = rlx.param "w" : tensor<2x2xf32>
  %scale = rlx.param "scale" : tensor<2x2xf32>
  %0 = rlx.mul %w, %scale : tensor<2x2xf32>, tensor<2x2xf32>
  %1 = rlx.matmul %x, %0 : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
