// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/TensorSource.h"

#include "TestFiles.h"
#include "gmock/gmock.h"

using namespace rlx;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Safetensors : public testing::Test {
protected:
  llvm::Expected<std::shared_ptr<TensorSource>> open(llvm::StringRef bytes) {
    return openTensorSource(files.write("w.safetensors", bytes));
  }

  /// The message of the error without the path, or "no error".
  std::string errorOf(llvm::StringRef bytes) {
    llvm::Expected<std::shared_ptr<TensorSource>> source = open(bytes);
    if (source)
      return "no error";
    llvm::StringRef text = message = llvm::toString(source.takeError());
    std::string path = files.path("w.safetensors") + ": ";
    EXPECT_TRUE(text.consume_front(path)) << text.str();
    return text.str();
  }

  TestDirectory files;
  std::string message;
};

/// A header of two tensors: a F32 [2,3] at [0, 24) and b U8 [5] at [24, 29).
constexpr llvm::StringLiteral twoTensors =
    R"({"__metadata__":{"format":"pt"},)"
    R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"U8","shape":[5],"data_offsets":[24,29]}})";

std::string entry(llvm::StringRef dtype, llvm::StringRef shape,
                  llvm::StringRef offsets) {
  return ("{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
          ",\"data_offsets\":" + offsets + "}}")
      .str();
}

} // namespace

TEST_F(Safetensors, ReadsTensorsInPlace) {
  std::string data = "0123456789abcdefghijklmnopqrs";
  auto source = llvm::cantFail(open(safetensors(twoTensors, data)));
  ASSERT_EQ(source->tensors().size(), 2u);
  const SourceTensor *a = source->find("a"), *b = source->find("b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->kind, ElementKind::F32);
  EXPECT_THAT(a->shape, ElementsAre(2, 3));
  EXPECT_EQ(llvm::StringRef(a->data.data(), a->data.size()),
            data.substr(0, 24));
  EXPECT_EQ(llvm::StringRef(b->data.data(), b->data.size()), data.substr(24));
  EXPECT_EQ(source->find("c"), nullptr);
  EXPECT_EQ(source->metadata().lookup("format"), "pt");
  EXPECT_EQ(a->file, files.path("w.safetensors"));
}

TEST_F(Safetensors, ReadsEveryElementKind) {
  for (auto [name, size] :
       std::initializer_list<std::pair<const char *, int>>{{"F64", 8},
                                                           {"F32", 4},
                                                           {"F16", 2},
                                                           {"BF16", 2},
                                                           {"I64", 8},
                                                           {"I32", 4},
                                                           {"I16", 2},
                                                           {"I8", 1},
                                                           {"U64", 8},
                                                           {"U32", 4},
                                                           {"U16", 2},
                                                           {"U8", 1},
                                                           {"BOOL", 1},
                                                           {"F8_E4M3", 1},
                                                           {"F8_E5M2", 1}}) {
    std::string offsets = "[0," + std::to_string(3 * size) + "]";
    auto source = llvm::cantFail(open(
        safetensors(entry(name, "[3]", offsets), std::string(3 * size, 'x'))));
    EXPECT_EQ(rlx::name(source->find("a")->kind), name);
  }
}

TEST_F(Safetensors, ReadsEmptyFilesScalarsAndEmptyTensors) {
  EXPECT_TRUE(llvm::cantFail(open(safetensors("{}", "")))->tensors().empty());
  EXPECT_EQ(errorOf(safetensors(entry("F32", "[]", "[0,4]"), "abcd")),
            "no error");
  EXPECT_EQ(errorOf(safetensors(entry("F32", "[4,0]", "[0,0]"), "")),
            "no error");
  // Padding of the header with spaces, as writers do for alignment.
  EXPECT_EQ(
      errorOf(safetensors(twoTensors.str() + "     ", std::string(29, 'x'))),
      "no error");
}

TEST_F(Safetensors, RefusesLayoutsByName) {
  std::string data(29, 'x');
  auto two = [&](llvm::StringRef a, llvm::StringRef b) {
    return errorOf(safetensors(
        ("{\"a\":{\"dtype\":\"U8\",\"shape\":[10],\"data_offsets\":" + a +
         "},\"b\":{\"dtype\":\"U8\",\"shape\":[10],\"data_offsets\":" + b +
         "}}")
            .str(),
        std::string(20, 'x')));
  };
  EXPECT_EQ(two("[0,10]", "[10,20]"), "no error");
  EXPECT_EQ(two("[10,20]", "[0,10]"), "no error");
  EXPECT_EQ(two("[0,10]", "[9,19]"),
            "tensor 'b': its bytes [9, 19) overlap those of tensor 'a', which "
            "end at 10");
  EXPECT_THAT(two("[0,10]", "[0,10]"), HasSubstr("overlap"));
  EXPECT_EQ(two("[0,10]", "[11,21]"),
            "tensor 'b': needs bytes [11, 21), file has 20 after its header");
  EXPECT_EQ(two("[1,11]", "[11,21]"),
            "bytes [0, 1) before tensor 'a' belong to no tensor");
  EXPECT_EQ(errorOf(safetensors(twoTensors, std::string(30, 'x'))),
            "tensors end at byte 29, file has 30 after its header");
  EXPECT_EQ(errorOf(safetensors(entry("U8", "[10]", "[10,0]"), data)),
            "tensor 'a': ends at byte 0 before it begins at 10");
  EXPECT_EQ(errorOf(safetensors(entry("F32", "[2,3]", "[0,20]"), data)),
            "tensor 'a': needs 24 bytes by shape and dtype, its offsets [0, "
            "20) hold 20");
}

// Each field at and around the edges of what fits.
TEST_F(Safetensors, RefusesFieldsOutOfRange) {
  for (llvm::StringRef offsets :
       {"[]", "[0]", "[0,24,24]", "0", "null", "[0,-1]", "[-1,24]", "[0,24.0]",
        "[0,\"24\"]", "[0,9223372036854775808]", "[0,1e400]"})
    EXPECT_NE(errorOf(safetensors(entry("F32", "[2,3]", offsets),
                                  std::string(24, 'x'))),
              "no error")
        << offsets.str();
  for (llvm::StringRef offsets :
       {"[0,23]", "[0,25]", "[1,24]", "[1,25]", "[0,9223372036854775807]",
        "[9223372036854775807,9223372036854775807]"})
    EXPECT_NE(errorOf(safetensors(entry("F32", "[2,3]", offsets),
                                  std::string(24, 'x'))),
              "no error")
        << offsets.str();
  for (llvm::StringRef shape :
       {"null", "6", "[2,-3]", "[2,3.0]", "[\"2\",3]", "[[2,3]]",
        "[18446744073709551616]", "[2,3,0]", "[7]", "[5]"})
    EXPECT_NE(errorOf(safetensors(entry("F32", shape, "[0,24]"),
                                  std::string(24, 'x'))),
              "no error")
        << shape.str();
  // 2^62 elements of 4 bytes are 2^64 bytes, which is zero in 64 bits.
  for (llvm::StringRef shape :
       {"[4611686018427387904]", "[2147483648,2147483648]",
        "[9223372036854775807,9223372036854775807]",
        "[0,9223372036854775807,9223372036854775807]"})
    EXPECT_EQ(errorOf(safetensors(entry("F32", shape, "[0,0]"), "")),
              "tensor 'a': has a shape of more than 2^63 bytes");
  EXPECT_THAT(errorOf(safetensors(entry("F31", "[]", "[0,4]"), "abcd")),
              HasSubstr("dtype 'F31', which is not known"));
}

TEST_F(Safetensors, RefusesHeadersOfTheWrongForm) {
  EXPECT_THAT(errorOf(safetensors("[]", "")), HasSubstr("is an array"));
  EXPECT_THAT(errorOf(safetensors("", "")), HasSubstr("text is empty"));
  EXPECT_THAT(errorOf(safetensors("{\"a\":1}", "")), HasSubstr("is a number"));
  EXPECT_THAT(errorOf(safetensors("{\"a\":{}}", "")), HasSubstr("no dtype"));
  EXPECT_THAT(errorOf(safetensors("{\"__metadata__\":{\"a\":1}}", "")),
              HasSubstr("__metadata__ 'a' is a number"));
  EXPECT_THAT(errorOf(safetensors("{\"__metadata__\":3}", "")),
              HasSubstr("__metadata__ is a number"));
  EXPECT_THAT(errorOf(safetensors("{\"a\":{},\"a\":{}}", "")),
              HasSubstr("header:1:9: key 'a' comes twice"));
  EXPECT_THAT(errorOf(safetensors(std::string(300'000, '['), "")),
              HasSubstr("nested deeper"));
}

TEST_F(Safetensors, RefusesHeaderLengthsBeyondTheFile) {
  std::string bytes = safetensors("{}", "");
  for (uint64_t length :
       {uint64_t(3), uint64_t(1) << 26, uint64_t(100'000'000),
        uint64_t(100'000'001), uint64_t(1) << 63, UINT64_MAX, UINT64_MAX - 7}) {
    llvm::support::endian::write64le(bytes.data(), length);
    EXPECT_NE(errorOf(bytes), "no error") << length;
  }
}

TEST_F(Safetensors, RefusesEveryTruncation) {
  std::string bytes = safetensors(twoTensors, std::string(29, 'x'));
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(errorOf(llvm::StringRef(bytes).take_front(length)), "no error")
        << length;
  EXPECT_EQ(errorOf(bytes), "no error");
}

// Whatever byte is flipped, the reader says yes or no; what it accepts lies
// within the file.
TEST_F(Safetensors, SurvivesEveryBitFlip) {
  std::string bytes = safetensors(twoTensors, std::string(29, 'x'));
  size_t accepted = 0;
  for (size_t at = 0; at < 8 + twoTensors.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] ^= 1 << bit;
      auto source = open(flipped);
      if (!source) {
        EXPECT_FALSE(llvm::toString(source.takeError()).empty());
        continue;
      }
      ++accepted;
      uint64_t total = 0;
      for (const SourceTensor &tensor : (*source)->tensors()) {
        total += tensor.data.size();
        EXPECT_EQ(sizeBytes(tensor.kind, tensor.shape), tensor.data.size());
      }
      EXPECT_EQ(total, 29u);
    }
  }
  // Names and metadata may change; a third of the header is text.
  EXPECT_GT(accepted, 50u);
}

TEST_F(Safetensors, NamesOtherFormats) {
  EXPECT_THAT(errorOf("GGUF\3\0\0\0"), HasSubstr("is GGUF"));
  EXPECT_THAT(errorOf("PK\3\4abcdefgh"), HasSubstr("is zip"));
  EXPECT_THAT(errorOf("\x93NUMPY12"), HasSubstr("is npy"));
}

TEST_F(Safetensors, RefusesWhatIsNoFile) {
  EXPECT_THAT(llvm::toString(openTensorSource(files.path("none")).takeError()),
              HasSubstr("none: No such file"));
  EXPECT_THAT(llvm::toString(openTensorSource(files.path("")).takeError()),
              HasSubstr("directory has no model.safetensors.index.json"));
  EXPECT_THAT(llvm::toString(openTensorSource("/dev/null").takeError()),
              HasSubstr("is not a regular file"));
}

// The bytes of a file of some size are the file's own pages, not a copy.
TEST_F(Safetensors, MapsLargeFiles) {
  constexpr size_t size = 64 << 20;
  std::string path = files.write("large.safetensors", "");
  {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << safetensors(entry("U8", "[" + std::to_string(size) + "]",
                            "[0," + std::to_string(size) + "]"),
                      "");
  }
  uint64_t header = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(path, header));
  int fd;
  ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path, fd,
                                               llvm::sys::fs::CD_OpenExisting));
  ASSERT_FALSE(llvm::sys::fs::resize_file(fd, header + size));
  llvm::sys::fs::file_t file = fd;
  llvm::sys::fs::closeFile(file);
  auto source = llvm::cantFail(openTensorSource(path));
  EXPECT_EQ(source->find("a")->data.size(), size);
  // A mapping shows what is written to the file later; a copy would not.
  ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path, fd,
                                               llvm::sys::fs::CD_OpenExisting));
  {
    llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
    os.seek(header + size - 1);
    os << 'z';
  }
  EXPECT_EQ(source->find("a")->data.back(), 'z');
}
