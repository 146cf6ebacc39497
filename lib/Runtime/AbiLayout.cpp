// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The offsets that docs/Abi.md promises, checked by the compiler.

#include "RLX/Runtime/Abi.h"

#include <cstddef>

static_assert(sizeof(void *) == 8, "the ABI is defined for 64-bit targets");

static_assert(offsetof(rlx_abi_params, struct_size) == 0, "");
static_assert(offsetof(rlx_abi_params, buffers) == 8, "");
static_assert(offsetof(rlx_abi_params, symbols) == 16, "");
static_assert(offsetof(rlx_abi_params, arena) == 24, "");
static_assert(offsetof(rlx_abi_params, arena_bytes) == 32, "");
static_assert(offsetof(rlx_abi_params, workers) == 40, "");
static_assert(offsetof(rlx_abi_params, parallel_context) == 48, "");
static_assert(offsetof(rlx_abi_params, parallel) == 56, "");
static_assert(offsetof(rlx_abi_params, allocate_context) == 64, "");
static_assert(offsetof(rlx_abi_params, allocate) == 72, "");
static_assert(offsetof(rlx_abi_params, cpu_flags) == 80, "");
static_assert(offsetof(rlx_abi_params, rng_seed) == 88, "");
static_assert(offsetof(rlx_abi_params, rng_counter) == 96, "");
static_assert(offsetof(rlx_abi_params, reserved) == 104, "");
static_assert(sizeof(rlx_abi_params) == 128, "");

static_assert(offsetof(rlx_abi_function, name) == 0, "");
static_assert(offsetof(rlx_abi_function, kind) == 8, "");
static_assert(offsetof(rlx_abi_function, flags) == 12, "");
static_assert(offsetof(rlx_abi_function, input_count) == 16, "");
static_assert(offsetof(rlx_abi_function, output_count) == 20, "");
static_assert(offsetof(rlx_abi_function, weight_count) == 24, "");
static_assert(offsetof(rlx_abi_function, symbol_count) == 28, "");
static_assert(offsetof(rlx_abi_function, output_dim_count) == 32, "");
static_assert(offsetof(rlx_abi_function, reserved0) == 36, "");
static_assert(offsetof(rlx_abi_function, plan) == 40, "");
static_assert(offsetof(rlx_abi_function, run) == 48, "");
static_assert(offsetof(rlx_abi_function, reserved1) == 56, "");
static_assert(sizeof(rlx_abi_function) == 64, "");

static_assert(offsetof(rlx_abi_executable, struct_size) == 0, "");
static_assert(offsetof(rlx_abi_executable, abi_version) == 4, "");
static_assert(offsetof(rlx_abi_executable, function_size) == 8, "");
static_assert(offsetof(rlx_abi_executable, function_count) == 12, "");
static_assert(offsetof(rlx_abi_executable, functions) == 16, "");
static_assert(offsetof(rlx_abi_executable, target) == 24, "");
static_assert(offsetof(rlx_abi_executable, messages) == 32, "");
static_assert(offsetof(rlx_abi_executable, message_count) == 40, "");
static_assert(offsetof(rlx_abi_executable, reserved) == 48, "");
static_assert(sizeof(rlx_abi_executable) == 64, "");
