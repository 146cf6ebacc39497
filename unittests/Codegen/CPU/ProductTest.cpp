// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Executable.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace rlx;
using namespace rlx::test;

namespace {

/// Runs a module on every class that this machine has and with 1, 2 and 3
/// workers, expects equal bits, and returns the outputs.
std::vector<Tensor> runEverywhere(llvm::StringRef text,
                                  const std::vector<Tensor> &tensors,
                                  const std::vector<int64_t> &symbols = {}) {
  std::vector<Tensor> first;
  for (const std::string &cpuClass : getRunnableClasses()) {
    std::unique_ptr<Executable> executable = compile(text, cpuClass);
    if (!executable)
      return first;
    for (int workers : {1, 2, 3}) {
      CallResult result = executable->call("main", tensors, symbols, workers);
      EXPECT_EQ(result.status, RLX_ABI_OK);
      if (first.empty())
        first = result.outputs;
      EXPECT_EQ(first.size(), result.outputs.size());
      for (size_t i = 0; i < first.size(); ++i)
        EXPECT_TRUE(isBitEqual(first[i], result.outputs[i]))
            << cpuClass << " with " << workers << " workers";
    }
  }
  return first;
}

Tensor addBias(Tensor c, const Tensor &bias) {
  for (int64_t i = 0; i < c.size(); ++i)
    c.data[i] += bias.data[i % bias.size()];
  return c;
}

Tensor relu(Tensor c) {
  for (float &value : c.data)
    value = std::max(value, 0.0f);
  return c;
}

constexpr char kMlp[] = R"mlir(
func.func @main(%x: tensor<?x784xf32> {rlx.name = "x", rlx.dims = [@batch, 784]})
    -> (tensor<?x10xf32> {rlx.name = "y", rlx.dims = [@batch, 10]}) {
  %w1 = rlx.param "w1" : !rlx.packed<784x64xf32, dense, panel64>
  %b1 = rlx.param "b1" : tensor<64xf32>
  %w2 = rlx.param "w2" : tensor<10x64xf32>
  %b2 = rlx.param "b2" : tensor<10xf32>
  %0 = rlx.linear %x, %w1 bias(%b1 : tensor<64xf32>)
      : (tensor<?x784xf32>, !rlx.packed<784x64xf32, dense, panel64>) -> tensor<?x64xf32>
  %1 = rlx.relu %0 : tensor<?x64xf32>
  %2 = rlx.linear %1, %w2 bias(%b2 : tensor<10xf32>)
      : (tensor<?x64xf32>, tensor<10x64xf32>) -> tensor<?x10xf32>
  return %2 : tensor<?x10xf32>
}
)mlir";

// A perceptron with bias and ReLU, one packed and one dense weight, any batch.
TEST(Product, PerceptronOfAnyBatch) {
  Tensor w1 = Tensor::random({784, 64}, 1), b1 = Tensor::random({64}, 2),
         w2 = Tensor::random({10, 64}, 3), b2 = Tensor::random({10}, 4);
  for (int64_t batch : {1, 7, 32, 300}) {
    Tensor x = Tensor::random({batch, 784}, 5);
    std::vector<Tensor> outputs =
        runEverywhere(kMlp, {x, packPanels(w1), b1, w2, b2}, {batch});
    ASSERT_EQ(outputs.size(), 1u);
    Tensor hidden = relu(addBias(multiply(x, w1), b1));
    Tensor expected = addBias(multiply(hidden, transpose(w2)), b2);
    EXPECT_LT(maxDifference(outputs[0], expected), 2e-4) << "batch " << batch;
  }
}

// A batch without rows is a call without work.
TEST(Product, NoRows) {
  std::unique_ptr<Executable> executable = compile(kMlp);
  ASSERT_TRUE(executable);
  CallResult result = executable->call(
      "main",
      {Tensor({0, 784}), packPanels(Tensor::random({784, 64}, 1)),
       Tensor::random({64}, 2), Tensor::random({10, 64}, 3),
       Tensor::random({10}, 4)},
      {0}, 2);
  EXPECT_EQ(result.status, RLX_ABI_OK);
  EXPECT_EQ(result.outputs[0].dims, (std::vector<int64_t>{0, 10}));
}

// A sum of no products is 0, and the epilogue still runs on it.
TEST(Product, NoColumnsToSum) {
  std::vector<Tensor> outputs =
      runEverywhere(R"mlir(
func.func @main(%x: tensor<3x0xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %w = rlx.param "w" : tensor<5x0xf32>
  %0 = rlx.linear %x, %w bias(%b : tensor<5xf32>)
      : (tensor<3x0xf32>, tensor<5x0xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
)mlir",
                    {Tensor({3, 0}), Tensor::random({5}, 1), Tensor({5, 0})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(
      isBitEqual(outputs[0], addBias(Tensor({3, 5}), Tensor::random({5}, 1))));
}

// Outer dims broadcast on both sides; both operands are activations.
TEST(Product, BatchesBroadcast) {
  Tensor a = Tensor::random({2, 1, 5, 70}, 1);
  Tensor b = Tensor::random({3, 70, 65}, 2);
  std::vector<Tensor> outputs = runEverywhere(R"mlir(
func.func @main(%a: tensor<2x1x5x70xf32>, %b: tensor<3x70x65xf32>) -> tensor<2x3x5x65xf32> {
  %0 = rlx.matmul %a, %b : (tensor<2x1x5x70xf32>, tensor<3x70x65xf32>) -> tensor<2x3x5x65xf32>
  %1 = rlx.relu %0 : tensor<2x3x5x65xf32>
  return %1 : tensor<2x3x5x65xf32>
}
)mlir",
                                              {a, b});
  ASSERT_EQ(outputs.size(), 1u);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      Tensor lhs({5, 70}), rhs({70, 65}), got({5, 65});
      std::copy_n(a.data.begin() + i * 350, 350, lhs.data.begin());
      std::copy_n(b.data.begin() + j * 4550, 4550, rhs.data.begin());
      std::copy_n(outputs[0].data.begin() + (i * 3 + j) * 325, 325,
                  got.data.begin());
      EXPECT_LT(maxDifference(got, relu(multiply(lhs, rhs))), 1e-5);
    }
}

// Attention scores: heads are taken apart and transposed by strides alone.
TEST(Product, TransposedOperands) {
  Tensor q = Tensor::random({2, 9, 4, 16}, 1);
  Tensor k = Tensor::random({2, 11, 4, 16}, 2);
  std::vector<Tensor> outputs = runEverywhere(R"mlir(
func.func @main(%q: tensor<?x?x4x16xf32> {rlx.dims = [@b, @s, 4, 16]},
                %k: tensor<?x?x4x16xf32> {rlx.dims = [@b, @t, 4, 16]})
    -> (tensor<?x4x?x?xf32> {rlx.dims = [@b, 4, @s, @t]}) {
  %0 = rlx.transpose %q [0, 2, 1, 3] : tensor<?x?x4x16xf32>
  %1 = rlx.transpose %k [0, 2, 3, 1] : tensor<?x?x4x16xf32>
  %2 = rlx.matmul %0, %1 : (tensor<?x4x?x16xf32>, tensor<?x4x16x?xf32>) -> tensor<?x4x?x?xf32>
  return %2 : tensor<?x4x?x?xf32>
}
)mlir",
                                              {q, k}, {2, 9, 11});
  ASSERT_EQ(outputs.size(), 1u);
  Tensor expected({2, 4, 9, 11});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 4; ++h)
      for (int64_t s = 0; s < 9; ++s)
        for (int64_t t = 0; t < 11; ++t) {
          double sum = 0;
          for (int64_t d = 0; d < 16; ++d)
            sum += static_cast<double>(q.at({b, s, h, d})) * k.at({b, t, h, d});
          expected.at({b, h, s, t}) = static_cast<float>(sum);
        }
  EXPECT_LT(maxDifference(outputs[0], expected), 1e-5);
}

// A transpose that moves the summed dim stays an op of its own.
TEST(Product, TransposedLhs) {
  Tensor a = Tensor::random({40, 6}, 1), b = Tensor::random({40, 80}, 2);
  std::vector<Tensor> outputs = runEverywhere(R"mlir(
func.func @main(%a: tensor<40x6xf32>, %b: tensor<40x80xf32>) -> tensor<6x80xf32> {
  %0 = rlx.transpose %a [1, 0] : tensor<40x6xf32>
  %1 = rlx.matmul %0, %b : (tensor<6x40xf32>, tensor<40x80xf32>) -> tensor<6x80xf32>
  return %1 : tensor<6x80xf32>
}
)mlir",
                                              {a, b});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_LT(maxDifference(outputs[0], multiply(transpose(a), b)), 1e-5);
}

// More rows than workers can share as panels are shared as rows: outer dims
// are rows too, and a residual is read in the epilogue.
TEST(Product, ManyRowsFewPanels) {
  Tensor x = Tensor::random({8, 100, 64}, 1), w = Tensor::random({64, 64}, 2);
  constexpr char text[] = R"mlir(
func.func @main(%x: tensor<?x100x64xf32> {rlx.dims = [@b, 100, 64]})
    -> (tensor<?x100x64xf32> {rlx.dims = [@b, 100, 64]}) {
  %w = rlx.param "w" : !rlx.packed<64x64xf32, dense, panel64>
  %0 = rlx.matmul %x, %w : (tensor<?x100x64xf32>, !rlx.packed<64x64xf32, dense, panel64>) -> tensor<?x100x64xf32>
  %1 = rlx.add %0, %x : tensor<?x100x64xf32>, tensor<?x100x64xf32>
  return %1 : tensor<?x100x64xf32>
}
)mlir";
  std::vector<Tensor> outputs = runEverywhere(text, {x, packPanels(w)}, {8});
  ASSERT_EQ(outputs.size(), 1u);
  Tensor flat = x;
  flat.dims = {800, 64};
  Tensor expected = multiply(flat, w);
  for (int64_t i = 0; i < expected.size(); ++i)
    expected.data[i] += flat.data[i];
  expected.dims = outputs[0].dims;
  EXPECT_LT(maxDifference(outputs[0], expected), 1e-5);

  std::unique_ptr<Executable> executable = compile(text);
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->call("main", {x, packPanels(w)}, {8}, 4).regions, 1);
  Tensor small = Tensor::random({1, 100, 64}, 3);
  EXPECT_EQ(executable->call("main", {small, packPanels(w)}, {1}, 4).regions, 0)
      << "8 us of work are not worth waking anyone";
}

// What the epilogue computes has the bits of the separate op.
TEST(Product, EpilogueIsExact) {
  // The product is also returned, which keeps the second op out of it.
  auto getText = [](bool alone) {
    return std::string(R"mlir(
func.func @main(%x: tensor<33x100xf32>, %r: tensor<33x130xf32>)
    -> (tensor<33x130xf32>, tensor<33x130xf32>) {
  %w = rlx.param "w" : tensor<100x130xf32>
  %b = rlx.param "b" : tensor<130xf32>
  %0 = rlx.matmul %x, %w : (tensor<33x100xf32>, tensor<100x130xf32>) -> tensor<33x130xf32>
  %1 = rlx.add %0, %b : tensor<33x130xf32>, tensor<130xf32>
  %2 = rlx.gelu %1 : tensor<33x130xf32>
  %3 = rlx.mul %2, %r : tensor<33x130xf32>, tensor<33x130xf32>
  return )mlir") +
           (alone ? "%0" : "%3") +
           ", %3 : tensor<33x130xf32>, tensor<33x130xf32>\n}\n";
  };
  std::vector<Tensor> tensors = {
      Tensor::random({33, 100}, 1), Tensor::random({33, 130}, 2),
      Tensor::random({100, 130}, 3), Tensor::random({130}, 4)};
  std::vector<Tensor> fused = runEverywhere(getText(false), tensors);
  std::vector<Tensor> separate = runEverywhere(getText(true), tensors);
  ASSERT_EQ(fused.size(), 2u);
  ASSERT_EQ(separate.size(), 2u);
  EXPECT_TRUE(isBitEqual(fused[1], separate[1]));
  EXPECT_TRUE(isBitEqual(fused[0], fused[1])) << "one value returned twice";
}

// A prepare function writes the packed weight where it is told to.
TEST(Product, PrepareWritesPackedWeight) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<2x600xf32>) -> tensor<2x70xf32> {
  %w = rlx.prepared "prep0" : !rlx.packed<600x70xf32, dense, panel64>
  %0 = rlx.matmul %x, %w : (tensor<2x600xf32>, !rlx.packed<600x70xf32, dense, panel64>) -> tensor<2x70xf32>
  return %0 : tensor<2x70xf32>
}
func.func private @main.prepare0(%w: tensor<70x600xf32>, %s: tensor<600xf32>)
    -> !rlx.packed<600x70xf32, dense, panel64> {
  %0 = rlx.mul %w, %s : tensor<70x600xf32>, tensor<600xf32>
  %1 = rlx.pack %0 transposed : tensor<70x600xf32> -> !rlx.packed<600x70xf32, dense, panel64>
  return %1 : !rlx.packed<600x70xf32, dense, panel64>
}
rlx.prepare @main.prepare0("w", "s") -> ("prep0")
    : (tensor<70x600xf32>, tensor<600xf32>) -> !rlx.packed<600x70xf32, dense, panel64>
)mlir");
  ASSERT_TRUE(executable);
  Tensor w = Tensor::random({70, 600}, 1), s = Tensor::random({600}, 2);
  Tensor scaled = w;
  for (int64_t i = 0; i < scaled.size(); ++i)
    scaled.data[i] *= s.data[i % 600];
  CallResult prepared = executable->call("main.prepare0", {w, s}, {}, 2);
  EXPECT_EQ(prepared.status, RLX_ABI_OK);
  EXPECT_TRUE(isBitEqual(prepared.outputs[0], packPanels(transpose(scaled))));

  const rlx_abi_function *function = executable->find("main.prepare0");
  EXPECT_EQ(function->kind, static_cast<uint32_t>(RLX_ABI_PREPARE));
  EXPECT_EQ(function->input_count, 2u);
  EXPECT_EQ(function->weight_count, 0u);

  Tensor x = Tensor::random({2, 600}, 3);
  CallResult result = executable->call("main", {x, prepared.outputs[0]}, {}, 1);
  EXPECT_LT(maxDifference(result.outputs[0], multiply(x, transpose(scaled))),
            1e-4);
}

} // namespace
