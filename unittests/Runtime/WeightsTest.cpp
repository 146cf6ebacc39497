// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Params, snapshots and prepare: what runs when, and what a forward sees.

#include "TestProgram.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class Weights : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_RLX_OK(source.open(program));
    ASSERT_RLX_OK(rlx_weights_default(program.get(), receive(weights)));
    ASSERT_RLX_OK(
        rlx_session_create(program.get(), nullptr, nullptr, receive(session)));
    main = entryOf(program.get(), "main");
    chained = entryOf(program.get(), "chained");
  }

  float productCalls() {
    TestTensor out({3}, {0, 0, 0});
    rlx_tensor view = out.view();
    EXPECT_RLX_OK(rlx_session_run(
        session.get(), entryOf(program.get(), "calls"), nullptr, 0, &view, 1));
    return out.values[0];
  }

  TestProgram source;
  ProgramHandle program;
  WeightsHandle weights;
  SessionHandle session;
  uint32_t main = 0, chained = 0;
  std::vector<float> y;
};

} // namespace

// The hoist: one prepare for a hundred forwards of two batch sizes, and no
// weight is copied by any of them.
TEST_F(Weights, PreparesOnce) {
  setAllParams(weights.get(), 2);
  uint64_t setBytes = statsOf(session.get()).weight_bytes_copied;
  EXPECT_EQ(setBytes, (12 + 12 + 3) * sizeof(float));
  EXPECT_EQ(statsOf(session.get()).prepare_runs, 0u);
  for (int i = 0; i < 100; ++i) {
    ASSERT_RLX_OK(runBatch(session.get(), main, i % 2 ? 2 : 5, y));
    ASSERT_EQ(y, expectedMain(i % 2 ? 2 : 5, 2));
  }
  rlx_stats stats = statsOf(session.get());
  EXPECT_EQ(stats.runs, 100u);
  EXPECT_EQ(stats.prepare_runs, 1u);
  EXPECT_EQ(stats.prepare_components_run, 2u);
  EXPECT_EQ(stats.weight_bytes_copied, setBytes);
  EXPECT_EQ(stats.h2d_bytes_per_run, 0u);
  EXPECT_EQ(stats.prepared_bytes, (12 + 3) * sizeof(float));
}

// set_param redoes the components that read the weight, directly or not, and
// only when a forward needs them.
TEST_F(Weights, RecomputesWhatChanged) {
  setAllParams(weights.get(), 2);
  ASSERT_RLX_OK(runBatch(session.get(), chained, 1, y));
  EXPECT_EQ(y[0], 22 * 2 * 2 + 11);
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 3u);

  TestTensor offset({3}, {20, 20, 20});
  rlx_tensor view = offset.view();
  ASSERT_RLX_OK(rlx_weights_set_param(weights.get(), "offset", &view));
  ASSERT_RLX_OK(runBatch(session.get(), chained, 1, y));
  EXPECT_EQ(y[0], 22 * 2 * 2 + 21);
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 4u);
  EXPECT_EQ(statsOf(session.get()).prepare_runs, 2u);

  TestTensor w({4, 3}, std::vector<float>(12, 1));
  view = w.view();
  ASSERT_RLX_OK(rlx_weights_set_param(weights.get(), "w", &view));
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 4u);
  ASSERT_RLX_OK(runBatch(session.get(), chained, 1, y));
  EXPECT_EQ(y[0], 4 * 2 * 2 + 21);
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 6u);
  EXPECT_EQ(statsOf(session.get()).prepare_runs, 3u);

  // `main` shares the instances with `chained`: nothing is left to do.
  ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 6u);
}

// An explicit prepare is the first forward's, moved forward.
TEST_F(Weights, ExplicitPrepare) {
  setAllParams(weights.get(), 1);
  ASSERT_RLX_OK(rlx_session_prepare(session.get(), main));
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 2u);
  EXPECT_EQ(statsOf(session.get()).runs, 0u);
  ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 2u);
}

TEST_F(Weights, NamesAllUnsetParams) {
  EXPECT_EQ(runBatch(session.get(), main, 1, y), RLX_ERR_PARAM_UNSET);
  EXPECT_THAT(rlx_last_error(),
              AllOf(HasSubstr("'w'"), HasSubstr("'scale'"),
                    HasSubstr("'offset'"), HasSubstr("entry 'main'")));
  TestTensor offset({3}, {0, 0, 0});
  rlx_tensor view = offset.view();
  ASSERT_RLX_OK(rlx_weights_set_param(weights.get(), "offset", &view));
  EXPECT_EQ(runBatch(session.get(), main, 1, y), RLX_ERR_PARAM_UNSET);
  EXPECT_THAT(rlx_last_error(), Not(HasSubstr("'offset'")));
  // Entries that read none of them run.
  EXPECT_EQ(productCalls(), 0);
}

// Buffers for prepare are as large as the manifest says; code that would write
// more is not run.
TEST_F(Weights, PrepareMustFitTheManifest) {
  source.manifest.tensors[5].shape = {4};
  source.manifest.tensors[5].sizeBytes = 16;
  ASSERT_RLX_OK(source.open(program));
  ASSERT_RLX_OK(rlx_weights_default(program.get(), receive(weights)));
  setAllParams(weights.get(), 2);
  ASSERT_RLX_OK(
      rlx_session_create(program.get(), nullptr, nullptr, receive(session)));
  EXPECT_EQ(runBatch(session.get(), main, 1, y), RLX_ERR_EXECUTION);
  EXPECT_THAT(rlx_last_error(),
              HasSubstr("prepare instance 1: its code plans 3 for dimension 0 "
                        "of 'sum', the manifest says 4"));
}

// A param with a hash takes the value that the program was made for alone.
TEST_F(Weights, ContentHashes) {
  TestTensor right({3}, {1, 2, 3}), wrong({3}, {1, 2, 4});
  auto hash = [](TestTensor &tensor) {
    return contentHash({reinterpret_cast<uint8_t *>(tensor.values.data()), 12});
  };
  source.manifest.tensors[3].contentHash = hash(right);
  ASSERT_RLX_OK(source.open(program));
  ASSERT_RLX_OK(rlx_weights_default(program.get(), receive(weights)));
  rlx_tensor view = wrong.view();
  EXPECT_EQ(rlx_weights_set_param(weights.get(), "offset", &view),
            RLX_ERR_INTEGRITY);
  EXPECT_THAT(rlx_last_error(), AllOf(HasSubstr("param 'offset'"),
                                      HasSubstr(crypto::toHex(hash(right))),
                                      HasSubstr(crypto::toHex(hash(wrong)))));
  view = right.view();
  EXPECT_RLX_OK(rlx_weights_set_param(weights.get(), "offset", &view));
}

TEST_F(Weights, RefusesByName) {
  TestTensor value({3}, {0, 0, 0});
  rlx_tensor view = value.view();
  auto set = [&](const char *name) {
    return rlx_weights_set_param(weights.get(), name, &view);
  };
  EXPECT_EQ(set("w1"), RLX_ERR_BAKED);
  EXPECT_THAT(rlx_last_error(),
              HasSubstr("'w1' was baked into the program and "
                        "cannot be set (folded into 'bias')"));
  EXPECT_EQ(set("bias"), RLX_ERR_BAKED);
  EXPECT_EQ(set("product"), RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("w * scale"));
  EXPECT_EQ(set("ofset"), RLX_ERR_NOT_FOUND);
  EXPECT_THAT(rlx_last_error(), HasSubstr("did you mean 'offset'?"));
  EXPECT_EQ(set("something"), RLX_ERR_NOT_FOUND);
  EXPECT_THAT(rlx_last_error(), HasSubstr("there are 'offset', 'scale', 'w'"));
  EXPECT_EQ(set("w"), RLX_ERR_SHAPE);
  EXPECT_THAT(rlx_last_error(),
              HasSubstr("'w' is f32[4, 3], the value given is f32[3]"));
  view.dtype = RLX_F64;
  EXPECT_EQ(set("offset"), RLX_ERR_SHAPE);
  EXPECT_THAT(rlx_last_error(), HasSubstr("f64[3]"));
  view = value.view();
  view.data = nullptr;
  EXPECT_EQ(set("offset"), RLX_ERR_ARGUMENT);
  view.dtype = 99;
  EXPECT_EQ(set("offset"), RLX_ERR_ARGUMENT);
}

// All params of a call are set, or none.
TEST_F(Weights, SetsAllOrNone) {
  setAllParams(weights.get(), 2);
  TestTensor zeros({4, 3}, std::vector<float>(12)), wrong({1}, {0});
  rlx_param params[] = {{"scale", zeros.view(), nullptr, nullptr},
                        {"offset", wrong.view(), nullptr, nullptr}};
  EXPECT_EQ(rlx_weights_set_params(weights.get(), params, 2, 0), RLX_ERR_SHAPE);
  ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  EXPECT_EQ(y, expectedMain(1, 2));
  params[1] = params[0];
  EXPECT_EQ(rlx_weights_set_params(weights.get(), params, 2, 0),
            RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("set twice"));
}

// Borrowed params are not copied and are given back exactly once, when the last
// snapshot that has them is gone.
TEST_F(Weights, Borrows) {
  setAllParams(weights.get(), 2);
  uint64_t copied = statsOf(session.get()).weight_bytes_copied;
  std::atomic<int> released{0};
  auto release = [](void *count) { ++*static_cast<std::atomic<int> *>(count); };
  TestTensor scale({4, 3}, std::vector<float>(12, 3));
  rlx_param param = {"scale", scale.view(), release, &released};
  ASSERT_RLX_OK(rlx_weights_set_params(weights.get(), &param, 1, RLX_BORROW));
  ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  EXPECT_EQ(y, expectedMain(1, 3));
  EXPECT_EQ(statsOf(session.get()).weight_bytes_copied, copied);
  EXPECT_EQ(released, 0);
  TestTensor other({4, 3}, std::vector<float>(12, 4));
  rlx_tensor view = other.view();
  ASSERT_RLX_OK(rlx_weights_set_param(weights.get(), "scale", &view));
  EXPECT_EQ(released, 1);

  // Refused values are given back too.
  param.name = "nobody";
  EXPECT_EQ(rlx_weights_set_params(weights.get(), &param, 1, RLX_BORROW),
            RLX_ERR_NOT_FOUND);
  EXPECT_EQ(released, 2);
  param.name = "scale";
  std::vector<char> odd(12 * 4 + 1);
  param.value.data = odd.data() + 1;
  EXPECT_EQ(rlx_weights_set_params(weights.get(), &param, 1, RLX_BORROW),
            RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("aligned to 4"));
  EXPECT_EQ(released, 3);

  // Weights that are released give everything back.
  param.value = scale.view();
  ASSERT_RLX_OK(rlx_weights_set_params(weights.get(), &param, 1, RLX_BORROW));
  session.reset();
  weights.reset();
  program.reset();
  EXPECT_EQ(released, 4);
}

// Two sets of weights of one program do not see each other.
TEST_F(Weights, IndependentSets) {
  setAllParams(weights.get(), 2);
  WeightsHandle others;
  ASSERT_RLX_OK(rlx_weights_create(program.get(), receive(others)));
  SessionHandle otherSession;
  ASSERT_RLX_OK(rlx_session_create(program.get(), others.get(), nullptr,
                                   receive(otherSession)));
  EXPECT_EQ(runBatch(otherSession.get(), main, 1, y), RLX_ERR_PARAM_UNSET);
  setAllParams(others.get(), 5);
  ASSERT_RLX_OK(runBatch(otherSession.get(), main, 1, y));
  EXPECT_EQ(y, expectedMain(1, 5));
  ASSERT_RLX_OK(runBatch(session.get(), main, 1, y));
  EXPECT_EQ(y, expectedMain(1, 2));

  TestProgram anotherSource;
  ProgramHandle another;
  ASSERT_RLX_OK(anotherSource.open(another));
  EXPECT_EQ(rlx_session_create(another.get(), others.get(), nullptr,
                               receive(otherSession)),
            RLX_ERR_ARGUMENT);
}

// Threads that race on the first forward prepare once.
TEST_F(Weights, RacingFirstForwards) {
  setAllParams(weights.get(), 2);
  constexpr int count = 4;
  std::vector<std::thread> threads;
  std::atomic<int> good{0}, ready{0};
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      rlx_session_options options = sized<rlx_session_options>();
      options.workers = 1;
      SessionHandle own;
      EXPECT_RLX_OK(
          rlx_session_create(program.get(), nullptr, &options, receive(own)));
      ++ready;
      while (ready < count)
        std::this_thread::yield();
      std::vector<float> out;
      EXPECT_RLX_OK(runBatch(own.get(), main, 3, out));
      good += out == expectedMain(3, 2);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, count);
  EXPECT_EQ(productCalls(), 1);
  EXPECT_EQ(statsOf(session.get()).prepare_runs, 1u);
  EXPECT_EQ(statsOf(session.get()).prepare_components_run, 2u);
}

// A forward sees the values of one snapshot, old or new, never a mixture.
TEST_F(Weights, SetParamDuringForwards) {
  setAllParams(weights.get(), 1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::atomic<int> forwards{0};
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      rlx_session_options options = sized<rlx_session_options>();
      options.workers = 1;
      SessionHandle own;
      EXPECT_RLX_OK(
          rlx_session_create(program.get(), nullptr, &options, receive(own)));
      std::vector<float> out;
      while (!stop) {
        EXPECT_RLX_OK(runBatch(own.get(), main, 2, out));
        EXPECT_TRUE(out == expectedMain(2, 1) || out == expectedMain(2, 7));
        ++forwards;
      }
    });
  for (int i = 0; i < 20; ++i) {
    int before = forwards;
    setAllParams(weights.get(), i % 2 ? 1 : 7);
    while (forwards < before + 2)
      std::this_thread::yield();
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}
