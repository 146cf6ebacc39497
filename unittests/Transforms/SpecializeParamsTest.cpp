// SPDX-License-Identifier: MIT OR Apache-2.0
//===- SpecializeParamsTest.cpp - Values that a program gives -------------===//
//
// Values in the module itself are tested in test/Transforms.
//
//===----------------------------------------------------------------------===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace rlx;
using testing::HasSubstr;

namespace {

class SpecializeParamsTest : public testing::Test {
protected:
  SpecializeParamsTest() {
    context.loadDialect<RLXDialect, func::FuncDialect>();
  }

  ElementsAttr value(float element) {
    return DenseElementsAttr::get<float>(
        RankedTensorType::get({2}, Float32Type::get(&context)), element);
  }

  /// The value that param "w" gets; null if the pass fails.
  ElementsAttr specialize(ParamBindings bindings,
                          SpecializeParamsPassOptions options = {},
                          WeightLoader loader = {}) {
    module = parseSourceString<ModuleOp>(R"mlir(
      func.func @main() -> tensor<2xf32> {
        %w = rlx.param "w" : tensor<2xf32>
        return %w : tensor<2xf32>
      })mlir",
                                         &context);
    PassManager passes(&context);
    passes.addPass(createSpecializeParamsPass(std::move(bindings),
                                              std::move(options), loader));
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
    if (failed(passes.run(*module)))
      return {};
    ElementsAttr found;
    module->walk([&](ConstantOp constant) { found = constant.getValue(); });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

TEST_F(SpecializeParamsTest, LaterValueWins) {
  EXPECT_EQ(specialize({{"w", value(1)}, {"w", value(2)}}), value(2));
  EXPECT_EQ(messages, "");
}

TEST_F(SpecializeParamsTest, ReadsWeightFiles) {
  SpecializeParamsPassOptions options;
  options.weights = {"a.npz", "b.npz"};
  auto loader = [&](StringRef path, MLIRContext *,
                    ParamBindings &bindings) -> llvm::Error {
    bindings.emplace_back("w", value(path == "a.npz" ? 1 : 2));
    return llvm::Error::success();
  };
  EXPECT_EQ(specialize({}, options, loader), value(2));
  // What the caller gives comes after what files give.
  EXPECT_EQ(specialize({{"w", value(3)}}, options, loader), value(3));
}

TEST_F(SpecializeParamsTest, NamesWhatALoaderCantRead) {
  SpecializeParamsPassOptions options;
  options.weights = {"a.npz"};
  auto loader = [](StringRef path, MLIRContext *, ParamBindings &) {
    return llvm::createStringError(path + ": no such file");
  };
  EXPECT_FALSE(specialize({}, options, loader));
  EXPECT_EQ(messages, "a.npz: no such file\n");
}

TEST_F(SpecializeParamsTest, RefusesFilesWithoutALoader) {
  SpecializeParamsPassOptions options;
  options.weights = {"a.npz"};
  EXPECT_FALSE(specialize({}, options));
  EXPECT_THAT(messages, HasSubstr("'a.npz' can't be read"));
}

TEST_F(SpecializeParamsTest, ListsAFewOfManyExtraValues) {
  ParamBindings bindings = {{"w", value(1)}};
  for (int i = 0; i != 20; ++i)
    bindings.emplace_back("extra" + std::to_string(i), value(2));
  EXPECT_EQ(specialize(bindings), value(1));
  EXPECT_THAT(messages, HasSubstr("20 values fit no param: 'extra0', "));
  EXPECT_THAT(messages, HasSubstr("'extra7' and 12 more\n"));
}

} // namespace
