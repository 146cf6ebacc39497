/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The functions of the kernel archives, as linked code calls them. */
#ifndef RLX_CODEGEN_CPU_KERNELS_KERNELABI_H
#define RLX_CODEGEN_CPU_KERNELS_KERNELABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Called once per block of rows and panel of columns, after the last FMA of
/// its elements and while they are in cache: C[row .. row + rows) x
/// [column .. column + columns) holds the product.
typedef void (*rlx_gemm_epilogue)(void *context, int64_t row, int64_t rows,
                                  int64_t column, int64_t columns);

/// Columns [64 * panelBegin, min(n, 64 * panelEnd)) of C = A * B.
///
/// A is m x k with `lda` elements between rows, C is m x n with `ldc`; both are
/// aligned to 4 bytes. B is k x n in layout `panel64` (PanelLayout.h), whose
/// base is aligned to 64 bytes. `epilogue` may be null. Zero extents are
/// allowed; k = 0 gives zeros. Reads no byte outside the operands.
///
/// Each element of C is one chain of f32 FMAs in the order of k that starts at
/// +0: the bits depend neither on the CPU class nor on how panels are split.
void rlx_gemm_f32(const float *a, int64_t lda, const float *bPacked, float *c,
                  int64_t ldc, int64_t m, int64_t n, int64_t k,
                  int64_t panelBegin, int64_t panelEnd,
                  rlx_gemm_epilogue epilogue, void *context);

/// Writes panels [panelBegin, panelEnd) of the k x n matrix whose element
/// (i, j) is src[i * strideK + j * strideN] to `dst` in layout `panel64`.
/// Fast if either stride is 1.
void rlx_pack_f32(const float *src, int64_t strideK, int64_t strideN,
                  float *dst, int64_t k, int64_t n, int64_t panelBegin,
                  int64_t panelEnd);

/// The inverse of rlx_pack_f32.
void rlx_unpack_f32(const float *src, float *dst, int64_t strideK,
                    int64_t strideN, int64_t k, int64_t n, int64_t panelBegin,
                    int64_t panelEnd);

#ifdef __cplusplus
}
#endif

#endif
