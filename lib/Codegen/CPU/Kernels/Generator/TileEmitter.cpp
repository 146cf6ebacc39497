// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Emitters.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rlx;
using namespace rlx::kernelgen;

/// Elements of one cache line.
static constexpr int64_t lineElements = 16;

/// Rows of B between a load and the prefetch of a streaming tile: 2 KiB of a
/// panel. Measured on Sapphire Rapids with weights in DRAM: 4 to 12 rows are
/// within 3 %, at 16 (one page, where the hardware's own prefetch ends) the
/// product with one row takes 25 % longer.
static constexpr int64_t streamRowsAhead = 8;

/// Unrolling saves the address arithmetic: 7 % with 2 steps, no more with 4.
/// Streams gain up to 25 % (six rows, weights in DRAM) from 8, as more requests
/// fit into the reorder buffer; with 16 registers a full tile spills then.
static int64_t unrollOf(KernelBuilder &kb, const TileShape &shape) {
  if (shape.prefetch != Prefetch::Stream)
    return aheadSteps;
  return kb.cpu.lanes == 16 ? 8 : 4;
}

static std::string tileName(const TileShape &shape) {
  std::string name =
      llvm::formatv("tile_{0}x{1}", shape.rows, shape.vectors).str();
  if (shape.masked)
    name += "_masked";
  if (shape.prefetch == Prefetch::Stream)
    name += "_stream";
  if (shape.prefetch == Prefetch::Ahead)
    name += llvm::formatv("_ahead{0}", shape.aheadLines).str();
  return name;
}

namespace {

class TileEmitter {
public:
  TileEmitter(KernelBuilder &kb, const TileShape &shape)
      : kb(kb), shape(shape) {}
  func::FuncOp run();

private:
  func::FuncOp beginTile();
  SmallVector<Value> initialSums();
  void emitStep(Value k, int64_t step, Value bRow, MutableArrayRef<Value> sums);
  SmallVector<Value> emitLoop(Value begin, Value end, int64_t unroll,
                              ArrayRef<Value> carried);
  Value maskOf(int64_t vector) {
    return vector + 1 == shape.vectors ? lastMask : Value();
  }

  KernelBuilder &kb;
  const TileShape shape;
  Value a, lda, b, c, ldc, kc, accumulate;
  Value bStep;            ///< Elements between rows of B.
  Value lastMask;         ///< Of the last vector, null if it is whole.
  Value ahead, aheadStep; ///< Prefetch::Ahead only.
  SmallVector<Value> aRows, cRows;
};

} // namespace

func::FuncOp TileEmitter::beginTile() {
  Type ptr = kb.ptrType, i64 = kb.i64Type, i1 = kb.builder.getI1Type();
  SmallVector<Type> types{ptr, i64, ptr, ptr, i64, i64, i1};
  if (shape.masked)
    types.append({i64, i64});
  if (shape.prefetch == Prefetch::Ahead)
    types.append({ptr, i64});
  func::FuncOp function =
      kb.beginFunction(tileName(shape), types, /*exported=*/false);
  a = function.getArgument(0);
  lda = function.getArgument(1);
  b = function.getArgument(2);
  c = function.getArgument(3);
  ldc = function.getArgument(4);
  kc = function.getArgument(5);
  accumulate = function.getArgument(6);
  bStep = kb.i64(kPanelWidth);
  if (shape.masked) {
    bStep = function.getArgument(7);
    lastMask = kb.firstLanes(
        kb.add(function.getArgument(8), -(shape.vectors - 1) * kb.cpu.lanes));
  }
  if (shape.prefetch == Prefetch::Ahead) {
    ahead = function.getArgument(7);
    aheadStep = function.getArgument(8);
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    aRows.push_back(row ? kb.offset(aRows.back(), lda) : a);
    cRows.push_back(row ? kb.offset(cRows.back(), ldc) : c);
  }
  return function;
}

SmallVector<Value> TileEmitter::initialSums() {
  int64_t count = shape.rows * shape.vectors;
  return kb.ifElse(
      accumulate, SmallVector<Type>(count, kb.vectorType),
      [&] {
        SmallVector<Value> loaded;
        for (Value row : cRows)
          for (int64_t v = 0; v < shape.vectors; ++v)
            loaded.push_back(
                kb.load(kb.offset(row, v * kb.cpu.lanes), maskOf(v)));
        return loaded;
      },
      [&] { return SmallVector<Value>(count, kb.zeroVector()); });
}

/// Adds the products of k + step, whose row of B starts at bRow.
void TileEmitter::emitStep(Value k, int64_t step, Value bRow,
                           MutableArrayRef<Value> sums) {
  SmallVector<Value> bVectors;
  for (int64_t v = 0; v < shape.vectors; ++v) {
    Value address = kb.offset(bRow, v * kb.cpu.lanes);
    bVectors.push_back(kb.load(address, maskOf(v)));
    if (shape.prefetch == Prefetch::Stream &&
        v * kb.cpu.lanes % lineElements == 0)
      kb.prefetch(kb.offset(address, streamRowsAhead * kPanelWidth), 3);
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    Value element =
        kb.broadcast(kb.loadScalar(kb.offset(kb.offset(aRows[row], k), step)));
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value &sum = sums[row * shape.vectors + v];
      sum = kb.fma(element, bVectors[v], sum);
    }
  }
}

/// Steps [begin, end), `unroll` at a time. Carries the sums and the row of B.
SmallVector<Value> TileEmitter::emitLoop(Value begin, Value end, int64_t unroll,
                                         ArrayRef<Value> carried) {
  return kb.forLoop(
      begin, end, unroll, carried, [&](Value k, ValueRange values) {
        SmallVector<Value> next(values);
        Value &bRow = next.back();
        if (unroll > 1 && shape.prefetch == Prefetch::Ahead)
          for (int64_t line = 0; line < shape.aheadLines; ++line)
            kb.prefetch(kb.offset(kb.offset(ahead, kb.mul(k, aheadStep)),
                                  line * lineElements),
                        2);
        for (int64_t step = 0; step < unroll; ++step) {
          emitStep(k, step, bRow, MutableArrayRef<Value>(next).drop_back());
          bRow = kb.offset(bRow, bStep);
        }
        return next;
      });
}

func::FuncOp TileEmitter::run() {
  func::FuncOp function = beginTile();
  SmallVector<Value> carried = initialSums();
  carried.push_back(b);
  int64_t unroll = unrollOf(kb, shape);
  Value whole = kb.sub(kc, kb.rem(kc, kb.i64(unroll)));
  carried = emitLoop(kb.i64(0), whole, unroll, carried);
  carried = emitLoop(whole, kc, 1, carried);
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < shape.vectors; ++v)
      kb.store(carried[row * shape.vectors + v],
               kb.offset(cRows[row], v * kb.cpu.lanes), maskOf(v));
  kb.endFunction();
  return function;
}

func::FuncOp rlx::kernelgen::emitTile(KernelBuilder &kb,
                                      const TileShape &shape) {
  return TileEmitter(kb, shape).run();
}
