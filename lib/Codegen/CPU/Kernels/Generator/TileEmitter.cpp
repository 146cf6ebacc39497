// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rlx::kernelgen;

/// How many rows of B a streaming tile prefetches ahead. 16 rows of a panel are
/// 4 KiB.
static constexpr int64_t streamRowsAhead = 16;

static std::string tileName(const TileShape &shape) {
  return llvm::formatv("tile_{0}x{1}{2}{3}", shape.rows, shape.vectors,
                       shape.masked ? "_masked" : "",
                       shape.prefetch == Prefetch::Stream ? "_stream" : "")
      .str();
}

namespace {
/// The arguments of a tile function.
struct TileArguments {
  explicit TileArguments(func::FuncOp function, bool masked)
      : a(function.getArgument(0)), aRow(function.getArgument(1)),
        aStep(function.getArgument(2)), b(function.getArgument(3)),
        bStep(function.getArgument(4)), c(function.getArgument(5)),
        ldc(function.getArgument(6)), kc(function.getArgument(7)),
        accumulate(function.getArgument(8)), ahead(function.getArgument(9)),
        aheadStep(function.getArgument(10)),
        width(masked ? function.getArgument(11) : Value()) {}
  Value a, aRow, aStep, b, bStep, c, ldc, kc, accumulate, ahead, aheadStep,
      width;
};
} // namespace

func::FuncOp rlx::kernelgen::emitTile(KernelBuilder &kb,
                                      const TileShape &shape) {
  Type ptr = kb.ptrType, i64 = kb.i64Type, i1 = kb.builder.getI1Type();
  SmallVector<Type> types{ptr, i64, i64, ptr, i64, ptr, i64, i64, i1, ptr, i64};
  if (shape.masked)
    types.push_back(i64);
  func::FuncOp function =
      kb.beginFunction(tileName(shape), types, /*exported=*/false);
  TileArguments args(function, shape.masked);

  Value lastMask;
  if (shape.masked)
    lastMask =
        kb.firstLanes(kb.add(args.width, -(shape.vectors - 1) * kb.cpu.lanes));
  auto maskOf = [&](int64_t vector) {
    return vector + 1 == shape.vectors ? lastMask : Value();
  };

  SmallVector<Value> aRows, cRows;
  for (int64_t row = 0; row < shape.rows; ++row) {
    aRows.push_back(row ? kb.offset(aRows.back(), args.aRow) : args.a);
    cRows.push_back(row ? kb.offset(cRows.back(), args.ldc) : args.c);
  }

  int64_t accumulators = shape.rows * shape.vectors;
  ValueRange initial = kb.ifElse(
      args.accumulate, SmallVector<Type>(accumulators, kb.vectorType),
      [&] {
        SmallVector<Value> loaded;
        for (Value row : cRows)
          for (int64_t v = 0; v < shape.vectors; ++v)
            loaded.push_back(
                kb.load(kb.offset(row, v * kb.cpu.lanes), maskOf(v)));
        return loaded;
      },
      [&] { return SmallVector<Value>(accumulators, kb.zeroVector()); });

  ValueRange sums = kb.forLoop(
      kb.i64(0), args.kc, 1, initial, [&](Value k, ValueRange carried) {
        SmallVector<Value> acc(carried);
        Value bRow = kb.offset(args.b, kb.mul(k, args.bStep));
        Value aOffset = kb.mul(k, args.aStep);
        if (shape.prefetch == Prefetch::Given)
          kb.prefetch(kb.offset(args.ahead, kb.mul(k, args.aheadStep)), 2);
        SmallVector<Value> bVectors;
        for (int64_t v = 0; v < shape.vectors; ++v) {
          Value address = kb.offset(bRow, v * kb.cpu.lanes);
          bVectors.push_back(kb.load(address, maskOf(v)));
          // One prefetch per cache line of 16 elements.
          if (shape.prefetch == Prefetch::Stream && v * kb.cpu.lanes % 16 == 0)
            kb.prefetch(kb.offset(address, streamRowsAhead * 64), 3);
        }
        for (int64_t row = 0; row < shape.rows; ++row) {
          Value a = kb.broadcast(kb.loadScalar(kb.offset(aRows[row], aOffset)));
          for (int64_t v = 0; v < shape.vectors; ++v) {
            Value &sum = acc[row * shape.vectors + v];
            sum = kb.fma(a, bVectors[v], sum);
          }
        }
        return acc;
      });

  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < shape.vectors; ++v)
      kb.store(sums[row * shape.vectors + v],
               kb.offset(cRows[row], v * kb.cpu.lanes), maskOf(v));
  kb.endFunction();
  return function;
}
