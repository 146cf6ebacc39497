// SPDX-License-Identifier: MIT OR Apache-2.0
#include "GuardedBuffer.h"
#include "KernelModules.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <memory>

using namespace rlx;
using namespace rlx::test;

namespace {

using Side = GuardedBuffer::Side;

struct Shape {
  int64_t m, n, k;
};
std::ostream &operator<<(std::ostream &stream, const Shape &shape) {
  return stream << "m=" << shape.m << " n=" << shape.n << " k=" << shape.k;
}

/// Row counts around the tile heights, the packing and prefetch thresholds and
/// the row block; widths around vectors, panels and their tails; depths around
/// the K block.
constexpr int64_t rowCounts[] = {0,  1,  2,  5,  6,  7,   8,   13,
                                 16, 17, 32, 33, 40, 128, 131, 257};
constexpr int64_t widths[] = {0,  1,  7,  8,  9,  16,  17,  31,
                              33, 48, 63, 64, 65, 100, 128, 200};
constexpr int64_t depths[] = {0, 1, 3, 64, 511, 512, 513, 1030};

/// The specification: one chain of FMAs in the order of k, from +0.
__attribute__((target("avx2,fma"))) void
referenceProduct(const float *a, int64_t lda, const float *b, float *c,
                 int64_t ldc, Shape shape) {
  for (int64_t i = 0; i < shape.m; ++i) {
    float *row = c + i * ldc;
    for (int64_t j = 0; j < shape.n; ++j)
      row[j] = 0;
    for (int64_t k = 0; k < shape.k; ++k)
      for (int64_t j = 0; j < shape.n; ++j)
        row[j] = __builtin_fmaf(a[i * lda + k], b[k * shape.n + j], row[j]);
  }
}

/// Element (i, j) of the product in f64.
double preciseElement(const float *a, int64_t lda, const float *b, Shape shape,
                      int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < shape.k; ++k)
    sum += static_cast<double>(a[i * lda + k]) *
           static_cast<double>(b[k * shape.n + j]);
  return sum;
}

/// The operands of one product. Between the rows of A and of C there are gaps;
/// the gaps of A hold NaN, those of C a value that must survive.
struct Problem {
  static constexpr float gap = 12345.0f;

  Problem(Shape shape, Side side, int64_t rowGap)
      : shape(shape), lda(shape.k + rowGap), ldc(shape.n + rowGap),
        a(extent(shape.m, lda, shape.k), side), b(shape.k * shape.n, side),
        packed(shape.k * shape.n, side), c(extent(shape.m, ldc, shape.n), side),
        expected(extent(shape.m, ldc, shape.n), side) {
    a.fill(NAN);
    GuardedBuffer values(shape.m * shape.k, side);
    values.fillRandom(1);
    for (int64_t i = 0; i < shape.m; ++i)
      std::copy_n(values.data() + i * shape.k, shape.k, a.data() + i * lda);
    b.fillRandom(2);
    for (int64_t k = 0; k < shape.k; ++k)
      for (int64_t j = 0; j < shape.n; ++j)
        packed[panelOffset(shape.k, shape.n, k, j)] = b[k * shape.n + j];
    a.makeReadOnly();
    packed.makeReadOnly();
    reset();
    expected.fill(gap);
    referenceProduct(a.data(), lda, b.data(), expected.data(), ldc, shape);
  }

  void reset() { c.fill(gap); }

  void run(const rlx_kernel_table &kernels, int64_t panelBegin,
           int64_t panelEnd, rlx_gemm_epilogue epilogue = nullptr,
           void *context = nullptr) {
    kernels.gemm_f32(a.data(), lda, packed.data(), c.data(), ldc, shape.m,
                     shape.n, shape.k, panelBegin, panelEnd, epilogue, context);
  }
  void run(const rlx_kernel_table &kernels,
           rlx_gemm_epilogue epilogue = nullptr, void *context = nullptr) {
    run(kernels, 0, panelCount(shape.n), epilogue, context);
  }

  /// C is the expected result to the bit, the gaps included.
  testing::AssertionResult isExpected() {
    for (int64_t i = 0; i < c.size(); ++i)
      if (std::memcmp(&c[i], &expected[i], sizeof(float)) != 0)
        return testing::AssertionFailure()
               << shape << ": element (" << i / ldc << ", " << i % ldc
               << ") is " << c[i] << ", expected " << expected[i];
    return testing::AssertionSuccess();
  }

  /// Elements from the first to the last one, without a gap after it.
  static int64_t extent(int64_t rows, int64_t stride, int64_t columns) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
  }

  Shape shape;
  int64_t lda, ldc;
  GuardedBuffer a, b, packed, c, expected;
};

class GemmTest : public testing::TestWithParam<KernelModule> {
protected:
  const rlx_kernel_table &kernels = *GetParam().kernels;
};

} // namespace

// The grid is checked against the chain of FMAs to the bit, which makes the
// classes equal to each other as well. Operands end at pages that fault.
TEST_P(GemmTest, EveryShapeIsTheChainOfFmas) {
  for (int64_t m : rowCounts)
    for (int64_t n : widths)
      for (int64_t k : depths) {
        Problem problem({m, n, k}, Side::End, /*rowGap=*/k % 2);
        problem.run(kernels);
        ASSERT_TRUE(problem.isExpected());
      }
}

TEST_P(GemmTest, NothingBeforeTheOperandsIsTouched) {
  for (int64_t m : {1, 7, 40})
    for (int64_t n : {1, 64, 100})
      for (int64_t k : {1, 513}) {
        Problem problem({m, n, k}, Side::Begin, 0);
        problem.run(kernels);
        ASSERT_TRUE(problem.isExpected());
      }
}

TEST_P(GemmTest, IsCloseToDoublePrecision) {
  for (Shape shape : {Shape{3, 70, 600}, Shape{130, 65, 1030}}) {
    Problem problem(shape, Side::End, 0);
    problem.run(kernels);
    for (int64_t i = 0; i < shape.m; ++i)
      for (int64_t j = 0; j < shape.n; ++j)
        // |terms| <= 1: each of the k roundings errs by at most k * 2^-24.
        ASSERT_NEAR(problem.c[i * problem.ldc + j],
                    preciseElement(problem.a.data(), problem.lda,
                                   problem.b.data(), shape, i, j),
                    1e-7 * static_cast<double>(shape.k));
  }
}

TEST_P(GemmTest, PanelSplitsGiveTheSameBits) {
  for (int64_t m : {1, 16, 33, 130}) {
    Problem problem({m, 300, 520}, Side::End, 3);
    int64_t panels = panelCount(300);
    for (int64_t size = 1; size < panels; ++size) {
      problem.reset();
      for (int64_t begin = 0; begin < panels; begin += size)
        problem.run(kernels, begin, std::min(begin + size, panels));
      ASSERT_TRUE(problem.isExpected());
    }
  }
}

TEST_P(GemmTest, APanelRangeWritesItsColumnsOnly) {
  Problem problem({40, 200, 70}, Side::End, 0);
  problem.run(kernels, 1, 2);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 200; ++j) {
      bool inside = j >= kPanelWidth && j < 2 * kPanelWidth;
      ASSERT_EQ(problem.c[i * 200 + j],
                inside ? problem.expected[i * 200 + j] : Problem::gap)
          << i << ", " << j;
    }
}

// The epilogue sees every element once, finished; what it stores stays.
TEST_P(GemmTest, EpilogueCoversEveryElementOnceWhenItIsFinal) {
  struct Context {
    Problem *problem;
    std::vector<int> visits;
    int64_t early = 0;
  };
  auto epilogue = [](void *opaque, int64_t row, int64_t rows, int64_t column,
                     int64_t columns) {
    auto &context = *static_cast<Context *>(opaque);
    Problem &problem = *context.problem;
    for (int64_t i = row; i < row + rows; ++i)
      for (int64_t j = column; j < column + columns; ++j) {
        int64_t element = i * problem.ldc + j;
        ++context.visits[element];
        context.early += problem.c[element] != problem.expected[element];
        problem.c[element] = -1;
      }
  };
  for (int64_t m : {1, 16, 33, 257})
    for (int64_t n : {1, 64, 100, 200})
      for (int64_t k : {0, 1, 512, 1030}) {
        Problem problem({m, n, k}, Side::End, 0);
        Context context{&problem, std::vector<int>(problem.c.size())};
        problem.run(kernels, epilogue, &context);
        EXPECT_EQ(context.early, 0) << problem.shape;
        for (int64_t i = 0; i < problem.c.size(); ++i) {
          ASSERT_EQ(context.visits[i], 1) << problem.shape;
          ASSERT_EQ(problem.c[i], -1) << problem.shape;
        }
      }
}

TEST_P(GemmTest, EpilogueRunsOnceForAnEmptySum) {
  Problem problem({5, 70, 0}, Side::End, 0);
  problem.c.fill(NAN);
  int64_t calls = 0;
  problem.run(
      kernels,
      [](void *calls, int64_t, int64_t, int64_t, int64_t) {
        ++*static_cast<int64_t *>(calls);
      },
      &calls);
  EXPECT_EQ(calls, 2); // One per panel.
  EXPECT_TRUE(problem.isExpected());
}

TEST_P(GemmTest, NonFiniteValuesReachTheirRowOrColumnOnly) {
  Shape shape{20, 100, 40};
  Problem problem(shape, Side::End, 0);
  GuardedBuffer a(shape.m * shape.k, Side::End);
  GuardedBuffer packed(shape.k * shape.n, Side::End);
  a.fill(1);
  packed.fill(1);
  a[7 * shape.k + 3] = INFINITY;
  packed[panelOffset(shape.k, shape.n, 9, 80)] = NAN;
  kernels.gemm_f32(a.data(), shape.k, packed.data(), problem.c.data(), shape.n,
                   shape.m, shape.n, shape.k, 0, panelCount(shape.n), nullptr,
                   nullptr);
  for (int64_t i = 0; i < shape.m; ++i)
    for (int64_t j = 0; j < shape.n; ++j) {
      float element = problem.c[i * shape.n + j];
      if (j == 80)
        ASSERT_TRUE(std::isnan(element));
      else
        ASSERT_EQ(element, i == 7 ? INFINITY : 40.0f);
    }
}

INSTANTIATE_TEST_SUITE_P(Class, GemmTest, testing::ValuesIn(kernelModules()),
                         [](const auto &info) {
                           return info.param.cpuClass == "x86-64-v3" ? "v3"
                                                                     : "v4";
                         });

// Larger than the grid, with values whose sums round at every step.
TEST(GemmClassesTest, GiveTheSameBits) {
  const rlx_kernel_table *v3 = findKernels("x86-64-v3");
  const rlx_kernel_table *v4 = findKernels("x86-64-v4");
  if (!v3 || !v4)
    GTEST_SKIP() << "this machine cannot run x86-64-v4 code";
  for (Shape shape : {Shape{1, 768, 3000}, Shape{16, 333, 1024},
                      Shape{100, 200, 1500}, Shape{300, 130, 700}}) {
    Problem problem(shape, Side::End, 0);
    problem.run(*v3);
    std::vector<float> first(problem.c.data(),
                             problem.c.data() + problem.c.size());
    problem.reset();
    problem.run(*v4);
    EXPECT_EQ(std::memcmp(first.data(), problem.c.data(),
                          first.size() * sizeof(float)),
              0)
        << shape;
  }
}
