// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LayoutWeights.cpp - Give weights the layout that kernels read ------===//

#include "PreparePartition.h"
#include "RLX/Analysis/WeightOnly.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace rlx {
#define GEN_PASS_DEF_LAYOUTWEIGHTSPASS
#include "RLX/Transforms/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

/// One weight, which may be read by several leaf ops of one name.
struct Matrix {
  llvm::SetVector<Value> values;
  /// Operands of products in main that read it.
  SmallVector<OpOperand *> products;
};

class LayoutWeightsPass
    : public rlx::impl::LayoutWeightsPassBase<LayoutWeightsPass> {
  void runOnOperation() override;
};

} // namespace

/// The operand of a product that kernels read in panels; null for other ops.
static OpOperand *getWeightOperand(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return &matmul.getRhsMutable();
  if (auto linear = dyn_cast<LinearOp>(op))
    return &linear.getWeightMutable();
  return nullptr;
}

/// Leaves of one name or one value are one weight.
static const void *getIdentity(Value value) {
  if (auto leaf = value.getDefiningOp<WeightLeafOpInterface>()) {
    if (StringRef name = leaf.getWeightName(); !name.empty())
      return StringAttr::get(value.getContext(), name).getAsOpaquePointer();
    if (ElementsAttr constant = leaf.getWeightValue())
      return constant.getAsOpaquePointer();
  }
  return value.getAsOpaquePointer();
}

/// An op in main that reads `value` as it is; null if there is none but the
/// products.
static Operation *
findOtherReader(Value value, const llvm::SmallPtrSetImpl<OpOperand *> &products,
                const WeightOnlyAnalysis &weightOnly) {
  // What the split leaves to main if main reads it, with the op that reads
  // `value` itself.
  SmallVector<std::pair<Value, Operation *>> views = {{value, nullptr}};
  while (!views.empty()) {
    auto [view, reader] = views.pop_back_val();
    for (OpOperand &use : view.getUses()) {
      Operation *user = use.getOwner(), *first = reader ? reader : user;
      if (products.contains(&use))
        continue;
      bool isPrepared = user->getNumResults() != 0 &&
                        weightOnly.isHoistable(user->getResult(0));
      if (!isPrepared)
        return first;
      if (isFreeInMain(user))
        views.push_back({user->getResult(0), first});
    }
  }
  return nullptr;
}

/// Why the matrix should stay as it is; empty if it should not.
static std::string getReasonAgainst(const Matrix &matrix,
                                    const WeightOnlyAnalysis &weightOnly) {
  bool isTransposed = isa<LinearOp>(matrix.products.front()->getOwner());
  for (OpOperand *product : matrix.products)
    if (isa<LinearOp>(product->getOwner()) != isTransposed)
      return "products read it as rows and as columns, so it would be stored "
             "twice";
  llvm::SmallPtrSet<OpOperand *, 4> products(matrix.products.begin(),
                                             matrix.products.end());
  for (Value value : matrix.values)
    if (Operation *reader = findOtherReader(value, products, weightOnly))
      return llvm::formatv("{0} reads it as it is, so it would be stored twice",
                           reader->getName());
  return {};
}

void LayoutWeightsPass::runOnOperation() {
  const auto &weightOnly = getAnalysis<WeightOnlyAnalysis>();
  llvm::MapVector<const void *, Matrix> matrices;
  getOperation().walk([&](Operation *op) {
    OpOperand *operand = getWeightOperand(op);
    if (!operand || weightOnly.isHoistable(op->getResult(0)) ||
        !weightOnly.isHoistable(operand->get()))
      return;
    // A stack of matrices stays dense: kernels read one matrix in panels.
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || type.getRank() != 2 || !type.hasStaticShape() ||
        !type.getElementType().isF32())
      return;
    matrices[getIdentity(operand->get())].products.push_back(operand);
  });
  if (matrices.empty())
    return markAllAnalysesPreserved();

  getOperation().walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto it = matrices.find(getIdentity(result)); it != matrices.end())
        it->second.values.insert(result);
  });
  for (auto &[identity, matrix] : matrices) {
    Operation *source = matrix.values.front().getDefiningOp();
    auto remarkOptions =
        remark::RemarkOpts::name("LayoutWeights").category("weights");
    if (std::string reason = getReasonAgainst(matrix, weightOnly);
        !reason.empty()) {
      remark::missed(source->getLoc(), remarkOptions)
          << remark::reason("stays row-major: {0}", reason);
      continue;
    }
    bool isTransposed = isa<LinearOp>(matrix.products.front()->getOwner());
    auto type = cast<RankedTensorType>(matrix.values.front().getType());
    SmallVector<int64_t> shape(type.getShape());
    if (isTransposed)
      std::swap(shape[0], shape[1]);
    auto packedType =
        PackedType::get(&getContext(), shape, type.getElementType(),
                        Encoding::Dense, Layout::Panel64);
    DenseMap<Value, Value> packed;
    for (OpOperand *product : matrix.products) {
      Value &pack = packed[product->get()];
      if (!pack) {
        OpBuilder builder(&getContext());
        builder.setInsertionPointAfterValue(product->get());
        pack = PackOp::create(builder, product->get().getLoc(), packedType,
                              product->get(), isTransposed);
      }
      product->set(pack);
    }
    remark::passed(source->getLoc(), remarkOptions)
        << remark::add("stored as {0} for {1} products", packedType,
                       matrix.products.size())
        << remark::metric("Products", matrix.products.size())
        << remark::metric("Bytes", packedType.getSizeInBytes());
  }
}
