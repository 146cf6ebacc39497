// SPDX-License-Identifier: MIT OR Apache-2.0
#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace rlx::kernelgen;

static constexpr unsigned elementBytes = 4;

llvm::ArrayRef<CpuClass> rlx::kernelgen::cpuClasses() {
  // v4: 24 accumulators + 4 of B + 1 of 32 registers; 28 accumulators are no
  // faster and spill as soon as a loop is added around the tile.
  // v3: 12 + 2 + 1 of 16.
  static const CpuClass classes[] = {
      {"x86-64-v3", /*lanes=*/8, /*tileRows=*/6, /*tileVectors=*/2},
      {"x86-64-v4", /*lanes=*/16, /*tileRows=*/6, /*tileVectors=*/4},
  };
  return classes;
}

KernelBuilder::KernelBuilder(ModuleOp module, const CpuClass &cpu)
    : cpu(cpu), builder(module.getContext()), loc(builder.getUnknownLoc()),
      i64Type(builder.getI64Type()),
      ptrType(LLVM::LLVMPointerType::get(module.getContext())),
      f32Type(builder.getF32Type()),
      vectorType(VectorType::get({cpu.lanes}, builder.getF32Type())),
      module(module) {}

Value KernelBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}
Value KernelBuilder::add(Value lhs, Value rhs) {
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::add(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : add(lhs, i64(rhs));
}
Value KernelBuilder::sub(Value lhs, Value rhs) {
  return arith::SubIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::mul(Value lhs, Value rhs) {
  return arith::MulIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::mul(Value lhs, int64_t rhs) { return mul(lhs, i64(rhs)); }
Value KernelBuilder::div(Value lhs, Value rhs) {
  return arith::DivUIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::ceilDiv(Value lhs, int64_t rhs) {
  return div(add(lhs, rhs - 1), i64(rhs));
}
Value KernelBuilder::rem(Value lhs, Value rhs) {
  return arith::RemUIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::min(Value lhs, Value rhs) {
  return arith::MinSIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::max(Value lhs, Value rhs) {
  return arith::MaxSIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::less(Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lhs,
                               rhs);
}
Value KernelBuilder::lessEqual(Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, lhs,
                               rhs);
}
Value KernelBuilder::equal(Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs,
                               rhs);
}
Value KernelBuilder::logicalAnd(Value lhs, Value rhs) {
  return arith::AndIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::logicalOr(Value lhs, Value rhs) {
  return arith::OrIOp::create(builder, loc, lhs, rhs);
}
Value KernelBuilder::notNull(Value pointer) {
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, pointer,
                              LLVM::ZeroOp::create(builder, loc, ptrType));
}
Value KernelBuilder::select(Value condition, Value ifTrue, Value ifFalse) {
  return arith::SelectOp::create(builder, loc, condition, ifTrue, ifFalse);
}

Value KernelBuilder::offset(Value pointer, Value elements) {
  return LLVM::GEPOp::create(builder, loc, ptrType, f32Type, pointer,
                             ValueRange{elements});
}
Value KernelBuilder::offset(Value pointer, int64_t elements) {
  if (elements == 0)
    return pointer;
  return LLVM::GEPOp::create(
      builder, loc, ptrType, f32Type, pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(elements)});
}

Value KernelBuilder::zeroVector() {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getZeroAttr(vectorType));
}
Value KernelBuilder::loadScalar(Value pointer) {
  return LLVM::LoadOp::create(builder, loc, f32Type, pointer, elementBytes);
}
void KernelBuilder::storeScalar(Value value, Value pointer) {
  LLVM::StoreOp::create(builder, loc, value, pointer, elementBytes);
}
Value KernelBuilder::broadcast(Value scalar) {
  return vector::BroadcastOp::create(builder, loc, vectorType, scalar);
}
Value KernelBuilder::fma(Value lhs, Value rhs, Value accumulator) {
  // Not vector.fma, which becomes llvm.fmuladd: fused or not as LLVM likes.
  return LLVM::FMAOp::create(builder, loc, lhs, rhs, accumulator);
}
Value KernelBuilder::firstLanes(Value active) {
  auto laneType = VectorType::get({cpu.lanes}, builder.getI32Type());
  Value lanes = arith::ConstantOp::create(
      builder, loc,
      DenseIntElementsAttr::get(laneType,
                                llvm::to_vector(llvm::seq<int32_t>(
                                    0, static_cast<int32_t>(cpu.lanes)))));
  Value bounded = min(active, i64(cpu.lanes));
  Value narrow =
      arith::TruncIOp::create(builder, loc, builder.getI32Type(), bounded);
  Value limit = vector::BroadcastOp::create(builder, loc, laneType, narrow);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lanes,
                               limit);
}
Value KernelBuilder::load(Value pointer, Value mask) {
  if (!mask)
    return LLVM::LoadOp::create(builder, loc, vectorType, pointer,
                                elementBytes);
  return LLVM::MaskedLoadOp::create(builder, loc, vectorType, pointer, mask,
                                    zeroVector(), elementBytes);
}
void KernelBuilder::store(Value vector, Value pointer, Value mask) {
  if (!mask) {
    LLVM::StoreOp::create(builder, loc, vector, pointer, elementBytes);
    return;
  }
  LLVM::MaskedStoreOp::create(builder, loc, vector, pointer, mask,
                              elementBytes);
}
Value KernelBuilder::shuffle(Value lhs, Value rhs, ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(builder, loc, lhs, rhs, mask);
}
void KernelBuilder::prefetch(Value pointer, int64_t locality) {
  LLVM::Prefetch::create(builder, loc, pointer, /*rw=*/0u,
                         static_cast<uint32_t>(locality), /*cache=*/1u);
}

ValueRange KernelBuilder::forLoop(Value begin, Value end, int64_t step,
                                  ValueRange inits, LoopBody body) {
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, i64(step), inits,
      [&](OpBuilder &nested, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(nested.saveInsertionPoint());
        SmallVector<Value> next = body(index, carried);
        scf::YieldOp::create(builder, loc, next);
      });
  return loop.getResults();
}
void KernelBuilder::forLoop(Value begin, Value end, int64_t step,
                            llvm::function_ref<void(Value)> body) {
  forLoop(begin, end, step, ValueRange{},
          [&](Value index, ValueRange) -> SmallVector<Value> {
            body(index);
            return {};
          });
}
void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> thenBody,
                           llvm::function_ref<void()> elseBody) {
  auto branch = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/bool(elseBody));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  thenBody();
  if (!elseBody)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  elseBody();
}
ValueRange
KernelBuilder::ifElse(Value condition, TypeRange types,
                      llvm::function_ref<SmallVector<Value>()> thenBody,
                      llvm::function_ref<SmallVector<Value>()> elseBody) {
  auto branch = scf::IfOp::create(builder, loc, types, condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, thenBody());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, elseBody());
  return branch.getResults();
}
void KernelBuilder::switchOver(Value value, ArrayRef<int64_t> cases,
                               llvm::function_ref<void(int64_t)> body) {
  Value index =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  auto dispatch = scf::IndexSwitchOp::create(builder, loc, TypeRange{}, index,
                                             cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [label, region] : llvm::zip(cases, dispatch.getCaseRegions())) {
    builder.setInsertionPointToStart(&region.emplaceBlock());
    body(label);
    scf::YieldOp::create(builder, loc);
  }
  builder.setInsertionPointToStart(&dispatch.getDefaultRegion().emplaceBlock());
  scf::YieldOp::create(builder, loc);
}

func::FuncOp KernelBuilder::beginFunction(StringRef name, TypeRange arguments,
                                          bool exported) {
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType(arguments, {}));
  if (!exported) {
    function.setPrivate();
    function->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  }
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}
void KernelBuilder::endFunction() { func::ReturnOp::create(builder, loc); }
void KernelBuilder::call(func::FuncOp callee, ValueRange arguments) {
  func::CallOp::create(builder, loc, callee, arguments);
}
void KernelBuilder::callPointer(Value callee, ValueRange arguments) {
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  llvm::to_vector(arguments.getTypes()));
  SmallVector<Value> operands{callee};
  llvm::append_range(operands, arguments);
  LLVM::CallOp::create(builder, loc, type, operands);
}
