// SPDX-License-Identifier: MIT OR Apache-2.0
#include "KernelModules.h"

#include "llvm/ADT/APFloat.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace rlx::test;

namespace {

class BuiltinsTest : public testing::TestWithParam<KernelModule> {
protected:
  const rlx_kernel_table &builtins = *GetParam().kernels;
};

template <typename To, typename From> To bitsTo(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Values at the edges of every format involved, of both signs.
std::vector<double> edgeValues() {
  std::vector<double> values;
  for (double magnitude : {0.0,
                           0x1p-1074,
                           0x1p-1022,
                           0x1p-150,
                           0x1p-149,
                           0x1p-133,
                           0x1p-134,
                           0x1.8p-134,
                           0x1.000002p-134,
                           0x1p-126,
                           0x1p-25,
                           0x1.000001p-25,
                           0x1p-24,
                           0x1.8p-24,
                           0x1.ffcp-15,
                           0x1.ffep-15,
                           0x1p-14,
                           0.1,
                           1.0,
                           0x1.002p0,
                           0x1.006p0,
                           0x1.01p0,
                           0x1.03p0,
                           0x1.0000001p0,
                           3.14159,
                           65504.0,
                           65519.0,
                           65519.999,
                           65520.0,
                           65536.0,
                           0x1.fep127,
                           0x1.ffp127,
                           0x1.fefffep127,
                           0x1.fffffep127,
                           0x1p128,
                           0x1p1023,
                           static_cast<double>(INFINITY),
                           static_cast<double>(NAN)})
    for (double sign : {1.0, -1.0})
      values.push_back(sign * magnitude);
  // NaNs whose payload has no bit that a 16-bit format keeps.
  values.push_back(bitsTo<double>(UINT64_C(0x7ff0000000000001)));
  values.push_back(bitsTo<double>(UINT64_C(0xfff8000000000123)));
  return values;
}

/// `value` rounded once to `semantics`, by LLVM.
uint16_t rounded(llvm::APFloat value, const llvm::fltSemantics &semantics) {
  bool inexact;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

} // namespace

TEST_P(BuiltinsTest, NarrowConversionsRoundOnce) {
  const llvm::fltSemantics &half = llvm::APFloat::IEEEhalf();
  const llvm::fltSemantics &bfloat = llvm::APFloat::BFloat();
  auto check = [&](double value) {
    // A signalling NaN stays itself in APFloat's eyes; all are quieted here.
    uint16_t quietHalf = std::isnan(value) ? 0x0200 : 0;
    uint16_t quietBfloat = std::isnan(value) ? 0x0040 : 0;
    llvm::APFloat exact(value);
    ASSERT_EQ(builtins.f64_to_f16(value), rounded(exact, half) | quietHalf)
        << value;
    ASSERT_EQ(builtins.f64_to_bf16(value), rounded(exact, bfloat) | quietBfloat)
        << value;
    float single = static_cast<float>(value);
    ASSERT_EQ(builtins.f32_to_bf16(single),
              rounded(llvm::APFloat(single), bfloat) | quietBfloat)
        << single;
  };
  for (double value : edgeValues())
    check(value);
  std::mt19937_64 generator(6);
  for (int i = 0; i < 200000; ++i) {
    check(bitsTo<double>(generator()));
    // Exponents that a half can have.
    check(std::ldexp(static_cast<double>(generator()) * 0x1p-64,
                     static_cast<int>(generator() % 48) - 28));
  }
}

TEST_P(BuiltinsTest, RemaindersAreExact) {
  auto check = [&](double x, double y) {
    double expected = std::fmod(x, y), got = builtins.fmod_f64(x, y);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(got)) << x << " mod " << y;
    else
      ASSERT_EQ(bitsTo<uint64_t>(got), bitsTo<uint64_t>(expected))
          << x << " mod " << y;
    float x32 = static_cast<float>(x), y32 = static_cast<float>(y);
    float expected32 = std::fmod(x32, y32), got32 = builtins.fmod_f32(x32, y32);
    if (std::isnan(expected32))
      ASSERT_TRUE(std::isnan(got32)) << x32 << " mod " << y32;
    else
      ASSERT_EQ(bitsTo<uint32_t>(got32), bitsTo<uint32_t>(expected32))
          << x32 << " mod " << y32;
  };
  for (double x : edgeValues())
    for (double y : edgeValues())
      check(x, y);
  std::mt19937_64 generator(7);
  for (int i = 0; i < 100000; ++i) {
    check(bitsTo<double>(generator()), bitsTo<double>(generator()));
    check(
        static_cast<double>(bitsTo<float>(static_cast<uint32_t>(generator()))),
        static_cast<double>(bitsTo<float>(static_cast<uint32_t>(generator()))));
    check(static_cast<double>(static_cast<int32_t>(generator())) * 0.25,
          static_cast<double>(generator() % 1000) * 0.125);
  }
}

// Sizes around the words, vectors and string instructions in use; the bytes
// around the target stay.
TEST_P(BuiltinsTest, MemoryFunctionsTouchTheirBytesOnly) {
  constexpr size_t margin = 64, largest = 5000;
  std::mt19937 generator(8);
  std::vector<uint8_t> source(largest + 2 * margin);
  for (uint8_t &byte : source)
    byte = static_cast<uint8_t>(generator());
  for (size_t size : {0, 1, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100,
                      2047, 2048, 2049, 5000})
    for (size_t shift : {0, 1, 5}) {
      std::vector<uint8_t> target(source.size(), 0xAA), expected = target;
      uint8_t *to = target.data() + margin + shift;
      const uint8_t *from = source.data() + margin;
      ASSERT_EQ(builtins.copy(to, from, size), to);
      std::copy_n(from, size, expected.data() + margin + shift);
      ASSERT_EQ(target, expected) << "memcpy of " << size;
      ASSERT_EQ(builtins.set(to, 0x1F3, size), to);
      std::fill_n(expected.data() + margin + shift, size, 0xF3);
      ASSERT_EQ(target, expected) << "memset of " << size;
    }
}

TEST_P(BuiltinsTest, MemmoveCopiesOverlappingBytes) {
  constexpr int margin = 3000;
  for (int size : {0, 1, 8, 31, 32, 33, 64, 100, 2048, 3000})
    for (int distance :
         {-3000, -100, -32, -31, -8, -1, 0, 1, 7, 32, 33, 100, 3000}) {
      std::vector<uint8_t> bytes(2 * margin + 3000);
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(i * 37 + i / 256);
      std::vector<uint8_t> expected = bytes;
      std::memmove(expected.data() + margin + distance,
                   expected.data() + margin, size);
      uint8_t *to = bytes.data() + margin + distance;
      ASSERT_EQ(builtins.move(to, bytes.data() + margin, size), to);
      ASSERT_EQ(bytes, expected) << size << " bytes by " << distance;
    }
}

TEST_P(BuiltinsTest, ComparisonsFindTheFirstDifference) {
  for (size_t size : {0, 1, 7, 8, 9, 24, 100}) {
    std::vector<uint8_t> left(size, 0x80), right = left;
    EXPECT_EQ(builtins.compare(left.data(), right.data(), size), 0);
    EXPECT_EQ(builtins.differ(left.data(), right.data(), size), 0);
    for (size_t i = 0; i < size; ++i) {
      right[i] = 0x7F; // Below 0x80 as unsigned bytes.
      for (size_t later = i + 1; later < size; ++later)
        right[later] = 0xFF;
      EXPECT_GT(builtins.compare(left.data(), right.data(), size), 0);
      EXPECT_LT(builtins.compare(right.data(), left.data(), size), 0);
      EXPECT_NE(builtins.differ(left.data(), right.data(), size), 0);
      right = left;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Class, BuiltinsTest,
                         testing::ValuesIn(kernelModules()),
                         [](const auto &info) {
                           return info.param.cpuClass == "x86-64-v3" ? "v3"
                                                                     : "v4";
                         });
