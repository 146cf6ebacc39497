// SPDX-License-Identifier: MIT OR Apache-2.0
//===- PlanArena.cpp - One arena per function -----------------------------===//

#include "ArenaLayout.h"
#include "Buffers.h"
#include "Names.h"
#include "PlanFunction.h"

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace rlx {
#define GEN_PASS_DEF_PLANARENAPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

/// A rematerializer that keeps arguments: for moving arithmetic to the start of
/// its own function.
static Rematerializer keepArguments(OpBuilder &builder) {
  return Rematerializer(builder, [](BlockArgument arg) -> Value {
    return isa<MemRefType>(arg.getType()) ? Value() : arg;
  });
}

/// Replaces a memref.dim by what is known of the buffer.
static LogicalResult resolveDim(memref::DimOp dim) {
  std::optional<int64_t> axis = dim.getConstantIndex();
  if (!axis)
    return dim.emitError("a dim is asked for by a number that isn't constant");
  OpBuilder builder(dim);
  OpFoldResult size = getDims(builder, dim.getSource())[*axis];
  Value value = getValueOrCreateConstantIndexOp(builder, dim.getLoc(), size);
  if (value.getDefiningOp<memref::DimOp>())
    return dim.emitError("a size depends on '")
           << dim.getSource().getDefiningOp()->getName()
           << "', which has no known dims";
  dim.getResult().replaceAllUsesWith(value);
  dim.erase();
  return success();
}

/// Replaces all memref.dim. Dims of outputs are what the function returns; that
/// is computed first, so that it is there wherever a dim is needed.
static LogicalResult resolveDims(func::FuncOp func) {
  SmallVector<memref::DimOp> ofOutputs, others;
  func.walk([&](memref::DimOp dim) {
    auto root = dyn_cast<BlockArgument>(getRoot(dim.getSource()));
    bool isOutput = root && func.getArgAttr(root.getArgNumber(), kOutputAttr);
    (isOutput ? ofOutputs : others).push_back(dim);
  });
  for (memref::DimOp dim : others)
    if (failed(resolveDim(dim)))
      return failure();
  Block &block = func.front();
  OpBuilder builder(&block, block.begin());
  Rematerializer remat = keepArguments(builder);
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    FailureOr<Value> value = remat.get(operand.get());
    if (failed(value))
      return failure();
    operand.set(*value);
  }
  for (memref::DimOp dim : ofOutputs)
    if (failed(resolveDim(dim)))
      return failure();
  return success();
}

/// Replaces allocations by views of the arena.
static LogicalResult placeBuffers(func::FuncOp func, const ArenaLayout &layout,
                                  const BoundArguments &arguments) {
  Block &block = func.front();
  OpBuilder builder(&block, block.begin());
  Location loc = func.getLoc();
  Rematerializer remat = keepArguments(builder);

  // Behind the static part, slots follow each other.
  SmallVector<Value> slotOffsets;
  if (!layout.slots.empty()) {
    Value offset =
        arith::ConstantIndexOp::create(builder, loc, layout.staticBytes);
    for (const ArenaLayout::Slot &slot : layout.slots) {
      slotOffsets.push_back(offset);
      FailureOr<Value> bytes = layout.getSlotBytes(slot, remat, builder, loc);
      if (failed(bytes))
        return failure();
      offset = arith::AddIOp::create(builder, loc, offset, *bytes);
    }
  }
  for (const ArenaLayout::Placement &placement : layout.placements) {
    memref::AllocOp alloc = placement.alloc;
    SmallVector<Value> sizes;
    for (Value size : alloc.getDynamicSizes()) {
      FailureOr<Value> value = remat.get(size);
      if (failed(value))
        return failure();
      sizes.push_back(*value);
    }
    Value offset = placement.slot
                       ? slotOffsets[*placement.slot]
                       : arith::ConstantIndexOp::create(builder, alloc.getLoc(),
                                                        placement.offset)
                             .getResult();
    Value view =
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                               arguments.arena, offset, sizes);
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  return success();
}

/// The number of `message` in the module's list of messages.
static int64_t internMessage(StringAttr message,
                             SmallVectorImpl<Attribute> &messages) {
  auto *found = llvm::find(messages, message);
  int64_t index = found - messages.begin();
  if (found == messages.end())
    messages.push_back(message);
  return index;
}

namespace {
struct PlanArenaPass : rlx::impl::PlanArenaPassBase<PlanArenaPass> {
  LogicalResult planFunction(func::FuncOp func,
                             SmallVectorImpl<Attribute> &messages) {
    Builder builder(&getContext());
    if (failed(resolveDims(func)))
      return failure();
    unsigned count = func.getNumArguments();
    auto unitAttr = [&](StringRef name) {
      return builder.getDictionaryAttr(
          builder.getNamedAttr(name, builder.getUnitAttr()));
    };
    auto arenaType =
        MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    if (failed(func.insertArguments(
            {count, count}, {arenaType, builder.getIndexType()},
            {unitAttr(kArenaAttr), unitAttr(kWorkersAttr)},
            {func.getLoc(), func.getLoc()})))
      return failure();

    FailureOr<ArenaLayout> layout = ArenaLayout::compute(func);
    if (failed(layout))
      return failure();
    SmallVector<PlanCheck> checks;
    SmallVector<cf::AssertOp> asserts;
    func.walk([&](cf::AssertOp op) {
      asserts.push_back(op);
      checks.push_back({op.getArg(), internMessage(op.getMsgAttr(), messages)});
    });
    if (failed(emitPlanFunction(func, *layout, checks)))
      return failure();
    for (cf::AssertOp op : asserts)
      op.erase();
    return placeBuffers(func, *layout, BoundArguments(func));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Attribute> messages;
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp func : functions)
      if (failed(planFunction(func, messages)))
        return signalPassFailure();
    module->setAttr(kMessagesAttr, ArrayAttr::get(&getContext(), messages));
  }
};
} // namespace
