// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Emitters.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace rlx;
using namespace rlx::kernelgen;

namespace {

/// Rows of A below which packing costs more than the strided reads it saves.
constexpr int64_t minPackedRows = 33;
/// The next panel is prefetched to L2 for these row counts. Above, a panel is
/// used long enough for the hardware to hide the next one.
constexpr int64_t maxPrefetchedRows = 128;
/// Up to here B is streamed once and prefetched to L1 instead.
constexpr int64_t maxStreamedRows = 16;

/// A block of rows of A as the tiles read it.
struct RowBlock {
  Value a;      ///< First element for this K block, or the packed copy.
  Value lda;    ///< Of the unpacked rows.
  Value packed; ///< i1
  Value rows;
};

class GemmEmitter {
public:
  explicit GemmEmitter(KernelBuilder &kb) : kb(kb) {}
  void run();

private:
  void emitPackRows();
  void emitPanel(Prefetch prefetch, func::FuncOp &panel);
  void emitDriver();
  void emitTileLoop(Value rows,
                    llvm::function_ref<void(Value, Value, Value)> body);

  KernelBuilder &kb;
  func::FuncOp packRows, panelGiven, panelStream;
};

} // namespace

/// Splits `rows` into tiles of at most tileRows whose sizes differ by at most
/// one; calls body(tile, first row, rows of the tile).
void GemmEmitter::emitTileLoop(
    Value rows, llvm::function_ref<void(Value, Value, Value)> body) {
  Value tiles = kb.ceilDiv(rows, kb.cpu.tileRows);
  Value base = kb.div(rows, tiles), larger = kb.rem(rows, tiles);
  kb.forLoop(kb.i64(0), tiles, 1, [&](Value tile) {
    Value first = kb.add(kb.mul(tile, base), kb.min(tile, larger));
    Value extra = kb.select(kb.less(tile, larger), kb.i64(1), kb.i64(0));
    body(tile, first, kb.add(base, extra));
  });
}

/// pack_rows(a, lda, rows, kc, packed): tile by tile, [kc][rows of the tile].
void GemmEmitter::emitPackRows() {
  Type ptr = kb.ptrType, i64 = kb.i64Type;
  packRows = kb.beginFunction("pack_rows", {ptr, i64, i64, i64, ptr},
                              /*exported=*/false);
  Value a = packRows.getArgument(0), lda = packRows.getArgument(1),
        rows = packRows.getArgument(2), kc = packRows.getArgument(3),
        packed = packRows.getArgument(4);
  emitTileLoop(rows, [&](Value, Value first, Value tileRows) {
    Value target = kb.offset(packed, kb.mul(first, kc));
    kb.forLoop(kb.i64(0), tileRows, 1, [&](Value row) {
      Value source = kb.offset(a, kb.mul(kb.add(first, row), lda));
      Value column = kb.offset(target, row);
      kb.forLoop(kb.i64(0), kc, 1, [&](Value k) {
        kb.storeScalar(kb.loadScalar(kb.offset(source, k)),
                       kb.offset(column, kb.mul(k, tileRows)));
      });
    });
  });
  kb.endFunction();
}

/// panel(a, lda, packed, rows, b, width, c, ldc, kc, accumulate, ahead, lines)
/// computes rows x width of C. `lines` cache lines at `ahead` are prefetched.
void GemmEmitter::emitPanel(Prefetch prefetch, func::FuncOp &panel) {
  const int64_t lanes = kb.cpu.lanes, columns = kb.cpu.tileColumns();
  // Case rows - 1 + tileRows * kind: kind 0 is a full tile, kind v a masked one
  // of v vectors.
  SmallVector<func::FuncOp> tiles;
  for (int64_t kind = 0; kind <= kb.cpu.tileVectors; ++kind)
    for (int64_t rows = 1; rows <= kb.cpu.tileRows; ++rows)
      tiles.push_back(emitTile(
          kb, {rows, kind ? kind : kb.cpu.tileVectors, kind != 0, prefetch}));

  Type ptr = kb.ptrType, i64 = kb.i64Type, i1 = kb.builder.getI1Type();
  panel = kb.beginFunction(
      prefetch == Prefetch::Stream ? "panel_stream" : "panel",
      {ptr, i64, i1, i64, ptr, i64, ptr, i64, i64, i1, ptr, i64},
      /*exported=*/false);
  auto arg = [&](unsigned index) -> Value { return panel.getArgument(index); };
  Value a = arg(0), lda = arg(1), packed = arg(2), rows = arg(3), b = arg(4),
        width = arg(5), c = arg(6), ldc = arg(7), kc = arg(8),
        accumulate = arg(9), ahead = arg(10), aheadStep = arg(11);

  emitTileLoop(rows, [&](Value tile, Value first, Value tileRows) {
    Value tileA = kb.offset(a, kb.mul(first, kb.select(packed, kc, lda)));
    Value aRow = kb.select(packed, kb.i64(1), lda);
    Value aStep = kb.select(packed, tileRows, kb.i64(1));
    Value tileC = kb.offset(c, kb.mul(first, ldc));
    kb.forLoop(kb.i64(0), width, columns, [&](Value column) {
      Value left = kb.sub(width, column);
      Value kind = kb.select(kb.lessEqual(kb.i64(columns), left), kb.i64(0),
                             kb.ceilDiv(left, lanes));
      Value selector =
          kb.add(kb.mul(kind, kb.cpu.tileRows), kb.add(tileRows, -1));
      Value tileAhead =
          kb.offset(ahead, kb.mul(kb.add(kb.mul(tile, 64 / columns),
                                         kb.div(column, kb.i64(columns))),
                                  kb.mul(aheadStep, kc)));
      SmallVector<Value> operands{tileA,      aRow,
                                  aStep,      kb.offset(b, column),
                                  width,      kb.offset(tileC, column),
                                  ldc,        kc,
                                  accumulate, tileAhead,
                                  aheadStep};
      kb.switchOver(selector,
                    llvm::to_vector(llvm::seq<int64_t>(0, tiles.size())),
                    [&](int64_t label) {
                      SmallVector<Value> all(operands);
                      if (label >= kb.cpu.tileRows)
                        all.push_back(left);
                      kb.call(tiles[label], all);
                    });
    });
  });
  kb.endFunction();
}

void GemmEmitter::emitDriver() {
  Type ptr = kb.ptrType, i64 = kb.i64Type;
  func::FuncOp gemm = kb.beginFunction(
      "rlx_gemm_f32",
      {ptr, i64, ptr, ptr, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr},
      /*exported=*/true);
  auto arg = [&](unsigned index) -> Value { return gemm.getArgument(index); };
  Value a = arg(0), lda = arg(1), b = arg(2), c = arg(3), ldc = arg(4),
        m = arg(5), n = arg(6), k = arg(7), panelBegin = arg(8),
        panelEnd = arg(9), scratch = arg(10), epilogue = arg(11),
        context = arg(12);

  Value hasEpilogue =
      kb.equal(kb.select(kb.isNull(epilogue), kb.i64(0), kb.i64(1)), kb.i64(1));
  // Balanced row blocks: 129 rows are 65 + 64, not 128 and a pass over B for
  // one row.
  Value blocks = kb.ceilDiv(m, kRowBlock);
  Value divisor = kb.max(blocks, kb.i64(1));
  Value blockRows = kb.div(kb.add(kb.add(m, divisor), -1), divisor);
  // K = 0 still makes one round, which stores zeros and runs the epilogue.
  Value kEnd = kb.max(k, kb.i64(1));
  kb.forLoop(kb.i64(0), blocks, 1, [&](Value block) {
    Value row = kb.mul(block, blockRows);
    Value rows = kb.min(blockRows, kb.sub(m, row));
    Value packed = kb.lessEqual(kb.i64(minPackedRows), rows);
    Value streamed = kb.lessEqual(rows, kb.i64(maxStreamedRows));
    // Each tile of a panel prefetches an equal share of the next one.
    Value tiles = kb.ceilDiv(rows, kb.cpu.tileRows);
    tiles = kb.mul(tiles, kPanelWidth / kb.cpu.tileColumns());
    Value share = kb.div(kb.i64(kPanelWidth), tiles);
    Value ahead = kb.select(kb.lessEqual(rows, kb.i64(maxPrefetchedRows)),
                            kb.add(share, 1), kb.i64(0));
    kb.forLoop(kb.i64(0), kEnd, kKBlock, [&](Value k0) {
      Value kc = kb.min(kb.i64(kKBlock), kb.sub(k, k0));
      Value source = kb.offset(kb.offset(a, kb.mul(row, lda)), k0);
      kb.ifThen(packed,
                [&] { kb.call(packRows, {source, lda, rows, kc, scratch}); });
      Value blockA = kb.select(packed, scratch, source);
      Value accumulate = kb.less(kb.i64(0), k0);
      Value last = kb.lessEqual(k, kb.add(k0, kKBlock));
      Value callEpilogue = kb.logicalAnd(last, hasEpilogue);
      Value bBlock = kb.offset(b, kb.mul(k0, n));
      kb.forLoop(panelBegin, panelEnd, 1, [&](Value panel) {
        Value column = kb.mul(panel, kPanelWidth);
        Value width = kb.min(kb.i64(kPanelWidth), kb.sub(n, column));
        Value bPanel = kb.offset(bBlock, kb.mul(column, kc));
        Value cPanel = kb.offset(kb.offset(c, kb.mul(row, ldc)), column);
        Value next = kb.offset(bPanel, kb.mul(kc, width));
        SmallVector<Value> operands{blockA, lda,        packed, rows,
                                    bPanel, width,      cPanel, ldc,
                                    kc,     accumulate, next,   ahead};
        kb.ifThen(
            streamed, [&] { kb.call(panelStream, operands); },
            [&] { kb.call(panelGiven, operands); });
        kb.ifThen(callEpilogue, [&] {
          kb.callPointer(epilogue, {context, row, rows, column, width});
        });
      });
    });
  });
  kb.endFunction();
}

void GemmEmitter::run() {
  emitPackRows();
  emitPanel(Prefetch::Given, panelGiven);
  emitPanel(Prefetch::Stream, panelStream);
  emitDriver();
}

void rlx::kernelgen::emitGemm(KernelBuilder &kb) { GemmEmitter(kb).run(); }
