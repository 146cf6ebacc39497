// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An executable written by hand against the ABI. TestProgram.cpp has the
// manifest that goes with it.

#include "RLX/Runtime/Abi.h"

#include <stdatomic.h>

#ifndef TEST_TARGET
#define TEST_TARGET "x86-64-v3"
#endif
#ifndef TEST_MAIN_WEIGHTS
#define TEST_MAIN_WEIGHTS 2
#endif

static atomic_int productCalls;

// Long enough for a second thread to arrive in the middle.
static void waste(void) {
  for (volatile int i = 0; i < 3000000; ++i)
    ;
}

// main, chained: y[batch, 3] = x[batch, 4] @ product + sum, rows in parallel.
struct MainContext {
  const float *x, *product, *sum;
  float *y;
};

static int32_t planMain(const int64_t *symbols, int64_t workers,
                        uint64_t *arenaBytes, int64_t *outputDims) {
  // Not needed, but a size that shows.
  *arenaBytes = 64 * (uint64_t)workers + 1024 * (uint64_t)symbols[0];
  outputDims[0] = symbols[0];
  outputDims[1] = 3;
  return RLX_ABI_OK;
}

static void mainRow(void *opaque, int64_t row, int64_t worker) {
  struct MainContext *context = opaque;
  for (int n = 0; n < 3; ++n) {
    float sum = 0;
    for (int k = 0; k < 4; ++k)
      sum += context->x[4 * row + k] * context->product[3 * k + n];
    context->y[3 * row + n] = sum + context->sum[n];
  }
}

static int32_t runMain(const rlx_abi_params *params) {
  struct MainContext context = {params->buffers[0], params->buffers[2],
                                params->buffers[3], params->buffers[1]};
  int64_t batch = params->symbols[0];
  if (params->arena_bytes < 1024 * (uint64_t)batch)
    return RLX_ABI_ERR_INTERNAL;
  params->parallel(params->parallel_context, mainRow, &context, batch);
  return RLX_ABI_OK;
}

// product = w * scale.
static int32_t planMatrix(const int64_t *symbols, int64_t workers,
                          uint64_t *arenaBytes, int64_t *outputDims) {
  *arenaBytes = 0;
  outputDims[0] = 4;
  outputDims[1] = 3;
  return RLX_ABI_OK;
}

static int32_t runProduct(const rlx_abi_params *params) {
  const float *w = params->buffers[0], *scale = params->buffers[1];
  float *product = params->buffers[2];
  waste();
  for (int i = 0; i < 12; ++i)
    product[i] = w[i] * scale[i];
  atomic_fetch_add(&productCalls, 1);
  return RLX_ABI_OK;
}

// sum = bias + offset.
static int32_t planVector(const int64_t *symbols, int64_t workers,
                          uint64_t *arenaBytes, int64_t *outputDims) {
  *arenaBytes = 64;
  outputDims[0] = 3;
  return RLX_ABI_OK;
}

static int32_t runSum(const rlx_abi_params *params) {
  const float *bias = params->buffers[0], *offset = params->buffers[1];
  float *sum = params->buffers[2];
  if (!params->arena || !params->symbols || !bias || !offset)
    return RLX_ABI_ERR_INTERNAL;
  for (int i = 0; i < 3; ++i)
    sum[i] = bias[i] + offset[i];
  return RLX_ABI_OK;
}

// calls: how often runProduct ran, the seed and the counter.
static int32_t planCalls(const int64_t *symbols, int64_t workers,
                         uint64_t *arenaBytes, int64_t *outputDims) {
  *arenaBytes = 0;
  outputDims[0] = 3;
  return RLX_ABI_OK;
}

static int32_t runCalls(const rlx_abi_params *params) {
  float *out = params->buffers[0];
  out[0] = (float)atomic_load(&productCalls);
  out[1] = (float)params->rng_seed;
  out[2] = (float)params->rng_counter;
  return RLX_ABI_OK;
}

// flatten: [rows, columns] to [rows * columns]; refuses more than 1000 rows.
static int32_t planFlatten(const int64_t *symbols, int64_t workers,
                           uint64_t *arenaBytes, int64_t *outputDims) {
  *arenaBytes = 0;
  if (symbols[0] > 1000)
    return RLX_ABI_MESSAGE_BASE + 1;
  if (__builtin_mul_overflow(symbols[0], symbols[1], &outputDims[0]))
    return RLX_ABI_ERR_OVERFLOW;
  return RLX_ABI_OK;
}

static int32_t runFlatten(const rlx_abi_params *params) {
  const float *in = params->buffers[0];
  float *out = params->buffers[1];
  for (int64_t i = 0; i < params->symbols[0] * params->symbols[1]; ++i)
    out[i] = in[i];
  return RLX_ABI_OK;
}

// add: c[n] = a[n] + b[n]; fails on a negative first element.
static int32_t planAdd(const int64_t *symbols, int64_t workers,
                       uint64_t *arenaBytes, int64_t *outputDims) {
  *arenaBytes = 0;
  outputDims[0] = symbols[0];
  return RLX_ABI_OK;
}

static int32_t runAdd(const rlx_abi_params *params) {
  const float *a = params->buffers[0], *b = params->buffers[1];
  float *c = params->buffers[2];
  if (params->symbols[0] && a[0] < 0)
    return RLX_ABI_MESSAGE_BASE;
  for (int64_t i = 0; i < params->symbols[0]; ++i)
    c[i] = a[i] + b[i];
  return RLX_ABI_OK;
}

// liar: plans other dims than the manifest says.
static int32_t planLiar(const int64_t *symbols, int64_t workers,
                        uint64_t *arenaBytes, int64_t *outputDims) {
  *arenaBytes = 0;
  outputDims[0] = 5;
  return RLX_ABI_OK;
}

static const rlx_abi_function functions[] = {
    {"add", RLX_ABI_ENTRY, 0, 2, 1, 0, 1, 1, 0, planAdd, runAdd, 0},
    {"calls", RLX_ABI_ENTRY, 0, 0, 1, 0, 0, 1, 0, planCalls, runCalls, 0},
    {"chained", RLX_ABI_ENTRY, 0, 1, 1, 2, 1, 2, 0, planMain, runMain, 0},
    {"flatten", RLX_ABI_ENTRY, 0, 1, 1, 0, 2, 1, 0, planFlatten, runFlatten, 0},
    {"liar", RLX_ABI_ENTRY, 0, 0, 1, 0, 0, 1, 0, planLiar, runCalls, 0},
    {"main", RLX_ABI_ENTRY, 0, 1, 1, TEST_MAIN_WEIGHTS, 1, 2, 0, planMain,
     runMain, 0},
    {"main.prepare0", RLX_ABI_PREPARE, 0, 2, 1, 0, 0, 2, 0, planMatrix,
     runProduct, 0},
    {"main.prepare1", RLX_ABI_PREPARE, 0, 2, 1, 0, 0, 1, 0, planVector, runSum,
     0},
};

static const char *const messages[] = {
    "'add' takes no negative first element",
    "'flatten' takes at most 1000 rows",
};

static const rlx_abi_executable table = {sizeof(rlx_abi_executable),
                                         RLX_ABI_VERSION,
                                         sizeof(rlx_abi_function),
                                         sizeof functions / sizeof functions[0],
                                         functions,
                                         TEST_TARGET,
                                         messages,
                                         sizeof messages / sizeof messages[0],
                                         {0, 0}};

__attribute__((visibility("default"))) const rlx_abi_executable *
rlx_executable_query(uint32_t version) {
#ifdef TEST_REFUSE_VERSION
  return 0;
#else
  return version == RLX_ABI_VERSION ? &table : 0;
#endif
}
