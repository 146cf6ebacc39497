// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ArenaLayout.cpp - Where intermediate buffers lie -------------------===//

#include "ArenaLayout.h"

#include "RLX/Runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace rlx;

constexpr int64_t kAlignment = RLX_ABI_ALIGNMENT;

namespace {

/// Positions in the block of the first and the last op that use a buffer.
struct Lifetime {
  unsigned first = 0, last = 0;
  bool overlaps(Lifetime other) const {
    return first <= other.last && other.first <= last;
  }
};

struct Buffer {
  memref::AllocOp alloc;
  Lifetime life;
  /// Size of a static buffer; otherwise `slot` says which size it is.
  int64_t bytes = 0;
  ArenaLayout::Slot size;
  bool isStatic() const { return size.factors.empty(); }
};

} // namespace

/// Follows views of `alloc` to the ops that touch it.
static FailureOr<Lifetime>
getLifetime(memref::AllocOp alloc,
            const llvm::DenseMap<Operation *, unsigned> &positions) {
  std::optional<Lifetime> life;
  SmallVector<Value> worklist = {alloc};
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(worklist, user->getResults());
        continue;
      }
      if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<MemRefType>) ||
          isa<func::ReturnOp>(user))
        return user->emitError("lets an intermediate buffer escape from its "
                               "function");
      Operation *op = alloc->getBlock()->findAncestorOpInBlock(*user);
      unsigned at = positions.lookup(op);
      if (!life)
        life = Lifetime{at, at};
      life->first = std::min(life->first, at);
      life->last = std::max(life->last, at);
    }
  }
  return life.value_or(Lifetime());
}

/// Splits the size of `alloc` into what is known and the dynamic factors.
static LogicalResult getSize(memref::AllocOp alloc, ArenaLayout::Slot &size) {
  MemRefType type = alloc.getType();
  size.bytes = getElementBytes(type.getElementType());
  auto multiply = [&](int64_t factor) -> LogicalResult {
    if (factor < 0 || llvm::MulOverflow(size.bytes, factor, size.bytes))
      return alloc.emitError("an intermediate tensor ")
             << type << " takes more than 2^63 bytes";
    return success();
  };
  for (int64_t dim : type.getShape())
    if (!ShapedType::isDynamic(dim) && failed(multiply(dim)))
      return failure();
  // Products are taken apart so that equal sizes are seen to be equal.
  SmallVector<Value> worklist(alloc.getDynamicSizes());
  while (!worklist.empty()) {
    Value factor = worklist.pop_back_val();
    if (std::optional<int64_t> known = getConstantIntValue(factor)) {
      if (failed(multiply(*known)))
        return failure();
      continue;
    }
    if (auto product = factor.getDefiningOp<arith::MulIOp>()) {
      worklist.push_back(product.getLhs());
      worklist.push_back(product.getRhs());
      continue;
    }
    size.factors.push_back(factor);
  }
  return success();
}

/// An order of values within a function that doesn't depend on addresses.
static bool isBefore(Value lhs, Value rhs) {
  auto lhsArg = dyn_cast<BlockArgument>(lhs);
  auto rhsArg = dyn_cast<BlockArgument>(rhs);
  if (lhsArg && rhsArg)
    return lhsArg.getArgNumber() < rhsArg.getArgNumber();
  if (lhsArg || rhsArg)
    return static_cast<bool>(lhsArg);
  auto lhsResult = cast<OpResult>(lhs), rhsResult = cast<OpResult>(rhs);
  if (lhsResult.getOwner() == rhsResult.getOwner())
    return lhsResult.getResultNumber() < rhsResult.getResultNumber();
  return lhsResult.getOwner()->isBeforeInBlock(rhsResult.getOwner());
}

/// The lowest offset at which `buffer` touches none of `placed` that lives at
/// the same time.
static int64_t findOffset(const Buffer &buffer,
                          ArrayRef<std::pair<const Buffer *, int64_t>> placed) {
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (auto [other, offset] : placed)
    if (other->life.overlaps(buffer.life))
      taken.push_back({offset, offset + other->bytes});
  llvm::sort(taken);
  int64_t offset = 0;
  for (auto [begin, end] : taken) {
    if (offset + buffer.bytes <= begin)
      break;
    offset = std::max(offset, end);
  }
  return offset;
}

FailureOr<ArenaLayout> ArenaLayout::compute(func::FuncOp func) {
  Block &block = func.front();
  llvm::DenseMap<Operation *, unsigned> positions;
  for (auto [i, op] : llvm::enumerate(block))
    positions[&op] = i;

  ArenaLayout layout;
  SmallVector<Buffer> buffers;
  WalkResult walked = func.walk([&](memref::AllocOp alloc) {
    if (alloc->getBlock() != &block) {
      alloc.emitError("an intermediate buffer is allocated inside a loop");
      return WalkResult::interrupt();
    }
    Buffer buffer;
    buffer.alloc = alloc;
    FailureOr<Lifetime> life = getLifetime(alloc, positions);
    if (failed(life) || failed(getSize(alloc, buffer.size)))
      return WalkResult::interrupt();
    buffer.life = *life;
    if (buffer.isStatic()) {
      if (buffer.size.bytes > std::numeric_limits<int64_t>::max() / 2) {
        alloc.emitError("an intermediate tensor ")
            << alloc.getType() << " takes more than 2^62 bytes";
        return WalkResult::interrupt();
      }
      buffer.bytes = llvm::alignTo(buffer.size.bytes, kAlignment);
    }
    llvm::sort(buffer.size.factors, isBefore);
    buffers.push_back(std::move(buffer));
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();

  // Large buffers first leaves the fewest gaps; ties keep program order.
  SmallVector<const Buffer *> order;
  for (const Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](const Buffer *lhs, const Buffer *rhs) {
    return lhs->bytes != rhs->bytes ? lhs->bytes > rhs->bytes : lhs < rhs;
  });
  SmallVector<std::pair<const Buffer *, int64_t>> placed;
  llvm::DenseMap<const Buffer *, int64_t> offsets;
  for (const Buffer *buffer : order) {
    if (!buffer->isStatic())
      continue;
    int64_t offset = findOffset(*buffer, placed);
    placed.push_back({buffer, offset});
    offsets[buffer] = offset;
    std::optional<int64_t> end = llvm::checkedAdd(offset, buffer->bytes);
    if (!end || *end > std::numeric_limits<int64_t>::max() / 2)
      return func.emitError("the intermediate tensors of '")
             << func.getName() << "' take more than 2^62 bytes";
    layout.staticBytes = std::max(layout.staticBytes, *end);
  }

  SmallVector<SmallVector<Lifetime>> tenants;
  for (const Buffer &buffer : buffers) {
    Placement placement;
    placement.alloc = buffer.alloc;
    if (buffer.isStatic()) {
      placement.offset = offsets[&buffer];
      layout.placements.push_back(placement);
      continue;
    }
    auto takes = [&](unsigned slot) {
      return layout.slots[slot].bytes == buffer.size.bytes &&
             layout.slots[slot].factors == buffer.size.factors &&
             llvm::none_of(tenants[slot], [&](Lifetime life) {
               return life.overlaps(buffer.life);
             });
    };
    unsigned slot = 0;
    while (slot < layout.slots.size() && !takes(slot))
      ++slot;
    if (slot == layout.slots.size()) {
      layout.slots.push_back(buffer.size);
      tenants.emplace_back();
    }
    tenants[slot].push_back(buffer.life);
    placement.slot = slot;
    layout.placements.push_back(placement);
  }
  return layout;
}

FailureOr<Value> ArenaLayout::getSlotBytes(const Slot &slot,
                                           Rematerializer &remat,
                                           OpBuilder &builder,
                                           Location loc) const {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value bytes = constant(slot.bytes);
  for (Value factor : slot.factors) {
    FailureOr<Value> value = remat.get(factor);
    if (failed(value))
      return failure();
    bytes = arith::MulIOp::create(builder, loc, bytes, *value);
  }
  bytes = arith::AddIOp::create(builder, loc, bytes, constant(kAlignment - 1));
  return arith::AndIOp::create(builder, loc, bytes, constant(-kAlignment))
      .getResult();
}
