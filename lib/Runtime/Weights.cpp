// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Weights.h"
#include "CpuInfo.h"
#include "Memory.h"
#include "NearMiss.h"

#include <cstring>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

namespace {

uint64_t freshSnapshotId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

/// "f32[2, 3]".
std::string typeText(DType dtype, const std::vector<int64_t> &dims) {
  return std::string(dtypeName(dtype)) + dimsText(dims.data(), dims.size());
}

} // namespace

WeightSet::WeightSet(std::shared_ptr<Program> program)
    : owner(std::move(program)), current(std::make_shared<Snapshot>()) {
  current->id = freshSnapshotId();
  current->params.resize(owner->manifest().tensors.size());
  for (size_t i = 0; i < owner->manifest().prepares.size(); ++i)
    current->instances.push_back(std::make_shared<PreparedInstance>());
}

std::shared_ptr<Snapshot> WeightSet::pin() const {
  std::lock_guard<std::mutex> lock(mutex);
  return current;
}

Result<std::shared_ptr<const void>> WeightSet::accept(const ParamUpdate &update,
                                                      uint32_t row) {
  const Tensor &tensor = owner->manifest().tensors[row];
  if (update.dtype != tensor.dtype || update.dims != tensor.shape)
    return Fault{FaultKind::Shape, owner->name() + ": param '" + tensor.name +
                                       "' is " +
                                       typeText(tensor.dtype, tensor.shape) +
                                       ", the value given is " +
                                       typeText(update.dtype, update.dims)};
  if (!tensor.sizeBytes)
    return std::shared_ptr<const void>(noElements, [](const void *) {});
  if (!update.data)
    return Fault{FaultKind::Argument, owner->name() + ": param '" +
                                          tensor.name +
                                          "': the value has no data"};
  std::shared_ptr<const void> kept;
  if (update.owner) {
    uint64_t alignment = std::min<uint64_t>(dtypeSizeBytes(tensor.dtype), 8);
    if (reinterpret_cast<uintptr_t>(update.data) % alignment)
      return Fault{FaultKind::Argument,
                   owner->name() + ": param '" + tensor.name +
                       "': borrowed data must be aligned to " +
                       std::to_string(alignment) + " bytes; have it copied"};
    kept = update.owner;
  } else {
    std::shared_ptr<void> copy = allocateAligned(tensor.sizeBytes);
    if (!copy)
      return Fault{FaultKind::Memory, owner->name() + ": param '" +
                                          tensor.name + "': cannot allocate " +
                                          std::to_string(tensor.sizeBytes) +
                                          " bytes"};
    std::memcpy(copy.get(), update.data, tensor.sizeBytes);
    kept = std::move(copy);
  }
  if (tensor.contentHash) {
    crypto::Digest given = contentHash(
        {static_cast<const uint8_t *>(kept.get()), tensor.sizeBytes});
    if (given != *tensor.contentHash)
      return Fault{FaultKind::Integrity,
                   owner->name() + ": param '" + tensor.name +
                       "': the program was made for the value with content "
                       "hash " +
                       crypto::toHex(*tensor.contentHash) +
                       ", the one given has " + crypto::toHex(given) +
                       "; bake the model again for this value"};
  }
  return kept;
}

Result<void> WeightSet::set(const std::vector<ParamUpdate> &updates) {
  const Manifest &manifest = owner->manifest();
  std::vector<bool> changed(manifest.tensors.size());
  std::vector<std::pair<uint32_t, std::shared_ptr<const void>>> values;
  uint64_t copied = 0;
  for (const ParamUpdate &update : updates) {
    Result<uint32_t> row = owner->findParam(update.name);
    if (!row)
      return row.fault();
    if (changed[*row])
      return Fault{FaultKind::Argument, owner->name() + ": param '" +
                                            std::string(update.name) +
                                            "' is set twice in one call"};
    changed[*row] = true;
    Result<std::shared_ptr<const void>> value = accept(update, *row);
    if (!value)
      return value.fault();
    if (!update.owner)
      copied += manifest.tensors[*row].sizeBytes;
    values.emplace_back(*row, std::move(*value));
  }

  // An instance is stale if it reads something that changed or the result of a
  // stale one; results are read from earlier instances only.
  std::vector<bool> stale(manifest.prepares.size());
  for (size_t i = 0; i < stale.size(); ++i) {
    for (uint32_t input : manifest.prepares[i].inputs)
      stale[i] = stale[i] || changed[input];
    if (stale[i])
      for (uint32_t output : manifest.prepares[i].outputs)
        changed[output] = true;
  }

  auto next = std::make_shared<Snapshot>();
  next->id = freshSnapshotId();
  // Freed outside the lock: the last owner of a param calls back to the user.
  std::shared_ptr<Snapshot> previous;
  {
    std::lock_guard<std::mutex> lock(mutex);
    next->params = current->params;
    next->instances = current->instances;
    for (auto &[row, value] : values)
      next->params[row] = std::move(value);
    for (size_t i = 0; i < stale.size(); ++i)
      if (stale[i])
        next->instances[i] = std::make_shared<PreparedInstance>();
    previous = std::exchange(current, std::move(next));
  }
  copiedBytes += copied;
  return {};
}

void *WeightSet::tensorData(const Snapshot &snapshot, uint32_t row) const {
  const Tensor &tensor = owner->manifest().tensors[row];
  if (!tensor.sizeBytes)
    return noElements;
  switch (tensor.state) {
  case TensorState::Constant:
    return const_cast<void *>(owner->constant(tensor));
  case TensorState::Param:
    return const_cast<void *>(snapshot.params[row].get());
  case TensorState::Prepared:
    break;
  }
  return snapshot.instances[tensor.instance]->output(tensor.output);
}

Result<void> WeightSet::prepare(Snapshot &snapshot, uint32_t entry,
                                const BoundExecutable &code, ThreadPool &pool) {
  const Manifest &manifest = owner->manifest();
  const EntryNeeds &needs = owner->needs(entry);
  std::vector<std::string_view> unset;
  for (uint32_t row : needs.params)
    if (!snapshot.params[row])
      unset.push_back(manifest.tensors[row].name);
  if (!unset.empty())
    return Fault{FaultKind::ParamUnset,
                 owner->name() + ": entry '" + manifest.entries[entry].name +
                     "' needs values for " + quotedList(unset) +
                     "; set these params before running it"};
  for (uint32_t index : needs.instances) {
    PreparedInstance &instance = *snapshot.instances[index];
    if (instance.ready())
      continue;
    bool computed = false;
    Result<void> ready = instance.ensure(
        [&] { return runInstance(snapshot, index, code, pool); }, computed);
    if (!ready)
      return ready;
    if (!computed)
      continue;
    ++instancesRun;
    if (!snapshot.counted.exchange(true))
      ++snapshotsPrepared;
  }
  return {};
}

/// Buffers are as large as the manifest says, so code must plan the same.
Result<void> WeightSet::checkPlan(uint32_t instance,
                                  const std::vector<int64_t> &planned) const {
  const Manifest &manifest = owner->manifest();
  auto next = planned.begin();
  for (uint32_t row : manifest.prepares[instance].outputs) {
    const Tensor &tensor = manifest.tensors[row];
    std::vector<int64_t> expected = tensor.shape;
    if (tensor.layout != "row_major") // Code sees a run of elements.
      expected = {int64_t(tensor.sizeBytes / dtypeSizeBytes(tensor.dtype))};
    for (size_t d = 0; d < expected.size(); ++d, ++next)
      if (*next != expected[d])
        return Fault{FaultKind::Execution,
                     owner->name() + ": prepare instance " +
                         std::to_string(instance) + ": its code plans " +
                         std::to_string(*next) + " for dimension " +
                         std::to_string(d) + " of '" + tensor.name +
                         "', the manifest says " + std::to_string(expected[d])};
  }
  return {};
}

Result<std::vector<std::shared_ptr<void>>>
WeightSet::runInstance(const Snapshot &snapshot, uint32_t index,
                       const BoundExecutable &code, ThreadPool &pool) const {
  const Manifest &manifest = owner->manifest();
  const Prepare &prepare = manifest.prepares[index];
  const rlx_abi_function &function = *code.prepares[index];
  std::vector<std::shared_ptr<void>> outputs;
  std::vector<void *> buffers;
  auto outOfMemory = [&](const std::string &what, uint64_t sizeBytes) {
    return Fault{FaultKind::Memory, owner->name() + ": cannot allocate " +
                                        std::to_string(sizeBytes) +
                                        " bytes for " + what};
  };
  for (uint32_t input : prepare.inputs)
    buffers.push_back(tensorData(snapshot, input));
  for (uint32_t output : prepare.outputs) {
    const Tensor &tensor = manifest.tensors[output];
    outputs.push_back(allocateAligned(tensor.sizeBytes));
    if (!outputs.back())
      return outOfMemory("prepared tensor '" + tensor.name + "'",
                         tensor.sizeBytes);
    buffers.push_back(outputs.back().get());
  }

  std::vector<int64_t> outputDims(function.output_dim_count);
  int64_t noSymbols = 0;
  rlx_abi_params params = {};
  params.struct_size = sizeof params;
  int32_t status = function.plan(&noSymbols, pool.workers(),
                                 &params.arena_bytes, outputDims.data());
  std::shared_ptr<void> arena;
  if (status == RLX_ABI_OK) {
    if (Result<void> fits = checkPlan(index, outputDims); !fits)
      return fits.fault();
    arena = allocateAligned(params.arena_bytes);
    if (!arena)
      return outOfMemory("the scratch memory of prepare instance " +
                             std::to_string(index),
                         params.arena_bytes);
    params.buffers = buffers.data();
    params.symbols = &noSymbols;
    params.arena = arena.get();
    params.workers = pool.workers();
    params.parallel_context = &pool;
    params.parallel = ThreadPool::parallel;
    params.cpu_flags = hostCpuFlags();
    status = function.run(&params);
  }
  if (status != RLX_ABI_OK)
    return Fault{FaultKind::Execution, owner->name() + ": prepare instance " +
                                           std::to_string(index) + ": " +
                                           code.explain(function, status)};
  return outputs;
}

uint64_t WeightSet::preparedBytes() const {
  std::shared_ptr<Snapshot> snapshot = pin();
  uint64_t total = 0;
  for (const Tensor &tensor : owner->manifest().tensors)
    if (tensor.state == TensorState::Prepared &&
        snapshot->instances[tensor.instance]->ready())
      total += tensor.sizeBytes;
  return total;
}
