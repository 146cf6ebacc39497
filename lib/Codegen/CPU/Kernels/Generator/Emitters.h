// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_EMITTERS_H
#define RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_EMITTERS_H

#include "KernelBuilder.h"

namespace rlx::kernelgen {

/// What a tile brings nearer while it runs.
enum class Prefetch {
  None,
  Stream, ///< Its own B a few rows ahead, to L1: B is read once.
  Ahead,  ///< Memory it is told of, to L2: B is in use for a while.
};

struct TileShape {
  int64_t rows, vectors;
  /// B and C end within the last vector of a row. Otherwise B is a full panel.
  bool masked;
  Prefetch prefetch;
  /// Ahead only: cache lines requested per step of aheadSteps.
  int64_t aheadLines = 0;
};

/// Steps of k between two requests of a tile with Prefetch::Ahead.
constexpr int64_t aheadSteps = 2;

/// Emits an internal function that computes one tile of C, `rows` x
/// `vectors * lanes`, over `kc` steps of k:
///
///   tile(a, lda, b, c, ldc, kc, accumulate)
///   tile_..._masked(..., width, columns)     width of a row of B, columns left
///   tile_..._ahead<n>(..., ahead, aheadStep) where, elements per step of k
///
/// Every element of C is one chain of FMAs in the order of k, which starts at C
/// when `accumulate` (an i1) is set and at zero otherwise.
mlir::func::FuncOp emitTile(KernelBuilder &kb, const TileShape &shape);

/// Emits rlx_gemm_f32 and the tiles it needs.
void emitGemm(KernelBuilder &kb);

/// Emits rlx_pack_f32 and rlx_unpack_f32.
void emitPack(KernelBuilder &kb);
void emitUnpack(KernelBuilder &kb);

} // namespace rlx::kernelgen

#endif
