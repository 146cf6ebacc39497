// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_PIPELINES_ARTIFACTCONTENT_H
#define RLX_LIB_PIPELINES_ARTIFACTCONTENT_H

#include "RLX/Analysis/WeightData.h"
#include "RLX/Artifact/Reader.h"
#include "RLX/Artifact/Writer/Writer.h"
#include "RLX/Pipelines/Artifact.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rlx {

struct Artifact::Content {
  artifact::ArtifactDesc desc;
  /// Of a file that was read: its path, and the hashes of its portable graph.
  std::string path;
  std::optional<std::vector<crypto::Digest>> graphLeaves;
  /// Keep what `desc.data` borrows: what was made here, values of constants,
  /// the mapping of a file that was read.
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  std::vector<WeightBytes> weights;
  std::unique_ptr<artifact::SegmentSource> source;

  /// Adds a segment, which will be the last one.
  void addBuffer(artifact::SegmentKind kind,
                 std::unique_ptr<llvm::MemoryBuffer> buffer);
};

} // namespace rlx

#endif // RLX_LIB_PIPELINES_ARTIFACTCONTENT_H
