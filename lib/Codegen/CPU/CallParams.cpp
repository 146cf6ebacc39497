// SPDX-License-Identifier: MIT OR Apache-2.0
//===- CallParams.cpp - Reads of rlx_abi_params ---------------------------===//

#include "CallParams.h"

#include "RLX/Runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cstddef>

using namespace mlir;
using namespace rlx;

CallParams::CallParams(OpBuilder &builder, Location loc, func::FuncOp original,
                       Value params)
    : builder(builder), loc(loc), arguments(original), params(params),
      remat(builder, [this](BlockArgument arg) { return getArgument(arg); }) {}

Value CallParams::loadField(size_t offset, Type type) {
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Value address =
      LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), params,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value CallParams::loadElement(Value base, int64_t i, Type type) {
  Value address = LLVM::GEPOp::create(
      builder, loc, base.getType(), builder.getI64Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value CallParams::getArgument(BlockArgument arg) {
  Type i64 = builder.getI64Type();
  if (arg == arguments.rngSeed)
    return loadField(offsetof(rlx_abi_params, rng_seed), i64);
  if (arg == arguments.rngCounter)
    return loadField(offsetof(rlx_abi_params, rng_counter), i64);
  Value value;
  if (arg == arguments.workers) {
    value = loadField(offsetof(rlx_abi_params, workers), i64);
  } else {
    auto *symbol = llvm::find(arguments.symbols, arg);
    if (symbol == arguments.symbols.end())
      return {};
    if (!symbols)
      symbols = loadField(offsetof(rlx_abi_params, symbols), params.getType());
    value = loadElement(symbols, symbol - arguments.symbols.begin(), i64);
  }
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

Value CallParams::getArenaAddress(Value offset) {
  if (!arena)
    arena = loadField(offsetof(rlx_abi_params, arena), params.getType());
  Value bytes =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
  return LLVM::GEPOp::create(builder, loc, arena.getType(), builder.getI8Type(),
                             arena, ArrayRef<LLVM::GEPArg>{bytes});
}

FailureOr<Value> CallParams::getBuffer(Value buffer) {
  if (auto view = buffer.getDefiningOp<memref::ViewOp>()) {
    FailureOr<Value> offset = getScalar(view.getByteShift());
    if (failed(offset))
      return failure();
    return getArenaAddress(*offset);
  }
  auto *found = llvm::find(arguments.buffers, buffer);
  if (found == arguments.buffers.end())
    return emitError(loc, "a buffer is neither an argument nor in the arena");
  if (!buffers)
    buffers = loadField(offsetof(rlx_abi_params, buffers), params.getType());
  return loadElement(buffers, found - arguments.buffers.begin(),
                     params.getType());
}
