// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_EMITTERS_H
#define RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_EMITTERS_H

#include "KernelBuilder.h"

namespace rlx::kernelgen {

/// Where a tile prefetches while it runs.
enum class Prefetch {
  Given, ///< From the pointer it is given, one address per k, to L2.
  Stream ///< Its own B some rows ahead, to L1.
};

struct TileShape {
  int64_t rows, vectors;
  bool masked; ///< The last vector of each row is cut to the width given.
  Prefetch prefetch;
};

/// Emits an internal function that computes one tile of C, `rows` x
/// `vectors * lanes`, over `kc` steps of k:
///
///   tile(a, aRow, aStep, b, bStep, c, ldc, kc, accumulate, ahead, aheadStep
///        [, width])
///
/// A[r][k] is a[r * aRow + k * aStep], row k of B starts at b[k * bStep]. Every
/// element of C is one chain of FMAs in the order of k, which starts at C when
/// `accumulate` (an i1) is set and at zero otherwise.
mlir::func::FuncOp emitTile(KernelBuilder &kb, const TileShape &shape);

/// Emits rlx_gemm_f32 and the tiles it needs.
void emitGemm(KernelBuilder &kb);

/// Emits rlx_pack_f32 and rlx_unpack_f32.
void emitPack(KernelBuilder &kb);
void emitUnpack(KernelBuilder &kb);

} // namespace rlx::kernelgen

#endif
