// SPDX-License-Identifier: MIT OR Apache-2.0
//===- IntegerTest.cpp - Elementwise ops on integers ----------------------===//

#include "GraphRunner.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <limits>

using namespace rlx::test;

namespace {

template <typename T> struct Names;
template <> struct Names<int8_t> {
  static constexpr const char *type = "i8";
};
template <> struct Names<int16_t> {
  static constexpr const char *type = "i16";
};
template <> struct Names<int32_t> {
  static constexpr const char *type = "i32";
};
template <> struct Names<int64_t> {
  static constexpr const char *type = "i64";
};
template <> struct Names<uint8_t> {
  static constexpr const char *type = "ui8";
};
template <> struct Names<uint32_t> {
  static constexpr const char *type = "ui32";
};

template <typename T> class IntegerTest : public ::testing::Test {};
using Types =
    ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t>;
TYPED_TEST_SUITE(IntegerTest, Types, );

/// All values of 8 bits; the corners of wider types.
template <typename T> std::vector<T> values() {
  std::vector<T> result;
  if (sizeof(T) == 1) {
    for (int i = 0; i < 256; ++i)
      result.push_back(static_cast<T>(i));
    return result;
  }
  using Limits = std::numeric_limits<T>;
  for (int64_t i = -70; i <= 70; ++i)
    result.push_back(static_cast<T>(i));
  for (int64_t i = 0; i < 4; ++i) {
    result.push_back(static_cast<T>(Limits::max() - i));
    result.push_back(static_cast<T>(Limits::min() + i));
    result.push_back(static_cast<T>(Limits::max() / 3 + i));
  }
  return result;
}

/// What the op is documented to give, in arithmetic without undefined
/// behaviour.
template <typename T> T reference(llvm::StringRef op, T x, T y) {
  using U = std::make_unsigned_t<T>;
  constexpr int bits = sizeof(T) * 8;
  auto wrap = [](U value) { return static_cast<T>(value); };
  U ux = static_cast<U>(x), uy = static_cast<U>(y);
  bool isShift = !(y < 0) && uy < static_cast<U>(bits);
  bool isMinusOne = std::is_signed_v<T> && y == static_cast<T>(-1);
  if (op == "add")
    return wrap(ux + uy);
  if (op == "sub")
    return wrap(ux - uy);
  if (op == "mul")
    return wrap(static_cast<U>(uint64_t(ux) * uint64_t(uy)));
  if (op == "div")
    return y == 0 ? 0 : isMinusOne ? wrap(U(0) - ux) : static_cast<T>(x / y);
  if (op == "mod")
    return y == 0 || isMinusOne ? 0 : static_cast<T>(x % y);
  if (op == "max")
    return std::max(x, y);
  if (op == "min")
    return std::min(x, y);
  if (op == "bit_and")
    return static_cast<T>(x & y);
  if (op == "bit_or")
    return static_cast<T>(x | y);
  if (op == "bit_xor")
    return static_cast<T>(x ^ y);
  if (op == "shl")
    return isShift ? wrap(static_cast<U>(uint64_t(ux) << uy)) : 0;
  if (op == "shr")
    return isShift ? static_cast<T>(x >> y) : static_cast<T>(x < 0 ? -1 : 0);
  if (op == "abs")
    return x < 0 ? wrap(U(0) - ux) : x;
  if (op == "neg")
    return wrap(U(0) - ux);
  if (op == "relu")
    return std::max<T>(x, 0);
  if (op == "sign")
    return static_cast<T>(x > 0 ? 1 : x < 0 ? -1 : 0);
  ADD_FAILURE() << "no reference for " << op.str();
  return 0;
}

TYPED_TEST(IntegerTest, EqualsReference) {
  const char *type = Names<TypeParam>::type;
  const char *binary[] = {"add", "sub",     "mul",    "div",     "mod", "max",
                          "min", "bit_and", "bit_or", "bit_xor", "shl", "shr"};
  std::vector<const char *> unary;
  if (std::is_signed_v<TypeParam>)
    unary = {"abs", "neg", "relu", "sign"};

  std::string text;
  for (const char *op : binary)
    text +=
        llvm::formatv("func.func @{0}(%x: tensor<?x{1}>, %y: tensor<?x{1}>)"
                      " -> tensor<?x{1}> {{\n"
                      "  %0 = rlx.{0} %x, %y : tensor<?x{1}>, tensor<?x{1}>\n"
                      "  return %0 : tensor<?x{1}>\n}\n",
                      op, type);
  for (const char *op : unary)
    text +=
        llvm::formatv("func.func @{0}(%x: tensor<?x{1}>) -> tensor<?x{1}> {{\n"
                      "  %0 = rlx.{0} %x : tensor<?x{1}>\n"
                      "  return %0 : tensor<?x{1}>\n}\n",
                      op, type);

  std::vector<TypeParam> x, y;
  for (TypeParam a : values<TypeParam>())
    for (TypeParam b : values<TypeParam>()) {
      x.push_back(a);
      y.push_back(b);
    }
  int64_t count = x.size();
  for (const char *cpuClass : runnableClasses()) {
    GraphRunner graph(text, cpuClass);
    ASSERT_TRUE(graph);
    auto check = [&](const char *op, const std::vector<Tensor> &inputs) {
      auto actual = graph.run(op, inputs, {count}, sizeof(TypeParam))
                        .template as<TypeParam>();
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(int64_t(actual[i]), int64_t(reference(op, x[i], y[i])))
            << op << "(" << int64_t(x[i]) << ", " << int64_t(y[i]) << ") of "
            << type << " on " << cpuClass;
    };
    Tensor lhs({count}, x), rhs({count}, y);
    for (const char *op : binary)
      check(op, {lhs, rhs});
    for (const char *op : unary)
      check(op, {lhs});
  }
}

} // namespace
