// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Executable.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace rlx;
using namespace rlx::test;

namespace {

// A chain of ops on a large tensor is one parallel loop without intermediates.
TEST(Elementwise, ChainIsOneLoop) {
  for (const std::string &cpuClass : getRunnableClasses()) {
    std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<?x1000xf32> {rlx.dims = [@n, 1000]}, %y: tensor<1000xf32>)
    -> (tensor<?x1000xf32> {rlx.dims = [@n, 1000]}) {
  %0 = rlx.mul %x, %y : tensor<?x1000xf32>, tensor<1000xf32>
  %1 = rlx.sub %0, %x : tensor<?x1000xf32>, tensor<?x1000xf32>
  %2 = rlx.tanh %1 : tensor<?x1000xf32>
  return %2 : tensor<?x1000xf32>
}
)mlir",
                                                     cpuClass);
    ASSERT_TRUE(executable);
    Tensor x = Tensor::random({300, 1000}, 1), y = Tensor::random({1000}, 2);
    CallResult one = executable->call("main", {x, y}, {300}, 1);
    CallResult four = executable->call("main", {x, y}, {300}, 4);
    EXPECT_EQ(one.arenaBytes, 0u);
    EXPECT_EQ(one.regions, 0);
    EXPECT_EQ(four.regions, 1);
    EXPECT_TRUE(isBitEqual(one.outputs[0], four.outputs[0]));
    Tensor expected({300, 1000});
    for (int64_t i = 0; i < expected.size(); ++i)
      expected.data[i] = static_cast<float>(std::tanh(
          static_cast<double>(x.data[i] * y.data[i % 1000] - x.data[i])));
    EXPECT_LT(maxDifference(one.outputs[0], expected), 1e-6);
  }
}

// Results that are inputs or weights are copied; reshapes of results are views.
TEST(Elementwise, OutputsThatAreInputs) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<6x4xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>, tensor<2x12xf32>) {
  %w = rlx.param "w" : tensor<2x12xf32>
  %0 = rlx.reshape %x to [2, 12] : tensor<6x4xf32> -> tensor<2x12xf32>
  %1 = rlx.neg %x : tensor<6x4xf32>
  %2 = rlx.reshape %1 to [2, 12] : tensor<6x4xf32> -> tensor<2x12xf32>
  return %0, %w, %2 : tensor<2x12xf32>, tensor<2x12xf32>, tensor<2x12xf32>
}
)mlir");
  ASSERT_TRUE(executable);
  Tensor x = Tensor::random({6, 4}, 1), w = Tensor::random({2, 12}, 2);
  CallResult result = executable->call("main", {x, w});
  ASSERT_EQ(result.status, RLX_ABI_OK);
  EXPECT_EQ(result.arenaBytes, 0u) << "nothing is intermediate";
  Tensor shaped = x;
  shaped.dims = {2, 12};
  EXPECT_TRUE(isBitEqual(result.outputs[0], shaped));
  EXPECT_TRUE(isBitEqual(result.outputs[1], w));
  for (float &value : shaped.data)
    value = -value;
  EXPECT_TRUE(isBitEqual(result.outputs[2], shaped));
}

// Transpose and expand move what their names say.
TEST(Elementwise, DataMovement) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<?x3x?xf32> {rlx.dims = [@a, 3, @b]}, %y: tensor<3x1xf32>)
    -> (tensor<?x?x3xf32> {rlx.dims = [@b, @a, 3]}) {
  %0 = rlx.expand %y to [@a, 3, @b] : tensor<3x1xf32> -> tensor<?x3x?xf32>
  %1 = rlx.add %x, %0 : tensor<?x3x?xf32>, tensor<?x3x?xf32>
  %2 = rlx.transpose %1 [2, 0, 1] : tensor<?x3x?xf32>
  return %2 : tensor<?x?x3xf32>
}
)mlir");
  ASSERT_TRUE(executable);
  Tensor x = Tensor::random({5, 3, 7}, 1), y = Tensor::random({3, 1}, 2);
  CallResult result = executable->call("main", {x, y}, {5, 7}, 2);
  ASSERT_EQ(result.status, RLX_ABI_OK);
  Tensor expected({7, 5, 3});
  for (int64_t a = 0; a < 5; ++a)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t b = 0; b < 7; ++b)
        expected.at({b, a, c}) = x.at({a, c, b}) + y.at({c, 0});
  EXPECT_TRUE(isBitEqual(result.outputs[0], expected));
}

// Dims are taken together and apart again by views, scalars have no loop.
TEST(Elementwise, ReshapesAndScalars) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<?x?x8xf32> {rlx.dims = [@b, @s, 8]}, %y: tensor<f32>)
    -> (tensor<?x?x8xf32> {rlx.dims = [@b, @s, 8]}) {
  %w = rlx.param "w" : tensor<8x8xf32>
  %0 = rlx.reshape %x to [-1, 8] : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %1 = rlx.matmul %0, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %2 = rlx.exp %y : tensor<f32>
  %3 = rlx.mul %1, %2 : tensor<?x8xf32>, tensor<f32>
  %4 = rlx.reshape %3 to [@b, @s, 8] : tensor<?x8xf32> -> tensor<?x?x8xf32>
  %5 = rlx.add %4, %x : tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return %5 : tensor<?x?x8xf32>
}
)mlir");
  ASSERT_TRUE(executable);
  Tensor x = Tensor::random({3, 5, 8}, 1), y = Tensor::random({}, 3),
         w = Tensor::random({8, 8}, 2);
  y.data[0] = 0.25f;
  CallResult result = executable->call("main", {x, y, w}, {3, 5}, 2);
  ASSERT_EQ(result.status, RLX_ABI_OK);
  Tensor flat = x;
  flat.dims = {15, 8};
  Tensor expected = multiply(flat, w);
  for (int64_t i = 0; i < expected.size(); ++i)
    expected.data[i] = expected.data[i] * std::exp(0.25f) + x.data[i];
  expected.dims = {3, 5, 8};
  EXPECT_LT(maxDifference(result.outputs[0], expected), 1e-5);
}

// Random numbers depend on the seed of the call, not on the workers.
TEST(Elementwise, RandomNumbers) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<?x512xf32> {rlx.dims = [@n, 512]})
    -> (tensor<?x512xf32> {rlx.dims = [@n, 512]}) {
  %0 = rlx.rng_uniform low 0.0 high 1.0 key 7 shape [@n, 512] : tensor<?x512xf32>
  %1 = rlx.add %x, %0 : tensor<?x512xf32>, tensor<?x512xf32>
  return %1 : tensor<?x512xf32>
}
)mlir");
  ASSERT_TRUE(executable);
  Tensor x({400, 512});
  CallResult one = executable->call("main", {x}, {400}, 1);
  CallResult three = executable->call("main", {x}, {400}, 3);
  ASSERT_EQ(one.status, RLX_ABI_OK);
  EXPECT_TRUE(isBitEqual(one.outputs[0], three.outputs[0]));
  double sum = 0;
  for (float value : one.outputs[0].data) {
    ASSERT_GE(value, 0.0f);
    ASSERT_LT(value, 1.0f);
    sum += value;
  }
  EXPECT_NEAR(sum / one.outputs[0].size(), 0.5, 0.01);
}

} // namespace
