// SPDX-License-Identifier: MIT OR Apache-2.0
#include "JSON/SymbolicShape.h"

#include "gtest/gtest.h"

using namespace rlx;

static const Size batch = Size::symbol(0), seq = Size::symbol(1);
static Size fixed(int64_t size) { return Size::fixed(size); }

TEST(SymbolicShape, NamesConventionalSymbols) {
  EXPECT_EQ(symbolName(0), "batch");
  EXPECT_EQ(symbolName(3), "past_seq");
  EXPECT_EQ(symbolName(4), "s4");
  EXPECT_EQ(Size::symbol(2).str(), "rows");
}

TEST(SymbolicShape, MultipliesAndDivides) {
  Size product = *fixed(6).times(seq)->times(batch);
  EXPECT_EQ(product.str(), "6*batch*seq");
  EXPECT_EQ(product, *batch.times(*seq.times(fixed(6))));
  EXPECT_EQ(product.dividedBy(*batch.times(fixed(2)))->str(), "3*seq");
  EXPECT_EQ(product.dividedBy(product), fixed(1));
  EXPECT_EQ(product.dividedBy(fixed(4)), std::nullopt);
  EXPECT_EQ(product.dividedBy(*batch.times(batch)), std::nullopt);
  EXPECT_EQ(fixed(3).dividedBy(batch), std::nullopt);
  EXPECT_EQ(fixed(0).dividedBy(fixed(0)), std::nullopt);
  EXPECT_EQ(batch.times(fixed(0)), fixed(0));
}

TEST(SymbolicShape, NoticesOverflow) {
  EXPECT_EQ(fixed(INT64_MAX).times(fixed(2)), std::nullopt);
  EXPECT_EQ(elementCount({fixed(1LL << 32), batch, fixed(1LL << 32)}),
            std::nullopt);
  EXPECT_EQ(elementCount({}), fixed(1));
}

TEST(SymbolicShape, BroadcastsAsNumpy) {
  size_t conflict = 99;
  auto shape =
      broadcast({batch, fixed(1), fixed(4)}, {seq, fixed(4)}, conflict);
  ASSERT_TRUE(shape);
  EXPECT_EQ(str(*shape), "[batch, seq, 4]");
  EXPECT_EQ(str(*broadcast({fixed(4)}, {batch, fixed(1)}, conflict)),
            "[batch, 4]");
  EXPECT_EQ(str(*broadcast({}, {}, conflict)), "[]");
}

// A symbol is only equal to itself: not to another one, nor to a number it may
// have by chance.
TEST(SymbolicShape, KeepsSymbolsApart) {
  size_t conflict = 99;
  EXPECT_FALSE(broadcast({batch, fixed(4)}, {seq, fixed(4)}, conflict));
  EXPECT_EQ(conflict, 0u);
  EXPECT_FALSE(broadcast({fixed(3), batch}, {fixed(8)}, conflict));
  EXPECT_EQ(conflict, 1u);
}
