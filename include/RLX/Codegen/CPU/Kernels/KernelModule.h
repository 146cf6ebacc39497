/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a module made of one kernel archive exports, for tests and benchmarks.
 */
#ifndef RLX_CODEGEN_CPU_KERNELS_KERNELMODULE_H
#define RLX_CODEGEN_CPU_KERNELS_KERNELMODULE_H

#include "RLX/Codegen/CPU/Kernels/KernelAbi.h"

#include <stddef.h>

/// The contents of the archive: the kernels, then the builtins. The conversions
/// give the bits of their 16-bit result.
struct rlx_kernel_table {
  void (*gemm_f32)(const float *, int64_t, const float *, float *, int64_t,
                   int64_t, int64_t, int64_t, int64_t, int64_t,
                   rlx_gemm_epilogue, void *);
  void (*pack_f32)(const float *, int64_t, int64_t, float *, int64_t, int64_t,
                   int64_t, int64_t);
  void (*unpack_f32)(const float *, float *, int64_t, int64_t, int64_t, int64_t,
                     int64_t, int64_t);

  void *(*copy)(void *, const void *, size_t);
  void *(*move)(void *, const void *, size_t);
  void *(*set)(void *, int, size_t);
  int (*compare)(const void *, const void *, size_t);
  int (*differ)(const void *, const void *, size_t);
  float (*fmod_f32)(float, float);
  double (*fmod_f64)(double, double);
  uint16_t (*f64_to_f16)(double);
  uint16_t (*f64_to_bf16)(double);
  uint16_t (*f32_to_bf16)(float);
};

/// Name of the one exported symbol, a `const struct rlx_kernel_table`.
#define RLX_KERNEL_TABLE_SYMBOL "rlx_kernel_module_table"

#endif
