// SPDX-License-Identifier: MIT OR Apache-2.0
//===- GraphTest.cpp - Broadcasting, shapes, random numbers ---------------===//

#include "GraphRunner.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <numeric>
#include <unistd.h>

using namespace rlx::test;

namespace {

std::vector<float> iota(int64_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

int64_t product(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// Element number of a tensor of `shape` that result element `i` reads.
int64_t broadcastIndex(const std::vector<int64_t> &shape,
                       const std::vector<int64_t> &result, int64_t i) {
  int64_t index = 0, stride = 1;
  for (size_t back = 1; back <= result.size(); ++back) {
    int64_t size = result[result.size() - back];
    int64_t at = i % size;
    i /= size;
    if (back > shape.size())
      continue;
    int64_t own = shape[shape.size() - back];
    index += own == 1 ? 0 : at * stride;
    stride *= own;
  }
  return index;
}

/// `tensor<4x?xf32>`: a negative size is dynamic.
std::string typeOf(const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + "f32>";
}

struct BroadcastCase {
  std::vector<int64_t> lhsType, rhsType, resultType;
  std::vector<int64_t> lhs, rhs, result;
};

TEST(GraphTest, Broadcasts) {
  const BroadcastCase cases[] = {
      {{4, 3}, {4, 3}, {4, 3}, {4, 3}, {4, 3}, {4, 3}},
      {{4, 3}, {3}, {4, 3}, {4, 3}, {3}, {4, 3}},
      {{4, 1}, {1, 5}, {4, 5}, {4, 1}, {1, 5}, {4, 5}},
      {{}, {2, 3}, {2, 3}, {}, {2, 3}, {2, 3}},
      {{}, {}, {}, {}, {}, {}},
      {{0, 3}, {1, 3}, {0, 3}, {0, 3}, {1, 3}, {0, 3}},
      {{-1, 3}, {3}, {-1, 3}, {7, 3}, {3}, {7, 3}},
      {{-1, 3}, {-1, 1}, {-1, 3}, {0, 3}, {0, 1}, {0, 3}},
      {{-1, 1}, {1, -1}, {-1, -1}, {5, 1}, {1, 17}, {5, 17}},
      {{2, 1, -1}, {-1, 1}, {2, -1, -1}, {2, 1, 9}, {6, 1}, {2, 6, 9}},
      {{-1}, {8}, {8}, {8}, {8}, {8}},
  };
  std::string text;
  for (auto [i, c] : llvm::enumerate(cases))
    text += llvm::formatv(
        "func.func @f{0}(%x: {1}, %y: {2}) -> {3} {{\n"
        "  %0 = rlx.sub %x, %y : {1}, {2}\n  return %0 : {3}\n}\n",
        i, typeOf(c.lhsType), typeOf(c.rhsType), typeOf(c.resultType));
  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(text, cpuClass);
    ASSERT_TRUE(graph);
    for (auto [number, c] : llvm::enumerate(cases)) {
      std::vector<float> x = iota(product(c.lhs)), y = iota(product(c.rhs));
      for (float &value : y)
        value *= 100;
      auto actual = graph
                        .run("f" + std::to_string(number),
                             {Tensor(c.lhs, x), Tensor(c.rhs, y)}, c.result, 4)
                        .as<float>();
      ASSERT_EQ(actual.size(), size_t(product(c.result)));
      for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_EQ(actual[i], x[broadcastIndex(c.lhs, c.result, i)] -
                                 y[broadcastIndex(c.rhs, c.result, i)])
            << "case " << number << ", element " << i;
    }
  }
}

const char *const kShapes = R"(
func.func @reshape(%x: tensor<?x6xf32> {rlx.dims = [@n, 6]}) -> tensor<?x3x2xf32> {
  %0 = rlx.reshape %x to [-1] : tensor<?x6xf32> -> tensor<?xf32>
  %1 = rlx.neg %0 : tensor<?xf32>
  %2 = rlx.reshape %1 to [@n, 3, 2] : tensor<?xf32> -> tensor<?x3x2xf32>
  return %2 : tensor<?x3x2xf32>
}
func.func @regroup(%x: tensor<?x6xf32> {rlx.dims = [@n, 6]}) -> tensor<?x4xf32> {
  %0 = rlx.neg %x : tensor<?x6xf32>
  %1 = rlx.reshape %0 to [-1, 4] : tensor<?x6xf32> -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @trade(%x: tensor<?xf32> {rlx.dims = [@n]}, %y: tensor<?x?xf32> {rlx.dims = [@a, @b]}) -> tensor<?x?xf32> {
  %0 = rlx.reshape %x to [@a, @b] : tensor<?xf32> -> tensor<?x?xf32>
  %1 = rlx.add %0, %y : tensor<?x?xf32>, tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @to_scalar(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = rlx.neg %x : tensor<?xf32>
  %1 = rlx.reshape %0 to [] : tensor<?xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @transpose(%x: tensor<2x?x4xf32>) -> tensor<4x2x?xf32> {
  %0 = rlx.transpose %x [2, 0, 1] : tensor<2x?x4xf32>
  %1 = rlx.neg %0 : tensor<4x2x?xf32>
  return %1 : tensor<4x2x?xf32>
}
func.func @expand(%x: tensor<?x1xf32> {rlx.dims = [@n, 1]}, %y: tensor<?xf32> {rlx.dims = [@m]}) -> tensor<2x?x?xf32> {
  %0 = rlx.expand %x to [2, @m, @m] : tensor<?x1xf32> -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}
func.func @equal(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = rlx.add %x, %y : tensor<?xf32>, tensor<?xf32>
  return %0 : tensor<?xf32>
}
)";

TEST(GraphTest, MovesElements) {
  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(kShapes, cpuClass);
    ASSERT_TRUE(graph);
    std::vector<float> x = iota(24), negated = x;
    for (float &value : negated)
      value = -value;
    Tensor rows({4, 6}, x);
    EXPECT_EQ(graph.run("reshape", {rows}, {4, 3, 2}, 4).as<float>(), negated);
    EXPECT_EQ(graph.run("regroup", {rows}, {6, 4}, 4).as<float>(), negated);
    EXPECT_EQ(
        graph
            .run("trade", {Tensor({24}, x), Tensor({8, 3}, negated)}, {8, 3}, 4)
            .as<float>(),
        std::vector<float>(24, 0.0f));
    EXPECT_EQ(graph.run("to_scalar", {Tensor({1}, iota(1))}, {}, 4).as<float>(),
              std::vector<float>{-1});
    EXPECT_EQ(graph.run("reshape", {Tensor({0, 6}, iota(0))}, {0, 3, 2}, 4)
                  .as<float>(),
              std::vector<float>());

    auto transposed =
        graph.run("transpose", {Tensor({2, 3, 4}, x)}, {4, 2, 3}, 4)
            .as<float>();
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 6; ++j)
        EXPECT_EQ(transposed[i * 6 + j], negated[j * 4 + i]);

    // A dim that equals its target, and one of 1 that stretches to it.
    for (int64_t n : {3, 1}) {
      auto expanded =
          graph
              .run("expand", {Tensor({n, 1}, iota(n)), Tensor({3}, iota(3))},
                   {2, 3, 3}, 4)
              .as<float>();
      for (int64_t i = 0; i < 18; ++i)
        EXPECT_EQ(expanded[i], n == 1 ? 1 : 1 + i / 3 % 3);
    }
  }
}

/// In the child of a death test: what the lowered assert prints goes to stderr,
/// which is where the message is looked for.
void runAndPrint(const GraphRunner &graph, llvm::StringRef name,
                 const std::vector<Tensor> &inputs,
                 const std::vector<int64_t> &resultShape) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setvbuf(stdout, nullptr, _IONBF, 0);
  graph.run(name, inputs, resultShape, 4);
}

// Sizes that don't fit the graph are caught before an element is touched.
TEST(GraphDeathTest, ChecksSizes) {
  GraphRunner graph(kShapes, runnableClasses().front());
  ASSERT_TRUE(graph);
  auto vector = [](int64_t size) { return Tensor({size}, iota(size)); };
  auto matrix = [](int64_t rows, int64_t columns) {
    return Tensor({rows, columns}, iota(rows * columns));
  };
  const char *kCount = "rlx.reshape: the shape must hold as many elements";
  EXPECT_DEATH(runAndPrint(graph, "regroup", {matrix(3, 6)}, {4, 4}), kCount);
  EXPECT_DEATH(runAndPrint(graph, "trade", {vector(24), matrix(5, 5)}, {5, 5}),
               kCount);
  EXPECT_DEATH(runAndPrint(graph, "trade", {vector(24), matrix(0, 5)}, {0, 5}),
               kCount);
  EXPECT_DEATH(runAndPrint(graph, "to_scalar", {vector(2)}, {}), kCount);
  EXPECT_DEATH(
      runAndPrint(graph, "expand", {matrix(2, 1), vector(3)}, {2, 3, 3}),
      "rlx.expand: input dim 0 must be 1 or have its size");
  EXPECT_DEATH(runAndPrint(graph, "equal", {vector(2), vector(3)}, {3}),
               "rlx.add: dim 0 of the lhs and dim 0 of the rhs must be equal");
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

const char *const kFloats = R"(
func.func @max(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = rlx.max %x, %y : tensor<?xf32>, tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @min(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = rlx.min %x, %y : tensor<?xf32>, tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @relu(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = rlx.relu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @sign(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = rlx.sign %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @round(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = rlx.round %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
)";

/// NaN, or the value with the sign of its zero.
std::string text(float value) {
  return std::isnan(value)
             ? "nan"
             : llvm::formatv("{0:f6}{1}", value, std::signbit(value)).str();
}

TEST(GraphTest, KeepsNanAndSignedZero) {
  std::vector<float> values = {NAN,  -INFINITY, INFINITY, -0.0f, 0.0f,     0.5f,
                               1.5f, 2.5f,      -0.5f,    -3.0f, 0x1p-149f};
  std::vector<float> x, y;
  for (float a : values)
    for (float b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  int64_t count = x.size();
  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(kFloats, cpuClass);
    ASSERT_TRUE(graph);
    Tensor lhs({count}, x), rhs({count}, y);
    auto max = graph.run("max", {lhs, rhs}, {count}, 4).as<float>();
    auto min = graph.run("min", {lhs, rhs}, {count}, 4).as<float>();
    auto relu = graph.run("relu", {lhs}, {count}, 4).as<float>();
    auto sign = graph.run("sign", {lhs}, {count}, 4).as<float>();
    auto round = graph.run("round", {lhs}, {count}, 4).as<float>();
    for (int64_t i = 0; i < count; ++i) {
      float a = x[i], b = y[i];
      bool isNan = std::isnan(a) || std::isnan(b);
      // Zeros are ordered by sign, so that operands can be swapped.
      bool aIsLess = a < b || (a == b && std::signbit(a) && !std::signbit(b));
      EXPECT_EQ(text(max[i]), text(isNan ? NAN : aIsLess ? b : a));
      EXPECT_EQ(text(min[i]), text(isNan ? NAN : aIsLess ? a : b));
      EXPECT_EQ(text(relu[i]), text(a < 0 ? 0.0f : a));
      EXPECT_EQ(text(sign[i]),
                text(std::isnan(a) || a == 0 ? a : std::copysign(1.0f, a)));
      EXPECT_EQ(text(round[i]), text(std::nearbyint(a)));
    }
  }
}

// Each half function is the f32 one of the extended element, rounded.
TEST(GraphTest, HalvesComputeInF32) {
  const char *const kHalf = R"(
func.func @narrow(%x: tensor<?xf16>) -> tensor<?xf16> {
  %0 = rlx.silu %x : tensor<?xf16>
  return %0 : tensor<?xf16>
}
func.func @wide(%x: tensor<?xf16>) -> tensor<?xf16> {
  %0 = rlx.cast %x : tensor<?xf16> to tensor<?xf32>
  %1 = rlx.silu %0 : tensor<?xf32>
  %2 = rlx.cast %1 : tensor<?xf32> to tensor<?xf16>
  return %2 : tensor<?xf16>
}
)";
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), 0);
  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(kHalf, cpuClass);
    ASSERT_TRUE(graph);
    Tensor x({65536}, all);
    EXPECT_EQ(graph.run("narrow", {x}, {65536}, 2).bytes,
              graph.run("wide", {x}, {65536}, 2).bytes);
  }
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

const char *const kRandom = R"(
func.func @uniform(%x: tensor<?x4xf32> {rlx.dims = [@n, 4]}) -> tensor<?x4xf32> {
  %0 = rlx.rng_uniform low 0.0 high 1.0 key 0 shape [@n, 4] : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @other_key(%x: tensor<?x4xf32> {rlx.dims = [@n, 4]}) -> tensor<?x4xf32> {
  %0 = rlx.rng_uniform low 0.0 high 1.0 key 1 shape [@n, 4] : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @narrow(%x: tensor<?x4xf32> {rlx.dims = [@n, 4]}) -> tensor<?x4xf32> {
  %0 = rlx.rng_uniform low 16777216.0 high 16777218.0 key 0 shape [@n, 4] : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @normal(%x: tensor<?x4xf32> {rlx.dims = [@n, 4]}) -> tensor<?x4xf32> {
  %0 = rlx.rng_normal mean 2.0 scale 3.0 key 0 shape [@n, 4] : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
)";

std::vector<float> draw(const GraphRunner &graph, llvm::StringRef name,
                        int64_t rows, int64_t seed, int64_t counter) {
  Tensor shape({rows, 4}, std::vector<float>(rows * 4));
  return graph.run(name, {shape}, {rows, 4}, 4, {seed, counter}).as<float>();
}

// The published test vectors of Philox4x32-10: a counter and a key of zeros,
// and of ones. The key of the op enters by SplitMix64, of which the first
// output for state 0 is also published.
TEST(GraphTest, RandomWordsArePhilox) {
  const int64_t kMixedKey = 0xe220a8397b1dcdaf;
  GraphRunner graph(kRandom, runnableClasses().front());
  ASSERT_TRUE(graph);
  EXPECT_EQ(draw(graph, "uniform", 1, kMixedKey, 0)[0],
            (0x6627e8d5 >> 8) * 0x1p-24f);
}

TEST(GraphTest, RandomNumbersDependOnSeedForwardKeyAndPlace) {
  std::vector<float> first;
  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(kRandom, cpuClass);
    ASSERT_TRUE(graph);
    std::vector<float> base = draw(graph, "uniform", 100, 1, 0);
    if (first.empty())
      first = base;
    EXPECT_EQ(base, first) << "on " << cpuClass;
    EXPECT_EQ(draw(graph, "uniform", 100, 1, 0), base);
    EXPECT_NE(draw(graph, "uniform", 100, 2, 0), base);
    EXPECT_NE(draw(graph, "uniform", 100, 1, 1), base);
    EXPECT_NE(draw(graph, "other_key", 100, 1, 0), base);
    // A prefix stays what it is when the tensor grows.
    std::vector<float> longer = draw(graph, "uniform", 200, 1, 0);
    EXPECT_EQ(std::vector<float>(longer.begin(), longer.begin() + 400), base);
  }
}

TEST(GraphTest, RandomNumbersHaveTheirDistributions) {
  GraphRunner graph(kRandom, runnableClasses().front());
  ASSERT_TRUE(graph);
  const int64_t kRows = 1 << 16;
  const double count = 4.0 * kRows;

  double sum = 0, squares = 0;
  for (float u : draw(graph, "uniform", kRows, 5, 9)) {
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  // Four standard errors.
  EXPECT_NEAR(sum / count, 0.5, 4 * std::sqrt(1 / 12.0 / count));
  EXPECT_NEAR(squares / count, 1 / 3.0, 4 * std::sqrt(4 / 45.0 / count));

  // high is not drawn although rounding gives it for half of all u.
  for (float u : draw(graph, "narrow", 1000, 5, 9))
    ASSERT_EQ(u, 16777216.0f);

  sum = squares = 0;
  int64_t beyondTwo = 0;
  for (float x : draw(graph, "normal", kRows, 5, 9)) {
    ASSERT_TRUE(std::isfinite(x));
    double z = (x - 2) / 3;
    sum += z;
    squares += z * z;
    beyondTwo += std::fabs(z) > 2;
  }
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count));
  double tail = std::erfc(2 / std::sqrt(2.0));
  EXPECT_NEAR(beyondTwo / count, tail, 4 * std::sqrt(tail / count));
}

} // namespace
