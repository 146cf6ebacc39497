// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_ARTIFACT_WRITER_WRITER_H
#define RLX_ARTIFACT_WRITER_WRITER_H

#include "RLX/Artifact/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <functional>
#include <memory>
#include <vector>

namespace rlx::artifact {

/// The contents of one segment: bytes that exist already, or a producer that
/// hands them out piece by piece when they are written, so that weights larger
/// than memory never exist at once.
struct SegmentData {
  using Sink = llvm::function_ref<llvm::Error(llvm::ArrayRef<uint8_t>)>;

  SegmentKind kind = SegmentKind::Weights;
  uint64_t sizeBytes = 0;
  /// Used when there is no producer; `sizeBytes` long. Not copied.
  llvm::ArrayRef<uint8_t> bytes;
  /// Calls the sink with `sizeBytes` bytes in total, in order, once per write.
  std::function<llvm::Error(Sink)> produce;

  static SegmentData borrow(SegmentKind kind, llvm::ArrayRef<uint8_t> bytes) {
    return {kind, bytes.size(), bytes, nullptr};
  }
};

/// An artifact before it has a layout.
struct ArtifactDesc {
  /// All but `segments`, which the writer makes from `data`.
  Manifest manifest;
  std::vector<SegmentData> data;
};

/// Writes a file that appears under its name only when it is complete: a
/// temporary file in the same folder is written, synchronised and renamed. On
/// any error nothing is left behind and an existing file is untouched. Equal
/// descriptions give equal bytes.
llvm::Error writeArtifactFile(const ArtifactDesc &desc, llvm::StringRef path);

/// The same bytes in memory, aligned to 64.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
writeArtifactMemory(const ArtifactDesc &desc);

} // namespace rlx::artifact

#endif // RLX_ARTIFACT_WRITER_WRITER_H
