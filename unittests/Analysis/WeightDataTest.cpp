// SPDX-License-Identifier: MIT OR Apache-2.0
//===- WeightDataTest.cpp - The bytes of weights --------------------------===//

#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;
using namespace rlx;
using testing::ElementsAre;

namespace {

class WeightDataTest : public testing::Test {
protected:
  WeightDataTest() { context.loadDialect<RLXDialect>(); }

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }

  template <typename T> std::vector<T> read(ElementsAttr value) {
    std::optional<WeightBytes> bytes = WeightBytes::read(value);
    EXPECT_TRUE(bytes.has_value());
    std::vector<T> elements(bytes->get().size() / sizeof(T));
    std::memcpy(elements.data(), bytes->get().data(), bytes->get().size());
    return elements;
  }

  MLIRContext context;
  Builder builder{&context};
};

TEST_F(WeightDataTest, SizesOfTypes) {
  EXPECT_EQ(getStoredSizeBytes(tensor({}, builder.getF32Type())), 4);
  EXPECT_EQ(getStoredSizeBytes(tensor({3, 5}, builder.getF16Type())), 30);
  EXPECT_EQ(getStoredSizeBytes(tensor({3, 0}, builder.getF64Type())), 0);
  EXPECT_EQ(getStoredSizeBytes(tensor({9}, builder.getI1Type())), 9);
  EXPECT_EQ(
      getStoredSizeBytes(PackedType::get(&context, {3, 5}, builder.getF32Type(),
                                         Encoding::Dense, Layout::Panel64)),
      60);
}

TEST_F(WeightDataTest, TypesThatAreNeverStored) {
  int64_t dynamic = ShapedType::kDynamic;
  Type f32 = builder.getF32Type();
  EXPECT_FALSE(getStoredSizeBytes(f32));
  EXPECT_FALSE(getStoredSizeBytes(builder.getIndexType()));
  EXPECT_FALSE(getStoredSizeBytes(tensor({dynamic}, f32)));
  EXPECT_FALSE(getStoredSizeBytes(UnrankedTensorType::get(f32)));
  EXPECT_FALSE(getStoredSizeBytes(MemRefType::get({4}, f32)));
  EXPECT_FALSE(getStoredSizeBytes(tensor({4}, builder.getIndexType())));
  EXPECT_FALSE(getStoredSizeBytes(
      RankedTensorType::get({4}, f32, builder.getUnitAttr())));
  // More than 2^63 elements, and more than 2^63 bytes.
  EXPECT_FALSE(getStoredSizeBytes(tensor({int64_t(1) << 62, 4}, f32)));
  EXPECT_FALSE(getStoredSizeBytes(tensor({int64_t(1) << 62}, f32)));
}

TEST_F(WeightDataTest, BorrowsWhatLiesReady) {
  auto type = tensor({3}, builder.getF32Type());
  auto dense = DenseElementsAttr::get<float>(type, {1, 2, 3});
  EXPECT_THAT(read<float>(dense), ElementsAre(1, 2, 3));
  EXPECT_EQ(WeightBytes::read(dense)->get().data(), dense.getRawData().data());
}

TEST_F(WeightDataTest, ExpandsSplats) {
  auto type = tensor({2, 2}, builder.getI16Type());
  EXPECT_THAT(read<int16_t>(DenseElementsAttr::get<int16_t>(type, -7)),
              ElementsAre(-7, -7, -7, -7));
}

TEST_F(WeightDataTest, UnpacksI1) {
  auto type = tensor({9}, builder.getI1Type());
  auto value = DenseElementsAttr::get<bool>(
      type, {true, false, false, true, false, false, false, true, true});
  EXPECT_THAT(read<uint8_t>(value), ElementsAre(1, 0, 0, 1, 0, 0, 0, 1, 1));
  EXPECT_THAT(read<uint8_t>(DenseElementsAttr::get<bool>(type, true)),
              testing::Each(1));
}

TEST_F(WeightDataTest, CopiesWhatIsMisaligned) {
  alignas(8) static char file[16] = {};
  float values[] = {4, 5};
  std::memcpy(file + 1, values, sizeof(values));
  auto value = DenseResourceElementsAttr::get(
      tensor({2}, builder.getF32Type()), "file",
      UnmanagedAsmResourceBlob::allocateWithAlign(
          ArrayRef<char>(file + 1, sizeof(values)), 1));
  EXPECT_THAT(read<float>(value), ElementsAre(4, 5));
  EXPECT_EQ(
      reinterpret_cast<uintptr_t>(WeightBytes::read(value)->get().data()) %
          alignof(float),
      0u);
}

TEST_F(WeightDataTest, RefusesWhatIsNotLoaded) {
  auto type = tensor({2}, builder.getF32Type());
  auto value = DenseResourceElementsAttr::get(
      type, "short", HeapAsmResourceBlob::allocate(4, 64));
  EXPECT_FALSE(WeightBytes::read(value)) << "4 bytes for 2 elements";
  value.getRawHandle().getResource()->setBlob(AsmResourceBlob());
  EXPECT_FALSE(WeightBytes::isReadable(value));
}

} // namespace
