// RUN: rlx-opt %s --verify-roundtrip | FileCheck %s
// RUN: rlx-opt %s --mlir-print-op-generic | rlx-opt | FileCheck %s

// Every op prints what it was parsed from; the two pipes above also go through
// bytecode and through the generic form.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: rlx.abs %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.neg %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.sign %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.atan %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.ceil %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.cos %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.elu %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.erf %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.exp %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.floor %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.gelu %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.gelu_approx %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.hard_sigmoid %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.hard_swish %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.log %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.log_sigmoid %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.mish %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.recip %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.relu %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.round %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.rsqrt %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.sigmoid %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.silu %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.sin %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.softplus %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.softsign %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.sqrt %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.tan %{{.+}} : tensor<?x4xf32>
  // CHECK: rlx.tanh %{{.+}} : tensor<?x4xf32>
  %0 = rlx.abs %x : tensor<?x4xf32>
  %1 = rlx.neg %0 : tensor<?x4xf32>
  %2 = rlx.sign %1 : tensor<?x4xf32>
  %3 = rlx.atan %2 : tensor<?x4xf32>
  %4 = rlx.ceil %3 : tensor<?x4xf32>
  %5 = rlx.cos %4 : tensor<?x4xf32>
  %6 = rlx.elu %5 : tensor<?x4xf32>
  %7 = rlx.erf %6 : tensor<?x4xf32>
  %8 = rlx.exp %7 : tensor<?x4xf32>
  %9 = rlx.floor %8 : tensor<?x4xf32>
  %10 = rlx.gelu %9 : tensor<?x4xf32>
  %11 = rlx.gelu_approx %10 : tensor<?x4xf32>
  %12 = rlx.hard_sigmoid %11 : tensor<?x4xf32>
  %13 = rlx.hard_swish %12 : tensor<?x4xf32>
  %14 = rlx.log %13 : tensor<?x4xf32>
  %15 = rlx.log_sigmoid %14 : tensor<?x4xf32>
  %16 = rlx.mish %15 : tensor<?x4xf32>
  %17 = rlx.recip %16 : tensor<?x4xf32>
  %18 = rlx.relu %17 : tensor<?x4xf32>
  %19 = rlx.round %18 : tensor<?x4xf32>
  %20 = rlx.rsqrt %19 : tensor<?x4xf32>
  %21 = rlx.sigmoid %20 : tensor<?x4xf32>
  %22 = rlx.silu %21 : tensor<?x4xf32>
  %23 = rlx.sin %22 : tensor<?x4xf32>
  %24 = rlx.softplus %23 : tensor<?x4xf32>
  %25 = rlx.softsign %24 : tensor<?x4xf32>
  %26 = rlx.sqrt %25 : tensor<?x4xf32>
  %27 = rlx.tan %26 : tensor<?x4xf32>
  %28 = rlx.tanh %27 : tensor<?x4xf32>
  return %28 : tensor<?x4xf32>
}

// The result type is what the operands broadcast to.
// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: rlx.add %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.sub %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.mul %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.div %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.max %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.min %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.mod %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.pow %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  // CHECK: rlx.atan2 %{{.+}}, %{{.+}} : tensor<?x4xf32>, tensor<4xf32>
  %0 = rlx.add %x, %y : tensor<?x4xf32>, tensor<4xf32>
  %1 = rlx.sub %0, %y : tensor<?x4xf32>, tensor<4xf32>
  %2 = rlx.mul %1, %y : tensor<?x4xf32>, tensor<4xf32>
  %3 = rlx.div %2, %y : tensor<?x4xf32>, tensor<4xf32>
  %4 = rlx.max %3, %y : tensor<?x4xf32>, tensor<4xf32>
  %5 = rlx.min %4, %y : tensor<?x4xf32>, tensor<4xf32>
  %6 = rlx.mod %5, %y : tensor<?x4xf32>, tensor<4xf32>
  %7 = rlx.pow %6, %y : tensor<?x4xf32>, tensor<4xf32>
  %8 = rlx.atan2 %7, %y : tensor<?x4xf32>, tensor<4xf32>
  return %8 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<3x1xi32>, %y: tensor<1x5xi32>) -> tensor<3x5xi32> {
  // CHECK: rlx.bit_and %{{.+}}, %{{.+}} : tensor<3x1xi32>, tensor<1x5xi32>
  // CHECK: rlx.bit_or %{{.+}}, %{{.+}} : tensor<3x5xi32>, tensor<1x5xi32>
  // CHECK: rlx.bit_xor %{{.+}}, %{{.+}} : tensor<3x5xi32>, tensor<1x5xi32>
  // CHECK: rlx.shl %{{.+}}, %{{.+}} : tensor<3x5xi32>, tensor<1x5xi32>
  // CHECK: rlx.shr %{{.+}}, %{{.+}} : tensor<3x5xi32>, tensor<1x5xi32>
  %0 = rlx.bit_and %x, %y : tensor<3x1xi32>, tensor<1x5xi32>
  %1 = rlx.bit_or %0, %y : tensor<3x5xi32>, tensor<1x5xi32>
  %2 = rlx.bit_xor %1, %y : tensor<3x5xi32>, tensor<1x5xi32>
  %3 = rlx.shl %2, %y : tensor<3x5xi32>, tensor<1x5xi32>
  %4 = rlx.shr %3, %y : tensor<3x5xi32>, tensor<1x5xi32>
  return %4 : tensor<3x5xi32>
}

// Element types that each family takes.
// CHECK-LABEL: func.func @element_types
func.func @element_types(%bool: tensor<2xi1>, %u8: tensor<2xui8>, %f16: tensor<2xf16>) -> tensor<2xf64> {
  // CHECK: rlx.bit_or %{{.+}}, %{{.+}} : tensor<2xi1>, tensor<2xi1>
  %0 = rlx.bit_or %bool, %bool : tensor<2xi1>, tensor<2xi1>
  // CHECK: rlx.cast %{{.+}} : tensor<2xi1> to tensor<2xui8>
  %1 = rlx.cast %0 : tensor<2xi1> to tensor<2xui8>
  // CHECK: rlx.add %{{.+}}, %{{.+}} : tensor<2xui8>, tensor<2xui8>
  %2 = rlx.add %1, %u8 : tensor<2xui8>, tensor<2xui8>
  // CHECK: rlx.cast %{{.+}} : tensor<2xui8> to tensor<2xf16>
  %3 = rlx.cast %2 : tensor<2xui8> to tensor<2xf16>
  // CHECK: rlx.pow %{{.+}}, %{{.+}} : tensor<2xf16>, tensor<2xf16>
  %4 = rlx.pow %3, %f16 : tensor<2xf16>, tensor<2xf16>
  // CHECK: rlx.cast %{{.+}} : tensor<2xf16> to tensor<2xf64>
  %5 = rlx.cast %4 : tensor<2xf16> to tensor<2xf64>
  return %5 : tensor<2xf64>
}

// The SSA name of a weight follows its own; literals have none.
// CHECK-LABEL: func.func @leaves
func.func @leaves() {
  // CHECK: %fc1.weight = rlx.param "fc1.weight" : tensor<64x784xf32>
  %0 = rlx.param "fc1.weight" : tensor<64x784xf32>
  // CHECK: %{{[0-9]+}} = rlx.constant dense<1.000000e+00> : tensor<f32>
  %1 = rlx.constant dense<1.0> : tensor<f32>
  // CHECK: %gain = rlx.constant "gain" dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %2 = rlx.constant "gain" dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %fc2.weight = rlx.constant "fc2.weight" dense_resource<fc2> : tensor<2x2xf32>
  %3 = rlx.constant "fc2.weight" dense_resource<fc2> : tensor<2x2xf32>
  // CHECK: rlx.constant "fc2.packed" dense_resource<fc2> : tensor<16xi8> -> !rlx.packed<2x2xf32, dense, panel64>
  %4 = rlx.constant "fc2.packed" dense_resource<fc2> : tensor<16xi8> -> !rlx.packed<2x2xf32, dense, panel64>
  // CHECK: rlx.constant "noted" {note = 1 : i64} dense<true> : tensor<1xi1>
  %5 = rlx.constant "noted" {note = 1} dense<true> : tensor<1xi1>
  // CHECK: rlx.param "stack" : !rlx.packed<3x4x8xbf16, dense, row_major>
  %6 = rlx.param "stack" : !rlx.packed<3x4x8xbf16, dense, row_major>
  // CHECK: rlx.constant dense_resource<missing> : tensor<1000xf32>
  %7 = rlx.constant dense_resource<missing> : tensor<1000xf32>
  return
}

// CHECK: rlx.prepare @main.prepare0("w", "scale") -> ("prep0") : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
rlx.prepare @main.prepare0("w", "scale") -> ("prep0")
    : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
// An instance may take the result of another one, in any order of the text.
// CHECK: rlx.prepare @main.prepare1("prep0") -> ("prep1", "prep2") : (tensor<4x3xf32>) -> (tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>)
rlx.prepare @main.prepare1("prep0") -> ("prep1", "prep2")
    : (tensor<4x3xf32>) -> (tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>)
func.func private @main.prepare0(%w: tensor<4x3xf32>, %scale: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = rlx.mul %w, %scale : tensor<4x3xf32>, tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// CHECK-LABEL: func.func private @main.prepare1
func.func private @main.prepare1(%w: tensor<4x3xf32>) -> (tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>) {
  // CHECK: rlx.transpose %{{.+}} [1, 0] : tensor<4x3xf32>
  %0 = rlx.transpose %w [1, 0] : tensor<4x3xf32>
  // CHECK: rlx.pack %{{.+}} transposed : tensor<3x4xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  %1 = rlx.pack %0 transposed : tensor<3x4xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  return %0, %1 : tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>
}
// CHECK-LABEL: func.func @main
func.func @main() -> tensor<3x4xf32> {
  // CHECK: rlx.prepared "prep1" : tensor<3x4xf32>
  %0 = rlx.prepared "prep1" : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<2x?x4xf32>, %w: tensor<4x3xf32>, %v: tensor<3x4xf32>, %b: tensor<3xf32>, %p: !rlx.packed<4x3xf32, dense, panel64>, %s: !rlx.packed<2x4x3xf32, dense, panel64>) {
  // CHECK: rlx.matmul %{{.+}}, %{{.+}} : (tensor<2x?x4xf32>, tensor<4x3xf32>) -> tensor<2x?x3xf32>
  %0 = rlx.matmul %x, %w : (tensor<2x?x4xf32>, tensor<4x3xf32>) -> tensor<2x?x3xf32>
  // CHECK: rlx.matmul %{{.+}}, %{{.+}} : (tensor<2x?x4xf32>, !rlx.packed<2x4x3xf32, dense, panel64>) -> tensor<2x?x3xf32>
  %1 = rlx.matmul %x, %s : (tensor<2x?x4xf32>, !rlx.packed<2x4x3xf32, dense, panel64>) -> tensor<2x?x3xf32>
  // CHECK: rlx.linear %{{.+}}, %{{.+}} : (tensor<2x?x4xf32>, tensor<3x4xf32>) -> tensor<2x?x3xf32>
  %2 = rlx.linear %x, %v : (tensor<2x?x4xf32>, tensor<3x4xf32>) -> tensor<2x?x3xf32>
  // CHECK: rlx.linear %{{.+}}, %{{.+}} bias(%{{.+}} : tensor<3xf32>) : (tensor<2x?x4xf32>, !rlx.packed<4x3xf32, dense, panel64>) -> tensor<2x?x3xf32>
  %3 = rlx.linear %x, %p bias(%b : tensor<3xf32>) : (tensor<2x?x4xf32>, !rlx.packed<4x3xf32, dense, panel64>) -> tensor<2x?x3xf32>
  // CHECK: rlx.pack %{{.+}} : tensor<4x3xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  %4 = rlx.pack %w : tensor<4x3xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  return
}

// Symbols name the `?` dims of inputs, outputs and made-up shapes.
// CHECK-LABEL: func.func @symbols
// CHECK-SAME: tensor<?x28x28xf32> {rlx.dims = [@batch, 28, 28], rlx.name = "image"}
// CHECK-SAME: -> (tensor<?x784xf32> {rlx.dims = [@batch, 784], rlx.name = "noisy"})
func.func @symbols(%image: tensor<?x28x28xf32> {rlx.dims = [@batch, 28, 28], rlx.name = "image"}) -> (tensor<?x784xf32> {rlx.dims = [@batch, 784], rlx.name = "noisy"}) {
  // CHECK: rlx.reshape %{{.+}} to [@batch, -1] : tensor<?x28x28xf32> -> tensor<?x784xf32>
  %0 = rlx.reshape %image to [@batch, -1] : tensor<?x28x28xf32> -> tensor<?x784xf32>
  // CHECK: rlx.rng_normal mean 0.000000e+00 scale 1.000000e-01 key 7 shape [@batch, 784] : tensor<?x784xf32>
  %1 = rlx.rng_normal mean 0.0 scale 0.1 key 7 shape [@batch, 784] : tensor<?x784xf32>
  // CHECK: rlx.rng_uniform low -1.000000e+00 high 1.000000e+00 key -3 shape [784] : tensor<784xf32>
  %2 = rlx.rng_uniform low -1.0 high 1.0 key -3 shape [784] : tensor<784xf32>
  // CHECK: rlx.expand %{{.+}} to [@batch, 784] : tensor<784xf32> -> tensor<?x784xf32>
  %3 = rlx.expand %2 to [@batch, 784] : tensor<784xf32> -> tensor<?x784xf32>
  %4 = rlx.add %0, %1 : tensor<?x784xf32>, tensor<?x784xf32>
  %5 = rlx.add %4, %3 : tensor<?x784xf32>, tensor<?x784xf32>
  // A symbol that no input carries is found from the element count.
  // CHECK: rlx.reshape %{{.+}} to [@pixels] : tensor<?x784xf32> -> tensor<?xf32>
  %6 = rlx.reshape %5 to [@pixels] : tensor<?x784xf32> -> tensor<?xf32>
  // CHECK: rlx.reshape %{{.+}} to [@pixels, 1, @batch] : tensor<?x784xf32> -> tensor<?x1x?xf32>
  %7 = rlx.reshape %5 to [@pixels, 1, @batch] : tensor<?x784xf32> -> tensor<?x1x?xf32>
  return %5 : tensor<?x784xf32>
}

// Scalars and empty tensors are tensors.
// CHECK-LABEL: func.func @edge_shapes
func.func @edge_shapes(%s: tensor<f32>, %e: tensor<0x4xf32>) -> tensor<0x4xf32> {
  // CHECK: rlx.transpose %{{.+}} [] : tensor<f32>
  %0 = rlx.transpose %s [] : tensor<f32>
  // CHECK: rlx.reshape %{{.+}} to [1] : tensor<f32> -> tensor<1xf32>
  %1 = rlx.reshape %0 to [1] : tensor<f32> -> tensor<1xf32>
  // CHECK: rlx.reshape %{{.+}} to [2, 0] : tensor<0x4xf32> -> tensor<2x0xf32>
  %2 = rlx.reshape %e to [2, 0] : tensor<0x4xf32> -> tensor<2x0xf32>
  // CHECK: rlx.add %{{.+}}, %{{.+}} : tensor<0x4xf32>, tensor<1xf32>
  %3 = rlx.add %e, %1 : tensor<0x4xf32>, tensor<1xf32>
  return %3 : tensor<0x4xf32>
}

// What lowering appends to a function that draws random numbers.
// CHECK-LABEL: func.func private @draws
func.func private @draws(memref<4xf32>, i64 {rlx.rng_seed}, i64 {rlx.rng_counter})

// Buffers keep what was said of the tensors, and so do functions of other
// dialects, in which one input may take several arguments.
// CHECK-LABEL: func.func private @buffers
func.func private @buffers(memref<?x4xf32> {rlx.dims = [@batch, 4], rlx.name = "x"})
// CHECK-LABEL: llvm.func @pointers
llvm.func @pointers(!llvm.ptr {rlx.dims = [@batch, 4], rlx.name = "x"}, i64 {rlx.dims = [@batch, 4], rlx.name = "x"})

{-#
  dialect_resources: {
    builtin: {
      fc2: "0x040000000000803F0000004000004040000080C0"
    }
  }
#-}
