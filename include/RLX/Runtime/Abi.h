// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The binary interface between the runtime and the native code inside an
// artifact. C99, no dependencies: compilers emit these structures, loaders read
// them. docs/Abi.md is the prose; lib/Runtime/AbiLayout.cpp proves the offsets.
//
// All structures are laid out for 64-bit little-endian targets (8-byte
// pointers) and contain no implicit padding. The number that starts a field's
// comment is its offset in bytes.
#ifndef RLX_RUNTIME_ABI_H
#define RLX_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version this header describes. It changes when a loader that knows only
/// the old one would misread or miscall the new one.
#define RLX_ABI_VERSION 1u

/// The one symbol that an executable exports.
#define RLX_ABI_QUERY_SYMBOL "rlx_executable_query"

/// Alignment in bytes of the arena, of tensors in packed layouts (`panel64`)
/// and of what prepare makes. Inputs, outputs and `row_major` weights may lie
/// in the caller's memory or in a mapped weight file: code may assume only the
/// natural alignment of their element type.
#define RLX_ABI_ALIGNMENT 64u

/// What `plan` and `run` return. Statuses from RLX_ABI_MESSAGE_BASE on point
/// into `rlx_abi_executable::messages`.
enum {
  RLX_ABI_OK = 0,
  RLX_ABI_ERR_OVERFLOW = 1, ///< a size does not fit in 63 bits
  RLX_ABI_ERR_SHAPE = 2,    ///< the dims of this call do not fit the graph
  RLX_ABI_ERR_ALLOCATE = 3, ///< the allocate callback returned NULL
  RLX_ABI_ERR_INTERNAL = 4, ///< a broken promise on either side
  RLX_ABI_MESSAGE_BASE = 256
};

/// `rlx_abi_function::kind`.
enum {
  RLX_ABI_ENTRY = 0,  ///< what users call: buffers are inputs, outputs, weights
  RLX_ABI_PREPARE = 1 ///< weight-only: buffers are tensors read, tensors made
};

/// Bits of `rlx_abi_function::flags`. A loader refuses bits it does not know.
enum {
  /// Some outputs have shapes that are known only after running; `run` obtains
  /// their storage from `allocate`.
  RLX_ABI_FUNCTION_ALLOCATES = 1 << 0
};

/// Bits of `rlx_abi_params::cpu_flags`: what the CPU has beyond the class that
/// the executable was compiled for. Unknown bits are to be ignored.
enum { RLX_ABI_CPU_AVX_VNNI = 1 << 0, RLX_ABI_CPU_AVX512_VNNI = 1 << 1 };

/// One task of a parallel region. `index` counts from 0 to count-1, in any
/// order and on any thread; `worker` names the thread within the region and is
/// below `rlx_abi_params::workers`, so it may select scratch memory. A task
/// does not start a region of its own, does not block on another task and does
/// not throw.
typedef void (*rlx_abi_task)(void *task_context, int64_t index, int64_t worker);

/// Everything that one call is given. The structure and all it points to stay
/// alive and unchanged (outputs and arena excepted) until `run` returns.
typedef struct rlx_abi_params {
  /// 0: bytes the caller filled in, at least 128.
  uint64_t struct_size;
  /// 8: inputs, outputs, weights, in the manifest's order. Never NULL inside,
  /// not even for tensors without elements.
  void *const *buffers;
  /// 16: one value >= 0 for each symbol of the function.
  const int64_t *symbols;
  /// 24: scratch memory; NULL only when arena_bytes is 0.
  void *arena;
  /// 32: at least what `plan` asked for.
  uint64_t arena_bytes;
  /// 40: as passed to `plan`, at least 1.
  int64_t workers;
  /// 48: the first argument of `parallel`.
  void *parallel_context;
  /// 56: runs task(task_context, i, worker) for every i in [0, count) and
  /// returns when all are done. Never NULL; a serial loop is an implementation.
  void (*parallel)(void *parallel_context, rlx_abi_task task,
                   void *task_context, int64_t count);
  /// 64: the first argument of `allocate`.
  void *allocate_context;
  /// 72: returns storage of `size_bytes` for output `output` of shape `dims`,
  /// aligned to RLX_ABI_ALIGNMENT, or NULL. May itself be NULL for functions
  /// without RLX_ABI_FUNCTION_ALLOCATES.
  void *(*allocate)(void *allocate_context, int64_t output, int64_t rank,
                    const int64_t *dims, uint64_t size_bytes);
  /// 80: RLX_ABI_CPU_* bits.
  uint64_t cpu_flags;
  /// 88: the session's seed; each random op mixes in its own number.
  uint64_t rng_seed;
  /// 96: the number of this forward, from 0.
  uint64_t rng_counter;
  /// 104: zero.
  uint64_t reserved[3];
} rlx_abi_params;

/// One compiled function. For RLX_ABI_PREPARE, inputs are the tensors that an
/// instance reads, outputs those it makes; there are no weights and no symbols.
typedef struct rlx_abi_function {
  /// 0: as in the manifest, NUL-terminated.
  const char *name;
  /// 8: RLX_ABI_ENTRY or RLX_ABI_PREPARE.
  uint32_t kind;
  /// 12: RLX_ABI_FUNCTION_* bits.
  uint32_t flags;
  /// 16, 20, 24: how many of each kind `rlx_abi_params::buffers` holds.
  uint32_t input_count;
  uint32_t output_count;
  uint32_t weight_count;
  /// 28: values that `rlx_abi_params::symbols` holds.
  uint32_t symbol_count;
  /// 32: sum of the ranks of all outputs.
  uint32_t output_dim_count;
  /// 36: zero.
  uint32_t reserved0;
  /// 40: computes from the symbols, without running anything, the bytes of
  /// arena that `run` needs with this many workers and the dims of all outputs,
  /// one output after the other. `output_dims` has room for output_dim_count
  /// values and may be NULL when that is 0. Pure; callable from any thread.
  int32_t (*plan)(const int64_t *symbols, int64_t workers,
                  uint64_t *arena_bytes, int64_t *output_dims);
  /// 48: runs the function. Calls with different params may overlap in time.
  int32_t (*run)(const rlx_abi_params *params);
  /// 56: zero.
  uint64_t reserved1;
} rlx_abi_function;

/// What `rlx_executable_query` returns; constant for the life of the library.
typedef struct rlx_abi_executable {
  /// 0: sizeof(rlx_abi_executable), at least 64.
  uint32_t struct_size;
  /// 4: the version asked for.
  uint32_t abi_version;
  /// 8: the stride of `functions` in bytes, at least 64.
  uint32_t function_size;
  /// 12: entries of `functions`.
  uint32_t function_count;
  /// 16: NULL only when function_count is 0.
  const rlx_abi_function *functions;
  /// 24: the CPU class, "x86-64-v3" or "x86-64-v4".
  const char *target;
  /// 32: texts for statuses from RLX_ABI_MESSAGE_BASE on; NULL if there are
  /// none.
  const char *const *messages;
  /// 40: entries of `messages`.
  uint64_t message_count;
  /// 48: zero.
  uint64_t reserved[2];
} rlx_abi_executable;

/// The type of the exported symbol. Returns NULL if the executable does not
/// speak `abi_version`.
typedef const rlx_abi_executable *(*rlx_abi_query)(uint32_t abi_version);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // RLX_RUNTIME_ABI_H
