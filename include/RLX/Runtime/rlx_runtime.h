// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C interface of librlx_runtime.so: opens baked programs and runs them.
// C99, opaque handles, a status from every call that can fail, plain structures
// of pointers and fixed-width integers.
//
// Life of a program: rlx_program_open -> rlx_session_create -> rlx_session_run
// as often as wanted -> rlx_session_release -> rlx_program_release. Handles are
// reference-counted; releasing in any order is fine.
//
// The child of a fork may use and release the handles it inherited if no other
// thread of the parent was in a call on them at that moment.
//
// Structures that the caller fills start with `struct_size`, to be set to their
// sizeof; zero everything else that is not used.
#ifndef RLX_RUNTIME_RLX_RUNTIME_H
#define RLX_RUNTIME_RLX_RUNTIME_H

#include <stdint.h>

#if defined(__GNUC__)
#define RLX_API __attribute__((visibility("default")))
#else
#define RLX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Outcome of a call. After anything but RLX_OK, rlx_last_error() says what,
/// where and what to do.
typedef int32_t rlx_status;
enum {
  RLX_OK = 0,
  RLX_ERR_ARGUMENT = 1,    ///< a call that no program could accept
  RLX_ERR_IO = 2,          ///< the operating system refused
  RLX_ERR_FORMAT = 3,      ///< not an RLX program, a damaged or a newer one
  RLX_ERR_INTEGRITY = 4,   ///< a hash differs
  RLX_ERR_SEALED = 5,      ///< readable only with a password
  RLX_ERR_TARGET = 6,      ///< no executable for this CPU
  RLX_ERR_CODE = 7,        ///< native code could not be loaded
  RLX_ERR_NOT_FOUND = 8,   ///< no entry or weight of that name
  RLX_ERR_PARAM_UNSET = 9, ///< weights without a value; the message lists them
  RLX_ERR_BAKED = 10,      ///< the weight is part of the program
  RLX_ERR_SHAPE = 11,      ///< dims, dtype or byte count differ
  RLX_ERR_MEMORY = 12,     ///< out of memory
  RLX_ERR_EXECUTION = 13,  ///< native code reported an error
  RLX_ERR_BUSY = 14        ///< a session used from two threads at once
};

/// Element types.
enum {
  RLX_F32 = 0,
  RLX_F16 = 1,
  RLX_BF16 = 2,
  RLX_F64 = 3,
  RLX_I8 = 4,
  RLX_I16 = 5,
  RLX_I32 = 6,
  RLX_I64 = 7,
  RLX_U8 = 8,
  RLX_U32 = 9,
  RLX_BOOL = 10,
  RLX_C64 = 11,
  RLX_C128 = 12
};

/// An immutable program: entries, weight table, native code.
typedef struct rlx_program rlx_program;
/// Values for the params of a program and everything prepared from them.
typedef struct rlx_weights rlx_weights;
/// What one thread needs to run entries: workers, scratch memory, statistics.
typedef struct rlx_session rlx_session;

/// A tensor in the caller's memory, row-major, aligned as its element type.
/// `data` may be NULL only if some dim is 0.
typedef struct rlx_tensor {
  void *data;
  const int64_t *dims; ///< `rank` values; may be NULL when rank is 0
  int32_t rank;
  int32_t dtype; ///< RLX_F32, ...
} rlx_tensor;

// --- Errors and versions ----------------------------------------------------

/// The message of the last call that failed on this thread, "" if none did.
/// Valid until the next failing call on this thread.
RLX_API const char *rlx_last_error(void);

/// A short name such as "format" for a status, "unknown" for other numbers.
RLX_API const char *rlx_status_name(rlx_status status);

/// Version of the library, "0.1.0".
RLX_API const char *rlx_version(void);

/// The best CPU class of the machine: "x86-64-v4", "x86-64-v3" or "none".
RLX_API const char *rlx_host_cpu_class(void);

/// The name of an element type, "f32", or NULL for other numbers.
RLX_API const char *rlx_dtype_name(int32_t dtype);

/// Bytes per element, 0 for other numbers.
RLX_API uint64_t rlx_dtype_size(int32_t dtype);

// --- Programs ---------------------------------------------------------------

/// Which weights are compared with their hashes. Prefix, manifest and the
/// executable that is loaded always are.
enum {
  RLX_VERIFY_NONE = 0,    ///< none
  RLX_VERIFY_TOUCHED = 1, ///< those that a forward reads, before the first one
  RLX_VERIFY_ALL = 2      ///< all, while opening
};

typedef struct rlx_open_options {
  uint64_t struct_size;
  /// RLX_VERIFY_*.
  int32_t verify;
  /// rlx_program_open_memory: copy the bytes instead of referring to them.
  int32_t copy;
  /// Run the executable for this class instead of the best one; NULL: what the
  /// environment variable RLX_CPU_CLASS says, else the best.
  const char *cpu_class;
} rlx_open_options;

/// Opens a baked program. It stays mapped until the last handle that uses it is
/// released; the file must not be overwritten in place meanwhile (a file
/// renamed over it does no harm). Reads no weights. Opening a file from someone
/// you do not trust is running their code. \param options NULL for defaults.
/// \param out NULL on failure.
/// \returns RLX_ERR_IO, RLX_ERR_FORMAT, RLX_ERR_SEALED or RLX_ERR_INTEGRITY.
RLX_API rlx_status rlx_program_open(const char *path,
                                    const rlx_open_options *options,
                                    rlx_program **out);

/// The same for the bytes of a file in memory. Without `copy` they must be
/// aligned to 64 and stay unchanged until the last handle is released.
RLX_API rlx_status rlx_program_open_memory(const void *data,
                                           uint64_t size_bytes,
                                           const rlx_open_options *options,
                                           rlx_program **out);

/// One range of bytes for rlx_program_open_segments.
typedef struct rlx_bytes {
  const void *data;
  uint64_t size_bytes;
} rlx_bytes;

/// Opens a program that is no file: an encoded manifest (docs/Format.md), which
/// is copied, and the addresses of its segments, which must stay unchanged
/// until the last handle is released. Constants in packed layouts must be
/// aligned to 64, others as their elements. This is how a compiler runs what it
/// has just made without a copy of the weights.
RLX_API rlx_status rlx_program_open_segments(const void *manifest,
                                             uint64_t manifest_size_bytes,
                                             const rlx_bytes *segments,
                                             uint64_t segment_count,
                                             const rlx_open_options *options,
                                             rlx_program **out);

RLX_API void rlx_program_retain(rlx_program *program);
RLX_API void rlx_program_release(rlx_program *program);

/// The model's name and who wrote the program. Like all strings and arrays
/// below, they live as long as the program.
RLX_API const char *rlx_program_name(const rlx_program *program);
RLX_API const char *rlx_program_producer(const rlx_program *program);

/// The bake report as JSON, "" if there is none.
RLX_API const char *rlx_program_report(const rlx_program *program);

/// Size of the file, or of all segments.
RLX_API uint64_t rlx_program_size_bytes(const rlx_program *program);

/// The CPU classes that the program has executables for.
RLX_API uint32_t rlx_program_target_count(const rlx_program *program);
RLX_API const char *rlx_program_target(const rlx_program *program,
                                       uint32_t index);

/// An input or output of an entry.
typedef struct rlx_value_info {
  const char *name;
  const int64_t *dims;        ///< a size, or -1 if it depends on the call
  const char *const *symbols; ///< the name of the dynamic dim, NULL if none
  int32_t rank;
  int32_t dtype;
} rlx_value_info;

/// Something to call.
typedef struct rlx_entry_info {
  const char *name;
  const rlx_value_info *inputs;
  const rlx_value_info *outputs;
  const char *const *symbols; ///< names of the dynamic dims
  const uint32_t *weights;    ///< rows of the weight table it reads
  uint32_t input_count;
  uint32_t output_count;
  uint32_t symbol_count;
  uint32_t weight_count;
} rlx_entry_info;

RLX_API uint32_t rlx_program_entry_count(const rlx_program *program);

/// NULL if `index` is not below the count.
RLX_API const rlx_entry_info *rlx_program_entry(const rlx_program *program,
                                                uint32_t index);

/// Finds an entry by name. NULL means the only entry, or the one called "main".
/// \returns RLX_ERR_NOT_FOUND with the names there are.
RLX_API rlx_status rlx_program_find_entry(const rlx_program *program,
                                          const char *name, uint32_t *out);

/// `rlx_weight_info::state`.
enum {
  RLX_WEIGHT_CONSTANT = 0, ///< its value is in the program
  RLX_WEIGHT_PARAM = 1,    ///< its value is set by name
  RLX_WEIGHT_PREPARED = 2  ///< it is computed from others before the first run
};

/// One row of the weight table.
typedef struct rlx_weight_info {
  const char *name; ///< "" for a constant that had none
  const char *encoding;
  const char *layout;
  const char *origin;
  const char *note;
  const int64_t *dims;
  const void *data; ///< constants: the value; otherwise NULL
  uint64_t size_bytes;
  int32_t rank;
  int32_t dtype;
  int32_t state;     ///< RLX_WEIGHT_*
  int32_t reserved;  ///< 0
  uint64_t instance; ///< prepared: the row of the prepare table
} rlx_weight_info;

RLX_API uint32_t rlx_program_weight_count(const rlx_program *program);

/// NULL if `index` is not below the count.
RLX_API const rlx_weight_info *rlx_program_weight(const rlx_program *program,
                                                  uint32_t index);

/// One prepare instance: a function over rows of the weight table.
typedef struct rlx_prepare_info {
  const char *function;
  const uint32_t *inputs;
  const uint32_t *outputs;
  uint32_t input_count;
  uint32_t output_count;
} rlx_prepare_info;

RLX_API uint32_t rlx_program_prepare_count(const rlx_program *program);
RLX_API const rlx_prepare_info *rlx_program_prepare(const rlx_program *program,
                                                    uint32_t index);

// --- Weights ----------------------------------------------------------------

/// Flags of rlx_weights_set_params.
enum {
  /// Refer to the caller's bytes instead of copying them. They must stay
  /// unchanged until `release` is called.
  RLX_BORROW = 1
};

/// A value for a param.
typedef struct rlx_param {
  const char *name;
  rlx_tensor value;
  /// With RLX_BORROW: called once, from any thread, when nothing refers to
  /// value.data any more; also if the call fails. May be NULL.
  void (*release)(void *release_context);
  void *release_context;
} rlx_param;

/// Creates an independent set of param values, all unset, for use by sessions
/// of the same program.
RLX_API rlx_status rlx_weights_create(rlx_program *program, rlx_weights **out);

/// The set that sessions use which were not given one. Release it like any
/// other.
RLX_API rlx_status rlx_weights_default(rlx_program *program, rlx_weights **out);

RLX_API void rlx_weights_retain(rlx_weights *weights);
RLX_API void rlx_weights_release(rlx_weights *weights);

/// Sets params by name, all or none. Forwards that run meanwhile keep the old
/// values; the next forward sees all new ones and first recomputes the prepared
/// tensors that depend on them, and no others. Safe from any thread.
/// \returns RLX_ERR_NOT_FOUND, RLX_ERR_BAKED, RLX_ERR_SHAPE, or
/// RLX_ERR_INTEGRITY if the program was made for another value.
RLX_API rlx_status rlx_weights_set_params(rlx_weights *weights,
                                          const rlx_param *params,
                                          uint64_t count, uint32_t flags);

/// Sets one param from a copy of `value`.
RLX_API rlx_status rlx_weights_set_param(rlx_weights *weights, const char *name,
                                         const rlx_tensor *value);

// --- Sessions ---------------------------------------------------------------

typedef struct rlx_session_options {
  uint64_t struct_size;
  /// Threads that share the work of a forward, with the calling one. 0: as many
  /// as the process may use CPUs. Results do not depend on it.
  int64_t workers;
  /// Seed of random ops. A session that is created anew repeats its numbers.
  uint64_t seed;
  /// Nonzero: bind worker i to the i-th CPU that the process may use (the
  /// calling thread is left alone). Do not use it in two processes at once.
  int32_t pin;
  int32_t reserved; ///< 0
} rlx_session_options;

/// Creates a session and loads the program's native code if no session did so
/// before. \param weights NULL for the program's default set. \param options
/// NULL for defaults. \returns RLX_ERR_TARGET if no executable fits this CPU,
/// RLX_ERR_CODE if the system does not let native code be loaded.
RLX_API rlx_status rlx_session_create(rlx_program *program,
                                      rlx_weights *weights,
                                      const rlx_session_options *options,
                                      rlx_session **out);

RLX_API void rlx_session_retain(rlx_session *session);
RLX_API void rlx_session_release(rlx_session *session);

/// The dims of all outputs, one output after the other, for inputs of these
/// dims (data is not looked at). `dim_count` must be the sum of their ranks.
/// \returns RLX_ERR_SHAPE if the inputs do not fit the entry.
RLX_API rlx_status rlx_session_output_dims(rlx_session *session, uint32_t entry,
                                           const rlx_tensor *inputs,
                                           uint32_t input_count, int64_t *dims,
                                           uint64_t dim_count);

/// Computes now what the first forward of `entry` would have to prepare.
RLX_API rlx_status rlx_session_prepare(rlx_session *session, uint32_t entry);

/// Runs an entry once on the caller's buffers. Outputs must have the dims that
/// rlx_session_output_dims gives and overlap nothing. Copies no weights.
/// \returns RLX_ERR_PARAM_UNSET with the names of all params that lack a value,
/// RLX_ERR_SHAPE with both sides, RLX_ERR_EXECUTION.
RLX_API rlx_status rlx_session_run(rlx_session *session, uint32_t entry,
                                   const rlx_tensor *inputs,
                                   uint32_t input_count,
                                   const rlx_tensor *outputs,
                                   uint32_t output_count);

/// What a session and its weights did so far. Times in nanoseconds.
typedef struct rlx_stats {
  uint64_t struct_size;
  uint64_t runs;                   ///< forwards of this session
  uint64_t prepare_runs;           ///< weight snapshots that were prepared
  uint64_t prepare_components_run; ///< prepare instances that ran
  uint64_t weight_bytes_copied;    ///< by set_param without RLX_BORROW; a
                                   ///< forward copies none
  uint64_t h2d_bytes_per_run;      ///< to a device in the last forward
  uint64_t load_ns;                ///< opening plus loading native code
  uint64_t first_run_ns;           ///< including what it prepared
  uint64_t last_run_ns;
  uint64_t median_run_ns;  ///< of the last 1024 forwards but the first
  uint64_t arena_bytes;    ///< scratch memory held
  uint64_t prepared_bytes; ///< prepared tensors held
  uint64_t workers;
} rlx_stats;

/// Fills in as many fields as `out->struct_size` covers.
RLX_API rlx_status rlx_session_stats(const rlx_session *session,
                                     rlx_stats *out);

/// The CPU class of the code that the session runs.
RLX_API const char *rlx_session_target(const rlx_session *session);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // RLX_RUNTIME_RLX_RUNTIME_H
