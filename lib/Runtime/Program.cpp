// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Program.h"
#include "CpuInfo.h"
#include "NearMiss.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

uint64_t runtime::nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Program::Program(OpenedArtifact openedArtifact, std::shared_ptr<void> memory,
                 ProgramOptions options, std::string name, uint64_t openNs)
    : memory(std::move(memory)), opened(std::move(openedArtifact)),
      options(std::move(options)), displayName(std::move(name)), tables(opened),
      entryNeeds(opened.manifest.entries.size()),
      verified(opened.manifest.segments.size()), loadTimeNs(openNs) {
  for (uint32_t i = 0; i < manifest().tensors.size(); ++i)
    if (manifest().tensors[i].state == TensorState::Param)
      paramRows.emplace(manifest().tensors[i].name, i);
}

Result<std::shared_ptr<Program>>
Program::create(OpenedArtifact opened, std::shared_ptr<void> memory,
                ProgramOptions options, std::string name, uint64_t openNs) {
  std::shared_ptr<Program> program(
      new Program(std::move(opened), std::move(memory), std::move(options),
                  std::move(name), openNs));
  if (program->options.verify != RLX_VERIFY_ALL)
    return program;
  uint64_t begin = nowNs();
  for (uint32_t i = 0; i < program->manifest().segments.size(); ++i)
    if (Result<void> intact = program->verifyTensorSegment(i); !intact)
      return intact.fault();
  program->loadTimeNs += nowNs() - begin;
  return program;
}

EntryNeeds Program::collectNeeds(const Entry &entry) const {
  std::vector<bool> tensorNeeded(manifest().tensors.size());
  std::vector<bool> segmentNeeded(manifest().segments.size());
  std::vector<bool> instanceNeeded(manifest().prepares.size());
  auto need = [&](uint32_t row) {
    const Tensor &tensor = manifest().tensors[row];
    tensorNeeded[row] = true;
    if (tensor.state == TensorState::Prepared)
      instanceNeeded[tensor.instance] = true;
    if (tensor.state == TensorState::Constant)
      segmentNeeded[tensor.segment] = true;
  };
  for (uint32_t row : entry.tensors)
    need(row);
  // Instances read results of earlier ones only.
  for (size_t i = instanceNeeded.size(); i-- > 0;)
    if (instanceNeeded[i])
      for (uint32_t row : manifest().prepares[i].inputs)
        need(row);

  EntryNeeds needs;
  for (uint32_t row = 0; row < tensorNeeded.size(); ++row)
    if (tensorNeeded[row] &&
        manifest().tensors[row].state == TensorState::Param)
      needs.params.push_back(row);
  for (uint32_t i = 0; i < segmentNeeded.size(); ++i)
    if (segmentNeeded[i])
      needs.segments.push_back(i);
  for (uint32_t i = 0; i < instanceNeeded.size(); ++i)
    if (instanceNeeded[i])
      needs.instances.push_back(i);
  return needs;
}

const EntryNeeds &Program::needs(uint32_t entry) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const EntryNeeds> &needs = entryNeeds[entry];
  if (!needs)
    needs = std::make_unique<const EntryNeeds>(
        collectNeeds(manifest().entries[entry]));
  return *needs;
}

const void *Program::constant(const Tensor &tensor) const {
  return opened.source->segment(tensor.segment).data + tensor.segmentOffset;
}

Result<uint32_t> Program::findParam(std::string_view name) const {
  auto found = paramRows.find(name);
  if (found != paramRows.end())
    return found->second;
  std::string quoted = "'" + std::string(name) + "'";
  for (const Baked &baked : manifest().baked)
    if (baked.name == name)
      return fault(FaultKind::Baked,
                   "weight " + quoted +
                       " was baked into the program and cannot be set" +
                       (baked.note.empty() ? "" : " (" + baked.note + ")") +
                       "; bake the model without its value to keep it open");
  std::vector<std::string_view> params;
  for (const Tensor &tensor : manifest().tensors) {
    if (tensor.state == TensorState::Param)
      params.push_back(tensor.name);
    if (tensor.name != name || name.empty())
      continue;
    if (tensor.state == TensorState::Constant)
      return fault(FaultKind::Baked,
                   "weight " + quoted +
                       " was baked into the program and cannot be set; bake "
                       "the model without its value to keep it open");
    return fault(
        FaultKind::Argument,
        quoted + " is computed from other weights (" +
            (tensor.origin.empty() ? "see the prepare table" : tensor.origin) +
            "); set those instead");
  }
  if (params.empty())
    return fault(FaultKind::NotFound,
                 "no param is called " + quoted +
                     "; the program has none, all weights are baked");
  std::sort(params.begin(), params.end());
  std::string hint = suggestion(name, params);
  if (hint.empty())
    hint = "; there are " + quotedList(params, 8);
  return fault(FaultKind::NotFound, "no param is called " + quoted + hint);
}

Result<const Executable *> Program::chooseExecutable() const {
  std::vector<std::string_view> available;
  for (const Executable &executable : manifest().executables)
    available.push_back(executable.target);
  std::string host(hostCpuClass());
  if (available.empty())
    return fault(FaultKind::Target,
                 "the program has no code for any CPU, as --target none makes "
                 "it; bake the model again with --target " +
                     (host == "none" ? "x86-64-v3" : host));
  std::string holds = "it holds code for " + quotedList(available);
  std::string forced = options.cpuClass, origin = "the cpu_class option";
  const char *environment = std::getenv("RLX_CPU_CLASS");
  if (forced.empty() && environment) {
    forced = environment;
    origin = "RLX_CPU_CLASS";
  }
  if (!forced.empty()) {
    const auto &known = cpuClasses();
    if (std::find(known.begin(), known.end(), forced) == known.end())
      return fault(FaultKind::Argument, origin + " is '" + forced +
                                            "'; known CPU classes are " +
                                            quotedList(known));
    if (!hostSupports(forced))
      return fault(FaultKind::Target, origin + " asks for '" + forced +
                                          "', but this CPU is of class '" +
                                          std::string(hostCpuClass()) + "'");
    for (const Executable &executable : manifest().executables)
      if (executable.target == forced)
        return &executable;
    return fault(FaultKind::Target, origin + " asks for '" + forced +
                                        "', but " + holds +
                                        "; bake it with --target " + forced);
  }
  for (std::string_view cpuClass : cpuClasses())
    for (const Executable &executable : manifest().executables)
      if (executable.target == cpuClass && hostSupports(cpuClass))
        return &executable;
  return fault(FaultKind::Target,
               "no executable fits this CPU of class '" + host + "'; " + holds +
                   (host == "none" ? "; RLX needs AVX2 and FMA"
                                   : "; bake it with --target " + host));
}

Result<const BoundExecutable *> Program::code() {
  std::lock_guard<std::mutex> lock(mutex);
  if (executable)
    return executable.get();
  uint64_t begin = nowNs();
  Result<const Executable *> chosen = chooseExecutable();
  if (!chosen)
    return chosen.fault();
  const Executable &choice = **chosen;
  std::string who = "the executable for '" + choice.target + "'";
  if (choice.abiVersion != RLX_ABI_VERSION)
    return fault(FaultKind::Code,
                 who + " needs version " + std::to_string(choice.abiVersion) +
                     " of the executable interface, this version of RLX has " +
                     std::to_string(RLX_ABI_VERSION));
  // What is hashed is what is loaded: a private copy, which nobody can change
  // in between. Executables are small.
  ByteSpan mapped = opened.source->segment(choice.segment);
  std::vector<uint8_t> bytes(mapped.data, mapped.data + mapped.sizeBytes);
  ByteSpan copy = {bytes.data(), bytes.size()};
  if (Result<void> intact = verifySegment(manifest(), choice.segment, copy);
      !intact)
    return fault(FaultKind::Integrity, who + ": " + intact.fault().message);
  Result<LoadedCode> loaded = loadCode(copy);
  if (!loaded)
    return fault(loaded.fault().kind, who + ": " + loaded.fault().message);
  Result<BoundExecutable> bound =
      bindExecutable(std::move(*loaded), manifest(), choice.target);
  if (!bound)
    return fault(bound.fault().kind, bound.fault().message);
  executable = std::make_unique<BoundExecutable>(std::move(*bound));
  loadTimeNs += nowNs() - begin;
  return executable.get();
}

Result<void> Program::verifyTensorSegment(uint32_t segment) const {
  Result<void> intact =
      verifySegment(manifest(), segment, opened.source->segment(segment));
  if (intact)
    return intact;
  std::vector<std::string_view> names;
  for (const Tensor &tensor : manifest().tensors)
    if (tensor.state == TensorState::Constant && tensor.segment == segment &&
        !tensor.name.empty())
      names.push_back(tensor.name);
  std::string of =
      names.empty() ? "" : " (weight " + quotedList(names, 8) + ")";
  return fault(intact.fault().kind, intact.fault().message + of);
}

Result<void> Program::verifyEntry(uint32_t entry) {
  if (options.verify != RLX_VERIFY_TOUCHED)
    return {};
  const EntryNeeds &needed = needs(entry);
  std::lock_guard<std::mutex> lock(mutex);
  for (uint32_t segment : needed.segments) {
    if (verified[segment])
      continue;
    if (Result<void> intact = verifyTensorSegment(segment); !intact)
      return intact;
    verified[segment] = true;
  }
  return {};
}

uint64_t Program::loadNs() const {
  std::lock_guard<std::mutex> lock(mutex);
  return loadTimeNs;
}
