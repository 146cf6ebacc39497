// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Support/NearMiss.h"

#include "gtest/gtest.h"

using namespace rlx;

TEST(NearMiss, FindsSlipsOfTheKeyboard) {
  EXPECT_EQ(nearestName("Rleu", {"Gelu", "Relu", "Tanh"}), "Relu");
  EXPECT_EQ(nearestName("fc1.wieght", {"fc2.weight", "fc1.weight"}),
            "fc1.weight");
}

TEST(NearMiss, IgnoresCase) {
  EXPECT_EQ(nearestName("matmul", {"Matmu", "MatMul"}), "MatMul");
}

TEST(NearMiss, FindsModulePrefixes) {
  EXPECT_EQ(nearestName("fc1.weight", {"fc2.weight", "model.fc1.weight"}),
            "model.fc1.weight");
  EXPECT_EQ(nearestName("model.fc1.weight", {"fc1.weight"}), "fc1.weight");
  EXPECT_EQ(nearestName("weight", {"xweight.bias", "a.b.c.d.weight"}),
            "a.b.c.d.weight");
}

TEST(NearMiss, SuggestsNothingFarOff) {
  EXPECT_EQ(nearestName("embedding", {"Relu", "lm_head.weight"}), "");
  EXPECT_EQ(nearestName("w", {"b"}), "");
  EXPECT_EQ(nearestName("", {"b"}), "");
  EXPECT_EQ(nearestName("x", {}), "");
}

TEST(NearMiss, WordsTheSuggestion) {
  EXPECT_EQ(didYouMean("Rleu", {"Relu"}), ", did you mean 'Relu'?");
  EXPECT_EQ(didYouMean("Conv", {"Relu"}), "");
}
