// SPDX-License-Identifier: MIT OR Apache-2.0
//===- SessionTest.cpp - Graphs compiled and run in this process ----------===//

#include "Fixture.h"
#include "gmock/gmock.h"
#include <cstdlib>
#include <thread>

using namespace mlir;
using namespace rlx;
using namespace rlx::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

/// RLX_CACHE_PARAM_INVARIANT for one scope.
class CacheVariable {
public:
  explicit CacheVariable(const char *value) {
    setenv("RLX_CACHE_PARAM_INVARIANT", value, /*replace=*/1);
  }
  ~CacheVariable() { unsetenv("RLX_CACHE_PARAM_INVARIANT"); }
};

class SessionTest : public PipelinesTest {
protected:
  /// Sets params without a copy of their bytes.
  void borrow(CompiledGraph &graph,
              std::vector<std::pair<const char *, Tensor *>> values) {
    std::vector<rlx_param> params;
    for (auto [name, tensor] : values)
      params.push_back({name, tensor->view(), nullptr, nullptr});
    WeightsHandle weights;
    ASSERT_EQ(rlx_weights_default(graph.getProgram(), receive(weights)),
              RLX_OK);
    ASSERT_EQ(rlx_weights_set_params(weights.get(), params.data(),
                                     params.size(), RLX_BORROW),
              RLX_OK)
        << rlx_last_error();
  }

  Tensor w = countUp({4, 3});
  Tensor scale = Tensor({4, 3}, 2);
  Tensor x = Tensor({2, 4}, {1, 0, 0, 0, 0, 1, 0, 1});
};

} // namespace

TEST_F(SessionTest, PreparesOnceForManyForwards) {
  CompiledGraph graph = compileText(kHoistGraph);
  borrow(graph, {{"w", &w}, {"scale", &scale}});
  for (int i = 0; i < 100; ++i)
    EXPECT_THAT(runOne(graph, x, {2, 3}).values,
                ElementsAre(0, 2, 4, 24, 28, 32));
  EXPECT_EQ(graph.getStats().runs, 100u);
  EXPECT_EQ(graph.getStats().prepare_runs, 1u);
  EXPECT_EQ(graph.getStats().prepare_components_run, 1u);
  EXPECT_EQ(graph.getStats().weight_bytes_copied, 0u);

  // Another batch size needs nothing new.
  EXPECT_THAT(runOne(graph, Tensor({1, 4}, 1), {1, 3}).values,
              ElementsAre(36, 44, 52));
  EXPECT_EQ(graph.getStats().prepare_runs, 1u);
}

TEST_F(SessionTest, SetParamChangesWhatDependsOnIt) {
  CompiledGraph graph = compileText(kHoistGraph);
  borrow(graph, {{"w", &w}, {"scale", &scale}});
  runOne(graph, x, {2, 3});
  Tensor three({4, 3}, 3);
  ASSERT_EQ(takeMessage(graph.setParam("scale", three.view())), "no error");
  EXPECT_THAT(runOne(graph, x, {2, 3}).values,
              ElementsAre(0, 3, 6, 36, 42, 48));
  EXPECT_EQ(graph.getStats().prepare_runs, 2u);
  EXPECT_EQ(graph.getStats().weight_bytes_copied, 48u);
}

constexpr char kTwoParts[] = R"mlir(
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = rlx.param "a" : tensor<2xf32>
  %b = rlx.param "b" : tensor<2xf32>
  %0 = rlx.exp %a : tensor<2xf32>
  %1 = rlx.exp %b : tensor<2xf32>
  %2 = rlx.mul %x, %0 : tensor<2xf32>, tensor<2xf32>
  %3 = rlx.mul %x, %1 : tensor<2xf32>, tensor<2xf32>
  return %2, %3 : tensor<2xf32>, tensor<2xf32>
})mlir";

TEST_F(SessionTest, RunsOnlyTheComponentsThatReadAChangedParam) {
  CompiledGraph graph = compileText(kTwoParts);
  // Equal structure: two instances of one function.
  EXPECT_EQ(graph.getReport().prepareComponents, 2u);
  EXPECT_EQ(graph.getReport().prepareFunctions, 1u);
  Tensor zero({2}), one({2}, 1);
  borrow(graph, {{"a", &zero}, {"b", &zero}});
  Tensor y({2}), z({2});
  auto run = [&] {
    ASSERT_EQ(takeMessage(graph.run({one.view()}, {y.view(), z.view()})),
              "no error");
  };
  run();
  EXPECT_EQ(graph.getStats().prepare_components_run, 2u);
  ASSERT_EQ(takeMessage(graph.setParam("b", one.view())), "no error");
  run();
  EXPECT_EQ(graph.getStats().prepare_components_run, 3u);
  EXPECT_THAT(y.values, ElementsAre(1, 1));
  EXPECT_NEAR(z.values[0], 2.718281828, 1e-6);
}

TEST_F(SessionTest, WithoutTheHoistEveryForwardComputesTheSameBits) {
  CompileOptions options;
  options.cacheParamInvariant = false;
  CompiledGraph plain = compileText(kHoistGraph, options);
  CompiledGraph hoisted = compileText(kHoistGraph);
  EXPECT_EQ(plain.getReport().prepareComponents, 0u);
  EXPECT_EQ(hoisted.getReport().prepareComponents, 1u);
  Tensor odd = countUp({4, 3}, 0.1f, 0.37f);
  for (CompiledGraph *graph : {&plain, &hoisted})
    borrow(*graph, {{"w", &w}, {"scale", &odd}});
  Tensor input = countUp({5, 4}, -0.7f, 0.13f);
  EXPECT_EQ(runOne(plain, input, {5, 3}).values,
            runOne(hoisted, input, {5, 3}).values);
  EXPECT_EQ(plain.getStats().prepare_runs, 0u);
}

TEST_F(SessionTest, TheEnvironmentSetsTheDefaultAndTheOptionWins) {
  auto components = [&](std::optional<bool> option) {
    CompileOptions options;
    options.cacheParamInvariant = option;
    return compileText(kHoistGraph, options).getReport().prepareComponents;
  };
  {
    CacheVariable off("0");
    EXPECT_EQ(components(std::nullopt), 0u);
    EXPECT_EQ(components(true), 1u);
  }
  {
    CacheVariable on("1");
    EXPECT_EQ(components(std::nullopt), 1u);
    EXPECT_EQ(components(false), 0u);
  }
  EXPECT_EQ(components(std::nullopt), 1u);
}

TEST_F(SessionTest, BoundParamsLeaveNothingToHoist) {
  CompileOptions options;
  options.paramBindings["w"] = makeValue(w);
  options.paramBindings["scale"] = makeValue(scale);
  CompiledGraph graph = compileText(kHoistGraph, options);
  EXPECT_EQ(graph.getReport().prepareComponents, 0u);
  EXPECT_THAT(graph.getReport().paramsRemaining, ElementsAre());
  EXPECT_THAT(runOne(graph, x, {2, 3}).values,
              ElementsAre(0, 2, 4, 24, 28, 32));
  EXPECT_EQ(graph.getStats().prepare_runs, 0u);
  EXPECT_THAT(takeMessage(graph.setParam("scale", scale.view())),
              AllOf(HasSubstr("'scale'"), HasSubstr("folded into")));
  EXPECT_THAT(takeMessage(graph.setParam("other", scale.view())),
              HasSubstr("'other'"));
}

TEST_F(SessionTest, OneBoundParamOfTwo) {
  CompileOptions options;
  options.paramBindings["w"] = makeValue(w);
  CompiledGraph graph = compileText(kHoistGraph, options);
  EXPECT_THAT(graph.getReport().paramsRemaining, ElementsAre("scale"));
  Tensor output({2, 3});
  EXPECT_THAT(takeMessage(graph.run({x.view()}, {output.view()})),
              AllOf(HasSubstr("'scale'"), Not(HasSubstr("'w'"))));
  borrow(graph, {{"scale", &scale}});
  EXPECT_THAT(runOne(graph, x, {2, 3}).values,
              ElementsAre(0, 2, 4, 24, 28, 32));
  EXPECT_THAT(takeMessage(graph.setParam("w", w.view())), HasSubstr("'w'"));
}

constexpr char kTwoEntries[] = R"mlir(
func.func @prefill(%x: tensor<?x4xf32> {rlx.dims = [@batch, 4], rlx.name = "x"})
    -> (tensor<?x3xf32> {rlx.dims = [@batch, 3], rlx.name = "y"}) {
  %w = rlx.param "w" : tensor<4x3xf32>
  %scale = rlx.param "scale" : tensor<4x3xf32>
  %0 = rlx.mul %w, %scale : tensor<4x3xf32>, tensor<4x3xf32>
  %1 = rlx.matmul %x, %0 : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
func.func @decode(%x: tensor<1x4xf32> {rlx.name = "x"})
    -> (tensor<1x3xf32> {rlx.name = "y"}) {
  %w = rlx.param "w" : tensor<4x3xf32>
  %scale = rlx.param "scale" : tensor<4x3xf32>
  %0 = rlx.mul %w, %scale : tensor<4x3xf32>, tensor<4x3xf32>
  %1 = rlx.matmul %x, %0 : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32>
  %2 = rlx.neg %1 : tensor<1x3xf32>
  return %2 : tensor<1x3xf32>
})mlir";

TEST_F(SessionTest, EntriesShareWeightsAndWhatIsMadeOfThem) {
  CompiledGraph graph = compileText(kTwoEntries);
  // w, scale and their packed product, once.
  EXPECT_EQ(rlx_program_weight_count(graph.getProgram()), 3u);
  EXPECT_EQ(graph.getReport().prepareComponents, 1u);
  borrow(graph, {{"w", &w}, {"scale", &scale}});
  EXPECT_THAT(runOne(graph, x, {2, 3}, "prefill").values,
              ElementsAre(0, 2, 4, 24, 28, 32));
  EXPECT_THAT(runOne(graph, Tensor({1, 4}, 1), {1, 3}, "decode").values,
              ElementsAre(-36, -44, -52));
  EXPECT_EQ(graph.getStats().prepare_components_run, 1u);

  Tensor output({2, 3});
  EXPECT_THAT(takeMessage(graph.run({x.view()}, {output.view()}, "encode")),
              AllOf(HasSubstr("'encode'"), HasSubstr("'prefill'"),
                    HasSubstr("'decode'")));
  EXPECT_THAT(takeMessage(graph.run({x.view()}, {output.view()})),
              HasSubstr("'prefill'"));
}

TEST_F(SessionTest, GraphsOfOneProcessKeepApart) {
  CompiledGraph first = compileText(kHoistGraph);
  CompiledGraph second = compileText(kTwoEntries);
  Tensor three({4, 3}, 3);
  borrow(first, {{"w", &w}, {"scale", &scale}});
  borrow(second, {{"w", &w}, {"scale", &three}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(runOne(first, x, {2, 3}).values,
                ElementsAre(0, 2, 4, 24, 28, 32));
    EXPECT_THAT(runOne(second, x, {2, 3}, "prefill").values,
                ElementsAre(0, 3, 6, 36, 42, 48));
  }
  EXPECT_EQ(second.getStats().runs, 2u);
}

TEST_F(SessionTest, RandomNumbersAreNeverHoisted) {
  CompiledGraph graph = compileText(R"mlir(
func.func @main() -> tensor<64xf32> {
  %w = rlx.param "w" : tensor<64xf32>
  %0 = rlx.rng_uniform low 0.0 high 1.0 key 7 shape [64] : tensor<64xf32>
  %1 = rlx.mul %0, %w : tensor<64xf32>, tensor<64xf32>
  return %1 : tensor<64xf32>
})mlir");
  EXPECT_EQ(graph.getReport().prepareComponents, 0u);
  Tensor ones({64}, 1), first({64}), second({64});
  borrow(graph, {{"w", &ones}});
  ASSERT_EQ(takeMessage(graph.run({}, {first.view()})), "no error");
  ASSERT_EQ(takeMessage(graph.run({}, {second.view()})), "no error");
  EXPECT_NE(first.values, second.values);
}

TEST_F(SessionTest, ThreadsThatRaceOnTheFirstForwardPrepareOnce) {
  CompiledGraph graph = compileText(kHoistGraph);
  borrow(graph, {{"w", &w}, {"scale", &scale}});
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  std::vector<Tensor> outputs(kThreads, Tensor({2, 3}));
  std::vector<rlx_status> statuses(kThreads, RLX_OK);
  std::vector<rlx_stats> stats(kThreads, sized<rlx_stats>());
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      auto options = sized<rlx_session_options>();
      options.workers = 1 + i % 2;
      SessionHandle session;
      rlx_tensor input = x.view(), output = outputs[i].view();
      statuses[i] = rlx_session_create(graph.getProgram(), nullptr, &options,
                                       receive(session));
      for (int run = 0; run < 50 && statuses[i] == RLX_OK; ++run)
        statuses[i] = rlx_session_run(session.get(), 0, &input, 1, &output, 1);
      rlx_session_stats(session.get(), &stats[i]);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(statuses[i], RLX_OK);
    EXPECT_THAT(outputs[i].values, ElementsAre(0, 2, 4, 24, 28, 32));
    EXPECT_EQ(stats[i].runs, 50u);
    // Counted by the weights that all sessions share.
    EXPECT_EQ(stats[i].prepare_runs, 1u);
    EXPECT_EQ(stats[i].prepare_components_run, 1u);
  }
}
