/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Makes a loadable module of a kernel archive, whose symbols are hidden. */
#include "RLX/Codegen/CPU/Kernels/KernelModule.h"

void *memcpy(void *restrict, const void *restrict, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
int bcmp(const void *, const void *, size_t);
float fmodf(float, float);
double fmod(double, double);

/* Casts of these types are calls of the builtins under test. */
static uint16_t f64ToF16(double value) {
  union {
    _Float16 value;
    uint16_t bits;
  } result = {(_Float16)value};
  return result.bits;
}
static uint16_t f64ToBf16(double value) {
  union {
    __bf16 value;
    uint16_t bits;
  } result = {(__bf16)value};
  return result.bits;
}
static uint16_t f32ToBf16(float value) {
  union {
    __bf16 value;
    uint16_t bits;
  } result = {(__bf16)value};
  return result.bits;
}

__attribute__((visibility("default")))
const struct rlx_kernel_table rlx_kernel_module_table = {
    rlx_gemm_f32, rlx_pack_f32, rlx_unpack_f32, memcpy, memmove,
    memset,       memcmp,       bcmp,           fmodf,  fmod,
    f64ToF16,     f64ToBf16,    f32ToBf16};
