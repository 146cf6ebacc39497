// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Support/Error.h"

#include "gtest/gtest.h"

using namespace rlx;

TEST(MakeError, FormatsValues) {
  llvm::Error error = makeError("{0}: has {1} bytes", "a.bin", 3);
  EXPECT_EQ(llvm::toString(std::move(error)), "a.bin: has 3 bytes");
}

// A name is data: braces in it are no places for values.
TEST(MakeError, LeavesBracesOfValuesAlone) {
  llvm::Error error = makeError("tensor {0}", quoteName("w{0}{1}"));
  EXPECT_EQ(llvm::toString(std::move(error)), "tensor 'w{0}{1}'");
}

TEST(QuoteName, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(quoteName("fc1.weight"), "'fc1.weight'");
  EXPECT_EQ(quoteName("größe"), "'größe'");
  EXPECT_EQ(quoteName("a\nb\x7f"), "'a\\x0ab\\x7f'");
  EXPECT_EQ(quoteName("\xff\xfe"), "'\\xff\\xfe'");
  EXPECT_EQ(quoteName(llvm::StringRef("a\0b", 3)), "'a\\x00b'");
}

TEST(QuoteName, CutsTheMiddleOfLongNames) {
  std::string quoted = quoteName("head" + std::string(1000, 'x') + "tail");
  EXPECT_LT(quoted.size(), 140u);
  EXPECT_EQ(quoted.substr(0, 5), "'head");
  EXPECT_EQ(quoted.substr(quoted.size() - 5), "tail'");
}

// No two-byte character is cut in half, wherever the cut falls.
TEST(QuoteName, CutsBetweenCharacters) {
  for (size_t shift = 0; shift < 2; ++shift) {
    std::string name(shift, 'a');
    for (int i = 0; i < 200; ++i)
      name += "ö";
    EXPECT_EQ(quoteName(name).find("\\x"), std::string::npos);
  }
}
