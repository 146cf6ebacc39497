// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_ARTIFACT_READER_H
#define RLX_ARTIFACT_READER_H

#include "RLX/Artifact/Manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace rlx::artifact {

/// The container (docs/Format.md): prefix, segments, manifest, in this order.
inline constexpr char magic[8] = {'R', 'L', 'X', 'B', 'A', 'K', 'E', '1'};
inline constexpr uint32_t containerVersion = 3;
inline constexpr uint64_t prefixSizeBytes = 64;
/// The part of the prefix that the hash after it covers, before the manifest.
inline constexpr uint64_t hashedPrefixSizeBytes = 32;
/// Gaps between segments are zero and shorter than this.
inline constexpr uint64_t maxPaddingBytes = 4096;
/// Largest manifest that is read.
inline constexpr uint64_t maxManifestSizeBytes = uint64_t(256) << 20;

/// Where the bytes of segments come from.
class SegmentSource {
public:
  virtual ~SegmentSource();

  /// The bytes of segment `index` of the manifest. They stay where they are for
  /// the life of the source. Safe from any thread; reads nothing.
  virtual ByteSpan segment(uint32_t index) const = 0;
};

/// A manifest that passed all checks and the segments it speaks of, whose
/// contents nobody has looked at yet.
struct OpenedArtifact {
  Manifest manifest;
  std::unique_ptr<SegmentSource> source;
  uint64_t fileSizeBytes = 0;
};

/// Opens a file: checks the prefix, hashes and decodes the manifest, checks
/// that all segments lie where they may, and maps the file. Weights are not
/// read. Faults start with `path`.
Result<OpenedArtifact> openArtifactFile(const std::string &path);

/// The same for bytes in memory, which must be aligned to 64 and outlive the
/// source. Faults start with `name`.
Result<OpenedArtifact> openArtifactMemory(ByteSpan bytes,
                                          const std::string &name);

/// An artifact that is no file: an encoded manifest and the address of each of
/// its segments, which outlive the source. Packed constants must be aligned to
/// 64, others as their elements. Segments need no leaf hashes.
Result<OpenedArtifact>
openArtifactSegments(ByteSpan encodedManifest,
                     const std::vector<ByteSpan> &segments,
                     const std::string &name);

/// Compares leaves [firstLeaf, lastLeaf) of a segment with their hashes. A
/// segment without hashes passes.
Result<void> verifyLeaves(const Manifest &manifest, uint32_t segment,
                          ByteSpan bytes, uint64_t firstLeaf,
                          uint64_t lastLeaf);

/// Compares all leaves of a segment.
Result<void> verifySegment(const Manifest &manifest, uint32_t segment,
                           ByteSpan bytes);

} // namespace rlx::artifact

#endif // RLX_ARTIFACT_READER_H
