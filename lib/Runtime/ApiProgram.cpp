// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C interface: errors, versions and programs.

#include "Api.h"
#include "CpuInfo.h"
#include "Memory.h"
#include "NearMiss.h"

#include <cstring>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

static_assert(RLX_ERR_ARGUMENT == int(FaultKind::Argument), "");
static_assert(RLX_ERR_IO == int(FaultKind::Io), "");
static_assert(RLX_ERR_FORMAT == int(FaultKind::Format), "");
static_assert(RLX_ERR_INTEGRITY == int(FaultKind::Integrity), "");
static_assert(RLX_ERR_SEALED == int(FaultKind::Sealed), "");
static_assert(RLX_ERR_TARGET == int(FaultKind::Target), "");
static_assert(RLX_ERR_CODE == int(FaultKind::Code), "");
static_assert(RLX_ERR_NOT_FOUND == int(FaultKind::NotFound), "");
static_assert(RLX_ERR_PARAM_UNSET == int(FaultKind::ParamUnset), "");
static_assert(RLX_ERR_BAKED == int(FaultKind::Baked), "");
static_assert(RLX_ERR_SHAPE == int(FaultKind::Shape), "");
static_assert(RLX_ERR_MEMORY == int(FaultKind::Memory), "");
static_assert(RLX_ERR_EXECUTION == int(FaultKind::Execution), "");
static_assert(RLX_ERR_BUSY == int(FaultKind::Busy), "");
static_assert(RLX_C128 == int(DType::C128) && RLX_BOOL == int(DType::Bool), "");
static_assert(RLX_WEIGHT_PREPARED == int(TensorState::Prepared), "");

namespace {

struct LastError {
  std::string text;
  /// Used when there is no memory for `text`.
  const char *fallback = "";
};
thread_local LastError lastError;

Result<ProgramOptions> programOptions(const rlx_open_options &given) {
  if (given.verify < RLX_VERIFY_NONE || given.verify > RLX_VERIFY_ALL)
    return Fault{FaultKind::Argument,
                 "rlx_open_options.verify is " + std::to_string(given.verify) +
                     ", it can be 0 (none), 1 (touched) or 2 (all)"};
  ProgramOptions options;
  options.verify = given.verify;
  if (given.cpu_class)
    options.cpuClass = given.cpu_class;
  return options;
}

/// What all ways of opening have in common: `openArtifact` gets the options and
/// a place for memory that must outlive the program.
template <typename Open>
rlx_status openProgram(const char *function, const char *name,
                       const rlx_open_options *given, rlx_program **out,
                       Open openArtifact) noexcept {
  if (out)
    *out = nullptr;
  return guarded([&]() -> Result<void> {
    if (!out)
      return nullArgument(function, "out");
    Result<rlx_open_options> read = readOptions(given, "rlx_open_options");
    if (!read)
      return read.fault();
    Result<ProgramOptions> options = programOptions(*read);
    if (!options)
      return options.fault();
    uint64_t begin = nowNs();
    std::shared_ptr<void> memory;
    Result<OpenedArtifact> opened = openArtifact(*read, memory);
    if (!opened)
      return opened.fault();
    Result<std::shared_ptr<Program>> program =
        Program::create(std::move(*opened), std::move(memory),
                        std::move(*options), name, nowNs() - begin);
    if (!program)
      return program.fault();
    auto handle = std::make_unique<rlx_program>();
    handle->program = std::move(*program);
    *out = handle.release();
    return {};
  });
}

const Manifest &manifestOf(const rlx_program *program) {
  return program->program->manifest();
}

template <typename Row>
const Row *rowOf(const std::vector<Row> &rows, uint32_t index) {
  return index < rows.size() ? &rows[index] : nullptr;
}

} // namespace

rlx_status runtime::report(FaultKind kind, const char *message) noexcept {
  try {
    lastError.text = message;
    lastError.fallback = nullptr;
  } catch (...) {
    lastError.fallback = "out of memory";
  }
  return static_cast<rlx_status>(kind);
}

std::shared_ptr<WeightSet> rlx_program::defaultWeights() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!defaults)
    defaults = std::make_shared<WeightSet>(program);
  return defaults;
}

const char *rlx_last_error(void) {
  return lastError.fallback ? lastError.fallback : lastError.text.c_str();
}

const char *rlx_status_name(rlx_status status) {
  static const char *const names[] = {
      "ok",     "argument", "io",     "format",    "integrity",
      "sealed", "target",   "code",   "not found", "param unset",
      "baked",  "shape",    "memory", "execution", "busy"};
  constexpr int count = sizeof names / sizeof *names;
  return status >= 0 && status < count ? names[status] : "unknown";
}

const char *rlx_version(void) { return RLX_VERSION_STRING; }

const char *rlx_host_cpu_class(void) {
  // Views of string literals.
  return hostCpuClass().data();
}

const char *rlx_dtype_name(int32_t dtype) {
  if (dtype < 0 || dtype >= static_cast<int32_t>(numDTypes))
    return nullptr;
  return dtypeName(static_cast<DType>(dtype)).data();
}

uint64_t rlx_dtype_size(int32_t dtype) {
  if (dtype < 0 || dtype >= static_cast<int32_t>(numDTypes))
    return 0;
  return dtypeSizeBytes(static_cast<DType>(dtype));
}

rlx_status rlx_program_open(const char *path, const rlx_open_options *options,
                            rlx_program **out) {
  return openProgram("rlx_program_open", path ? path : "", options, out,
                     [&](const rlx_open_options &,
                         std::shared_ptr<void> &) -> Result<OpenedArtifact> {
                       if (!path)
                         return nullArgument("rlx_program_open", "path");
                       return openArtifactFile(path);
                     });
}

rlx_status rlx_program_open_memory(const void *data, uint64_t sizeBytes,
                                   const rlx_open_options *options,
                                   rlx_program **out) {
  return openProgram(
      "rlx_program_open_memory", "<memory>", options, out,
      [&](const rlx_open_options &read,
          std::shared_ptr<void> &memory) -> Result<OpenedArtifact> {
        if (!data)
          return nullArgument("rlx_program_open_memory", "data");
        if (read.copy) {
          memory = allocateAligned(sizeBytes);
          if (!memory)
            return Fault{FaultKind::Memory, "<memory>: cannot allocate " +
                                                std::to_string(sizeBytes) +
                                                " bytes for a copy"};
          std::memcpy(memory.get(), data, sizeBytes);
          data = memory.get();
        }
        return openArtifactMemory(
            {static_cast<const uint8_t *>(data), sizeBytes}, "<memory>");
      });
}

rlx_status
rlx_program_open_segments(const void *manifest, uint64_t manifestSizeBytes,
                          const rlx_bytes *segments, uint64_t segmentCount,
                          const rlx_open_options *options, rlx_program **out) {
  return openProgram(
      "rlx_program_open_segments", "<segments>", options, out,
      [&](const rlx_open_options &,
          std::shared_ptr<void> &) -> Result<OpenedArtifact> {
        if (!manifest || (!segments && segmentCount))
          return nullArgument("rlx_program_open_segments",
                              manifest ? "segments" : "manifest");
        std::shared_ptr<void> copy = allocateAligned(manifestSizeBytes);
        if (!copy)
          return Fault{FaultKind::Memory,
                       "<segments>: cannot allocate " +
                           std::to_string(manifestSizeBytes) +
                           " bytes for the manifest"};
        std::memcpy(copy.get(), manifest, manifestSizeBytes);
        std::vector<ByteSpan> spans;
        for (uint64_t i = 0; i < segmentCount; ++i) {
          if (!segments[i].data && segments[i].size_bytes)
            return Fault{FaultKind::Argument,
                         "<segments>: segment " + std::to_string(i) + " has " +
                             std::to_string(segments[i].size_bytes) +
                             " bytes but its address is NULL"};
          spans.push_back({static_cast<const uint8_t *>(segments[i].data),
                           segments[i].size_bytes});
        }
        return openArtifactSegments(
            {static_cast<const uint8_t *>(copy.get()), manifestSizeBytes},
            spans, "<segments>");
      });
}

void rlx_program_retain(rlx_program *program) { retain(program); }
void rlx_program_release(rlx_program *program) { release(program); }

const char *rlx_program_name(const rlx_program *program) {
  return manifestOf(program).name.c_str();
}

const char *rlx_program_producer(const rlx_program *program) {
  return manifestOf(program).producer.c_str();
}

const char *rlx_program_report(const rlx_program *program) {
  return manifestOf(program).report.c_str();
}

uint64_t rlx_program_size_bytes(const rlx_program *program) {
  return program->program->sizeBytes();
}

uint32_t rlx_program_target_count(const rlx_program *program) {
  return static_cast<uint32_t>(manifestOf(program).executables.size());
}

const char *rlx_program_target(const rlx_program *program, uint32_t index) {
  const Executable *executable = rowOf(manifestOf(program).executables, index);
  return executable ? executable->target.c_str() : nullptr;
}

uint32_t rlx_program_entry_count(const rlx_program *program) {
  return static_cast<uint32_t>(manifestOf(program).entries.size());
}

const rlx_entry_info *rlx_program_entry(const rlx_program *program,
                                        uint32_t index) {
  return rowOf(program->program->info().entries, index);
}

rlx_status rlx_program_find_entry(const rlx_program *program, const char *name,
                                  uint32_t *out) {
  return guarded([&]() -> Result<void> {
    if (!program || !out)
      return nullArgument("rlx_program_find_entry",
                          program ? "out" : "program");
    const std::vector<Entry> &entries = manifestOf(program).entries;
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < entries.size(); ++i) {
      names.push_back(entries[i].name);
      if (name ? entries[i].name == name
               : entries.size() == 1 || entries[i].name == "main") {
        *out = i;
        return {};
      }
    }
    std::string there = names.empty() ? "the program has no entries"
                                      : "there are " + quotedList(names, 16);
    std::string text =
        name ? "no entry is called '" + std::string(name) + "'; " + there
             : "no entry is called 'main', name one: " + there;
    return Fault{FaultKind::NotFound, program->program->name() + ": " + text};
  });
}

uint32_t rlx_program_weight_count(const rlx_program *program) {
  return static_cast<uint32_t>(manifestOf(program).tensors.size());
}

const rlx_weight_info *rlx_program_weight(const rlx_program *program,
                                          uint32_t index) {
  return rowOf(program->program->info().weights, index);
}

uint32_t rlx_program_prepare_count(const rlx_program *program) {
  return static_cast<uint32_t>(manifestOf(program).prepares.size());
}

const rlx_prepare_info *rlx_program_prepare(const rlx_program *program,
                                            uint32_t index) {
  return rowOf(program->program->info().prepares, index);
}
