// SPDX-License-Identifier: MIT OR Apache-2.0
#include "GuardedBuffer.h"
#include "KernelModules.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "gtest/gtest.h"

using namespace rlx;
using namespace rlx::test;

namespace {

using Side = GuardedBuffer::Side;

/// A strided k x n matrix.
struct Matrix {
  int64_t k, n, strideK, strideN;
  int64_t elements() const {
    return k == 0 || n == 0 ? 0 : (k - 1) * strideK + (n - 1) * strideN + 1;
  }
};
std::ostream &operator<<(std::ostream &stream, const Matrix &matrix) {
  return stream << "k=" << matrix.k << " n=" << matrix.n << " strides "
                << matrix.strideK << ", " << matrix.strideN;
}

/// Contiguous columns, contiguous rows, both with gaps, and neither contiguous.
std::vector<Matrix> matrices() {
  std::vector<Matrix> result;
  for (int64_t k : {0, 1, 5, 8, 16, 31, 100, 511, 512, 513, 1100})
    for (int64_t n : {0, 1, 7, 8, 17, 63, 64, 65, 129, 200}) {
      result.push_back({k, n, n, 1});
      result.push_back({k, n, n + 3, 1});
      result.push_back({k, n, 1, k});
      result.push_back({k, n, 1, k + 5});
      result.push_back({k, n, 2 * n, 2});
    }
  return result;
}

class PackTest : public testing::TestWithParam<KernelModule> {
protected:
  const rlx_kernel_table &kernels = *GetParam().kernels;
};

} // namespace

// The layout holds every element once, in the order that the tiles read.
TEST(PanelLayoutTest, OffsetsAreAPermutation) {
  for (int64_t k : {1, 511, 512, 513, 1030})
    for (int64_t n : {1, 63, 64, 65, 200}) {
      std::vector<bool> seen(k * n);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j) {
          int64_t offset = panelOffset(k, n, i, j);
          ASSERT_TRUE(offset >= 0 && offset < k * n);
          ASSERT_FALSE(seen[offset]);
          seen[offset] = true;
        }
    }
}

// 600 x 100: a block of 512 rows with panels of 64 and 36 columns, then one of
// 88 rows.
TEST(PanelLayoutTest, OffsetsOfAMatrixWithTails) {
  EXPECT_EQ(panelCount(100), 2);
  EXPECT_EQ(panelWidth(100, 1), 36);
  EXPECT_EQ(kBlockRows(600, 511), 512);
  EXPECT_EQ(kBlockRows(600, 512), 88);
  EXPECT_EQ(panelOffset(600, 100, 0, 63), 63);
  EXPECT_EQ(panelOffset(600, 100, 1, 0), 64);
  EXPECT_EQ(panelOffset(600, 100, 0, 64), 512 * 64);
  EXPECT_EQ(panelOffset(600, 100, 1, 64), 512 * 64 + 36);
  EXPECT_EQ(panelOffset(600, 100, 512, 0), 512 * 100);
  EXPECT_EQ(panelOffset(600, 100, 599, 99), 600 * 100 - 1);
}

TEST_P(PackTest, EveryElementLandsWhereTheLayoutSays) {
  for (Matrix matrix : matrices())
    for (Side side : {Side::Begin, Side::End}) {
      GuardedBuffer plain(matrix.elements(), side);
      GuardedBuffer packed(matrix.k * matrix.n, side);
      plain.fillRandom(3);
      plain.makeReadOnly();
      kernels.pack_f32(plain.data(), matrix.strideK, matrix.strideN,
                       packed.data(), matrix.k, matrix.n, 0,
                       panelCount(matrix.n));
      for (int64_t i = 0; i < matrix.k; ++i)
        for (int64_t j = 0; j < matrix.n; ++j)
          ASSERT_EQ(packed[panelOffset(matrix.k, matrix.n, i, j)],
                    plain[i * matrix.strideK + j * matrix.strideN])
              << matrix << " element " << i << ", " << j;
    }
}

// Unpacking gives every element back and leaves the gaps alone.
TEST_P(PackTest, UnpackIsTheInverse) {
  constexpr float gap = 12345.0f;
  for (Matrix matrix : matrices())
    for (Side side : {Side::Begin, Side::End}) {
      GuardedBuffer packed(matrix.k * matrix.n, side);
      GuardedBuffer plain(matrix.elements(), side);
      packed.fillRandom(4);
      packed.makeReadOnly();
      plain.fill(gap);
      kernels.unpack_f32(packed.data(), plain.data(), matrix.strideK,
                         matrix.strideN, matrix.k, matrix.n, 0,
                         panelCount(matrix.n));
      int64_t gaps = matrix.elements() - matrix.k * matrix.n;
      for (int64_t i = 0; i < matrix.k; ++i)
        for (int64_t j = 0; j < matrix.n; ++j)
          ASSERT_EQ(plain[i * matrix.strideK + j * matrix.strideN],
                    packed[panelOffset(matrix.k, matrix.n, i, j)])
              << matrix << " element " << i << ", " << j;
      for (int64_t i = 0; i < plain.size(); ++i)
        gaps -= plain[i] == gap;
      ASSERT_EQ(gaps, 0) << matrix;
    }
}

TEST_P(PackTest, PanelRangesCompose) {
  Matrix matrix{600, 300, 1, 600};
  GuardedBuffer plain(matrix.elements(), Side::End);
  plain.fillRandom(5);
  GuardedBuffer whole(matrix.k * matrix.n, Side::End);
  GuardedBuffer parts(matrix.k * matrix.n, Side::End);
  auto pack = [&](GuardedBuffer &target, int64_t begin, int64_t end) {
    kernels.pack_f32(plain.data(), matrix.strideK, matrix.strideN,
                     target.data(), matrix.k, matrix.n, begin, end);
  };
  pack(whole, 0, panelCount(matrix.n));
  for (int64_t panel = 0; panel < panelCount(matrix.n); ++panel)
    pack(parts, panel, panel + 1);
  for (int64_t i = 0; i < whole.size(); ++i)
    ASSERT_EQ(whole[i], parts[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(Class, PackTest, testing::ValuesIn(kernelModules()),
                         [](const auto &info) {
                           return info.param.cpuClass == "x86-64-v3" ? "v3"
                                                                     : "v4";
                         });
