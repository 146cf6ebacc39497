// SPDX-License-Identifier: MIT OR Apache-2.0
//===- GraphRunner.cpp - Runs rlx functions through linalg
//-----------------===//

#include "GraphRunner.h"
#include "RLX/Conversion/Passes.h"
#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <numeric>

using namespace mlir;

namespace rlx::test {

static void registerForBufferizing(DialectRegistry &registry) {
  registry.insert<RLXDialect, bufferization::BufferizationDialect,
                  linalg::LinalgDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
}

static LogicalResult lowerToLoops(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(createRLXToLinalgPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLinalgElementwiseOpFusionPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createExpandMathPass());
  return pm.run(module);
}

GraphRunner::GraphRunner(const std::string &text, llvm::StringRef cpuClass) {
  DialectRegistry registry;
  registerForCompiling(registry);
  registerForBufferizing(registry);
  context.appendDialectRegistry(registry);
  context.disableMultithreading();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return;
  module->walk([](func::FuncOp func) {
    func->setAttr("llvm.emit_c_interface", UnitAttr::get(func.getContext()));
  });
  if (succeeded(lowerToLoops(*module)))
    code = Compiled::create(*module, cpuClass);
}

static int64_t count(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// A memref descriptor: two pointers, offset, sizes, strides.
static std::vector<int64_t> describe(const void *data,
                                     const std::vector<int64_t> &shape) {
  auto address = reinterpret_cast<int64_t>(data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), shape.begin(), shape.end());
  for (size_t i = 1; i <= shape.size(); ++i)
    words.push_back(count({shape.begin() + i, shape.end()}));
  return words;
}

Tensor GraphRunner::run(llvm::StringRef name, const std::vector<Tensor> &inputs,
                        const std::vector<int64_t> &resultShape,
                        size_t elementSize,
                        const std::vector<int64_t> &scalars) const {
  // Arguments all travel in integer registers: pointers and i64. The first one
  // is where the result's descriptor goes.
  std::vector<int64_t> returned = describe(nullptr, resultShape);
  std::vector<int64_t> words = {reinterpret_cast<int64_t>(returned.data())};
  std::vector<std::vector<int64_t>> descriptors;
  for (const Tensor &input : inputs)
    descriptors.push_back(describe(input.bytes.data(), input.shape));
  for (const std::vector<int64_t> &descriptor : descriptors)
    words.push_back(reinterpret_cast<int64_t>(descriptor.data()));
  words.insert(words.end(), scalars.begin(), scalars.end());
  words.resize(6);
  void *address = code->lookup(("_mlir_ciface_" + name).str());
  reinterpret_cast<void (*)(int64_t, int64_t, int64_t, int64_t, int64_t,
                            int64_t)>(address)(words[0], words[1], words[2],
                                               words[3], words[4], words[5]);

  Tensor result;
  result.shape.assign(returned.begin() + 3,
                      returned.begin() + 3 + resultShape.size());
  EXPECT_EQ(result.shape, resultShape);
  const char *data = reinterpret_cast<const char *>(returned[1]);
  result.bytes.assign(data, data + count(result.shape) * elementSize);
  std::free(reinterpret_cast<void *>(returned[0]));
  return result;
}

std::vector<const char *> runnableClasses() {
  std::vector<const char *> classes;
  for (const char *cpuClass : {"x86-64-v3", "x86-64-v4"})
    if (canRun(cpuClass))
      classes.push_back(cpuClass);
  return classes;
}

} // namespace rlx::test
