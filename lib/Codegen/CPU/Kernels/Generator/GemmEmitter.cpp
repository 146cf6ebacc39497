// SPDX-License-Identifier: MIT OR Apache-2.0
// The loops around the tiles: row block, K block, panel, tile.
//
// A is read where it is. Packing a block of it into [k][rows of a tile] was
// tried for 64 to 512 rows and rows 1 KiB to 128 KiB apart (which share cache
// sets): 1 to 11 % slower on Sapphire Rapids, for both classes. So was a tile
// of 8 x 32 or 12 x 32 for up to 16 rows (13 to 30 %).
#include "Emitters.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace rlx;
using namespace rlx::kernelgen;

namespace {

/// Rows of A that share one pass over a K block of B: 256 KiB of A, which stay
/// in L2.
constexpr int64_t rowBlock = 128;

/// How the full panels of a row block are computed.
struct PanelKind {
  const char *name;
  Prefetch prefetch;
  int64_t aheadLines;
  int64_t kChunk;           ///< Steps of k that all tiles do before going on.
  int64_t minRows, maxRows; ///< Of the tiles that occur.
};

/// Up to here a panel is computed in chunks of 64 steps, 16 KiB of B that stay
/// in L1 for the few tiles, while B is prefetched 32 KiB ahead in the order of
/// memory. Against the way of more rows, on Sapphire Rapids: 16 rows with N = K
/// = 4096 in DRAM 40 % faster, 1024 in L3 9 %; at 48 rows the loads and stores
/// of C outweigh it (8 % slower). 32 and 128 steps, and 16 KiB and 128 KiB
/// ahead, are behind for one or the other.
constexpr int64_t maxChunkedRows = 32;
constexpr int64_t chunkSteps = 64;
constexpr int64_t chunkedRowsAhead = 128;

/// The operands of one panel of one K block of one row block.
struct Panel {
  Value a, lda, rows, b, c, ldc, kc, accumulate;
  Value ahead, aheadStep; ///< What to prefetch.
  Value width;            ///< Of a panel that is not full.
};

class GemmEmitter {
public:
  explicit GemmEmitter(KernelBuilder &kb) : kb(kb) {}
  void run();

private:
  func::FuncOp emitFullPanel(const PanelKind &kind);
  func::FuncOp emitTailPanel();
  void emitDriver();
  void emitTileLoop(Value rows,
                    llvm::function_ref<void(Value, Value, Value)> body);
  Panel panelArguments(func::FuncOp function);

  KernelBuilder &kb;
  func::FuncOp streamPanel, chunkedPanel, wholePanel, tailPanel;
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

static SmallVector<Type> panelTypes(KernelBuilder &kb) {
  Type ptr = kb.ptrType, i64 = kb.i64Type, i1 = kb.builder.getI1Type();
  return {ptr, i64, i64, ptr, ptr, i64, i64, i1, ptr, i64, i64};
}

Panel GemmEmitter::panelArguments(func::FuncOp function) {
  auto arg = [&](unsigned index) -> Value {
    return function.getArgument(index);
  };
  return {arg(0), arg(1), arg(2), arg(3), arg(4), arg(5),
          arg(6), arg(7), arg(8), arg(9), arg(10)};
}

/// A panel of kPanelWidth columns: tiles without masks.
func::FuncOp GemmEmitter::emitFullPanel(const PanelKind &kind) {
  // Rows of the tile -> tile, and how wide it is. One row needs few
  // accumulators: it takes as many columns as registers allow, so that B is
  // read in the order of memory.
  SmallVector<int64_t> heights =
      llvm::to_vector(llvm::seq_inclusive(kind.minRows, kind.maxRows));
  auto vectorsOf = [&](int64_t rows) {
    int64_t accumulators = kb.cpu.tileRows * kb.cpu.tileVectors;
    int64_t vectors = kb.cpu.tileVectors;
    while (kind.prefetch == Prefetch::Stream &&
           vectors * kb.cpu.lanes < kPanelWidth &&
           2 * vectors * rows <= accumulators - 4)
      vectors *= 2;
    return vectors;
  };
  SmallVector<func::FuncOp> tiles;
  for (int64_t rows : heights)
    tiles.push_back(emitTile(kb, {rows, vectorsOf(rows), /*masked=*/false,
                                  kind.prefetch, kind.aheadLines}));

  func::FuncOp function =
      kb.beginFunction(kind.name, panelTypes(kb), /*exported=*/false);
  Panel panel = panelArguments(function);
  // An empty K block still stores zeros.
  Value kEnd = kb.max(panel.kc, kb.i64(1));
  kb.forLoop(kb.i64(0), kEnd, kind.kChunk, [&](Value k) {
    Value kc = kb.min(kb.sub(panel.kc, k), kb.i64(kind.kChunk));
    Value accumulate = kb.logicalOr(panel.accumulate, kb.less(kb.i64(0), k));
    Value b = kb.offset(panel.b, kb.mul(k, kPanelWidth));
    Value ahead = panel.ahead;
    if (kind.kChunk < kKBlock)
      ahead = kb.offset(b, chunkedRowsAhead * kPanelWidth);
    emitTileLoop(panel.rows, [&](Value tile, Value first, Value rows) {
      Value a = kb.offset(kb.offset(panel.a, kb.mul(first, panel.lda)), k);
      Value c = kb.offset(panel.c, kb.mul(first, panel.ldc));
      kb.switchOver(rows, heights, [&](int64_t height) {
        int64_t columns = vectorsOf(height) * kb.cpu.lanes;
        for (int64_t column = 0; column < kPanelWidth; column += columns) {
          SmallVector<Value> operands{a,
                                      panel.lda,
                                      kb.offset(b, column),
                                      kb.offset(c, column),
                                      panel.ldc,
                                      kc,
                                      accumulate};
          if (kind.prefetch == Prefetch::Ahead) {
            Value index =
                kb.add(kb.mul(tile, kPanelWidth / columns), column / columns);
            Value share = kb.mul(kc, panel.aheadStep);
            operands.push_back(kb.offset(ahead, kb.mul(index, share)));
            operands.push_back(panel.aheadStep);
          }
          kb.call(tiles[height - kind.minRows], operands);
        }
      });
    });
  });
  kb.endFunction();
  return function;
}

/// The last panel, of less than kPanelWidth columns.
func::FuncOp GemmEmitter::emitTailPanel() {
  const int64_t lanes = kb.cpu.lanes, columns = kb.cpu.tileColumns();
  SmallVector<func::FuncOp> tiles;
  for (int64_t vectors = 1; vectors <= kb.cpu.tileVectors; ++vectors)
    for (int64_t rows = 1; rows <= kb.cpu.tileRows; ++rows)
      tiles.push_back(
          emitTile(kb, {rows, vectors, /*masked=*/true, Prefetch::None}));

  func::FuncOp function =
      kb.beginFunction("panel_tail", panelTypes(kb), /*exported=*/false);
  Panel panel = panelArguments(function);
  emitTileLoop(panel.rows, [&](Value, Value first, Value rows) {
    Value a = kb.offset(panel.a, kb.mul(first, panel.lda));
    Value c = kb.offset(panel.c, kb.mul(first, panel.ldc));
    kb.forLoop(kb.i64(0), panel.width, columns, [&](Value column) {
      Value left = kb.min(kb.sub(panel.width, column), kb.i64(columns));
      Value vectors = kb.ceilDiv(left, lanes);
      Value index = kb.add(kb.mul(kb.add(vectors, -1), kb.cpu.tileRows),
                           kb.add(rows, -1));
      kb.switchOver(index, llvm::to_vector(llvm::seq<int64_t>(0, tiles.size())),
                    [&](int64_t tile) {
                      kb.call(tiles[tile],
                              {a, panel.lda, kb.offset(panel.b, column),
                               kb.offset(c, column), panel.ldc, panel.kc,
                               panel.accumulate, panel.width, left});
                    });
    });
  });
  kb.endFunction();
  return function;
}

void GemmEmitter::emitDriver() {
  Type ptr = kb.ptrType, i64 = kb.i64Type;
  func::FuncOp gemm = kb.beginFunction(
      "rlx_gemm_f32",
      {ptr, i64, ptr, ptr, i64, i64, i64, i64, i64, i64, ptr, ptr},
      /*exported=*/true);
  auto arg = [&](unsigned index) -> Value { return gemm.getArgument(index); };
  Value a = arg(0), lda = arg(1), b = arg(2), c = arg(3), ldc = arg(4),
        m = arg(5), n = arg(6), k = arg(7), panelBegin = arg(8),
        panelEnd = arg(9), epilogue = arg(10), context = arg(11);

  // Balanced row blocks: 129 rows are 65 + 64, not 128 and a pass over B for
  // one row.
  Value blocks = kb.ceilDiv(m, rowBlock);
  Value divisor = kb.max(blocks, kb.i64(1));
  Value blockRows = kb.div(kb.add(kb.add(m, divisor), -1), divisor);
  // K = 0 still makes one round, which stores zeros and runs the epilogue.
  Value kEnd = kb.max(k, kb.i64(1));
  kb.forLoop(kb.i64(0), blocks, 1, [&](Value block) {
    Value row = kb.mul(block, blockRows);
    Value rows = kb.min(blockRows, kb.sub(m, row));
    Value tiles = kb.mul(kb.ceilDiv(rows, kb.cpu.tileRows),
                         kPanelWidth / kb.cpu.tileColumns());
    // Each tile prefetches an equal share of a panel, which has kPanelWidth
    // elements per step of k.
    Value aheadStep = kb.div(kb.add(tiles, kPanelWidth - 1), tiles);
    Value single = kb.lessEqual(rows, kb.i64(kb.cpu.tileRows));
    Value chunked = kb.lessEqual(rows, kb.i64(maxChunkedRows));
    kb.forLoop(kb.i64(0), kEnd, kKBlock, [&](Value k0) {
      Value kc = kb.min(kb.i64(kKBlock), kb.sub(k, k0));
      Value next = kb.min(kb.add(k0, kKBlock), k);
      Value nextKc = kb.min(kb.i64(kKBlock), kb.sub(k, next));
      Value bBlock = kb.offset(b, kb.mul(k0, n));
      // Where the range goes on after its last panel of this K block.
      Value bNextBlock =
          kb.offset(kb.offset(b, kb.mul(next, n)),
                    kb.mul(kb.mul(panelBegin, kPanelWidth), nextKc));
      Value runEpilogue =
          kb.logicalAnd(kb.equal(next, k), kb.notNull(epilogue));
      kb.forLoop(panelBegin, panelEnd, 1, [&](Value index) {
        Value column = kb.mul(index, kPanelWidth);
        Panel panel;
        panel.a = kb.offset(kb.offset(a, kb.mul(row, lda)), k0);
        panel.lda = lda;
        panel.rows = rows;
        panel.b = kb.offset(bBlock, kb.mul(column, kc));
        panel.c = kb.offset(kb.offset(c, kb.mul(row, ldc)), column);
        panel.ldc = ldc;
        panel.kc = kc;
        panel.accumulate = kb.less(kb.i64(0), k0);
        panel.width = kb.min(kb.i64(kPanelWidth), kb.sub(n, column));
        panel.ahead =
            kb.select(kb.equal(kb.add(index, 1), panelEnd), bNextBlock,
                      kb.offset(panel.b, kb.mul(kc, panel.width)));
        panel.aheadStep = aheadStep;
        SmallVector<Value> operands{
            panel.a,     panel.lda,       panel.rows, panel.b,
            panel.c,     panel.ldc,       panel.kc,   panel.accumulate,
            panel.ahead, panel.aheadStep, panel.width};
        auto callFull = [&] {
          kb.ifThen(
              single, [&] { kb.call(streamPanel, operands); },
              [&] {
                kb.ifThen(
                    chunked, [&] { kb.call(chunkedPanel, operands); },
                    [&] { kb.call(wholePanel, operands); });
              });
        };
        kb.ifThen(kb.equal(panel.width, kb.i64(kPanelWidth)), callFull,
                  [&] { kb.call(tailPanel, operands); });
        kb.ifThen(runEpilogue, [&] {
          kb.callPointer(epilogue, {context, row, rows, column, panel.width});
        });
      });
    });
  });
  kb.endFunction();
}

void GemmEmitter::run() {
  const int64_t full = kb.cpu.tileRows;
  streamPanel =
      emitFullPanel({"panel_stream", Prefetch::Stream, 0, kKBlock, 1, full});
  // Two tiles are 7 rows or more, so no less than 3 each, and request up to 32
  // elements per step.
  chunkedPanel = emitFullPanel(
      {"panel_chunked", Prefetch::Ahead, 4, chunkSteps, full / 2, full});
  // Six tiles are 33 rows or more, so no less than 5 each, and request up to 11
  // elements per step.
  wholePanel = emitFullPanel(
      {"panel_whole", Prefetch::Ahead, 2, kKBlock, full - 1, full});
  tailPanel = emitTailPanel();
  emitDriver();
}

void rlx::kernelgen::emitGemm(KernelBuilder &kb) { GemmEmitter(kb).run(); }
