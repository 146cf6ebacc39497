// SPDX-License-Identifier: MIT OR Apache-2.0
//===- PlanFunction.cpp - How much memory a call needs --------------------===//

#include "PlanFunction.h"

#include "RLX/Runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace rlx;

namespace {

/// Emits arithmetic on sizes, which are not negative, and notes overflow.
class CheckedArithmetic {
public:
  CheckedArithmetic(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc),
        overflowed(arith::ConstantIntOp::create(builder, loc, 0, 1)) {}

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  Value toInteger(Value index) {
    if (!isa<IndexType>(index.getType()))
      return index;
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }
  Value toIndex(Value integer) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      integer);
  }
  Value multiply(Value lhs, Value rhs) {
    auto product = arith::MulSIExtendedOp::create(builder, loc, lhs, rhs);
    // Of sizes that are not negative, a product below 2^63 has no high half
    // and no sign.
    Value both = arith::OrIOp::create(builder, loc, product.getHigh(),
                                      keepSign(product.getLow()));
    note(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, both,
                               constant(0)));
    return product.getLow();
  }
  Value add(Value lhs, Value rhs) {
    Value sum = arith::AddIOp::create(builder, loc, lhs, rhs);
    note(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, sum,
                               constant(0)));
    return sum;
  }
  /// True if any size so far did not fit in 63 bits.
  Value getOverflowed() const { return overflowed; }

private:
  Value keepSign(Value value) {
    return arith::ShRUIOp::create(builder, loc, value, constant(63));
  }
  void note(Value condition) {
    overflowed = arith::OrIOp::create(builder, loc, overflowed, condition);
  }

  OpBuilder &builder;
  Location loc;
  Value overflowed;
};

} // namespace

LogicalResult rlx::emitPlanFunction(func::FuncOp func,
                                    const ArenaLayout &layout,
                                    ArrayRef<PlanCheck> checks) {
  OpBuilder builder(func);
  builder.setInsertionPointAfter(func);
  Location loc = func.getLoc();
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto plan = func::FuncOp::create(
      builder, loc, (func.getName() + ".plan").str(),
      builder.getFunctionType({ptr, i64, ptr, ptr}, {i32}));
  plan.setPrivate();
  Block *block = plan.addEntryBlock();
  // No size depends on the number of workers, argument 1.
  Value symbolsPtr = block->getArgument(0), bytesPtr = block->getArgument(2),
        dimsPtr = block->getArgument(3);
  builder.setInsertionPointToStart(block);
  CheckedArithmetic checked(builder, loc);
  auto element = [&](Value base, int64_t i) -> Value {
    return LLVM::GEPOp::create(builder, loc, ptr, i64, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  };

  BoundArguments arguments(func);
  Rematerializer remat(builder, [&](BlockArgument arg) -> Value {
    auto *symbol = llvm::find(arguments.symbols, arg);
    if (symbol == arguments.symbols.end())
      return {};
    Value value = LLVM::LoadOp::create(
        builder, loc, i64,
        element(symbolsPtr, symbol - arguments.symbols.begin()));
    return checked.toIndex(value);
  });
  remat.setSpecial([&](Operation *op) -> Value {
    if (!isa<arith::MulIOp, arith::AddIOp>(op) ||
        !isa<IndexType>(op->getResult(0).getType()))
      return {};
    Value lhs = checked.toInteger(remat.getMapping().lookup(op->getOperand(0)));
    Value rhs = checked.toInteger(remat.getMapping().lookup(op->getOperand(1)));
    return checked.toIndex(isa<arith::MulIOp>(op) ? checked.multiply(lhs, rhs)
                                                  : checked.add(lhs, rhs));
  });
  auto rematSize = [&](Value size) -> FailureOr<Value> {
    FailureOr<Value> value = remat.get(size);
    if (failed(value))
      return failure();
    return checked.toInteger(*value);
  };

  // The arena: buffers of known size, then slots.
  Value total = checked.constant(layout.staticBytes);
  for (const ArenaLayout::Slot &slot : layout.slots) {
    Value bytes = checked.constant(slot.bytes);
    for (Value factor : slot.factors) {
      FailureOr<Value> value = rematSize(factor);
      if (failed(value))
        return failure();
      bytes = checked.multiply(bytes, *value);
    }
    bytes = checked.add(bytes, checked.constant(RLX_ABI_ALIGNMENT - 1));
    bytes = arith::AndIOp::create(
        builder, loc, bytes,
        checked.constant(-static_cast<int64_t>(RLX_ABI_ALIGNMENT)));
    total = checked.add(total, bytes);
  }
  LLVM::StoreOp::create(builder, loc, total, bytesPtr);

  // The outputs, whose sizes in bytes must be numbers too.
  auto dims = func.front().getTerminator()->getOperands();
  int64_t next = 0;
  for (BlockArgument output : arguments.outputs) {
    auto type = cast<MemRefType>(output.getType());
    Value bytes = checked.constant(getElementBytes(type.getElementType()));
    for (int64_t i = 0; i < type.getRank(); ++i, ++next) {
      FailureOr<Value> dim = rematSize(dims[next]);
      if (failed(dim))
        return failure();
      LLVM::StoreOp::create(builder, loc, *dim, element(dimsPtr, next));
      if (!type.hasStaticShape())
        bytes = checked.multiply(bytes, *dim);
    }
  }

  // The first check that fails gives the status; none counts after overflow.
  Value status = arith::ConstantIntOp::create(builder, loc, RLX_ABI_OK, 32);
  for (const PlanCheck &check : llvm::reverse(checks)) {
    FailureOr<Value> condition = remat.get(check.condition);
    if (failed(condition))
      return failure();
    Value message = arith::ConstantIntOp::create(
        builder, loc, RLX_ABI_MESSAGE_BASE + check.message, 32);
    status = arith::SelectOp::create(builder, loc, *condition, status, message);
  }
  Value overflow =
      arith::ConstantIntOp::create(builder, loc, RLX_ABI_ERR_OVERFLOW, 32);
  status = arith::SelectOp::create(builder, loc, checked.getOverflowed(),
                                   overflow, status);
  func::ReturnOp::create(builder, loc, status);
  return success();
}
