// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Emitters.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

using namespace mlir;
using namespace rlx;
using namespace rlx::kernelgen;

/// A lane permutation of two vectors: `pick(lane)` for each lane of the result.
static Value permute(KernelBuilder &kb, Value lhs, Value rhs,
                     llvm::function_ref<int64_t(int64_t)> pick) {
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < kb.cpu.lanes; ++lane)
    mask.push_back(pick(lane));
  return kb.shuffle(lhs, rhs, mask);
}

/// Transposes a square of registers: 4x4 within each group of four lanes by
/// unpacks, then whole groups. log2(lanes) shuffles per vector.
static void transposeRegisters(KernelBuilder &kb,
                               MutableArrayRef<Value> vectors) {
  const int64_t lanes = kb.cpu.lanes;
  // Interleaves runs of `run` lanes of the low or high half of each group.
  auto unpack = [&](Value lhs, Value rhs, int64_t run, bool high) {
    return permute(kb, lhs, rhs, [&](int64_t lane) {
      int64_t group = lane / 4 * 4, inGroup = lane % 4;
      bool fromRhs = inGroup / run % 2;
      int64_t source = inGroup / (2 * run) * run + inGroup % run;
      return group + source + (high ? 2 : 0) + (fromRhs ? lanes : 0);
    });
  };
  for (int64_t i = 0; i < lanes; i += 4) {
    Value low01 = unpack(vectors[i], vectors[i + 1], 1, false);
    Value high01 = unpack(vectors[i], vectors[i + 1], 1, true);
    Value low23 = unpack(vectors[i + 2], vectors[i + 3], 1, false);
    Value high23 = unpack(vectors[i + 2], vectors[i + 3], 1, true);
    vectors[i] = unpack(low01, low23, 2, false);
    vectors[i + 1] = unpack(low01, low23, 2, true);
    vectors[i + 2] = unpack(high01, high23, 2, false);
    vectors[i + 3] = unpack(high01, high23, 2, true);
  }
  for (int64_t distance = 4; distance < lanes; distance *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & distance)
        continue;
      Value lhs = vectors[i], rhs = vectors[i + distance];
      vectors[i] = permute(kb, lhs, rhs, [&](int64_t lane) {
        return lane & distance ? lanes + lane - distance : lane;
      });
      vectors[i + distance] = permute(kb, lhs, rhs, [&](int64_t lane) {
        return lane & distance ? lanes + lane : lane + distance;
      });
    }
}

namespace {

/// Emits the copy between a strided matrix and layout `panel64`.
class LayoutCopyEmitter {
public:
  LayoutCopyEmitter(KernelBuilder &kb, bool pack) : kb(kb), pack(pack) {}
  void run();

private:
  void emitTranspose();
  void copyRows(Value plain, Value strideK, Value panel, Value kc, Value width);
  void copyTransposed(Value plain, Value strideN, Value panel, Value kc,
                      Value width);
  void copyElements(Value plain, Value strideK, Value strideN, Value panel,
                    Value kc, Value width);
  void forBlocks(Value extent, int64_t step,
                 llvm::function_ref<void(Value, Value)> body);

  KernelBuilder &kb;
  const bool pack;
  func::FuncOp transpose;
};

} // namespace

/// transpose(source, sourceStride, target, targetStride, rows, columns):
/// target[j][i] = source[i][j] for at most lanes x lanes elements.
void LayoutCopyEmitter::emitTranspose() {
  Type ptr = kb.ptrType, i64 = kb.i64Type;
  transpose = kb.beginFunction("transpose", {ptr, i64, ptr, i64, i64, i64},
                               /*exported=*/false);
  Value source = transpose.getArgument(0),
        sourceStride = transpose.getArgument(1),
        target = transpose.getArgument(2),
        targetStride = transpose.getArgument(3),
        rows = transpose.getArgument(4), columns = transpose.getArgument(5);
  const int64_t lanes = kb.cpu.lanes;
  auto copy = [&](bool masked) {
    // Lanes of vector `index` out of `count` vectors of `active` lanes.
    auto mask = [&](int64_t index, Value count, Value active) {
      if (!masked)
        return Value();
      return kb.firstLanes(
          kb.select(kb.less(kb.i64(index), count), active, kb.i64(0)));
    };
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < lanes; ++i)
      vectors.push_back(kb.load(kb.offset(source, kb.mul(sourceStride, i)),
                                mask(i, rows, columns)));
    transposeRegisters(kb, vectors);
    for (int64_t i = 0; i < lanes; ++i)
      kb.store(vectors[i], kb.offset(target, kb.mul(targetStride, i)),
               mask(i, columns, rows));
  };
  Value full = kb.logicalAnd(kb.equal(rows, kb.i64(lanes)),
                             kb.equal(columns, kb.i64(lanes)));
  kb.ifThen(full, [&] { copy(false); }, [&] { copy(true); });
  kb.endFunction();
}

/// Calls body(begin, size) for the pieces of at most `step` of an extent.
void LayoutCopyEmitter::forBlocks(Value extent, int64_t step,
                                  llvm::function_ref<void(Value, Value)> body) {
  kb.forLoop(kb.i64(0), extent, step, [&](Value begin) {
    body(begin, kb.min(kb.i64(step), kb.sub(extent, begin)));
  });
}

/// Columns of the plain matrix are contiguous: rows are copied.
void LayoutCopyEmitter::copyRows(Value plain, Value strideK, Value panel,
                                 Value kc, Value width) {
  const int64_t lanes = kb.cpu.lanes;
  kb.forLoop(kb.i64(0), kc, 1, [&](Value k) {
    Value plainRow = kb.offset(plain, kb.mul(k, strideK));
    Value panelRow = kb.offset(panel, kb.mul(k, width));
    Value source = pack ? plainRow : panelRow;
    Value target = pack ? panelRow : plainRow;
    auto copy = [&](Value column, Value mask) {
      kb.store(kb.load(kb.offset(source, column), mask),
               kb.offset(target, column), mask);
    };
    kb.ifThen(
        kb.equal(width, kb.i64(kPanelWidth)),
        [&] {
          for (int64_t column = 0; column < kPanelWidth; column += lanes)
            copy(kb.i64(column), Value());
        },
        [&] {
          forBlocks(width, lanes, [&](Value column, Value active) {
            copy(column, kb.firstLanes(active));
          });
        });
  });
}

/// Rows of the plain matrix (k) are contiguous: squares are transposed.
void LayoutCopyEmitter::copyTransposed(Value plain, Value strideN, Value panel,
                                       Value kc, Value width) {
  const int64_t lanes = kb.cpu.lanes;
  forBlocks(width, lanes, [&](Value column, Value columns) {
    forBlocks(kc, lanes, [&](Value k, Value rows) {
      Value plainSquare =
          kb.offset(kb.offset(plain, kb.mul(column, strideN)), k);
      Value panelSquare = kb.offset(kb.offset(panel, kb.mul(k, width)), column);
      if (pack)
        kb.call(transpose,
                {plainSquare, strideN, panelSquare, width, columns, rows});
      else
        kb.call(transpose,
                {panelSquare, width, plainSquare, strideN, rows, columns});
    });
  });
}

void LayoutCopyEmitter::copyElements(Value plain, Value strideK, Value strideN,
                                     Value panel, Value kc, Value width) {
  kb.forLoop(kb.i64(0), kc, 1, [&](Value k) {
    kb.forLoop(kb.i64(0), width, 1, [&](Value column) {
      Value plainElement = kb.offset(kb.offset(plain, kb.mul(k, strideK)),
                                     kb.mul(column, strideN));
      Value panelElement =
          kb.offset(kb.offset(panel, kb.mul(k, width)), column);
      kb.storeScalar(kb.loadScalar(pack ? plainElement : panelElement),
                     pack ? panelElement : plainElement);
    });
  });
}

void LayoutCopyEmitter::run() {
  emitTranspose();
  Type ptr = kb.ptrType, i64 = kb.i64Type;
  SmallVector<Type> types =
      pack ? SmallVector<Type>{ptr, i64, i64, ptr, i64, i64, i64, i64}
           : SmallVector<Type>{ptr, ptr, i64, i64, i64, i64, i64, i64};
  func::FuncOp function = kb.beginFunction(
      pack ? "rlx_pack_f32" : "rlx_unpack_f32", types, /*exported=*/true);
  auto arg = [&](unsigned index) -> Value {
    return function.getArgument(index);
  };
  Value plain = pack ? arg(0) : arg(1), strideK = pack ? arg(1) : arg(2),
        strideN = pack ? arg(2) : arg(3), panels = pack ? arg(3) : arg(0),
        k = arg(4), n = arg(5), panelBegin = arg(6), panelEnd = arg(7);

  forBlocks(k, kKBlock, [&](Value k0, Value kc) {
    kb.forLoop(panelBegin, panelEnd, 1, [&](Value panel) {
      Value column = kb.mul(panel, kPanelWidth);
      Value width = kb.min(kb.i64(kPanelWidth), kb.sub(n, column));
      Value block =
          kb.offset(kb.offset(panels, kb.mul(k0, n)), kb.mul(column, kc));
      Value plainBlock = kb.offset(kb.offset(plain, kb.mul(k0, strideK)),
                                   kb.mul(column, strideN));
      kb.ifThen(
          kb.equal(strideN, kb.i64(1)),
          [&] { copyRows(plainBlock, strideK, block, kc, width); },
          [&] {
            kb.ifThen(
                kb.equal(strideK, kb.i64(1)),
                [&] { copyTransposed(plainBlock, strideN, block, kc, width); },
                [&] {
                  copyElements(plainBlock, strideK, strideN, block, kc, width);
                });
          });
    });
  });
  kb.endFunction();
}

void rlx::kernelgen::emitPack(KernelBuilder &kb) {
  LayoutCopyEmitter(kb, /*pack=*/true).run();
}
void rlx::kernelgen::emitUnpack(KernelBuilder &kb) {
  LayoutCopyEmitter(kb, /*pack=*/false).run();
}
