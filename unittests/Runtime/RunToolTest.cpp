// SPDX-License-Identifier: MIT OR Apache-2.0
//
// rlx-run from the outside: its exit status, what it says and what it writes.

#include "Array.h"
#include "TemporaryFolder.h"
#include "TestProgram.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

using namespace rlx;
using namespace rlx::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class RunTool : public testing::Test {
protected:
  void SetUp() override {
    Bytes bytes = TestProgram().container();
    folder.write("m.rlx", std::string(bytes.begin(), bytes.end()));
    write("x.npy", {2, 4}, std::vector<float>(8, 1));
    write("y.npy", {2, 3}, expectedMain(2, 2));
    write("scale.npy", {4, 3}, std::vector<float>(12, 5));
    std::vector<float> weights;
    for (int i = 1; i <= 12; ++i)
      weights.push_back(float(i));
    weights.insert(weights.end(), 12, 2.f);
    weights.insert(weights.end(), 3, 10.f);
    std::string json =
        R"({"w":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]},)"
        R"("scale":{"dtype":"F32","shape":[4,3],"data_offsets":[48,96]},)"
        R"("offset":{"dtype":"F32","shape":[3],"data_offsets":[96,108]},)"
        R"("step":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
    json.append(7 - (json.size() + 7) % 8, ' '); // Data aligned to 8.
    std::string file;
    for (int i = 0; i < 8; ++i)
      file += char(uint64_t(json.size()) >> 8 * i);
    file += json;
    file.append(reinterpret_cast<char *>(weights.data()), 4 * weights.size());
    folder.write("w.safetensors", file);
  }

  void write(const char *name, std::vector<int64_t> dims,
             const std::vector<float> &values) {
    run::Array array = run::allocateArray(name, RLX_F32, std::move(dims));
    ASSERT_EQ(array.sizeBytes, 4 * values.size());
    std::memcpy(array.data, values.data(), array.sizeBytes);
    run::writeNpy(folder.path + "/" + name, array);
  }

  std::vector<float> floats(const char *name) {
    run::Array array = run::readNpy(folder.path + "/" + name);
    auto *values = static_cast<const float *>(array.data);
    return std::vector<float>(values, values + array.elements());
  }

  /// Runs the tool in the folder; returns its exit status.
  int tool(const std::string &arguments) {
    std::string command =
        "cd " + folder.path +
        " && ASAN_OPTIONS=allocator_may_return_null=1 " RLX_RUN_TOOL " " +
        arguments + " >out 2>err";
    int status = std::system(command.c_str());
    out = folder.read("out");
    err = folder.read("err");
    EXPECT_TRUE(WIFEXITED(status)) << err;
    return WEXITSTATUS(status);
  }

  TemporaryFolder folder;
  std::string out, err;
};

} // namespace

TEST_F(RunTool, HelpAndUsage) {
  EXPECT_EQ(tool("--help"), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("Examples:"), HasSubstr("--set-param")));
  EXPECT_EQ(tool("--version"), 0);
  EXPECT_THAT(out, HasSubstr(rlx_version()));
  for (const char *wrong :
       {"", "--nonsense m.rlx", "m.rlx --input x", "m.rlx --input =@x.npy",
        "m.rlx --shape x", "m.rlx --shape x=1,,2", "m.rlx --shape x=-1",
        "m.rlx --repeat 0", "m.rlx --rtol -1", "m.rlx --rtol nan",
        "m.rlx --verify some", "m.rlx --threads -1",
        "m.rlx --set-param @scale.npy", "m.rlx --list --bench",
        "m.rlx --set-param scale=@scale.npy --repeat 1"}) {
    EXPECT_EQ(tool(wrong), 2) << wrong;
    EXPECT_THAT(err, AllOf(HasSubstr("error: "), HasSubstr("--help")));
    EXPECT_EQ(out, "");
  }
}

TEST_F(RunTool, Lists) {
  EXPECT_EQ(tool("m.rlx --list"), 0);
  EXPECT_THAT(out,
              AllOf(HasSubstr("native code for x86-64-v3, x86-64-v4"),
                    HasSubstr("input  x: f32[batch, 4]"),
                    HasSubstr("output flat: f32[?]"),
                    HasSubstr("param w: f32[4, 3] f32 row_major, 48 bytes"),
                    HasSubstr("constant bias"), HasSubstr("from w * scale"),
                    HasSubstr("prepare main.prepare0(product, scale) -> "
                              "product2")));
  EXPECT_EQ(err, "");
}

// The whole contract at once: weights bound, a hundred forwards, output, check,
// statistics.
TEST_F(RunTool, RunsOpenProgram) {
  ASSERT_EQ(tool("m.rlx --weights w.safetensors --input x=@x.npy --repeat 100 "
                 "--output y=@got.npy --expect y=@y.npy --stats s.json"),
            0)
      << err;
  EXPECT_EQ(floats("got.npy"), expectedMain(2, 2));
  EXPECT_THAT(err, AllOf(HasSubstr("largest error 0 against y.npy"),
                         HasSubstr("not params of this program: 'step'")));
  std::string stats = folder.read("s.json");
  EXPECT_THAT(
      stats,
      AllOf(HasSubstr("\"runs\": 100,"), HasSubstr("\"prepare_runs\": 1,"),
            HasSubstr("\"prepare_components_run\": 2,"),
            HasSubstr("\"weight_bytes_copied\": 0,"),
            HasSubstr("\"h2d_bytes_per_run\": 0,"), HasSubstr("\"load_ns\": "),
            HasSubstr("\"first_run_ns\": "), HasSubstr("\"median_run_ns\": "),
            HasSubstr("\"arena_bytes\": "), HasSubstr("\"peak_rss_bytes\": ")));
  EXPECT_EQ(out, "");
}

TEST_F(RunTool, SetParamAfterTheFirstForward) {
  ASSERT_EQ(tool("m.rlx -w w.safetensors --input @x.npy --set-param "
                 "scale=@scale.npy --output @got.npy --stats -"),
            0)
      << err;
  EXPECT_EQ(floats("got.npy"), expectedMain(2, 5));
  EXPECT_THAT(out, AllOf(HasSubstr("\"runs\": 2,"),
                         HasSubstr("\"prepare_runs\": 2,"),
                         HasSubstr("\"prepare_components_run\": 3,")));
  EXPECT_EQ(tool("m.rlx -w w.safetensors --input @x.npy --set-param "
                 "w1=@scale.npy"),
            1);
  EXPECT_THAT(err, HasSubstr("error: --set-param w1: m.rlx: weight 'w1' was "
                             "baked into the program"));
}

TEST_F(RunTool, ExpectFails) {
  write("other.npy", {2, 3}, expectedMain(2, 2.5));
  EXPECT_EQ(tool("m.rlx -w w.safetensors --input x=@x.npy --expect "
                 "y=@other.npy"),
            1);
  EXPECT_THAT(err, HasSubstr("error: output 'y': 6 of 6 elements differ from "
                             "other.npy by more than 1e-06 + 1e-05 * "
                             "|expected|; the first is element 0, 55 instead "
                             "of 66"));
  EXPECT_EQ(tool("m.rlx -w w.safetensors --input x=@x.npy --expect "
                 "y=@other.npy --rtol 0.5"),
            0);
  EXPECT_EQ(tool("m.rlx -w w.safetensors --input x=@x.npy --expect "
                 "y=@other.npy --atol 20"),
            0);
  EXPECT_EQ(tool("m.rlx -w w.safetensors --input x=@x.npy --expect y=@x.npy"),
            1);
  EXPECT_THAT(err, HasSubstr("output 'y' is f32[2, 3], x.npy holds f32[2, 4]"));
}

// No tolerance reaches infinity, which is equal to itself alone; NaN is what
// one expects where one expects it.
TEST_F(RunTool, ExpectSpecialNumbers) {
  constexpr float inf = INFINITY, nan = NAN;
  write("a.npy", {1, 4}, {inf, -inf, nan, 1});
  const std::vector<float> others[] = {{1, -inf, nan, 1},
                                       {inf, inf, nan, 1},
                                       {inf, -inf, 1, 1},
                                       {inf, -inf, nan, inf},
                                       {inf, -inf, nan, nan}};
  std::string common = "m.rlx --entry flatten --input x=@a.npy --expect @";
  write("same.npy", {4}, {inf, -inf, nan, 1});
  EXPECT_EQ(tool(common + "same.npy"), 0) << err;
  for (const std::vector<float> &other : others) {
    write("other.npy", {4}, other);
    EXPECT_EQ(tool(common + "other.npy"), 1) << err;
    EXPECT_THAT(err, HasSubstr("1 of 4 elements differ"));
  }
}

// The same seed gives the same inputs, another one others.
TEST_F(RunTool, RandomInputs) {
  std::string common = "m.rlx --entry flatten --random-inputs ";
  ASSERT_EQ(tool(common + "--shape x=2,4 --output flat=@a.npy"), 0) << err;
  ASSERT_EQ(tool(common + "--shape rows=2 --shape columns=4 --output @b.npy"),
            0)
      << err;
  ASSERT_EQ(tool(common + "--shape x=2,4 --seed 1 --output @c.npy"), 0);
  EXPECT_EQ(floats("a.npy"), floats("b.npy"));
  EXPECT_NE(floats("a.npy"), floats("c.npy"));
  EXPECT_EQ(floats("a.npy").size(), 8u);
  for (float value : floats("a.npy"))
    EXPECT_TRUE(value >= -1 && value < 1);
  // Symbols come from other inputs, too.
  write("a4.npy", {4}, {1, 2, 3, 4});
  EXPECT_EQ(tool("m.rlx --entry add --input a=@a4.npy --random-inputs"), 0)
      << err;
  EXPECT_THAT(err, HasSubstr("c: f32[4] = "));
}

TEST_F(RunTool, Bench) {
  EXPECT_EQ(tool("m.rlx --entry flatten --random-inputs --shape x=2,4 --bench "
                 "--repeat 20 --threads 1 --pin"),
            0)
      << err;
  EXPECT_THAT(err, AllOf(HasSubstr("entry 'flatten' on x86-64-v"),
                         HasSubstr("19 forwards after the first")));
  EXPECT_EQ(tool("m.rlx --entry flatten --random-inputs --shape x=2,4 --bench "
                 "--repeat 1"),
            0)
      << err;
  EXPECT_THAT(err, AllOf(HasSubstr(": the first forward took "),
                         Not(HasSubstr("after the first"))));
}

// What standard output does not take is an error, not a lost listing.
TEST_F(RunTool, ListToAFullDisk) {
  std::string command = "cd " + folder.path +
                        " && " RLX_RUN_TOOL " m.rlx --list >/dev/full 2>err";
  int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(folder.read("err"),
              HasSubstr("error: standard output: cannot write"));
}

TEST_F(RunTool, Errors) {
  struct {
    const char *arguments, *message;
  } cases[] = {
      {"no.rlx", "error: no.rlx: cannot open"},
      {"x.npy", "error: x.npy: starts with '\\x93NUMPY"},
      {"m.rlx --entry nobody", "no entry is called 'nobody'"},
      {"m.rlx", "entry 'main' needs inputs 'x'; give --input"},
      {"m.rlx --input z=@x.npy", "has no such input; it takes 'x'"},
      {"m.rlx --input x=@x.npy --input x=@x.npy", "is given twice"},
      {"m.rlx --input x=@x.npy", "needs values for 'w', 'scale', 'offset'"},
      {"m.rlx --input x=@y.npy", "dimension 1 is 3, the entry takes 4"},
      {"m.rlx --input x=@w.safetensors", "is not an .npy file"},
      {"m.rlx --random-inputs", "('batch') has no size; add --shape batch=N"},
      {"m.rlx --random-inputs --shape batch=2 --shape bach=3",
       "--shape bach: entry 'main' has no random input and no symbol"},
      {"m.rlx --input x=@x.npy --shape batch=3", "an input says 2"},
      {"m.rlx --random-inputs --shape batch=99999999999999", "cannot allocate"},
      {"m.rlx --input x=@x.npy --output z=@z.npy", "makes 'y', not 'z'"},
      {"m.rlx --input x=@x.npy -w x.npy", "is not a .safetensors file"},
      {"m.rlx --input x=@x.npy -w w.safetensors -w w.safetensors",
       "has a value from another file already"},
      {"m.rlx --entry add --input @x.npy", "takes 2 inputs, say which"},
      {"m.rlx --cpu-class z80 --input x=@x.npy", "known CPU classes are"},
      {"m.rlx --entry flatten --random-inputs --shape x=2,4 --output "
       "flat=@no/such/folder.npy",
       "cannot create"},
  };
  for (const auto &test : cases) {
    EXPECT_EQ(tool(test.arguments), 1) << test.arguments << "\n" << err;
    EXPECT_THAT(err, AllOf(HasSubstr("error: "), HasSubstr(test.message)))
        << test.arguments;
    EXPECT_THAT(err, Not(HasSubstr("terminate")));
    EXPECT_EQ(out, "");
  }
}

// A file cut or changed anywhere is an error of the tool, never a crash.
TEST_F(RunTool, DamagedModel) {
  std::string good = folder.read("m.rlx");
  for (size_t size : {size_t(0), size_t(7), size_t(63), good.size() - 1}) {
    folder.write("bad.rlx", good.substr(0, size));
    EXPECT_EQ(tool("bad.rlx --list"), 1);
    EXPECT_THAT(err, HasSubstr("error: bad.rlx: "));
  }
  std::string flipped = good;
  flipped[good.size() - 9] ^= 4;
  folder.write("bad.rlx", flipped);
  EXPECT_EQ(tool("bad.rlx --list"), 1);
  EXPECT_THAT(err, HasSubstr("SHA-256"));
}
