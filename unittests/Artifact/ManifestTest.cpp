// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a manifest may say: every rule of docs/Format.md, broken once.

#include "RLX/Artifact/Manifest.h"
#include "RLX/Artifact/Manifest_generated.h"
#include "TestContainer.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

struct Case {
  const char *what;
  std::function<void(Manifest &)> breakIt;
  const char *message;
};

Tensor &w(Manifest &m) { return m.tensors[0]; }
Tensor &scale(Manifest &m) { return m.tensors[2]; }
Tensor &prepared(Manifest &m) { return m.tensors[3]; }
Entry &entry(Manifest &m) { return m.entries[0]; }

const Case cases[] = {
    {"feature", [](Manifest &m) { m.requiredFeatures = {"warp"}; },
     "requires feature 'warp'"},
    {"segment kind", [](Manifest &m) { m.segments[0].kind = SegmentKind(9); },
     "unknown kind 9"},
    {"segment size", [](Manifest &m) { m.segments[0].sizeBytes = ~0ull; },
     "segment 0 has 18446744073709551615 bytes"},
    {"dtype", [](Manifest &m) { w(m).dtype = DType(77); }, "dtype number 77"},
    {"rank", [](Manifest &m) { w(m).shape.assign(33, 1); },
     "has 33 dimensions"},
    {"negative dim", [](Manifest &m) { w(m).shape = {-4, -3}; },
     "negative dimension"},
    {"overflow", [](Manifest &m) { w(m).shape = {int64_t(1) << 40, 1 << 30}; },
     "takes more than 2^63 bytes"},
    {"overflow beside zero",
     [](Manifest &m) { w(m).shape = {0, int64_t(1) << 40, 1 << 30}; },
     "takes more than 2^63 bytes"},
    {"byte count", [](Manifest &m) { w(m).sizeBytes = 44; },
     "take 48 bytes, the table says 44"},
    {"encoding", [](Manifest &m) { w(m).encoding = "gguf_q9"; },
     "encoding 'gguf_q9'"},
    {"layout", [](Manifest &m) { w(m).layout = "spiral"; }, "layout 'spiral'"},
    {"packed vector", [](Manifest &m) { m.tensors[1].layout = "panel64"; },
     "'panel64' is for f32 matrices"},
    {"segment index", [](Manifest &m) { w(m).segment = 3; },
     "names segment 3, the file has 3"},
    {"segment of code", [](Manifest &m) { w(m).segment = 2; },
     "which is of kind 1"},
    {"segment offset", [](Manifest &m) { w(m).segmentOffset = 4; },
     "no multiple of 64"},
    {"segment end", [](Manifest &m) { w(m).segmentOffset = 64; },
     "needs 48 bytes from byte 64 on, segment 0 has 48"},
    {"offset overflow", [](Manifest &m) { w(m).segmentOffset = ~uint64_t(63); },
     "from byte 18446744073709551552 on"},
    {"state", [](Manifest &m) { w(m).state = TensorState(3); },
     "unknown state 3"},
    {"NUL in name", [](Manifest &m) { w(m).name = std::string("w\0", 2); },
     "NUL character"},
    {"nameless param", [](Manifest &m) { scale(m).name = ""; },
     "a param needs a name"},
    {"param twice", [](Manifest &m) { w(m).name = "scale"; },
     "a param's name occurs twice"},
    {"param after its double", [](Manifest &m) { prepared(m).name = "scale"; },
     "a param's name occurs twice"},
    {"packed param", [](Manifest &m) { scale(m).layout = "panel64"; },
     "is for f32 matrices"},
    {"instance index", [](Manifest &m) { prepared(m).instance = 1; },
     "instance 1, the file has 1"},
    {"output index", [](Manifest &m) { prepared(m).output = 1; },
     "does not list it there"},
    {"function name", [](Manifest &m) { m.prepares[0].function = ""; },
     "has no function name"},
    {"prepare input", [](Manifest &m) { m.prepares[0].inputs = {4}; },
     "names tensor 4, the file has 4"},
    {"prepare output", [](Manifest &m) { m.prepares[0].outputs = {3, 2}; },
     "but the table says otherwise"},
    {"reads itself", [](Manifest &m) { m.prepares[0].inputs = {3}; },
     "instances read results of earlier ones only"},
    {"nameless entry", [](Manifest &m) { entry(m).name = ""; },
     "entry has no name"},
    {"entry twice", [](Manifest &m) { m.entries.push_back(entry(m)); },
     "entry 'main' occurs twice"},
    {"input twice",
     [](Manifest &m) { entry(m).inputs.push_back(entry(m).inputs[0]); },
     "input 'x' occurs twice"},
    {"symbol index", [](Manifest &m) { entry(m).inputs[0].dims[0].symbol = 1; },
     "uses symbol 1, the entry has 1"},
    {"symbol twice", [](Manifest &m) { entry(m).symbols = {"b", "b"}; },
     "must be distinct"},
    {"unbound symbol",
     [](Manifest &m) { entry(m).inputs[0].dims[0] = Dim::fixed(2); },
     "symbol 'batch' is in no dimension of an input"},
    {"computed input",
     [](Manifest &m) { entry(m).inputs[0].dims[1] = Dim::computed(); },
     "negative dimension"},
    {"value dtype", [](Manifest &m) { entry(m).outputs[0].dtype = DType(13); },
     "unknown dtype number 13"},
    {"entry tensor", [](Manifest &m) { entry(m).tensors = {9}; },
     "names tensor 9"},
    {"target twice",
     [](Manifest &m) { m.executables.push_back(m.executables[0]); },
     "'x86-64-v3' occurs twice"},
    {"executable segment", [](Manifest &m) { m.executables[0].segment = 0; },
     "which is of kind 0"},
    {"graph segment", [](Manifest &m) { m.graphSegment = 2; },
     "the portable graph names segment 2"},
    {"baked param", [](Manifest &m) { m.baked.push_back({"scale", ""}); },
     "both as a param and as baked"},
};

Result<Manifest> decode(const Bytes &bytes) {
  AlignedCopy copy(bytes);
  return decodeManifest(copy.span());
}

} // namespace

TEST(Manifest, SampleIsValid) {
  EXPECT_TRUE(validateManifest(sampleManifest()));
}

TEST(Manifest, EveryRule) {
  for (const Case &test : cases) {
    Manifest manifest = sampleManifest();
    test.breakIt(manifest);
    Result<void> valid = validateManifest(manifest);
    ASSERT_FALSE(valid) << test.what;
    EXPECT_EQ(valid.fault().kind, FaultKind::Format) << test.what;
    EXPECT_THAT(valid.fault().message, HasSubstr(test.message)) << test.what;
    // The decoder applies the same rules.
    EXPECT_FALSE(decode(encodeManifest(manifest))) << test.what;
  }
}

TEST(Manifest, EncodingIsDeterministicAndLossless) {
  Bytes first = encodeManifest(sampleManifest());
  EXPECT_EQ(first, encodeManifest(sampleManifest()));
  Result<Manifest> decoded = decode(first);
  ASSERT_TRUE(decoded) << decoded.fault().message;
  EXPECT_EQ(encodeManifest(*decoded), first);
}

// Without the container's hash, the decoder alone must survive any damage.
TEST(Manifest, DamagedBytes) {
  const Bytes bytes = encodeManifest(sampleManifest());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(Bytes(bytes.begin(), bytes.begin() + size)) &&
                 size < 16);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Bytes damaged = bytes;
      damaged[i] = value;
      (void)decode(damaged); // Either outcome; sanitizers watch.
    }
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4)
    for (uint32_t value :
         {0x00000000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      Bytes damaged = bytes;
      put(damaged, i, value, 4);
      (void)decode(damaged);
    }
}

// One string that a million rows refer to must not become a million strings.
TEST(Manifest, RefusesExpansion) {
  flatbuffers::FlatBufferBuilder builder;
  auto text = builder.CreateString(std::string(100000, 'x'));
  auto row = fb::CreateBaked(builder, text);
  std::vector<flatbuffers::Offset<fb::Baked>> rows(20000, row);
  auto baked = builder.CreateVector(rows);
  builder.Finish(fb::CreateManifest(builder, 0, 0, 0, 0, 0, 0, 0, 0, -1, baked),
                 fb::ManifestIdentifier());
  Bytes bytes(builder.GetBufferPointer(),
              builder.GetBufferPointer() + builder.GetSize());
  Result<Manifest> decoded = decode(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.fault().message, HasSubstr("16 times its size"));
}

TEST(Manifest, LeafHashes) {
  Bytes bytes((1 << 20) + 1, 5);
  std::vector<crypto::Digest> leaves = hashLeaves({bytes.data(), bytes.size()});
  ASSERT_EQ(leaves.size(), 2u);
  EXPECT_EQ(leaves[0], crypto::sha256(bytes.data(), 1 << 20));
  EXPECT_EQ(leaves[1], crypto::sha256(bytes.data(), 1));
  EXPECT_TRUE(hashLeaves({bytes.data(), 0}).empty());
}
