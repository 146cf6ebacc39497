// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/TensorSource.h"

#include "TestFiles.h"
#include "gmock/gmock.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace rlx;
using testing::HasSubstr;

namespace {

class ShardIndex : public testing::Test {
protected:
  ShardIndex() {
    writeShard("one", "11");
    writeShard("two", "22");
  }

  /// A shard with one tensor of two bytes, called as the file is.
  void writeShard(llvm::StringRef name, llvm::StringRef data) {
    files.write((name + ".safetensors").str(),
                safetensors(("{\"" + name +
                             "\":{\"dtype\":\"U8\",\"shape\":[2],"
                             "\"data_offsets\":[0,2]}}")
                                .str(),
                            data));
  }

  std::string errorOf(llvm::StringRef index) {
    auto source =
        openTensorSource(files.write("model.safetensors.index.json", index));
    return source ? "no error" : llvm::toString(source.takeError());
  }

  TestDirectory files;
};

} // namespace

TEST_F(ShardIndex, OpensTheShardsItNames) {
  files.write("model.safetensors.index.json",
              R"({"metadata":{"total_size":4},"weight_map":)"
              R"({"one":"one.safetensors","two":"two.safetensors"}})");
  auto source = llvm::cantFail(openTensorSource(files.path("")));
  ASSERT_EQ(source->tensors().size(), 2u);
  EXPECT_EQ(source->find("one")->data.front(), '1');
  EXPECT_EQ(source->find("two")->data.front(), '2');
  EXPECT_EQ(source->find("two")->file, files.path("two.safetensors"));
}

TEST_F(ShardIndex, RefusesATensorThatItsShardLacks) {
  EXPECT_THAT(errorOf(R"({"weight_map":{"one":"two.safetensors"}})"),
              HasSubstr(":1:16: tensor 'one' is not in "));
  EXPECT_THAT(errorOf(R"({"weight_map":{"one":"three.safetensors"}})"),
              HasSubstr("three.safetensors: No such file"));
}

// An index makes nothing be read but its neighbours.
TEST_F(ShardIndex, RefusesFilesElsewhere) {
  for (llvm::StringRef file : {"../one.safetensors", "/etc/passwd", "", "..",
                               "a/one.safetensors", "one.safetensors\\u0000"})
    EXPECT_THAT(errorOf(("{\"weight_map\":{\"one\":\"" + file + "\"}}").str()),
                HasSubstr("expected the name of a file beside the index"));
}

// A pipe with nobody at its other end would be waited for without end.
TEST_F(ShardIndex, RefusesPipes) {
  std::string pipe = files.path("model.safetensors.index.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  alarm(20); // Instead of waiting without end.
  auto source = openTensorSource(pipe);
  alarm(0);
  ASSERT_FALSE(source);
  EXPECT_THAT(llvm::toString(source.takeError()),
              HasSubstr("index.json: is not a regular file"));
}

TEST_F(ShardIndex, RefusesOtherForms) {
  EXPECT_THAT(errorOf("[]"), HasSubstr("has no \"weight_map\""));
  EXPECT_THAT(errorOf("{}"), HasSubstr("has no \"weight_map\""));
  EXPECT_THAT(errorOf(R"({"weight_map":3})"), HasSubstr("has no"));
  EXPECT_THAT(errorOf(R"({"weight_map":{"one":1}})"),
              HasSubstr("tensor 'one' is mapped to a number"));
  EXPECT_THAT(errorOf("{"), HasSubstr("text ends"));
}
