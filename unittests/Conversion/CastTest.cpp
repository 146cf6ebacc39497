// SPDX-License-Identifier: MIT OR Apache-2.0
//===- CastTest.cpp - rlx.cast between all element types ------------------===//
//
// The reference is LLVM's arbitrary-precision arithmetic.
//
//===----------------------------------------------------------------------===//

#include "GraphRunner.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace rlx::test;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

namespace {

struct ElementType {
  const char *name;
  unsigned width;
  bool isUnsigned;
  const llvm::fltSemantics *semantics;

  size_t sizeBytes() const { return (width + 7) / 8; }
};

const ElementType kTypes[] = {
    {"f16", 16, false, &APFloat::IEEEhalf()},
    {"bf16", 16, false, &APFloat::BFloat()},
    {"f32", 32, false, &APFloat::IEEEsingle()},
    {"f64", 64, false, &APFloat::IEEEdouble()},
    {"i1", 1, true, nullptr},
    {"i8", 8, false, nullptr},
    {"i16", 16, false, nullptr},
    {"i32", 32, false, nullptr},
    {"i64", 64, false, nullptr},
    {"ui8", 8, true, nullptr},
    {"ui32", 32, true, nullptr},
};

/// All patterns of 16 bits or less; of more, random ones, small numbers, powers
/// of two, halves between bf16s, and their neighbours.
std::vector<uint64_t> patterns(const ElementType &type) {
  std::vector<uint64_t> result;
  if (type.width <= 16) {
    for (uint64_t i = 0; i < (uint64_t(1) << type.width); ++i)
      result.push_back(i);
    return result;
  }
  uint64_t mask = type.width == 64 ? ~uint64_t(0) : 0xffffffff;
  std::mt19937_64 random(4);
  auto addAround = [&](uint64_t bits) {
    for (uint64_t offset : {-2, -1, 0, 1, 2})
      result.push_back((bits + offset) & mask);
  };
  auto addNumber = [&](double number) {
    if (!type.semantics)
      return;
    APFloat value(number);
    bool losesInfo;
    value.convert(*type.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    addAround(value.bitcastToAPInt().getZExtValue());
  };
  for (unsigned bit = 0; bit < type.width; ++bit) {
    addAround(uint64_t(1) << bit);
    addAround(-(uint64_t(1) << bit));
    // 9 bits and a half, with and without something far behind.
    for (uint64_t significand : {INT64_C(0x103), INT64_C(0x101),
                                 INT64_C(0x1fe01), INT64_C(0x100000001)})
      addAround(significand << bit);
  }
  for (int exponent = -160; exponent <= 160; ++exponent)
    for (double sign : {1.0, -1.0})
      for (double fraction :
           {1.0, 1 + 0x1p-8, 1 + 0x1p-9, 1 + 0x1p-11, 1 + 0x3p-12,
            1 + 0x1p-11 + 0x1p-40, 1 + 0x3p-9, 1 + 0x3p-9 - 0x1p-40})
        addNumber(sign * std::ldexp(fraction, exponent));
  for (double number : {0.0, -0.0, 0.5, 127.5, 128.0, 255.5, -128.5, 65504.0,
                        65519.0, 65520.0, HUGE_VAL, -HUGE_VAL, double(NAN)})
    addNumber(number);
  for (int i = 0; i < 20000; ++i)
    result.push_back(random() >> (random() % type.width) & mask);
  return result;
}

/// Bits of what a cast gives; none where any NaN will do.
std::optional<uint64_t> reference(const ElementType &from,
                                  const ElementType &to, uint64_t bits) {
  APInt raw(from.width, bits);
  bool losesInfo;
  if (from.semantics) {
    APFloat value(*from.semantics, raw);
    if (to.width == 1)
      return !value.isZero();
    if (to.semantics) {
      if (value.isNaN())
        return std::nullopt;
      value.convert(*to.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
      return value.bitcastToAPInt().getZExtValue();
    }
    // Saturates; NaN is 0.
    APSInt integer(to.width, to.isUnsigned);
    bool isExact;
    value.convertToInteger(integer, APFloat::rmTowardZero, &isExact);
    return integer.getZExtValue();
  }
  APSInt value(raw, from.isUnsigned);
  if (to.width == 1)
    return value != 0;
  if (!to.semantics)
    return value.extOrTrunc(to.width).getZExtValue();
  APFloat result(*to.semantics);
  result.convertFromAPInt(value, value.isSigned(),
                          APFloat::rmNearestTiesToEven);
  return result.bitcastToAPInt().getZExtValue();
}

bool isNan(const ElementType &type, uint64_t bits) {
  return APFloat(*type.semantics, APInt(type.width, bits)).isNaN();
}

class CastTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(CastTest, EqualsReference) {
  const ElementType &from = GetParam();
  std::string text;
  for (const ElementType &to : kTypes)
    text += llvm::formatv(
        "func.func @to_{1}(%x: tensor<?x{0}>) -> tensor<?x{1}> {{\n"
        "  %0 = rlx.cast %x : tensor<?x{0}> to tensor<?x{1}>\n"
        "  return %0 : tensor<?x{1}>\n}\n",
        from.name, to.name);

  std::vector<uint64_t> bits = patterns(from);
  Tensor input;
  input.shape = {static_cast<int64_t>(bits.size())};
  input.bytes.resize(bits.size() * from.sizeBytes());
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&input.bytes[i * from.sizeBytes()], &bits[i], from.sizeBytes());

  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(text, cpuClass);
    ASSERT_TRUE(graph);
    for (const ElementType &to : kTypes) {
      if (std::string(to.name) == from.name)
        continue;
      Tensor output = graph.run(std::string("to_") + to.name, {input},
                                input.shape, to.sizeBytes());
      for (size_t i = 0; i < bits.size(); ++i) {
        uint64_t actual = 0;
        std::memcpy(&actual, &output.bytes[i * to.sizeBytes()], to.sizeBytes());
        std::optional<uint64_t> expected = reference(from, to, bits[i]);
        if (!expected && isNan(to, actual))
          continue;
        ASSERT_TRUE(expected) << "NaN became " << actual;
        ASSERT_EQ(actual, *expected) << from.name << " " << std::hex << bits[i]
                                     << " to " << to.name << " on " << cpuClass;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CastTest, ::testing::ValuesIn(kTypes),
                         [](const ::testing::TestParamInfo<ElementType> &info) {
                           return info.param.name;
                         });

} // namespace
