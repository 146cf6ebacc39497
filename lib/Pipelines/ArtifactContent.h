// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_PIPELINES_ARTIFACTCONTENT_H
#define RLX_LIB_PIPELINES_ARTIFACTCONTENT_H

#include "RLX/Analysis/WeightData.h"
#include "RLX/Artifact/Reader.h"
#include "RLX/Artifact/Writer/Writer.h"
#include "RLX/Pipelines/Artifact.h"
#include <memory>
#include <vector>

namespace rlx {

struct Artifact::Content {
  artifact::ArtifactDesc desc;
  /// Keep what `desc.data` borrows: code that was compiled here, values of
  /// constants, the mapping of a file that was read.
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> code;
  std::vector<WeightBytes> weights;
  std::unique_ptr<artifact::SegmentSource> source;
};

} // namespace rlx

#endif // RLX_LIB_PIPELINES_ARTIFACTCONTENT_H
