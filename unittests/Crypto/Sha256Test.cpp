// SPDX-License-Identifier: MIT OR Apache-2.0

#include "RLX/Crypto/Sha256.h"

#include <gtest/gtest.h>

using namespace rlx::crypto;

// The three examples of FIPS 180-4.
TEST(Sha256, PublishedExamples) {
  EXPECT_EQ(toHex(sha256("", 0)),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256("abc", 3)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::string million(1000000, 'a');
  EXPECT_EQ(toHex(sha256(million.data(), million.size())),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Any cut of the input gives the same digest, and a hasher starts over.
TEST(Sha256, IncrementalAndReusable) {
  std::string text(300, 'x');
  Digest whole = sha256(text.data(), text.size());
  Sha256 hasher;
  for (size_t cut : {size_t(0), size_t(1), size_t(63), size_t(64), size_t(65),
                     text.size()}) {
    hasher.update(text.data(), cut);
    hasher.update(text.data() + cut, text.size() - cut);
    EXPECT_EQ(hasher.finish(), whole) << "cut at " << cut;
  }
}
