// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Session.h"
#include "CpuInfo.h"
#include "Memory.h"

#include <algorithm>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

namespace {

constexpr size_t keptPlans = 8;

std::string dtypeText(int32_t dtype) {
  if (dtype < 0 || dtype >= static_cast<int32_t>(numDTypes))
    return "dtype number " + std::to_string(dtype);
  return std::string(dtypeName(static_cast<DType>(dtype)));
}

/// Bytes of a tensor whose dims are not negative; false on overflow.
bool sizeOf(DType dtype, const int64_t *dims, size_t rank, uint64_t &size) {
  size = dtypeSizeBytes(dtype);
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] == 0) {
      size = 0;
      return true;
    }
  for (size_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(dims[i]), &size) ||
        size > static_cast<uint64_t>(INT64_MAX))
      return false;
  return true;
}

template <typename Range> bool overlap(const Range &left, const Range &right) {
  return left.begin < right.end && right.begin < left.end;
}

} // namespace

/// Marks a session as in use for the life of the object.
class Session::Use {
public:
  explicit Use(const Session &session)
      : session(session),
        exclusive(!session.inUse.exchange(true, std::memory_order_acquire)) {}
  ~Use() {
    if (exclusive)
      session.inUse.store(false, std::memory_order_release);
  }
  Result<void> check() const {
    if (exclusive)
      return {};
    return session.fault(FaultKind::Busy,
                         "the session is in use by another thread; create one "
                         "session per thread, they share the weights");
  }

private:
  const Session &session;
  const bool exclusive;
};

Session::Session(std::shared_ptr<WeightSet> weightSet,
                 const BoundExecutable &code, const SessionOptions &options)
    : weights(std::move(weightSet)), manifest(weights->program()->manifest()),
      code(code), options(options), pool(options.workers, options.pin),
      entries(manifest.entries.size()) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry &entry = manifest.entries[i];
    entries[i].buffers.resize(entry.inputs.size() + entry.outputs.size() +
                              entry.tensors.size());
    entries[i].origins.resize(entry.symbols.size());
    // Never empty: code is promised a pointer.
    entries[i].symbols.resize(std::max<size_t>(1, entry.symbols.size()));
  }
}

Result<std::unique_ptr<Session>>
Session::create(std::shared_ptr<WeightSet> weights,
                const SessionOptions &options) {
  Result<const BoundExecutable *> code = weights->program()->code();
  if (!code)
    return code.fault();
  return std::unique_ptr<Session>(
      new Session(std::move(weights), **code, options));
}

Fault Session::fault(FaultKind kind, const std::string &text) const {
  return {kind, weights->program()->name() + ": " + text};
}

Result<void> Session::checkEntry(uint32_t entry) const {
  if (entry < entries.size())
    return {};
  return fault(FaultKind::NotFound,
               "there is no entry number " + std::to_string(entry) +
                   ", the program has " + std::to_string(entries.size()));
}

/// Compares the inputs with the entry and gives its symbols their values. Texts
/// are made only when something is wrong: this runs before every forward.
Result<void> Session::bindSymbols(uint32_t index, const rlx_tensor *inputs,
                                  uint32_t inputCount) {
  const Entry &entry = manifest.entries[index];
  EntryState &state = entries[index];
  if (inputCount != entry.inputs.size())
    return fault(FaultKind::Argument, "entry '" + entry.name +
                                          "': " + std::to_string(inputCount) +
                                          " inputs given, it takes " +
                                          std::to_string(entry.inputs.size()));
  std::fill(state.origins.begin(), state.origins.end(), unbound);
  for (uint32_t i = 0; i < inputCount; ++i) {
    const Value &value = entry.inputs[i];
    const rlx_tensor &input = inputs[i];
    size_t rank = value.dims.size();
    auto inputFault = [&](FaultKind kind, const std::string &text) {
      return fault(kind, "entry '" + entry.name + "': input '" + value.name +
                             "' " + text);
    };
    if (input.dtype != static_cast<int32_t>(value.dtype))
      return inputFault(FaultKind::Shape,
                        "is " + dtypeText(input.dtype) + ", the entry takes " +
                            std::string(dtypeName(value.dtype)));
    if (input.rank != static_cast<int64_t>(rank))
      return inputFault(FaultKind::Shape, "has " + std::to_string(input.rank) +
                                              " dimensions, the entry takes " +
                                              std::to_string(rank));
    if (rank && !input.dims)
      return inputFault(FaultKind::Argument, "has no dims");
    for (uint32_t d = 0; d < rank; ++d) {
      int64_t size = input.dims[d];
      const Dim &dim = value.dims[d];
      auto dimFault = [&](const std::string &text) {
        return inputFault(FaultKind::Shape,
                          "of shape " + dimsText(input.dims, rank) +
                              ": dimension " + std::to_string(d) + " is " +
                              std::to_string(size) + text);
      };
      if (size < 0)
        return dimFault(", which is negative");
      if (!dim.isDynamic()) {
        if (size != dim.size)
          return dimFault(", the entry takes " + std::to_string(dim.size));
        continue;
      }
      Origin &origin = state.origins[dim.symbol];
      if (origin == unbound) {
        origin = {i, d};
        state.symbols[dim.symbol] = size;
        continue;
      }
      if (state.symbols[dim.symbol] != size)
        return dimFault(", but symbol '" + entry.symbols[dim.symbol] + "' is " +
                        std::to_string(state.symbols[dim.symbol]) +
                        " by dimension " + std::to_string(origin.second) +
                        " of input '" + entry.inputs[origin.first].name + "'");
    }
    uint64_t size;
    if (!sizeOf(value.dtype, input.dims, rank, size))
      return inputFault(FaultKind::Shape, "of shape " +
                                              dimsText(input.dims, rank) +
                                              " takes more than 2^63 bytes");
  }
  return {};
}

/// The plan for the current symbol values of an entry.
Result<const Session::Plan *> Session::planEntry(uint32_t index) {
  EntryState &state = entries[index];
  auto found =
      std::find_if(state.plans.begin(), state.plans.end(),
                   [&](const Plan &p) { return p.symbols == state.symbols; });
  if (found != state.plans.end()) {
    std::rotate(found, found + 1, state.plans.end());
    return &state.plans.back();
  }
  const rlx_abi_function &function = *code.entries[index];
  Plan plan;
  plan.symbols = state.symbols;
  plan.outputDims.resize(function.output_dim_count);
  int32_t status = function.plan(plan.symbols.data(), pool.workers(),
                                 &plan.arenaBytes, plan.outputDims.data());
  if (status != RLX_ABI_OK)
    return fault(status == RLX_ABI_ERR_SHAPE || status >= RLX_ABI_MESSAGE_BASE
                     ? FaultKind::Shape
                     : FaultKind::Execution,
                 code.explain(function, status));
  if (Result<void> sane = checkPlan(index, plan); !sane)
    return sane.fault();
  if (state.plans.size() == keptPlans)
    state.plans.erase(state.plans.begin());
  state.plans.push_back(std::move(plan));
  return &state.plans.back();
}

/// Output dims that the manifest knows must be those that the code computed.
Result<void> Session::checkPlan(uint32_t index, const Plan &plan) const {
  const Entry &entry = manifest.entries[index];
  size_t next = 0;
  for (const Value &output : entry.outputs) {
    const int64_t *dims = plan.outputDims.data() + next;
    next += output.dims.size();
    for (size_t d = 0; d < output.dims.size(); ++d) {
      const Dim &dim = output.dims[d];
      int64_t expected = dim.isComputed()  ? dims[d]
                         : dim.isDynamic() ? plan.symbols[dim.symbol]
                                           : dim.size;
      if (dims[d] != expected || dims[d] < 0)
        return fault(FaultKind::Execution,
                     "entry '" + entry.name + "': its code plans " +
                         std::to_string(dims[d]) + " for dimension " +
                         std::to_string(d) + " of output '" + output.name +
                         "', the manifest says " + std::to_string(expected));
    }
    uint64_t size;
    if (!sizeOf(output.dtype, dims, output.dims.size(), size))
      return fault(FaultKind::Shape, "entry '" + entry.name + "': output '" +
                                         output.name + "' of shape " +
                                         dimsText(dims, output.dims.size()) +
                                         " takes more than 2^63 bytes");
  }
  return {};
}

/// Checks the caller's buffers and puts them where code expects them.
Result<void> Session::bindBuffers(uint32_t index, const Plan &plan,
                                  const rlx_tensor *inputs,
                                  const rlx_tensor *outputs,
                                  uint32_t outputCount) {
  const Entry &entry = manifest.entries[index];
  std::vector<void *> &buffers = entries[index].buffers;
  auto entryFault = [&](FaultKind kind, const std::string &text) {
    return fault(kind, "entry '" + entry.name + "': " + text);
  };
  if (outputCount != entry.outputs.size())
    return entryFault(FaultKind::Argument,
                      std::to_string(outputCount) +
                          " outputs given, it makes " +
                          std::to_string(entry.outputs.size()));
  std::vector<Range> &ranges = entries[index].ranges;
  ranges.clear();
  auto bind = [&](const char *noun, const Value &value,
                  const rlx_tensor &tensor, size_t slot) -> Result<void> {
    uint64_t size = 0;
    sizeOf(value.dtype, tensor.dims, value.dims.size(), size);
    buffers[slot] = size ? tensor.data : noElements;
    auto begin = reinterpret_cast<uintptr_t>(buffers[slot]);
    uint64_t alignment = std::min<uint64_t>(dtypeSizeBytes(value.dtype), 8);
    if (!begin || begin % alignment)
      return entryFault(FaultKind::Argument,
                        std::string(noun) + " '" + value.name + "' " +
                            (begin ? "is not aligned to " +
                                         std::to_string(alignment) + " bytes"
                                   : "has no data"));
    ranges.push_back({begin, begin + size, &value.name});
    return {};
  };
  size_t inputCount = entry.inputs.size();
  for (size_t i = 0; i < inputCount; ++i)
    if (Result<void> bound = bind("input", entry.inputs[i], inputs[i], i);
        !bound)
      return bound;
  const int64_t *planned = plan.outputDims.data();
  for (size_t i = 0; i < outputCount; ++i) {
    const Value &value = entry.outputs[i];
    const rlx_tensor &output = outputs[i];
    size_t rank = value.dims.size();
    if (output.dtype != static_cast<int32_t>(value.dtype))
      return entryFault(FaultKind::Shape,
                        "output '" + value.name + "' is a buffer for " +
                            dtypeText(output.dtype) + ", the entry makes " +
                            std::string(dtypeName(value.dtype)));
    if (output.rank != static_cast<int64_t>(rank))
      return entryFault(FaultKind::Shape, "output '" + value.name +
                                              "' is a buffer with " +
                                              std::to_string(output.rank) +
                                              " dimensions, the entry makes " +
                                              std::to_string(rank));
    if (rank && !output.dims)
      return entryFault(FaultKind::Argument,
                        "output '" + value.name + "' has no dims");
    if (!std::equal(planned, planned + rank, output.dims))
      return entryFault(FaultKind::Shape,
                        "output '" + value.name + "' is a buffer of shape " +
                            dimsText(output.dims, rank) + ", the entry makes " +
                            dimsText(planned, rank));
    planned += rank;
    if (Result<void> bound = bind("output", value, output, inputCount + i);
        !bound)
      return bound;
    for (size_t other = 0; other + 1 < ranges.size(); ++other)
      if (overlap(ranges[other], ranges.back()))
        return entryFault(FaultKind::Argument,
                          "the buffers of '" + *ranges[other].name + "' and '" +
                              value.name + "' overlap");
  }
  return {};
}

/// Makes the weights of a snapshot ready and puts them where code expects them.
Result<void> Session::bindWeights(uint32_t index, Snapshot &snapshot) {
  EntryState &state = entries[index];
  if (state.snapshotId == snapshot.id)
    return {};
  state.snapshotId = 0;
  if (Result<void> intact = weights->program()->verifyEntry(index); !intact)
    return intact;
  if (Result<void> ready = weights->prepare(snapshot, index, code, pool);
      !ready)
    return ready;
  const Entry &entry = manifest.entries[index];
  void **buffer =
      state.buffers.data() + entry.inputs.size() + entry.outputs.size();
  for (uint32_t row : entry.tensors)
    *buffer++ = weights->tensorData(snapshot, row);
  state.snapshotId = snapshot.id;
  return {};
}

Result<void> Session::outputDims(uint32_t entry, const rlx_tensor *inputs,
                                 uint32_t inputCount, int64_t *dims,
                                 uint64_t dimCount) {
  Use use(*this);
  if (Result<void> exclusive = use.check(); !exclusive)
    return exclusive;
  if (Result<void> known = checkEntry(entry); !known)
    return known;
  if (Result<void> bound = bindSymbols(entry, inputs, inputCount); !bound)
    return bound;
  Result<const Plan *> plan = planEntry(entry);
  if (!plan)
    return plan.fault();
  const std::vector<int64_t> &planned = (*plan)->outputDims;
  if (dimCount != planned.size())
    return fault(FaultKind::Argument,
                 "entry '" + manifest.entries[entry].name + "': room for " +
                     std::to_string(dimCount) + " output dims given, it has " +
                     std::to_string(planned.size()));
  std::copy(planned.begin(), planned.end(), dims);
  return {};
}

Result<void> Session::prepare(uint32_t entry) {
  Use use(*this);
  if (Result<void> exclusive = use.check(); !exclusive)
    return exclusive;
  if (Result<void> known = checkEntry(entry); !known)
    return known;
  std::shared_ptr<Snapshot> snapshot = weights->pin();
  return bindWeights(entry, *snapshot);
}

Result<void> Session::run(uint32_t entry, const rlx_tensor *inputs,
                          uint32_t inputCount, const rlx_tensor *outputs,
                          uint32_t outputCount) {
  Use use(*this);
  if (Result<void> exclusive = use.check(); !exclusive)
    return exclusive;
  uint64_t begin = nowNs();
  if (Result<void> known = checkEntry(entry); !known)
    return known;
  if (Result<void> bound = bindSymbols(entry, inputs, inputCount); !bound)
    return bound;
  Result<const Plan *> plan = planEntry(entry);
  if (!plan)
    return plan.fault();
  if (Result<void> bound =
          bindBuffers(entry, **plan, inputs, outputs, outputCount);
      !bound)
    return bound;
  // Pinned until the end: set_param meanwhile changes what the next one sees.
  std::shared_ptr<Snapshot> snapshot = weights->pin();
  if (Result<void> bound = bindWeights(entry, *snapshot); !bound)
    return bound;
  if ((*plan)->arenaBytes > arenaBytes) {
    arena = nullptr; // Freed first: both at once might not fit.
    arenaBytes = 0;
    arena = allocateAligned((*plan)->arenaBytes);
    if (!arena)
      return fault(FaultKind::Memory,
                   "entry '" + manifest.entries[entry].name +
                       "': cannot allocate " +
                       std::to_string((*plan)->arenaBytes) +
                       " bytes of scratch memory for these dims");
    arenaBytes = (*plan)->arenaBytes;
  }

  rlx_abi_params params = {};
  params.struct_size = sizeof params;
  params.buffers = entries[entry].buffers.data();
  params.symbols = (*plan)->symbols.data();
  params.arena = arena.get();
  params.arena_bytes = arenaBytes;
  params.workers = pool.workers();
  params.parallel_context = &pool;
  params.parallel = ThreadPool::parallel;
  params.cpu_flags = hostCpuFlags();
  params.rng_seed = options.seed;
  params.rng_counter = rngCounter;
  const rlx_abi_function &function = *code.entries[entry];
  int32_t status = function.run(&params);
  if (status != RLX_ABI_OK)
    return fault(FaultKind::Execution, code.explain(function, status));
  ++rngCounter;
  recordRun(nowNs() - begin);
  return {};
}

void Session::recordRun(uint64_t timeNs) {
  if (runs == 0)
    firstRunNs = timeNs;
  else
    times[(runs - 1) % times.size()] = timeNs;
  lastRunNs = timeNs;
  ++runs;
}

Result<rlx_stats> Session::stats() const {
  Use use(*this);
  if (Result<void> exclusive = use.check(); !exclusive)
    return exclusive.fault();
  rlx_stats stats = {};
  stats.runs = runs;
  stats.prepare_runs = weights->prepareRuns();
  stats.prepare_components_run = weights->prepareComponentsRun();
  stats.weight_bytes_copied = weights->bytesCopied();
  stats.load_ns = weights->program()->loadNs();
  stats.first_run_ns = firstRunNs;
  stats.last_run_ns = lastRunNs;
  stats.median_run_ns = firstRunNs;
  if (runs > 1) {
    size_t count = std::min<uint64_t>(runs - 1, times.size());
    std::vector<uint64_t> sorted(times.begin(), times.begin() + count);
    auto middle = sorted.begin() + count / 2;
    std::nth_element(sorted.begin(), middle, sorted.end());
    stats.median_run_ns = *middle;
  }
  stats.arena_bytes = arenaBytes;
  stats.prepared_bytes = weights->preparedBytes();
  stats.workers = static_cast<uint64_t>(pool.workers());
  return stats;
}
