// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Running entries: shapes, buffers, errors, statistics.

#include "TestProgram.h"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace rlx;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_RLX_OK(source.open(program));
    rlx_session_options options = sized<rlx_session_options>();
    options.seed = 42;
    ASSERT_RLX_OK(
        rlx_session_create(program.get(), nullptr, &options, receive(session)));
    ASSERT_RLX_OK(rlx_weights_default(program.get(), receive(weights)));
    setAllParams(weights.get(), 2);
  }

  rlx_status run(const char *entry, std::vector<TestTensor> inputs,
                 std::vector<TestTensor> &outputs) {
    std::vector<rlx_tensor> in, out;
    for (TestTensor &tensor : inputs)
      in.push_back(tensor.view());
    for (TestTensor &tensor : outputs)
      out.push_back(tensor.view());
    return rlx_session_run(session.get(), entryOf(program.get(), entry),
                           in.data(), in.size(), out.data(), out.size());
  }

  TestProgram source;
  ProgramHandle program;
  SessionHandle session;
  WeightsHandle weights;
};

} // namespace

TEST_F(SessionTest, OutputDims) {
  TestTensor x({6, 7}, std::vector<float>(42));
  rlx_tensor view = x.view();
  uint32_t entry = entryOf(program.get(), "flatten");
  int64_t dims[2] = {-1, -1};
  ASSERT_RLX_OK(
      rlx_session_output_dims(session.get(), entry, &view, 1, dims, 1));
  EXPECT_EQ(dims[0], 42);
  EXPECT_EQ(dims[1], -1);
  EXPECT_EQ(rlx_session_output_dims(session.get(), entry, &view, 1, dims, 2),
            RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("room for 2 output dims given, it "
                                          "has 1"));
}

// Every disagreement names both sides.
TEST_F(SessionTest, ShapeErrors) {
  auto expectFault = [&](const char *entry, std::vector<TestTensor> inputs,
                         std::vector<TestTensor> outputs, rlx_status status,
                         const char *message) {
    EXPECT_EQ(run(entry, inputs, outputs), status);
    EXPECT_THAT(rlx_last_error(), HasSubstr(message));
  };
  TestTensor x23({2, 3}, std::vector<float>(6)),
      x24({2, 4}, std::vector<float>(8)), y23({2, 3}, std::vector<float>(6)),
      v3({3}, std::vector<float>(3)), v4({4}, std::vector<float>(4));
  expectFault("main", {x23}, {y23}, RLX_ERR_SHAPE,
              "input 'x' of shape [2, 3]: dimension 1 is 3, the entry takes 4");
  expectFault("main", {v4}, {y23}, RLX_ERR_SHAPE,
              "input 'x' has 1 dimensions, the entry takes 2");
  expectFault("main", {x24, x24}, {y23}, RLX_ERR_ARGUMENT,
              "2 inputs given, it takes 1");
  expectFault("main", {x24}, {}, RLX_ERR_ARGUMENT,
              "0 outputs given, it makes 1");
  expectFault("main", {x24}, {x24}, RLX_ERR_SHAPE,
              "output 'y' is a buffer of shape [2, 4], the entry makes [2, 3]");
  expectFault("main", {x24}, {v3}, RLX_ERR_SHAPE,
              "output 'y' is a buffer with 1 dimensions");
  expectFault("add", {v3, v4}, {v3}, RLX_ERR_SHAPE,
              "input 'b' of shape [4]: dimension 0 is 4, but symbol 'n' is 3 "
              "by dimension 0 of input 'a'");
  TestTensor negative({-1, 4}, {}),
      huge({int64_t(1) << 40, int64_t(1) << 30}, {});
  expectFault("main", {negative}, {y23}, RLX_ERR_SHAPE,
              "dimension 0 is -1, which is negative");
  expectFault("flatten", {huge}, {v3}, RLX_ERR_SHAPE,
              "takes more than 2^63 bytes");
  TestTensor tall({1001, 1}, std::vector<float>(1001));
  expectFault("flatten", {tall}, {v3}, RLX_ERR_SHAPE,
              "'flatten' takes at most 1000 rows");
  TestTensor minus({1}, {-1}), one({1}, {0});
  expectFault("add", {minus, one}, {one}, RLX_ERR_EXECUTION,
              "'add' takes no negative first element");
  expectFault("liar", {}, {v3}, RLX_ERR_EXECUTION,
              "plans 5 for dimension 0 of output 'out0', the manifest says 3");
}

TEST_F(SessionTest, BufferErrors) {
  uint32_t add = entryOf(program.get(), "add");
  TestTensor a({4}, {1, 2, 3, 4}), b = a, c = a;
  rlx_tensor inputs[] = {a.view(), b.view()}, output = c.view();
  auto runAdd = [&] {
    return rlx_session_run(session.get(), add, inputs, 2, &output, 1);
  };
  EXPECT_RLX_OK(runAdd());
  EXPECT_EQ(c.values, (std::vector<float>{2, 4, 6, 8}));
  output.data = a.values.data();
  EXPECT_EQ(runAdd(), RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(),
              HasSubstr("the buffers of 'a' and 'c' overlap"));
  output.data = nullptr;
  EXPECT_EQ(runAdd(), RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("output 'c' has no data"));
  output = c.view();
  output.dtype = RLX_I32;
  EXPECT_EQ(runAdd(), RLX_ERR_SHAPE);
  EXPECT_THAT(rlx_last_error(), HasSubstr("a buffer for i32"));
  output = c.view();
  inputs[0].data = reinterpret_cast<char *>(a.values.data()) + 1;
  EXPECT_EQ(runAdd(), RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("aligned to 4 bytes"));
  inputs[0] = a.view();
  inputs[0].dims = nullptr;
  EXPECT_EQ(runAdd(), RLX_ERR_ARGUMENT);
  EXPECT_EQ(rlx_session_run(session.get(), 99, inputs, 2, &output, 1),
            RLX_ERR_NOT_FOUND);
  EXPECT_EQ(rlx_session_run(nullptr, add, inputs, 2, &output, 1),
            RLX_ERR_ARGUMENT);
  EXPECT_EQ(rlx_session_run(session.get(), add, nullptr, 2, &output, 1),
            RLX_ERR_ARGUMENT);
}

// Inputs and outputs may have the alignment of a float and no more.
TEST_F(SessionTest, NaturalAlignment) {
  std::vector<float> x(9, 1), y(7);
  int64_t xDims[] = {2, 4}, yDims[] = {2, 3};
  rlx_tensor input = {x.data() + 1, xDims, 2, RLX_F32};
  rlx_tensor output = {y.data() + 1, yDims, 2, RLX_F32};
  ASSERT_RLX_OK(rlx_session_run(session.get(), entryOf(program.get(), "main"),
                                &input, 1, &output, 1));
  EXPECT_EQ(std::vector<float>(y.begin() + 1, y.end()), expectedMain(2, 2));
}

// Tensors without elements need no memory.
TEST_F(SessionTest, EmptyTensors) {
  int64_t xDims[] = {0, 4}, yDims[] = {0, 3};
  rlx_tensor input = {nullptr, xDims, 2, RLX_F32};
  rlx_tensor output = {nullptr, yDims, 2, RLX_F32};
  EXPECT_RLX_OK(rlx_session_run(session.get(), entryOf(program.get(), "main"),
                                &input, 1, &output, 1));
}

// The number of workers does not change the result; scratch memory grows to the
// largest batch and stays.
TEST_F(SessionTest, WorkersAndArena) {
  uint32_t main = entryOf(program.get(), "main");
  for (int64_t workers : {1, 2, 3, 8}) {
    rlx_session_options options = sized<rlx_session_options>();
    options.workers = workers;
    options.pin = workers == 2;
    SessionHandle own;
    ASSERT_RLX_OK(
        rlx_session_create(program.get(), nullptr, &options, receive(own)));
    std::vector<float> y;
    for (int64_t batch : {1, 100, 7, 100}) {
      ASSERT_RLX_OK(runBatch(own.get(), main, batch, y));
      EXPECT_EQ(y, expectedMain(batch, 2));
    }
    EXPECT_EQ(statsOf(own.get()).arena_bytes,
              uint64_t(64 * workers + 1024 * 100));
    EXPECT_EQ(statsOf(own.get()).workers, uint64_t(workers));
  }
}

// More shapes than plans are kept.
TEST_F(SessionTest, ManyShapes) {
  uint32_t main = entryOf(program.get(), "main");
  std::vector<float> y;
  for (int round = 0; round < 2; ++round)
    for (int64_t batch = 1; batch < 30; ++batch) {
      ASSERT_RLX_OK(runBatch(session.get(), main, batch, y));
      ASSERT_EQ(y, expectedMain(batch, 2));
    }
}

// Random numbers: the seed is the session's, the counter that of forwards.
TEST_F(SessionTest, SeedAndCounter) {
  std::vector<TestTensor> out = {TestTensor({3}, {0, 0, 0})};
  for (float forward : {0.f, 1.f, 2.f}) {
    ASSERT_RLX_OK(run("calls", {}, out));
    EXPECT_EQ(out[0].values[1], 42);
    EXPECT_EQ(out[0].values[2], forward);
  }
}

TEST_F(SessionTest, Statistics) {
  rlx_stats stats = statsOf(session.get());
  EXPECT_EQ(stats.runs, 0u);
  EXPECT_GT(stats.load_ns, 0u);
  std::vector<float> y;
  uint32_t main = entryOf(program.get(), "main");
  for (int i = 0; i < 5; ++i)
    ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  stats = statsOf(session.get());
  EXPECT_EQ(stats.runs, 5u);
  EXPECT_GT(stats.median_run_ns, 0u);
  // The first forward prepared for milliseconds.
  EXPECT_GT(stats.first_run_ns, stats.median_run_ns);
  // A caller from before a field existed.
  rlx_stats old = {};
  old.struct_size = 16;
  ASSERT_RLX_OK(rlx_session_stats(session.get(), &old));
  EXPECT_EQ(old.runs, 5u);
  EXPECT_EQ(old.prepare_runs, 0u);
  old.struct_size = 0;
  EXPECT_EQ(rlx_session_stats(session.get(), &old), RLX_ERR_ARGUMENT);
}

// Two threads in one session: one is refused, nobody is harmed.
TEST_F(SessionTest, RefusesASecondThread) {
  uint32_t main = entryOf(program.get(), "main");
  std::atomic<bool> refused{false};
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto useIt = [&] {
    std::vector<float> y;
    while (!refused && std::chrono::steady_clock::now() < deadline) {
      rlx_status status = runBatch(session.get(), main, 500, y);
      if (status == RLX_ERR_BUSY) {
        EXPECT_THAT(rlx_last_error(), HasSubstr("one session per thread"));
        refused = true;
        return;
      }
      ASSERT_EQ(status, RLX_OK);
      EXPECT_EQ(y, expectedMain(500, 2));
    }
  };
  std::thread other(useIt);
  useIt();
  other.join();
  EXPECT_TRUE(refused);
}

// Handles may be released in any order.
TEST_F(SessionTest, OutlivesTheProgram) {
  uint32_t main = entryOf(program.get(), "main");
  weights.reset();
  program.reset();
  std::vector<float> y;
  ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  EXPECT_EQ(y, expectedMain(1, 2));
}
