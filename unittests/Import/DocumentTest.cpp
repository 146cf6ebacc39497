// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/JSON/Document.h"

#include "gmock/gmock.h"

using namespace rlx::json;
using testing::ElementsAre;
using testing::HasSubstr;

static std::string parseError(llvm::StringRef text, const Limits &limits = {}) {
  llvm::Expected<Document> document = Document::parse(text, "t.json", limits);
  return document ? "no error" : llvm::toString(document.takeError());
}

static Document parse(llvm::StringRef text) {
  return llvm::cantFail(Document::parse(text, "t.json"));
}

TEST(Document, ReadsEveryKindOfValue) {
  std::string text = R"({"n":null,"t":true,"f":false,"i":-12,"d":1.5e3,)"
                     R"("s":"a\"é\u00e9\ud83d\ude00","a":[300,[],{}]})";
  Document document = parse(text);
  Value root = document.root();
  ASSERT_TRUE(root.is(Kind::Object));
  ASSERT_EQ(root.size(), 7u);
  EXPECT_TRUE(root.find("n")->is(Kind::Null));
  EXPECT_TRUE(root.find("t")->boolean());
  EXPECT_FALSE(root.find("f")->boolean());
  EXPECT_EQ(root.find("i")->integer(), -12);
  EXPECT_EQ(root.find("d")->digits(), "1.5e3");
  EXPECT_EQ(root.find("d")->integer(), std::nullopt);
  EXPECT_EQ(root.find("s")->string(), "a\"éé😀");
  Value array = *root.find("a");
  ASSERT_EQ(array.size(), 3u);
  EXPECT_EQ(array[0].integer(), 300);
  EXPECT_EQ(array[1].size(), 0u);
  EXPECT_TRUE(array[2].is(Kind::Object));
  EXPECT_EQ(root.find("z"), std::nullopt);
}

// The extremes of int64 are integers, one beyond is a number without integer
// value.
TEST(Document, KeepsDigitsOfHugeNumbers) {
  Document document = parse("[9223372036854775807,-9223372036854775808,"
                            "9223372036854775808,123456789012345678901234]");
  EXPECT_EQ(document.root()[0].integer(), INT64_MAX);
  EXPECT_EQ(document.root()[1].integer(), INT64_MIN);
  EXPECT_EQ(document.root()[2].integer(), std::nullopt);
  EXPECT_EQ(document.root()[2].digits(), "9223372036854775808");
  EXPECT_EQ(document.root()[3].digits(), "123456789012345678901234");
}

TEST(Document, KnowsWhereValuesStand) {
  std::string text =
      "{\n  \"a\" : [ 1 , 22,\n 333],\n  \"b\\n\": {\"c\":true}}";
  Document document = parse(text);
  Value root = document.root();
  Value a = root.member(0);
  EXPECT_EQ(document.locate(root.offset()), "t.json:1:1");
  EXPECT_EQ(document.locate(root.keyOffset(0)), "t.json:2:3");
  EXPECT_EQ(document.locate(a.offset()), "t.json:2:9");
  EXPECT_EQ(document.locate(a[0].offset()), "t.json:2:11");
  EXPECT_EQ(document.locate(a[1].offset()), "t.json:2:15");
  EXPECT_EQ(document.locate(a[2].offset()), "t.json:3:2");
  EXPECT_EQ(document.locate(root.keyOffset(1)), "t.json:4:3");
  EXPECT_EQ(root.key(1), "b\n");
  EXPECT_EQ(document.locate(root.member(1).member(0).offset()), "t.json:4:15");
}

// Elements of an array of bytes stand at the same places and have the same
// values as in any other.
TEST(Document, KeepsArraysOfBytesAsBytes) {
  Document document =
      parse("[[0, 1 ,\n255],[0,256],[1,2,-0],[3,4.0],[5,[6]],[]]");
  Value root = document.root();
  ASSERT_TRUE(root[0].bytes());
  EXPECT_THAT(*root[0].bytes(), ElementsAre(0, 1, 255));
  EXPECT_EQ(root[0][2].integer(), 255);
  EXPECT_EQ(root[0][2].digits(), "255");
  EXPECT_TRUE(root[0][2].is(Kind::Number));
  EXPECT_EQ(document.locate(root[0][0].offset()), "t.json:1:3");
  EXPECT_EQ(document.locate(root[0][1].offset()), "t.json:1:6");
  EXPECT_EQ(document.locate(root[0][2].offset()), "t.json:2:1");

  for (size_t i : {1, 2, 3, 4})
    EXPECT_FALSE(root[i].bytes()) << i;
  EXPECT_EQ(root[1][0].integer(), 0);
  EXPECT_EQ(root[1][1].integer(), 256);
  EXPECT_EQ(root[2][0].integer(), 1);
  EXPECT_EQ(root[3][1].digits(), "4.0");
  EXPECT_EQ(root[4][0].integer(), 5);
  EXPECT_EQ(root[4][1][0].integer(), 6);
  EXPECT_EQ(document.locate(root[4][0].offset()), "t.json:2:32");
  ASSERT_TRUE(root[5].bytes());
  EXPECT_TRUE(root[5].bytes()->empty());
}

// A constant of a megabyte takes its bytes, not a value for each of them.
TEST(Document, TakesAByteForAByte) {
  std::string text = "{\"data\":[";
  for (size_t i = 0; i < (1 << 20); ++i)
    text += std::to_string(i % 256) + ",";
  text.back() = ']';
  text += "}";
  Document document = parse(text);
  EXPECT_EQ(document.root().find("data")->bytes()->size(), 1u << 20);
  EXPECT_LT(document.memoryBytes(), 2u << 20);
}

TEST(Document, RefusesWhatIsNotJson) {
  EXPECT_EQ(parseError(""), "t.json:1:1: text is empty, expected a JSON value");
  EXPECT_EQ(parseError(" \n "),
            "t.json:2:2: text is empty, expected a JSON value");
  EXPECT_EQ(parseError("{\"a\":1} x"),
            "t.json:1:9: text goes on after the JSON value");
  EXPECT_EQ(parseError("[1,]"), "t.json:1:4: expected a JSON value");
  EXPECT_EQ(parseError("{\"a\" 1}"), "t.json:1:6: expected ':' after the key");
  EXPECT_EQ(parseError("{a:1}"), "t.json:1:2: expected a key in double quotes");
  EXPECT_EQ(parseError("[1 2]"),
            "t.json:1:4: expected ',' or ']' in the array");
  EXPECT_EQ(parseError("{\"a\":1 \"b\":2}"),
            "t.json:1:8: expected ',' or '}' in the object");
  EXPECT_EQ(parseError("[01]"), "t.json:1:3: expected ',' or ']' in the array");
  EXPECT_EQ(parseError("[1e999]"),
            "t.json:1:2: number is beyond the range of double");
  EXPECT_THAT(parseError("[1.]"), HasSubstr("digit after the decimal point"));
  EXPECT_THAT(parseError("[1e]"), HasSubstr("digit in the exponent"));
  EXPECT_THAT(parseError("[NaN]"), HasSubstr("expected a JSON value"));
  EXPECT_THAT(parseError("[\"\\x\"]"), HasSubstr("that JSON does not know"));
  EXPECT_THAT(parseError("[\"\n\"]"), HasSubstr("control character"));
  EXPECT_THAT(parseError("[\"\\u12g4\"]"), HasSubstr("hexadecimal"));
}

TEST(Document, RefusesTextThatIsNotUtf8) {
  for (llvm::StringRef bytes : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82"})
    EXPECT_EQ(parseError(("[\"" + bytes + "\"]").str()),
              "t.json:1:3: string is not UTF-8");
  EXPECT_THAT(parseError("[\"\\ud800\"]"), HasSubstr("surrogate pair"));
  EXPECT_THAT(parseError("[\"\\udc00\"]"), HasSubstr("surrogate pair"));
  EXPECT_THAT(parseError("[\"\\ud800\\u0041\"]"), HasSubstr("surrogate pair"));
}

TEST(Document, RefusesAKeyThatComesTwice) {
  EXPECT_EQ(parseError("{\"a\":1,\"b\":2,\n\"a\":3}"),
            "t.json:2:1: key 'a' comes twice");
  // Equal after escapes are read.
  EXPECT_EQ(parseError("{\"a\":1,\"\\u0061\":2}"),
            "t.json:1:8: key 'a' comes twice");
  std::string many = "{";
  for (int i = 0; i < 100; ++i)
    many += "\"k" + std::to_string(i % 99) + "\":0,";
  many.back() = '}';
  EXPECT_THAT(parseError(many), HasSubstr("key 'k0' comes twice"));
}

// A zero byte is no end of the text.
TEST(Document, RefusesZeroBytes) {
  EXPECT_THAT(parseError(llvm::StringRef("[1]\0[2]", 7)),
              HasSubstr("t.json:1:4: text goes on after"));
  EXPECT_THAT(parseError(llvm::StringRef("[1,\0 2]", 7)),
              testing::StartsWith("t.json:1:4: "));
  EXPECT_THAT(parseError(llvm::StringRef("[\"\0\"]", 5)),
              testing::StartsWith("t.json:1:3: "));
}

TEST(Document, RefusesDeepNesting) {
  EXPECT_EQ(parseError(std::string(300'000, '[')),
            "t.json:1:129: nested deeper than 128 arrays and objects");
  std::string objects;
  for (int i = 0; i < 300'000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(parseError(objects),
            "t.json:1:641: nested deeper than 128 arrays and objects");
  Limits limits;
  limits.maxDepth = 2;
  EXPECT_EQ(parseError("[[1],[2]]", limits), "no error");
  EXPECT_EQ(parseError("[[1],[[2]]]", limits),
            "t.json:1:7: nested deeper than 2 arrays and objects");
}

TEST(Document, RefusesTextAboveTheLimit) {
  Limits limits;
  limits.maxBytes = 4;
  EXPECT_EQ(parseError("[10]", limits), "no error");
  EXPECT_THAT(parseError("[100]", limits),
              HasSubstr("has 5 bytes of JSON, at most 4 are read"));
}

// Cut anywhere, a text is refused at its end or where it stops making sense.
TEST(Document, RefusesEveryTruncation) {
  llvm::StringRef text =
      R"({"a":[1,2,-3.5e2,"x\n",[255,0]],"b":{"c":null,"d":true}})";
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(parseError(text.take_front(length)), "no error") << length;
  EXPECT_EQ(parseError(text), "no error");
}
