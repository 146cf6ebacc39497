// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Fixture.h - Graphs, values and runs for tests of the pipelines -----===//

#ifndef RLX_UNITTESTS_PIPELINES_FIXTURE_H
#define RLX_UNITTESTS_PIPELINES_FIXTURE_H

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Pipelines/Session.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace rlx::test {

/// x[?,4] @ (w[4,3] * scale[4,3]).
inline constexpr char kHoistGraph[] = R"mlir(
func.func @main(%x: tensor<?x4xf32> {rlx.dims = [@batch, 4], rlx.name = "x"})
    -> (tensor<?x3xf32> {rlx.dims = [@batch, 3], rlx.name = "y"}) {
  %w = rlx.param "w" : tensor<4x3xf32>
  %scale = rlx.param "scale" : tensor<4x3xf32>
  %0 = rlx.mul %w, %scale : tensor<4x3xf32>, tensor<4x3xf32>
  %1 = rlx.matmul %x, %0 : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
})mlir";

/// An f32 tensor in the caller's memory.
struct Tensor {
  Tensor(std::vector<int64_t> dims, std::vector<float> values)
      : dims(std::move(dims)), values(std::move(values)) {}
  Tensor(std::vector<int64_t> dims, float value = 0) : dims(std::move(dims)) {
    int64_t count = 1;
    for (int64_t dim : this->dims)
      count *= dim;
    values.assign(count, value);
  }

  rlx_tensor view() {
    return {values.data(), dims.data(), int32_t(dims.size()), RLX_F32};
  }

  std::vector<int64_t> dims;
  std::vector<float> values;
};

/// count, count + step, ...
inline Tensor countUp(std::vector<int64_t> dims, float begin = 0,
                      float step = 1) {
  Tensor tensor(std::move(dims));
  for (float &value : tensor.values) {
    value = begin;
    begin += step;
  }
  return tensor;
}

inline std::string takeMessage(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "no error";
}

class PipelinesTest : public testing::Test {
protected:
  PipelinesTest() {
    mlir::DialectRegistry registry;
    registerAllRLXDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<RLXDialect, mlir::func::FuncDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  mlir::ElementsAttr makeValue(const Tensor &tensor) {
    auto type = mlir::RankedTensorType::get(tensor.dims,
                                            mlir::Float32Type::get(&context));
    return mlir::DenseElementsAttr::get(type,
                                        llvm::ArrayRef<float>(tensor.values));
  }

  /// Compiles the graph in `text`, which must succeed.
  CompiledGraph compileText(llvm::StringRef text,
                            const CompileOptions &options = {}) {
    modules.push_back(parse(text));
    llvm::Expected<CompiledGraph> graph =
        rlx::compile(*modules.back(), options);
    if (!graph)
      llvm::report_fatal_error(graph.takeError());
    return std::move(*graph);
  }

  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

/// Runs `entry` on one input and one output.
inline Tensor runOne(CompiledGraph &graph, Tensor input,
                     std::vector<int64_t> outputDims,
                     llvm::StringRef entry = {}) {
  Tensor output(std::move(outputDims), -1);
  EXPECT_EQ(takeMessage(graph.run({input.view()}, {output.view()}, entry)),
            "no error");
  return output;
}

} // namespace rlx::test

#endif // RLX_UNITTESTS_PIPELINES_FIXTURE_H
