// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_PROGRAM_H
#define RLX_LIB_RUNTIME_PROGRAM_H

#include "Executable.h"
#include "Info.h"
#include "RLX/Artifact/Reader.h"
#include "RLX/Runtime/rlx_runtime.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace rlx::runtime {

struct ProgramOptions {
  int32_t verify = RLX_VERIFY_NONE;
  /// Empty: the best class of the machine.
  std::string cpuClass;
};

/// What must be there before an entry can run, directly or through prepare
/// instances. All lists ascend.
struct EntryNeeds {
  std::vector<uint32_t> params;    ///< rows of the weight table
  std::vector<uint32_t> segments;  ///< of constants
  std::vector<uint32_t> instances; ///< prepare instances
};

/// An opened artifact. Immutable but for code and hashes that are seen to on
/// first use; safe from any thread.
class Program {
public:
  /// \param name how messages call it. \param openNs time that opening took.
  static Result<std::shared_ptr<Program>>
  create(artifact::OpenedArtifact opened, std::shared_ptr<void> memory,
         ProgramOptions options, std::string name, uint64_t openNs);

  const artifact::Manifest &manifest() const { return opened.manifest; }
  const std::string &name() const { return displayName; }
  const ProgramInfo &info() const { return tables; }
  uint64_t sizeBytes() const { return opened.fileSizeBytes; }
  /// Worked out by the first call for an entry.
  const EntryNeeds &needs(uint32_t entry);

  /// The bytes of a constant.
  const void *constant(const artifact::Tensor &tensor) const;

  /// The row of a param, or why it cannot be set.
  Result<uint32_t> findParam(std::string_view name) const;

  /// The native code for this machine, loaded by the first call.
  Result<const BoundExecutable *> code();

  /// With RLX_VERIFY_TOUCHED: compares what `entry` reads with its hashes,
  /// once.
  Result<void> verifyEntry(uint32_t entry);

  /// Time for opening and for loading code, so far.
  uint64_t loadNs() const;

private:
  Program(artifact::OpenedArtifact opened, std::shared_ptr<void> memory,
          ProgramOptions options, std::string name, uint64_t openNs);

  Result<void> verifyTensorSegment(uint32_t segment) const;
  Result<const artifact::Executable *> chooseExecutable() const;
  Fault fault(FaultKind kind, const std::string &text) const {
    return {kind, displayName + ": " + text};
  }
  EntryNeeds collectNeeds(const artifact::Entry &entry) const;

  /// Released after `opened`, which refers to it.
  std::shared_ptr<void> memory;
  artifact::OpenedArtifact opened;
  ProgramOptions options;
  std::string displayName;
  ProgramInfo tables;
  std::unordered_map<std::string_view, uint32_t> paramRows;

  mutable std::mutex mutex; // For all below.
  std::unique_ptr<BoundExecutable> executable;
  /// By entry; null until somebody asks. A file may have so many entries and
  /// tensors that asking for all while opening would take forever.
  std::vector<std::unique_ptr<const EntryNeeds>> entryNeeds;
  std::vector<bool> verified;
  uint64_t loadTimeNs;
};

/// Nanoseconds of a clock that only moves forward.
uint64_t nowNs();

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_PROGRAM_H
