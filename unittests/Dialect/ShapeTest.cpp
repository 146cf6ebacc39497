// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ShapeTest.cpp - Shapes, symbols and types of the dialect -*- C++ -*-===//

#include "RLX/Dialect/RLXShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace rlx;
using testing::ElementsAre;

namespace {

constexpr int64_t kDynamic = ShapedType::kDynamic;

class ShapeTest : public testing::Test {
protected:
  ShapeTest() {
    context.loadDialect<RLXDialect>();
    // Messages of the verifiers are tested by test/Dialect/invalid-*.mlir.
    context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }

  RankedTensorType tensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }
  PackedType packed(ArrayRef<int64_t> shape, Type element) {
    return PackedType::get(&context, shape, element, Encoding::Dense,
                           Layout::Panel64);
  }

  MLIRContext context;
};

TEST_F(ShapeTest, BroadcastsDims) {
  EXPECT_EQ(broadcastDim(3, 3), 3);
  EXPECT_EQ(broadcastDim(3, 1), 3);
  EXPECT_EQ(broadcastDim(1, 3), 3);
  EXPECT_EQ(broadcastDim(0, 1), 0);
  EXPECT_EQ(broadcastDim(1, 0), 0);
  EXPECT_EQ(broadcastDim(3, 2), std::nullopt);
  EXPECT_EQ(broadcastDim(3, 0), std::nullopt);
  EXPECT_EQ(broadcastDim(kDynamic, kDynamic), kDynamic);
  EXPECT_EQ(broadcastDim(kDynamic, 1), kDynamic);
  EXPECT_EQ(broadcastDim(1, kDynamic), kDynamic);
  EXPECT_EQ(broadcastDim(kDynamic, 4), 4);
  EXPECT_EQ(broadcastDim(4, kDynamic), 4);
}

TEST_F(ShapeTest, BroadcastsShapesAtTheInnermostDim) {
  SmallVector<int64_t> shape;
  ASSERT_TRUE(succeeded(broadcastShapes({2, 1, 4}, {3, 1}, shape)));
  EXPECT_THAT(shape, ElementsAre(2, 3, 4));
  ASSERT_TRUE(succeeded(broadcastShapes({3, 1}, {2, 1, 4}, shape)));
  EXPECT_THAT(shape, ElementsAre(2, 3, 4));
  ASSERT_TRUE(succeeded(broadcastShapes({}, {kDynamic, 5}, shape)));
  EXPECT_THAT(shape, ElementsAre(kDynamic, 5));
  ASSERT_TRUE(succeeded(broadcastShapes({}, {}, shape)));
  EXPECT_THAT(shape, ElementsAre());
  EXPECT_TRUE(failed(broadcastShapes({2, 3}, {2}, shape)));
}

TEST_F(ShapeTest, CountsElementsWithoutOverflow) {
  EXPECT_EQ(getStaticElementCount({}), 1);
  EXPECT_EQ(getStaticElementCount({2, 0, 3}), 0);
  EXPECT_EQ(getStaticElementCount({784, 64}), 50176);
  EXPECT_EQ(getStaticElementCount({2, kDynamic}), std::nullopt);
  EXPECT_EQ(getStaticElementCount({int64_t(1) << 31, int64_t(1) << 31}),
            int64_t(1) << 62);
  EXPECT_EQ(getStaticElementCount({int64_t(1) << 32, int64_t(1) << 31}),
            std::nullopt);
}

TEST_F(ShapeTest, InfersProducts) {
  EXPECT_EQ(getMatmulType(tensor({2, 3}), tensor({3, 5})), tensor({2, 5}));
  EXPECT_EQ(getMatmulType(tensor({7, kDynamic, 3}), tensor({3, 5})),
            tensor({7, kDynamic, 5}));
  EXPECT_EQ(getMatmulType(tensor({2, 3}), tensor({4, 1, 3, 5})),
            tensor({4, 1, 2, 5}));
  EXPECT_EQ(getMatmulType(tensor({2, kDynamic}), tensor({3, 5})),
            tensor({2, 5}));
  EXPECT_FALSE(getMatmulType(tensor({2, 3}), tensor({4, 5})));
  EXPECT_FALSE(getMatmulType(tensor({3}), tensor({3, 5})));
  EXPECT_FALSE(getMatmulType(tensor({2, 2, 3}), tensor({4, 3, 5})));

  // A plain linear weight is NxK, a packed one KxN.
  PackedType weight = packed({3, 5}, Float32Type::get(&context));
  EXPECT_EQ(getMatmulType(tensor({2, 3}), weight), tensor({2, 5}));
  EXPECT_EQ(getLinearType(tensor({2, 3}), weight), tensor({2, 5}));
  EXPECT_EQ(getLinearType(tensor({2, 3}), tensor({5, 3})), tensor({2, 5}));
  EXPECT_EQ(getLinearType(tensor({3}), tensor({5, 3})), tensor({5}));
  EXPECT_FALSE(getLinearType(tensor({2, 3}), tensor({3, 5})));
  EXPECT_FALSE(getLinearType(tensor({}), tensor({5, 3})));
  EXPECT_FALSE(getLinearType(tensor({2, 3}), tensor({1, 5, 3})));
}

TEST_F(ShapeTest, PackedWeightsTakeTheBytesOfTheirElements) {
  EXPECT_EQ(packed({784, 64}, Float32Type::get(&context)).getSizeInBytes(),
            784 * 64 * 4);
  EXPECT_EQ(packed({3, 5, 7}, BFloat16Type::get(&context)).getSizeInBytes(),
            3 * 5 * 7 * 2);
  EXPECT_EQ(packed({0, 64}, Float64Type::get(&context)).getSizeInBytes(), 0);
  auto checked = [&](ArrayRef<int64_t> shape) {
    return PackedType::getChecked(UnknownLoc::get(&context), &context, shape,
                                  Type(Float32Type::get(&context)),
                                  Encoding::Dense, Layout::RowMajor);
  };
  EXPECT_TRUE(checked({(int64_t(1) << 61) - 1, 1}));
  EXPECT_FALSE(checked({int64_t(1) << 61, 1}));
  EXPECT_FALSE(checked({kDynamic, 4}));
  EXPECT_FALSE(checked({4}));
}

TEST_F(ShapeTest, FindsSymbolsOfInputs) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(func.func @f(%x: tensor<4x?xf32> {rlx.dims = [4, @seq], rlx.name = "x"},
                      %y: tensor<?x?xf32> {rlx.dims = [@batch, @seq]},
                      %z: tensor<?xf32>)
             -> (tensor<?xf32> {rlx.dims = [@out], rlx.name = "y"}) {
           return %z : tensor<?xf32>
         })",
      &context);
  ASSERT_TRUE(module);
  auto func = *module->getOps<func::FuncOp>().begin();
  auto symbols = getSymbols(func);
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].first, "seq");
  EXPECT_EQ(symbols[0].second.arg, 0u);
  EXPECT_EQ(symbols[0].second.dim, 1u);
  EXPECT_EQ(symbols[1].first, "batch");
  EXPECT_EQ(symbols[1].second.arg, 1u);
  EXPECT_EQ(symbols[1].second.dim, 0u);

  ASSERT_TRUE(findSymbol(func, "batch"));
  EXPECT_EQ(findSymbol(func, "batch")->arg, 1u);
  EXPECT_FALSE(findSymbol(func, "out"));
  EXPECT_EQ(getArgName(func, 0), "x");
  EXPECT_EQ(getArgName(func, 1), "");
  EXPECT_EQ(getResultName(func, 0), "y");
  ASSERT_TRUE(getResultDims(func, 0));
  EXPECT_EQ(getDims(getResultDims(func, 0))[0].symbol, "out");
  EXPECT_FALSE(getArgDims(func, 2));
}

TEST_F(ShapeTest, KnowsWeightLeaves) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(func.func @f() -> tensor<2xf32> {
           %0 = rlx.param "w" : tensor<2xf32>
           %1 = rlx.constant dense<1.0> : tensor<2xf32>
           %2 = rlx.add %0, %1 : tensor<2xf32>, tensor<2xf32>
           return %2 : tensor<2xf32>
         })",
      &context);
  ASSERT_TRUE(module);
  SmallVector<bool> leaves;
  SmallVector<std::string> names;
  auto func = *module->getOps<func::FuncOp>().begin();
  for (Operation &op : func.getBody().front()) {
    leaves.push_back(isWeightLeaf(&op));
    if (auto leaf = dyn_cast<WeightLeafOpInterface>(op)) {
      names.push_back(leaf.getWeightName().str());
      EXPECT_EQ(static_cast<bool>(leaf.getWeightValue()), isa<ConstantOp>(op));
    }
  }
  EXPECT_THAT(leaves, ElementsAre(true, true, false, false));
  EXPECT_THAT(names, ElementsAre("w", ""));
}

} // namespace
