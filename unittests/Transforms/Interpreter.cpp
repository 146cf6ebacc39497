// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Interpreter.cpp - An evaluator for tests ---------------------------===//

#include "Interpreter.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;
using namespace rlx;

namespace {

using Elements = std::vector<float>;

ArrayRef<int64_t> getShape(Value value) {
  if (auto packed = dyn_cast<PackedType>(value.getType()))
    return packed.getShape();
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Calls `visit` with the row-major position of each element of `shape` and its
/// indices.
void forEachElement(ArrayRef<int64_t> shape,
                    function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  int64_t count = ShapedType::getNumElements(shape);
  SmallVector<int64_t> indices(shape.size());
  for (int64_t at = 0; at != count; ++at) {
    int64_t rest = at;
    for (size_t dim = shape.size(); dim-- != 0;) {
      indices[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    visit(at, indices);
  }
}

/// Position in an operand of shape `from` that broadcasts to `indices`.
int64_t broadcast(ArrayRef<int64_t> from, ArrayRef<int64_t> indices) {
  ArrayRef<int64_t> inner = indices.take_back(from.size());
  int64_t at = 0;
  for (size_t dim = 0; dim != from.size(); ++dim)
    at = at * from[dim] + (from[dim] == 1 ? 0 : inner[dim]);
  return at;
}

Elements compute(Operation *op, ArrayRef<Elements> operands) {
  Value result = op->getResult(0);
  Elements elements;
  forEachElement(getShape(result), [&](int64_t at, ArrayRef<int64_t> indices) {
    auto operand = [&](unsigned i) {
      return operands[i][broadcast(getShape(op->getOperand(i)), indices)];
    };
    elements.push_back(
        llvm::TypeSwitch<Operation *, float>(op)
            .Case<AddOp>([&](auto) { return operand(0) + operand(1); })
            .Case<MulOp>([&](auto) { return operand(0) * operand(1); })
            .Case<NegOp>([&](auto) { return -operand(0); })
            .Case<ExpandOp>([&](auto) { return operand(0); })
            .Case<PackOp>([&](auto) { return operands[0][at]; })
            .Case<CastOp>([&](auto) {
              return cast<RankedTensorType>(result.getType())
                             .getElementType()
                             .isInteger(1)
                         ? float(operand(0) != 0)
                         : operand(0);
            })
            .Case<TransposeOp>([&](TransposeOp transpose) {
              SmallVector<int64_t> from(indices.size());
              for (auto [to, dim] : llvm::enumerate(transpose.getPerm()))
                from[dim] = indices[to];
              return operands[0][broadcast(getShape(op->getOperand(0)), from)];
            }));
  });
  return elements;
}

bool isI1(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && tensor.getElementType().isInteger(1);
}

Elements load(Value value, ArrayRef<char> bytes) {
  if (isI1(value))
    return Elements(bytes.begin(), bytes.end());
  EXPECT_TRUE(reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0);
  Elements elements(bytes.size() / sizeof(float));
  if (!elements.empty())
    std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

class Functions : public CompiledConstants {
public:
  Functions(OwningOpRef<ModuleOp> module, Interpreter &interpreter)
      : module(std::move(module)), interpreter(interpreter) {}

  llvm::Error run(StringRef name, ArrayRef<ArrayRef<char>> arguments,
                  ArrayRef<MutableArrayRef<char>> results) override {
    interpreter.runs.push_back(name.str());
    if (!interpreter.runError.empty())
      return llvm::createStringError(interpreter.runError);
    auto function = module->lookupSymbol<func::FuncOp>(name);
    DenseMap<Value, Elements> values;
    for (auto [argument, bytes] :
         llvm::zip_equal(function.getArguments(), arguments))
      values[argument] = load(argument, bytes);
    for (Operation &op : function.front().without_terminator()) {
      if (auto constant = dyn_cast<ConstantOp>(op)) {
        values[constant.getResult()] =
            load(constant.getResult(),
                 WeightBytes::read(constant.getValue())->get());
        continue;
      }
      SmallVector<Elements> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      values[op.getResult(0)] = compute(&op, operands);
    }
    for (auto [result, bytes] : llvm::zip_equal(
             function.front().getTerminator()->getOperands(), results)) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 64, 0u);
      const Elements &elements = values[result];
      if (isI1(result))
        llvm::copy(elements, bytes.begin());
      else if (!elements.empty())
        std::memcpy(bytes.data(), elements.data(), bytes.size());
    }
    return llvm::Error::success();
  }

private:
  OwningOpRef<ModuleOp> module;
  Interpreter &interpreter;
};

} // namespace

llvm::Expected<std::unique_ptr<CompiledConstants>>
Interpreter::compile(OwningOpRef<ModuleOp> module) {
  if (!compileError.empty())
    return llvm::createStringError(compileError);
  EXPECT_TRUE(succeeded(verify(*module)));
  functionsCompiled.push_back(llvm::range_size(module->getOps<func::FuncOp>()));
  return std::make_unique<Functions>(std::move(module), *this);
}
