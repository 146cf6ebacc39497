// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ConstFoldTest.cpp - Folding with an evaluator of the test's own ----===//

#include "Interpreter.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <limits>

using namespace mlir;
using namespace rlx;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class ConstFoldTest : public testing::Test {
protected:
  ConstFoldTest() { context.loadDialect<RLXDialect, func::FuncDialect>(); }

  /// Parses and folds. Null on failure; the message is in `error`.
  OwningOpRef<ModuleOp> fold(StringRef text) {
    OwningOpRef<ModuleOp> module = parse(text);
    return module && succeeded(fold(*module)) ? std::move(module) : nullptr;
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  LogicalResult fold(ModuleOp module) {
    PassManager passes(&context);
    passes.addPass(createConstFoldPass(evaluator, options));
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = diagnostic.str();
      return success();
    });
    return passes.run(module);
  }

  SmallVector<ConstantOp> constants(ModuleOp module) {
    SmallVector<ConstantOp> found;
    module.walk([&](ConstantOp constant) { found.push_back(constant); });
    return found;
  }

  template <typename... Ops> unsigned count(ModuleOp module) {
    unsigned found = 0;
    module.walk([&](Operation *op) { found += isa<Ops...>(op); });
    return found;
  }

  template <typename T> std::vector<T> read(ElementsAttr value) {
    std::optional<WeightBytes> bytes = WeightBytes::read(value);
    EXPECT_TRUE(bytes.has_value());
    std::vector<T> elements(bytes->get().size() / sizeof(T));
    std::memcpy(elements.data(), bytes->get().data(), bytes->get().size());
    return elements;
  }

  std::vector<std::string> origins(ConstantOp constant) {
    std::vector<std::string> names;
    if (auto list = constant->getAttrOfType<ArrayAttr>(kOriginAttr))
      for (auto name : list.getAsRange<StringAttr>())
        names.push_back(name.str());
    return names;
  }

  MLIRContext context;
  std::shared_ptr<Interpreter> evaluator = std::make_shared<Interpreter>();
  ConstFoldPassOptions options;
  std::string error;
};

TEST_F(ConstFoldTest, DerivedWeightKeepsNameOfTheOneThatDies) {
  auto module = fold(R"mlir(
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
      %w = rlx.constant "w" dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
      %0 = rlx.transpose %w [1, 0] : tensor<2x3xf32>
      %1 = rlx.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
      return %1 : tensor<2x2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  auto found = constants(*module);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].getWeightName(), "w");
  EXPECT_THAT(origins(found[0]), ElementsAre("w"));
  EXPECT_THAT(read<float>(found[0].getValue()), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(count<TransposeOp>(*module), 0u);
}

TEST_F(ConstFoldTest, WeightThatLivesKeepsItsName) {
  auto module = fold(R"mlir(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %w = rlx.constant "w" dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = rlx.neg %w : tensor<2xf32>
      %1 = rlx.add %x, %0 : tensor<2xf32>, tensor<2xf32>
      %2 = rlx.add %1, %w : tensor<2xf32>, tensor<2xf32>
      return %2 : tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  std::map<std::string, std::vector<float>> byName;
  for (ConstantOp constant : constants(*module))
    byName[constant.getWeightName().str()] = read<float>(constant.getValue());
  EXPECT_THAT(byName["w"], ElementsAre(1, 2));
  EXPECT_THAT(byName["w.prep"], ElementsAre(-1, -2));
}

TEST_F(ConstFoldTest, ConstantOfSeveralWeightsIsNamedByItsOp) {
  auto module = fold(R"mlir(
    func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
      %a = rlx.constant "a" dense<[1.0, 2.0]> : tensor<2xf32>
      %b = rlx.constant "b" dense<[3.0, 4.0]> : tensor<2xf32>
      %0 = rlx.mul %b, %a : tensor<2xf32>, tensor<2xf32> loc("merged")
      %1 = rlx.add %a, %b : tensor<2xf32>, tensor<2xf32>
      return %0, %1 : tensor<2xf32>, tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  auto found = constants(*module);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].getWeightName(), "merged");
  EXPECT_THAT(origins(found[0]), ElementsAre("b", "a"));
  EXPECT_THAT(read<float>(found[0].getValue()), ElementsAre(3, 8));
  EXPECT_EQ(found[1].getWeightName(), "prep0");
  EXPECT_THAT(read<float>(found[1].getValue()), ElementsAre(4, 6));
}

TEST_F(ConstFoldTest, OriginsAccumulateOverRounds) {
  auto module = fold(R"mlir(
    func.func @main() -> tensor<2xf32> {
      %a = rlx.constant "a" {rlx.origin = ["p", "q"]} dense<[1.0, 2.0]> : tensor<2xf32>
      %b = rlx.constant "b" dense<[3.0, 4.0]> : tensor<2xf32>
      %0 = rlx.mul %a, %b : tensor<2xf32>, tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  EXPECT_THAT(origins(constants(*module)[0]), ElementsAre("p", "q", "b"));
}

TEST_F(ConstFoldTest, DerivedWeightKeepsItsNameOverRounds) {
  auto module = fold(R"mlir(
    func.func @main() -> tensor<2xf32> {
      %a = rlx.constant "merged" {rlx.origin = ["p", "q"]} dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = rlx.neg %a : tensor<2xf32> loc("negated")
      return %0 : tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  EXPECT_EQ(constants(*module)[0].getWeightName(), "merged");
  EXPECT_THAT(origins(constants(*module)[0]), ElementsAre("p", "q"));
}

TEST_F(ConstFoldTest, LiteralsBecomeLiterals) {
  auto module = fold(R"mlir(
    func.func @main() -> (tensor<f32>, tensor<2xf32>, tensor<1000xf32>) {
      %one = rlx.constant dense<1.0> : tensor<f32>
      %pair = rlx.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = rlx.neg %one : tensor<f32>
      %1 = rlx.add %pair, %one : tensor<2xf32>, tensor<f32>
      %2 = rlx.expand %one to [1000] : tensor<f32> -> tensor<1000xf32>
      return %0, %1, %2 : tensor<f32>, tensor<2xf32>, tensor<1000xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  auto function = *module->getOps<func::FuncOp>().begin();
  auto results = function.front().getTerminator()->getOperands();
  auto value = [&](unsigned i) {
    auto constant = results[i].getDefiningOp<ConstantOp>();
    EXPECT_TRUE(constant && !constant.getName() && origins(constant).empty());
    EXPECT_TRUE(isa<DenseElementsAttr>(constant.getValue()));
    return constant.getValue();
  };
  EXPECT_THAT(read<float>(value(0)), ElementsAre(-1));
  EXPECT_THAT(read<float>(value(1)), ElementsAre(2, 3));
  EXPECT_TRUE(value(2).isSplat());
}

TEST_F(ConstFoldTest, LargeConstantsAreAlignedResources) {
  auto module = fold(R"mlir(
    func.func @main() -> tensor<300x1000xf32> {
      %w = rlx.constant "w" dense<2.0> : tensor<1000x300xf32>
      %0 = rlx.transpose %w [1, 0] : tensor<1000x300xf32>
      return %0 : tensor<300x1000xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  auto value =
      dyn_cast<DenseResourceElementsAttr>(constants(*module)[0].getValue());
  ASSERT_TRUE(value);
  AsmResourceBlob *blob = value.getRawHandle().getBlob();
  EXPECT_EQ(blob->getData().size(), 1200000u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(blob->getData().data()) % 64, 0u);
  EXPECT_EQ(blob->getDataAlignment(), 64u);
}

TEST_F(ConstFoldTest, ParamsAreNeverFolded) {
  auto module = fold(R"mlir(
    func.func @main() -> tensor<2xf32> {
      %p = rlx.param "p" : tensor<2xf32>
      %c = rlx.constant "c" dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = rlx.neg %c : tensor<2xf32>
      %1 = rlx.neg %p : tensor<2xf32>
      %2 = rlx.mul %0, %1 : tensor<2xf32>, tensor<2xf32>
      return %2 : tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  ASSERT_EQ(constants(*module).size(), 1u);
  EXPECT_THAT(read<float>(constants(*module)[0].getValue()),
              ElementsAre(-1, -2));
  EXPECT_EQ((count<NegOp, MulOp, ParamOp>(*module)), 3u);
}

constexpr StringLiteral kBroadcast = R"mlir(
  func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
    %w = rlx.constant "w" dense<[2.0]> : tensor<1xf32>
    %0 = rlx.neg %w : tensor<1xf32>
    %1 = rlx.expand %0 to [1000] : tensor<1xf32> -> tensor<1000xf32>
    %2 = rlx.mul %x, %1 : tensor<1000xf32>, tensor<1000xf32>
    return %2 : tensor<1000xf32>
  })mlir";

TEST_F(ConstFoldTest, DeclinesWhatGrows) {
  options.growthThreshold = 3000;
  auto module = fold(kBroadcast);
  ASSERT_TRUE(module) << error;
  // What comes before the broadcast is folded all the same.
  EXPECT_THAT(read<float>(constants(*module)[0].getValue()), ElementsAre(-2));
  EXPECT_EQ(count<ExpandOp>(*module), 1u);
}

TEST_F(ConstFoldTest, AllowsWhatGrowsBelowTheThreshold) {
  options.growthThreshold = 3996;
  auto module = fold(kBroadcast);
  ASSERT_TRUE(module) << error;
  EXPECT_EQ(read<float>(constants(*module)[0].getValue()).size(), 1000u);
}

TEST_F(ConstFoldTest, LargestThresholdAllowsAll) {
  options.growthThreshold = std::numeric_limits<uint64_t>::max();
  auto module = fold(kBroadcast);
  ASSERT_TRUE(module) << error;
  EXPECT_EQ(count<ExpandOp>(*module), 0u);
}

// Two results that together take more than 2^63 bytes.
TEST_F(ConstFoldTest, DeclinesWhatHasNoSize) {
  auto module = fold(R"mlir(
    func.func @main() -> (tensor<2305843009213693951xf32>,
                          tensor<2305843009213693951xf32>) {
      %w = rlx.constant "w" dense<[2.0]> : tensor<1xf32>
      %0 = rlx.neg %w : tensor<1xf32>
      %1 = rlx.expand %0 to [2305843009213693951] : tensor<1xf32> -> tensor<2305843009213693951xf32>
      %2 = rlx.neg %1 : tensor<2305843009213693951xf32>
      return %1, %2 : tensor<2305843009213693951xf32>, tensor<2305843009213693951xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  EXPECT_EQ(count<ExpandOp>(*module), 1u);
}

// A pass loads no dialect while it runs: what the evaluator needs is there
// before.
TEST_F(ConstFoldTest, LoadsDialectsOfTheEvaluator) {
  struct MathEvaluator : Interpreter {
    void getDependentDialects(DialectRegistry &registry) const override {
      registry.insert<math::MathDialect>();
    }
    llvm::Expected<std::unique_ptr<CompiledConstants>>
    compile(OwningOpRef<ModuleOp> module) override {
      wasLoaded = module->getContext()->getLoadedDialect<math::MathDialect>();
      return Interpreter::compile(std::move(module));
    }
    bool wasLoaded = false;
  };
  auto needsMath = std::make_shared<MathEvaluator>();
  evaluator = needsMath;
  ASSERT_TRUE(fold(kBroadcast)) << error;
  EXPECT_TRUE(needsMath->wasLoaded);
}

TEST_F(ConstFoldTest, EqualStructuresAreCompiledOnce) {
  auto module = fold(R"mlir(
    func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %a = rlx.constant "a" dense<[1.0, 2.0]> : tensor<2xf32>
      %b = rlx.constant "b" dense<[3.0, 4.0]> : tensor<2xf32>
      %c = rlx.constant "c" dense<[5.0, 6.0]> : tensor<2xf32>
      %0 = rlx.neg %a : tensor<2xf32>
      %1 = rlx.neg %b : tensor<2xf32>
      %2 = rlx.add %c, %c : tensor<2xf32>, tensor<2xf32>
      return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  EXPECT_THAT(evaluator->functionsCompiled, ElementsAre(2));
  EXPECT_THAT(evaluator->runs, ElementsAre("fold0", "fold0", "fold1"));
}

TEST_F(ConstFoldTest, FunctionsShareWhatTheyMakeOfOneWeight) {
  auto module = fold(R"mlir(
    func.func @a() -> tensor<100xf32> {
      %w = rlx.constant "w" dense<2.0> : tensor<100xf32>
      %0 = rlx.neg %w : tensor<100xf32>
      return %0 : tensor<100xf32>
    }
    func.func @b() -> tensor<100xf32> {
      %w = rlx.constant "w" dense<2.0> : tensor<100xf32>
      %0 = rlx.neg %w : tensor<100xf32>
      return %0 : tensor<100xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  auto found = constants(*module);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].getValue(), found[1].getValue());
  EXPECT_EQ(found[1].getWeightName(), "w");
  EXPECT_EQ(evaluator->runs.size(), 1u);
}

TEST_F(ConstFoldTest, ReleasesOnlyWhatDies) {
  for (bool release : {false, true}) {
    options.releaseDead = release;
    auto module = parse(R"mlir(
      func.func @main() -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
        %dies = rlx.constant "dies" dense_resource<dies> : tensor<100xf32>
        %lives = rlx.constant "lives" dense_resource<lives> : tensor<100xf32>
        %0 = rlx.neg %dies : tensor<100xf32>
        %1 = rlx.neg %lives : tensor<100xf32>
        return %0, %1, %lives : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
      })mlir");
    ASSERT_TRUE(module);
    SmallVector<DenseResourceElementsAttr> values;
    for (ConstantOp constant : constants(*module)) {
      values.push_back(cast<DenseResourceElementsAttr>(constant.getValue()));
      AsmResourceBlob blob = HeapAsmResourceBlob::allocate(400, 64);
      std::memset(blob.getMutableData().data(), 0, 400);
      values.back().getRawHandle().getResource()->setBlob(std::move(blob));
    }
    ASSERT_TRUE(succeeded(fold(*module))) << error;
    EXPECT_EQ(WeightBytes::isReadable(values[0]), !release);
    EXPECT_TRUE(WeightBytes::isReadable(values[1]));
  }
}

TEST_F(ConstFoldTest, BooleansAreBytesForTheEvaluator) {
  auto module = fold(R"mlir(
    func.func @main() -> (tensor<9xi1>, tensor<9xf32>) {
      %w = rlx.constant "w" dense<[1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0]> : tensor<9xf32>
      %m = rlx.constant "m" dense<[true, false, true, false, false, false, false, true, true]> : tensor<9xi1>
      %0 = rlx.cast %w : tensor<9xf32> to tensor<9xi1>
      %1 = rlx.cast %m : tensor<9xi1> to tensor<9xf32>
      return %0, %1 : tensor<9xi1>, tensor<9xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  auto found = constants(*module);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(read<uint8_t>(found[0].getValue()),
              ElementsAre(1, 0, 1, 0, 0, 0, 0, 1, 1));
  EXPECT_THAT(read<float>(found[1].getValue()),
              ElementsAre(1, 0, 1, 0, 0, 0, 0, 1, 1));
}

TEST_F(ConstFoldTest, PackedResultsAreBytes) {
  auto module = fold(R"mlir(
    func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %w = rlx.constant "w" dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %0 = rlx.pack %w : tensor<2x2xf32> -> !rlx.packed<2x2xf32, dense, panel64>
      %1 = rlx.matmul %x, %0 : (tensor<2x2xf32>, !rlx.packed<2x2xf32, dense, panel64>) -> tensor<2x2xf32>
      return %1 : tensor<2x2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  EXPECT_TRUE(succeeded(verify(*module)));
  auto found = constants(*module);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(isa<PackedType>(found[0].getType()));
  EXPECT_EQ(found[0].getWeightName(), "w");
  EXPECT_THAT(read<float>(found[0].getValue()), ElementsAre(1, 2, 3, 4));
}

TEST_F(ConstFoldTest, NoElements) {
  auto module = fold(R"mlir(
    func.func @main() -> tensor<0x2xf32> {
      %w = rlx.constant "w" dense<> : tensor<2x0xf32>
      %0 = rlx.transpose %w [1, 0] : tensor<2x0xf32>
      return %0 : tensor<0x2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  ASSERT_EQ(constants(*module).size(), 1u);
  EXPECT_EQ(constants(*module)[0].getWeightName(), "w");
}

TEST_F(ConstFoldTest, LeavesWhatTheEvaluatorRefuses) {
  evaluator->refused = "rlx.neg";
  auto module = fold(R"mlir(
    func.func @main() -> tensor<2xf32> {
      %w = rlx.constant "w" dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = rlx.add %w, %w : tensor<2xf32>, tensor<2xf32>
      %1 = rlx.neg %0 : tensor<2xf32>
      %2 = rlx.mul %1, %1 : tensor<2xf32>, tensor<2xf32>
      return %2 : tensor<2xf32>
    })mlir");
  ASSERT_TRUE(module) << error;
  EXPECT_THAT(read<float>(constants(*module)[0].getValue()), ElementsAre(2, 4));
  EXPECT_EQ((count<NegOp, MulOp>(*module)), 2u);
}

constexpr StringLiteral kNegated = R"mlir(
  func.func @main() -> tensor<2xf32> {
    %w = rlx.constant "w" dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = rlx.neg %w : tensor<2xf32>
    return %0 : tensor<2xf32>
  })mlir";

TEST_F(ConstFoldTest, NamesTheEvaluatorsError) {
  evaluator->compileError = "no code for rlx.neg";
  EXPECT_FALSE(fold(kNegated));
  EXPECT_EQ(error, "constants can't be folded: no code for rlx.neg");
  evaluator->compileError.clear();
  evaluator->runError = "out of registers";
  EXPECT_FALSE(fold(kNegated));
  EXPECT_THAT(error, HasSubstr("can't be folded: out of registers"));
}

TEST_F(ConstFoldTest, NeedsAnEvaluatorOnlyIfThereIsSomethingToFold) {
  evaluator = nullptr;
  EXPECT_FALSE(fold(kNegated));
  EXPECT_THAT(error, HasSubstr("can't be folded without an evaluator"));
  EXPECT_TRUE(fold(R"mlir(
    func.func @main() -> tensor<2xf32> {
      %w = rlx.constant "w" dense<[1.0, 2.0]> : tensor<2xf32>
      return %w : tensor<2xf32>
    })mlir"));
}

} // namespace
