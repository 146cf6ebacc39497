// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Verify.cpp - What verifiers of several families share ----*- C++ -*-===//

#include "Verify.h"

using namespace mlir;

namespace rlx {

LogicalResult verifyShapeAttr(Operation *op, ArrayAttr shape,
                              RankedTensorType result, Inferred inferred) {
  if (static_cast<int64_t>(shape.size()) != result.getRank())
    return op->emitOpError("shape has ")
           << shape.size() << " entries but result " << result << " has rank "
           << result.getRank();
  int64_t inferredCount = 0;
  for (auto [i, entry] : llvm::enumerate(shape)) {
    int64_t size = result.getDimSize(i);
    Dim dim = getDim(entry);
    if (dim.isSymbol()) {
      if (!ShapedType::isDynamic(size))
        return op->emitOpError("shape entry ")
               << i << " is " << entry << " but result dim " << i
               << " has the static size " << size;
      continue;
    }
    if (dim.size == -1 && inferred == Inferred::Allowed) {
      if (++inferredCount > 1)
        return op->emitOpError("shape ")
               << shape << " has " << inferredCount
               << " entries -1 but the element count determines only one";
      continue;
    }
    if (dim.size < 0)
      return op->emitOpError("shape entry ")
             << i << " is " << dim.size << " but sizes are not negative";
    if (ShapedType::isDynamic(size))
      return op->emitOpError("shape entry ")
             << i << " is " << dim.size << " but result dim " << i
             << " is `?`, which takes a symbol such as @batch";
    if (dim.size != size)
      return op->emitOpError("shape entry ")
             << i << " is " << dim.size << " but result dim " << i
             << " has size " << size;
  }
  return success();
}

LogicalResult verifySymbolsOfInputs(Operation *op, ArrayAttr shape) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  if (!func)
    return success();
  for (Attribute entry : shape) {
    Dim dim = getDim(entry);
    if (!dim.isSymbol() || findSymbol(func, dim.symbol))
      continue;
    InFlightDiagnostic diag = op->emitOpError("shape has symbol ")
                              << entry << " but no input of @" << func.getName()
                              << " carries it";
    diag.attachNote(func.getLoc())
        << "inputs carry symbols by " << kDimsAttr << " on arguments";
    return diag;
  }
  return success();
}

std::string describe(Value value, StringRef what) {
  auto leaf = value.getDefiningOp<WeightLeafOpInterface>();
  if (!leaf || leaf.getWeightName().empty())
    return what.str();
  return (what + " \"" + leaf.getWeightName() + "\"").str();
}

} // namespace rlx
