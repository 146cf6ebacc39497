// SPDX-License-Identifier: MIT OR Apache-2.0
// What version-1.mlirbc holds.

func.func @unary(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
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

func.func @binary(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
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

func.func @bits(%x: tensor<3x1xi32>, %y: tensor<1x5xi32>) -> tensor<3x5xi32> {
  %0 = rlx.bit_and %x, %y : tensor<3x1xi32>, tensor<1x5xi32>
  %1 = rlx.bit_or %0, %y : tensor<3x5xi32>, tensor<1x5xi32>
  %2 = rlx.bit_xor %1, %y : tensor<3x5xi32>, tensor<1x5xi32>
  %3 = rlx.shl %2, %y : tensor<3x5xi32>, tensor<1x5xi32>
  %4 = rlx.shr %3, %y : tensor<3x5xi32>, tensor<1x5xi32>
  return %4 : tensor<3x5xi32>
}

func.func @element_types(%bool: tensor<2xi1>, %u8: tensor<2xui8>, %f16: tensor<2xf16>) -> tensor<2xf64> {
  %0 = rlx.bit_or %bool, %bool : tensor<2xi1>, tensor<2xi1>
  %1 = rlx.cast %0 : tensor<2xi1> to tensor<2xui8>
  %2 = rlx.add %1, %u8 : tensor<2xui8>, tensor<2xui8>
  %3 = rlx.cast %2 : tensor<2xui8> to tensor<2xf16>
  %4 = rlx.pow %3, %f16 : tensor<2xf16>, tensor<2xf16>
  %5 = rlx.cast %4 : tensor<2xf16> to tensor<2xf64>
  return %5 : tensor<2xf64>
}

func.func @leaves() {
  %0 = rlx.param "fc1.weight" : tensor<64x784xf32>
  %1 = rlx.constant dense<1.0> : tensor<f32>
  %2 = rlx.constant "gain" dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = rlx.constant "fc2.weight" dense_resource<fc2> : tensor<2x2xf32>
  %4 = rlx.constant "fc2.packed" dense_resource<fc2> : tensor<16xi8> -> !rlx.packed<2x2xf32, dense, panel64>
  %5 = rlx.constant "noted" {note = 1} dense<true> : tensor<1xi1>
  %6 = rlx.param "stack" : !rlx.packed<3x4x8xbf16, dense, row_major>
  return
}

rlx.prepare @main.prepare0("w", "scale") -> ("prep0")
    : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
rlx.prepare @main.prepare1("prep0") -> ("prep1", "prep2")
    : (tensor<4x3xf32>) -> (tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>)
func.func private @main.prepare0(%w: tensor<4x3xf32>, %scale: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = rlx.mul %w, %scale : tensor<4x3xf32>, tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
func.func private @main.prepare1(%w: tensor<4x3xf32>) -> (tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>) {
  %0 = rlx.transpose %w [1, 0] : tensor<4x3xf32>
  %1 = rlx.pack %0 transposed : tensor<3x4xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  return %0, %1 : tensor<3x4xf32>, !rlx.packed<4x3xf32, dense, panel64>
}
func.func @main() -> tensor<3x4xf32> {
  %0 = rlx.prepared "prep1" : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func @products(%x: tensor<2x?x4xf32>, %w: tensor<4x3xf32>, %v: tensor<3x4xf32>, %b: tensor<3xf32>, %p: !rlx.packed<4x3xf32, dense, panel64>, %s: !rlx.packed<2x4x3xf32, dense, panel64>) {
  %0 = rlx.matmul %x, %w : (tensor<2x?x4xf32>, tensor<4x3xf32>) -> tensor<2x?x3xf32>
  %1 = rlx.matmul %x, %s : (tensor<2x?x4xf32>, !rlx.packed<2x4x3xf32, dense, panel64>) -> tensor<2x?x3xf32>
  %2 = rlx.linear %x, %v : (tensor<2x?x4xf32>, tensor<3x4xf32>) -> tensor<2x?x3xf32>
  %3 = rlx.linear %x, %p bias(%b : tensor<3xf32>) : (tensor<2x?x4xf32>, !rlx.packed<4x3xf32, dense, panel64>) -> tensor<2x?x3xf32>
  %4 = rlx.pack %w : tensor<4x3xf32> -> !rlx.packed<4x3xf32, dense, panel64>
  return
}

func.func @symbols(%image: tensor<?x28x28xf32> {rlx.dims = [@batch, 28, 28], rlx.name = "image"}) -> (tensor<?x784xf32> {rlx.dims = [@batch, 784], rlx.name = "noisy"}) {
  %0 = rlx.reshape %image to [@batch, -1] : tensor<?x28x28xf32> -> tensor<?x784xf32>
  %1 = rlx.rng_normal mean 0.0 scale 0.1 key 7 shape [@batch, 784] : tensor<?x784xf32>
  %2 = rlx.rng_uniform low -1.0 high 1.0 key -3 shape [784] : tensor<784xf32>
  %3 = rlx.expand %2 to [@batch, 784] : tensor<784xf32> -> tensor<?x784xf32>
  %4 = rlx.add %0, %1 : tensor<?x784xf32>, tensor<?x784xf32>
  %5 = rlx.add %4, %3 : tensor<?x784xf32>, tensor<?x784xf32>
  %6 = rlx.reshape %5 to [@pixels] : tensor<?x784xf32> -> tensor<?xf32>
  %7 = rlx.reshape %5 to [@pixels, 1, @batch] : tensor<?x784xf32> -> tensor<?x1x?xf32>
  return %5 : tensor<?x784xf32>
}

func.func @edge_shapes(%s: tensor<f32>, %e: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = rlx.transpose %s [] : tensor<f32>
  %1 = rlx.reshape %0 to [1] : tensor<f32> -> tensor<1xf32>
  %2 = rlx.reshape %e to [2, 0] : tensor<0x4xf32> -> tensor<2x0xf32>
  %3 = rlx.add %e, %1 : tensor<0x4xf32>, tensor<1xf32>
  return %3 : tensor<0x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      fc2: "0x040000000000803F0000004000004040000080C0"
    }
  }
#-}
