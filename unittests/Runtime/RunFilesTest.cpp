// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The readers of .npy and .safetensors in rlx-run: good files, and every kind
// of bad one.

#include "Array.h"
#include "Failure.h"
#include "Files.h"
#include "TemporaryFolder.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace rlx::run;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

class RunFiles : public testing::Test {
protected:
  std::string put(const std::string &bytes) {
    return folder.write("file" + std::to_string(count++), bytes);
  }

  /// An .npy file of a given version around a header and data.
  static std::string npy(std::string header, const std::string &data,
                         int version = 1) {
    header += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += char(version);
    bytes += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
      bytes += char(header.size() >> 8 * i);
    return bytes + header + data;
  }

  std::string npyFault(const std::string &bytes) {
    try {
      readNpy(put(bytes));
    } catch (const Failure &failure) {
      return failure.what();
    }
    return "";
  }

  static std::string safetensors(const std::string &json,
                                 const std::string &data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
      bytes += char(uint64_t(json.size()) >> 8 * i);
    return bytes + json + data;
  }

  std::string safetensorsFault(const std::string &json,
                               const std::string &data = "") {
    try {
      readSafetensors(put(safetensors(json, data)));
    } catch (const Failure &failure) {
      return failure.what();
    }
    return "";
  }

  TemporaryFolder folder;
  int count = 0;
};

const char *f4x2 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

} // namespace

TEST_F(RunFiles, NpyVersions) {
  float values[2] = {1.5, -2};
  std::string data(reinterpret_cast<char *>(values), sizeof values);
  for (int version : {1, 2, 3}) {
    Array array = readNpy(put(npy(f4x2, data, version)));
    EXPECT_EQ(array.dtype, RLX_F32);
    EXPECT_EQ(array.dims, (std::vector<int64_t>{2}));
    EXPECT_EQ(elementAsDouble(array, 0), 1.5);
    EXPECT_EQ(elementAsDouble(array, 1), -2);
  }
  Array scalar = readNpy(put(npy(
      "{\"shape\": (), 'fortran_order': True, 'descr': '<f8'}", "abcdefgh")));
  EXPECT_TRUE(scalar.dims.empty());
  EXPECT_EQ(scalar.sizeBytes, 8u);
  Array empty = readNpy(put(
      npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3, 0)}", "")));
  EXPECT_EQ(empty.elements(), 0u);
}

TEST_F(RunFiles, NpyRoundTrip) {
  for (int32_t dtype : {RLX_F32, RLX_F16, RLX_F64, RLX_I8, RLX_I16, RLX_I32,
                        RLX_I64, RLX_U8, RLX_U32, RLX_BOOL, RLX_C64, RLX_C128})
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{}, {5}, {2, 3}, {1, 0, 4}}) {
      Array array = allocateArray("a", dtype, dims);
      for (uint64_t i = 0; i < array.sizeBytes; ++i)
        static_cast<uint8_t *>(array.data)[i] = uint8_t(37 * i + 1);
      std::string path = folder.path + "/round.npy";
      writeNpy(path, array);
      Array back = readNpy(path);
      EXPECT_EQ(back.dtype, dtype);
      EXPECT_EQ(back.dims, dims);
      ASSERT_EQ(back.sizeBytes, array.sizeBytes);
      EXPECT_EQ(std::memcmp(back.data, array.data, back.sizeBytes), 0);
      // NumPy maps files whose data is aligned to 64.
      EXPECT_EQ(reinterpret_cast<uintptr_t>(back.data) % 64, 0u);
    }
  Array brain = allocateArray("a", RLX_BF16, {1});
  EXPECT_THROW(writeNpy(folder.path + "/brain.npy", brain), Failure);
  EXPECT_THROW(allocateArray("a", RLX_F32, {int64_t(1) << 40, 1 << 30}),
               Failure);
}

TEST_F(RunFiles, NpyFaults) {
  EXPECT_THAT(npyFault(""), HasSubstr("is not an .npy file"));
  EXPECT_THAT(npyFault("\x93NUMPY"), HasSubstr("is not an .npy file"));
  EXPECT_THAT(npyFault(npy(f4x2, "12345678", 4)),
              HasSubstr("version 4 of the .npy format"));
  EXPECT_THAT(npyFault(npy(f4x2, "1234567")),
              HasSubstr("f32[2] takes 8 bytes, the file has 7"));
  EXPECT_THAT(npyFault(npy(f4x2, "123456789")), HasSubstr("the file has 9"));
  std::string cut = npy(f4x2, "12345678");
  for (size_t size = 0; size < cut.size(); ++size)
    EXPECT_NE(npyFault(cut.substr(0, size)), "") << size;
  EXPECT_THAT(
      npyFault(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1)}",
                   "12345678")),
      HasSubstr("Fortran order"));
  EXPECT_THAT(
      npyFault(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
                   "12345678")),
      HasSubstr("big-endian"));
  EXPECT_THAT(
      npyFault(npy("{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}",
                   "12345678")),
      HasSubstr("'<U4', which no RLX program takes"));
  EXPECT_THAT(npyFault(npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                           "'shape': (2,)}",
                           "12345678")),
              HasSubstr("records"));
  struct {
    const char *header, *message;
  } cases[] = {
      {"", "lacks '{'"},
      {"{", "lacks a string"},
      {"{}", "lacks 'descr'"},
      {"{'descr' '<f4'}", "lacks ':'"},
      {"{'descr: 1", "string without end"},
      {"{'other': 1}", "unknown key 'other'"},
      {"{'fortran_order': Maybe}", "neither True nor False"},
      {"{'shape': (1, -2)}", "no tuple of sizes"},
      {"{'shape': (99999999999999999999,)}", "more than 2^63"},
      {"{'shape': 3}", "lacks '('"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
       "goes on after its dict"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': "
       "(9223372036854775807, 9223372036854775807)}",
       "takes more than 2^64 bytes"},
      {"{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
       "1,1,1)}",
       "more than 32 dimensions"}};
  for (const auto &test : cases)
    EXPECT_THAT(npyFault(npy(test.header, "")), HasSubstr(test.message));
}

TEST_F(RunFiles, Halves) {
  Array array = allocateArray("a", RLX_F16, {4});
  uint16_t bits[] = {0x3c00, 0xc000, 0x0001, 0x7c00};
  std::memcpy(array.data, bits, sizeof bits);
  EXPECT_EQ(elementAsDouble(array, 0), 1);
  EXPECT_EQ(elementAsDouble(array, 1), -2);
  EXPECT_EQ(elementAsDouble(array, 2), std::ldexp(1, -24));
  EXPECT_EQ(elementAsDouble(array, 3), INFINITY);
}

TEST_F(RunFiles, Safetensors) {
  std::vector<NamedArray> tensors = readSafetensors(put(
      safetensors(R"({"__metadata__":{"format":"pt"},)"
                  R"("w":{"dtype":"F32","shape":[2,1],"data_offsets":[1,9]},)"
                  R"("s":{"dtype":"I64","shape":[],"data_offsets":[9,17]}}  )",
                  "x12345678ABCDEFGH")));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].name, "w");
  EXPECT_EQ(tensors[0].array.dims, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(std::memcmp(tensors[0].array.data, "12345678", 8), 0);
  EXPECT_EQ(tensors[1].array.dtype, RLX_I64);
  EXPECT_TRUE(readSafetensors(put(safetensors("{}", ""))).empty());
}

TEST_F(RunFiles, SafetensorsFaults) {
  struct {
    const char *json, *message;
  } cases[] = {
      {"", "is not JSON"},
      {"[]", "a list where none belongs"},
      {"3", "a number where none belongs"},
      {"null", "of a kind that does not belong"},
      {"{", "is not JSON"},
      {"{} x", "is not JSON"},
      {R"({"w":3})", "a number where none belongs"},
      {R"({"w":{"w":{}}})", "unknown field 'w' in tensor 'w'"},
      {R"({"w":{"shape":{}}})", "an object where none belongs"},
      {R"({"w":{"shape":[-1]}})", "of a kind that does not belong"},
      {R"({"w":{"shape":[1.5]}})", "of a kind that does not belong"},
      {R"({"w":{"shape":[[1]]}})", "a list where none belongs"},
      {R"({"w":{"dtype":3}})", "a number where none belongs"},
      {R"({"w":{},"w":{}})", "lists tensor 'w' twice"},
      {R"({"w":{"dtype":"F8","shape":[],"data_offsets":[0,1]}})",
       "tensor 'w': dtype 'F8' is not known"},
      {R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", "lacks a shape"},
      {R"({"w":{"dtype":"F32","shape":[]}})", "two data_offsets"},
      {R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
       "needs bytes [0, 4), the file has 3"},
      {R"({"w":{"dtype":"U8","shape":[],"data_offsets":[2,1]}})",
       "needs bytes [2, 1)"},
      {R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,3]}})",
       "takes 4 bytes, its data_offsets span 3"},
      {R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],)"
       R"("data_offsets":[0,0]}})",
       "takes more than 2^64 bytes"}};
  for (const auto &test : cases)
    EXPECT_THAT(safetensorsFault(test.json, "abc"), HasSubstr(test.message))
        << test.json;
  EXPECT_THAT(safetensorsFault(std::string(300000, '[')),
              HasSubstr("a list where none belongs"));
  std::string nested = R"({"w":)";
  for (int i = 0; i < 300000; ++i)
    nested += R"({"dtype":)";
  EXPECT_THAT(safetensorsFault(nested), HasSubstr("where none belongs"));
  for (const char *start : {"", "1234567", "12345678"}) {
    std::string path = put(start);
    EXPECT_THROW(readSafetensors(path), Failure);
  }
}

// Any damage to a header ends in a message or in a table within the file.
TEST_F(RunFiles, SafetensorsDamage) {
  std::string good = safetensors(
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678");
  for (size_t i = 0; i < good.size(); ++i)
    for (char value : {'\0', '"', '[', '}', '9', '\xff'}) {
      std::string bytes = good;
      bytes[i] = value;
      try {
        for (const NamedArray &tensor : readSafetensors(put(bytes)))
          for (uint64_t b = 0; b < tensor.array.sizeBytes; ++b)
            (void)*(static_cast<volatile uint8_t *>(tensor.array.data) + b);
      } catch (const Failure &) {
      }
    }
}

TEST_F(RunFiles, WriteFileLeavesNothingOnFailure) {
  std::string path = folder.write("out", "old");
  auto failing = [](const WriteBytes &write) {
    write("half", 4);
    throw Failure("disk on fire");
  };
  EXPECT_THROW(writeFile(path, failing), Failure);
  EXPECT_THROW(writeFile(folder.path + "/fresh", failing), Failure);
  EXPECT_THROW(writeFile("/dev/null", failing), Failure);
  EXPECT_THROW(writeFile(folder.path + "/no/such", failing), Failure);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"out"}));
  EXPECT_EQ(folder.read("out"), "old");
}
