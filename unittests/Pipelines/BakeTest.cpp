// SPDX-License-Identifier: MIT OR Apache-2.0
//===- BakeTest.cpp - Modules baked into artifacts ------------------------===//

#include "RLX/Pipelines/Bake.h"
#include "../Runtime/TemporaryFolder.h"
#include "Fixture.h"
#include "gmock/gmock.h"

using namespace mlir;
using namespace rlx;
using namespace rlx::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Weights [out, in] that the graph transposes, as torch writes layers.
constexpr char kTorchGraph[] = R"mlir(
module attributes {rlx.name = "torch"} {
  func.func @main(%x: tensor<?x16xf32> {rlx.dims = [@batch, 16], rlx.name = "x"})
      -> (tensor<?x8xf32> {rlx.dims = [@batch, 8], rlx.name = "y"}) {
    %w = rlx.param "fc.weight" : tensor<8x16xf32>
    %b = rlx.param "fc.bias" : tensor<8xf32>
    %0 = rlx.transpose %w [1, 0] : tensor<8x16xf32>
    %1 = rlx.matmul %x, %0 : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
    %2 = rlx.add %1, %b : tensor<?x8xf32>, tensor<8xf32>
    %3 = rlx.relu %2 : tensor<?x8xf32>
    return %3 : tensor<?x8xf32>
  }
})mlir";

BakeOptions oneTarget(Profile profile = Profile::Exact) {
  BakeOptions options = BakeOptions::fromProfile(profile);
  options.targets = {"x86-64-v3"};
  return options;
}

class BakeTest : public PipelinesTest {
protected:
  BakeTest() {
    hoist["w"] = makeValue(countUp({4, 3}));
    hoist["scale"] = makeValue(Tensor({4, 3}, 2));
    torch["fc.weight"] = makeValue(weight);
    torch["fc.bias"] = makeValue(bias);
  }

  /// Bakes the graph in `text` for one class; it stays as the last of
  /// `modules`.
  llvm::Expected<BakeResult> bakeText(StringRef text,
                                      const WeightBindings &bindings,
                                      BakeOptions options = oneTarget()) {
    modules.push_back(parse(text));
    return rlx::bake(*modules.back(), bindings, options);
  }

  std::string messageOf(llvm::Expected<BakeResult> result) {
    return result ? "no error" : llvm::toString(result.takeError());
  }

  template <typename Op> unsigned countOps(ModuleOp module) {
    unsigned count = 0;
    module.walk([&](Op) { ++count; });
    return count;
  }

  WeightBindings hoist, torch;
  Tensor weight = countUp({8, 16}, -1, 0.017f);
  Tensor bias = countUp({8}, -2, 0.5f);
};

/// Opens a file and runs it once.
Tensor runFile(const std::string &path, Tensor input,
               std::vector<int64_t> outputDims,
               const std::vector<std::pair<const char *, Tensor *>> &params) {
  Tensor output(std::move(outputDims), -1);
  ProgramHandle program;
  WeightsHandle weights;
  SessionHandle session;
  EXPECT_EQ(rlx_program_open(path.c_str(), nullptr, receive(program)), RLX_OK)
      << rlx_last_error();
  EXPECT_EQ(rlx_weights_default(program.get(), receive(weights)), RLX_OK);
  for (auto [name, value] : params) {
    rlx_tensor view = value->view();
    EXPECT_EQ(rlx_weights_set_param(weights.get(), name, &view), RLX_OK)
        << rlx_last_error();
  }
  EXPECT_EQ(
      rlx_session_create(program.get(), nullptr, nullptr, receive(session)),
      RLX_OK)
      << rlx_last_error();
  rlx_tensor in = input.view(), out = output.view();
  EXPECT_EQ(rlx_session_run(session.get(), 0, &in, 1, &out, 1), RLX_OK)
      << rlx_last_error();
  return output;
}

} // namespace

TEST_F(BakeTest, WritesTheSameFileForTheSameInput) {
  TemporaryFolder folder;
  std::string first = folder.path + "/first.rlx";
  std::string second = folder.path + "/second.rlx";
  for (const std::string &path : {first, second}) {
    llvm::Expected<BakeResult> result = bakeText(kHoistGraph, hoist);
    ASSERT_TRUE(bool(result)) << messageOf(std::move(result));
    ASSERT_EQ(takeMessage(result->artifact.write(path)), "no error");
    auto memory = result->artifact.toMemory();
    ASSERT_TRUE(bool(memory)) << llvm::toString(memory.takeError());
    EXPECT_TRUE((*memory)->getBuffer() == StringRef(folder.read("first.rlx")));
  }
  EXPECT_EQ(folder.read("first.rlx"), folder.read("second.rlx"));
  EXPECT_THAT(runFile(second, Tensor({1, 4}, 1), {1, 3}, {}).values,
              ElementsAre(36, 44, 52));

  llvm::Expected<Artifact> artifact = Artifact::read(first);
  ASSERT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
  ASSERT_EQ(takeMessage(artifact->write(second)), "no error");
  EXPECT_EQ(folder.read("first.rlx"), folder.read("second.rlx"));
  EXPECT_TRUE(bool(artifact->getCode("x86-64-v3")));
  EXPECT_THAT(takeMessage(artifact->getCode("x86-64-v4").takeError()),
              HasSubstr("'x86-64-v4'"));
}

TEST_F(BakeTest, LeavesNoTransposeInATorchGraph) {
  TemporaryFolder folder;
  Tensor input = countUp({3, 16}, -0.9f, 0.041f);
  uint64_t mergedBytes = 0;
  std::vector<std::vector<float>> outputs;
  for (Profile profile : {Profile::Merge, Profile::Fold, Profile::Exact}) {
    llvm::Expected<BakeResult> result =
        bakeText(kTorchGraph, torch, oneTarget(profile));
    ASSERT_TRUE(bool(result)) << messageOf(std::move(result));
    const BakeReport &report = result->report;
    if (profile == Profile::Merge) {
      mergedBytes = report.weightBytes;
    } else {
      EXPECT_EQ(countOps<TransposeOp>(*modules.back()), 0u);
      EXPECT_LE(report.weightBytes, mergedBytes);
    }
    EXPECT_THAT(report.paramsBaked, ElementsAre("fc.weight", "fc.bias"));
    EXPECT_EQ(report.rawWeightBytes, (8 * 16 + 8) * sizeof(float));
    std::string path = folder.path + "/torch.rlx";
    ASSERT_EQ(takeMessage(result->artifact.write(path)), "no error");
    outputs.push_back(runFile(path, input, {3, 8}, {}).values);
  }

  // Open and hoisted: the same bits again.
  llvm::Expected<BakeResult> open = bakeText(kTorchGraph, {});
  ASSERT_TRUE(bool(open)) << messageOf(std::move(open));
  std::string path = folder.path + "/open.rlx";
  ASSERT_EQ(takeMessage(open->artifact.write(path)), "no error");
  outputs.push_back(
      runFile(path, input, {3, 8}, {{"fc.weight", &weight}, {"fc.bias", &bias}})
          .values);
  for (const std::vector<float> &output : outputs)
    EXPECT_EQ(output, outputs.front());

  for (int64_t row = 0; row < 3; ++row)
    for (int64_t col = 0; col < 8; ++col) {
      double sum = bias.values[col];
      for (int64_t k = 0; k < 16; ++k)
        sum += double(input.values[row * 16 + k]) * weight.values[col * 16 + k];
      EXPECT_NEAR(outputs.front()[row * 8 + col], std::max(sum, 0.0), 1e-5);
    }
}

TEST_F(BakeTest, SaysWhatItDid) {
  std::vector<std::string> steps;
  BakeOptions options = oneTarget();
  options.progress = [&](StringRef step) { steps.push_back(step.str()); };
  llvm::Expected<BakeResult> result = bakeText(kHoistGraph, hoist, options);
  ASSERT_TRUE(bool(result)) << messageOf(std::move(result));
  EXPECT_THAT(steps, testing::IsSupersetOf({"weights", "code for x86-64-v3"}));
  const BakeReport &report = result->report;
  EXPECT_EQ(report.nodesBefore, 5u);
  EXPECT_EQ(report.nodesAfter, 3u);
  EXPECT_EQ(report.foldedConstants, 1u);
  EXPECT_THAT(report.targets, ElementsAre("x86-64-v3"));
  ASSERT_EQ(report.weights.size(), 1u);
  EXPECT_THAT(report.weights[0].origin, ElementsAre("w", "scale"));
  EXPECT_THAT(report.weights[0].shape, ElementsAre(4, 3));
}

TEST_F(BakeTest, IgnoresValuesThatNoParamHas) {
  WeightBindings bindings;
  bindings["other"] = makeValue(Tensor({1}, 1));
  llvm::Expected<BakeResult> result = bakeText(kHoistGraph, bindings);
  ASSERT_TRUE(bool(result)) << messageOf(std::move(result));
  EXPECT_THAT(result->report.paramsRemaining, ElementsAre("scale", "w"));
}

TEST_F(BakeTest, NamesBothSidesOfAValueThatDoesNotFit) {
  hoist["scale"] = makeValue(Tensor({3, 4}, 2));
  EXPECT_THAT(messageOf(bakeText(kHoistGraph, hoist)),
              AllOf(HasSubstr("'scale'"), HasSubstr("tensor<4x3xf32>"),
                    HasSubstr("tensor<3x4xf32>")));
}

TEST_F(BakeTest, RefusesTargetsThatThereAreNot) {
  BakeOptions options = oneTarget();
  options.targets = {"z80"};
  EXPECT_THAT(messageOf(bakeText(kHoistGraph, {}, options)),
              AllOf(HasSubstr("'z80'"), HasSubstr("x86-64-v4")));
  options.targets = {"none", "native"};
  EXPECT_THAT(messageOf(bakeText(kHoistGraph, {}, options)),
              HasSubstr("'none'"));
}

TEST_F(BakeTest, RefusesOneNameForTwoTypes) {
  EXPECT_THAT(messageOf(bakeText(R"mlir(
func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = rlx.param "w" : tensor<2xf32>
  %0 = rlx.add %x, %w : tensor<2xf32>, tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @b(%x: tensor<3xf32>) -> tensor<3xf32> {
  %w = rlx.param "w" : tensor<3xf32>
  %0 = rlx.add %x, %w : tensor<3xf32>, tensor<3xf32>
  return %0 : tensor<3xf32>
})mlir",
                                 {})),
              AllOf(HasSubstr("'w'"), HasSubstr("tensor<2xf32>"),
                    HasSubstr("tensor<3xf32>")));
}

TEST_F(BakeTest, ConstantsOfOneNameKeepTheirValues) {
  llvm::Expected<BakeResult> result = bakeText(R"mlir(
func.func @main(%x: tensor<2xf32> {rlx.name = "x"}) -> tensor<2xf32> {
  %c = rlx.constant "c" dense<[1.0, 2.0]> : tensor<2xf32>
  %d = rlx.constant "c" dense<[10.0, 20.0]> : tensor<2xf32>
  %e = rlx.constant "w" dense<[100.0, 200.0]> : tensor<2xf32>
  %w = rlx.param "w" : tensor<2xf32>
  %0 = rlx.add %x, %c : tensor<2xf32>, tensor<2xf32>
  %1 = rlx.add %0, %d : tensor<2xf32>, tensor<2xf32>
  %2 = rlx.add %1, %e : tensor<2xf32>, tensor<2xf32>
  %3 = rlx.add %2, %w : tensor<2xf32>, tensor<2xf32>
  return %3 : tensor<2xf32>
})mlir",
                                               {});
  ASSERT_TRUE(bool(result)) << messageOf(std::move(result));
  EXPECT_THAT(result->report.paramsRemaining, ElementsAre("w"));
  TemporaryFolder folder;
  std::string path = folder.path + "/constants.rlx";
  ASSERT_EQ(takeMessage(result->artifact.write(path)), "no error");
  Tensor w({2}, 1000);
  EXPECT_THAT(runFile(path, Tensor({2}), {2}, {{"w", &w}}).values,
              ElementsAre(1111, 1222));
}

TEST_F(BakeTest, RunPhasesStopsWhereItIsTold) {
  BakeOptions options = oneTarget();
  OwningOpRef<ModuleOp> module = parse(kHoistGraph);
  ASSERT_EQ(takeMessage(runPhases(*module, hoist, options, Phase::Import)),
            "no error");
  EXPECT_EQ(countOps<MulOp>(*module), 1u);
  ASSERT_EQ(takeMessage(runPhases(*module, hoist, options, Phase::Weights)),
            "no error");
  EXPECT_EQ(countOps<MulOp>(*module), 0u);
  EXPECT_EQ(countOps<MatmulOp>(*module), 1u);

  OwningOpRef<ModuleOp> other = parse(kHoistGraph);
  ASSERT_EQ(takeMessage(runPhases(*other, hoist, options, Phase::Lowered)),
            "no error");
  EXPECT_EQ(countOps<MatmulOp>(*other), 0u);
  options.targets = {};
  OwningOpRef<ModuleOp> third = parse(kHoistGraph);
  EXPECT_THAT(takeMessage(runPhases(*third, hoist, options, Phase::Lowered)),
              HasSubstr("target 'none' has none"));
}
