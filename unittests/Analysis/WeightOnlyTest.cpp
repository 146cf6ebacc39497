// SPDX-License-Identifier: MIT OR Apache-2.0
//===- WeightOnlyTest.cpp - The analysis on a host's own weights ----------===//
//
// What the analysis says of values is tested in test/Analysis; here is what
// needs a program around it: interfaces that a host attaches, and time.
//
//===----------------------------------------------------------------------===//

#include "RLX/Analysis/WeightOnly.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace rlx;

namespace {

/// A load of a global that never changes is a weight.
struct GlobalAsWeight
    : WeightLeafOpInterface::ExternalModel<GlobalAsWeight,
                                           ml_program::GlobalLoadConstOp> {
  StringRef getWeightName(Operation *op) const {
    return cast<ml_program::GlobalLoadConstOp>(op)
        .getGlobal()
        .getLeafReference();
  }
  ElementsAttr getWeightValue(Operation *) const { return {}; }
};

class WeightOnlyTest : public testing::Test {
protected:
  WeightOnlyTest() {
    context.loadDialect<RLXDialect, arith::ArithDialect, func::FuncDialect,
                        ml_program::MLProgramDialect>();
  }

  /// The results of the last op before the return of the first function.
  Value getLast(ModuleOp module) {
    auto function = *module.getOps<func::FuncOp>().begin();
    return function.getBody().front().getTerminator()->getPrevNode()->getResult(
        0);
  }

  MLIRContext context;
};

constexpr StringLiteral kHostModule = R"mlir(
  ml_program.global private @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
  func.func @main() -> tensor<4xf32> {
    %0 = ml_program.global_load_const @w : tensor<4xf32>
    %1 = arith.addf %0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  })mlir";

TEST_F(WeightOnlyTest, LoadOfUnknownGlobalIsDynamic) {
  auto module = parseSourceString<ModuleOp>(kHostModule, &context);
  ASSERT_TRUE(module);
  EXPECT_FALSE(WeightOnlyAnalysis(*module).isWeightOnly(getLast(*module)));
}

TEST_F(WeightOnlyTest, HostAttachesItsLeaves) {
  ml_program::GlobalLoadConstOp::attachInterface<GlobalAsWeight>(context);
  auto module = parseSourceString<ModuleOp>(kHostModule, &context);
  ASSERT_TRUE(module);
  WeightOnlyAnalysis weightOnly(*module);
  EXPECT_TRUE(weightOnly.isParamDependent(getLast(*module)));
  EXPECT_TRUE(weightOnly.isHoistable(getLast(*module)));
  EXPECT_FALSE(weightOnly.isValueKnown(getLast(*module)));
}

TEST_F(WeightOnlyTest, FunctionAloneHasUnknownCallers) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = rlx.exp %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  WeightOnlyAnalysis weightOnly(*module->getOps<func::FuncOp>().begin());
  EXPECT_FALSE(weightOnly.isWeightOnly(getLast(*module)));
}

TEST_F(WeightOnlyTest, NewValuesAreDynamic) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f() -> tensor<4xf32> {
      %0 = rlx.param "w" : tensor<4xf32>
      return %0 : tensor<4xf32>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  WeightOnlyAnalysis weightOnly(*module);
  Value leaf = getLast(*module);
  OpBuilder builder(&context);
  builder.setInsertionPointAfterValue(leaf);
  EXPECT_FALSE(weightOnly.isWeightOnly(
      ExpOp::create(builder, leaf.getLoc(), leaf.getType(), leaf)));
}

/// Functions that call one another in a chain, first to last or last to first.
static std::string chainOfCalls(int length, bool callersFirst) {
  std::vector<std::string> functions;
  for (int i = 0; i != length; ++i)
    functions.push_back(
        llvm::formatv("func.func private @f{0}(%a: tensor<4xf32>) -> "
                      "tensor<4xf32> {{\n"
                      "  %0 = rlx.exp %a : tensor<4xf32>\n"
                      "  %1 = func.call @f{1}(%0) : (tensor<4xf32>) -> "
                      "tensor<4xf32>\n"
                      "  return %1 : tensor<4xf32>\n}\n",
                      i, i + 1));
  functions.push_back(llvm::formatv(
      "func.func private @f{0}(%a: tensor<4xf32>) -> tensor<4xf32> {{\n"
      "  %0 = rlx.exp %a : tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}\n",
      length));
  if (!callersFirst)
    std::reverse(functions.begin(), functions.end());
  return llvm::join(functions, "") +
         "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
         "  %0 = func.call @f0(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
         "  return %0 : tensor<4xf32>\n}\n";
}

/// Neither order may take quadratic time, as sweeps would, or much stack.
TEST_F(WeightOnlyTest, DeepCalls) {
  constexpr int kLength = 20000;
  for (bool callersFirst : {false, true}) {
    auto module = parseSourceString<ModuleOp>(
        chainOfCalls(kLength, callersFirst), &context);
    ASSERT_TRUE(module);
    WeightOnlyAnalysis weightOnly(*module);
    module->walk([&](ExpOp exp) {
      EXPECT_FALSE(weightOnly.isWeightOnly(exp.getResult()));
    });
  }
}

} // namespace
