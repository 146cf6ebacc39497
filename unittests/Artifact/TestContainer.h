// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_UNITTESTS_ARTIFACT_TESTCONTAINER_H
#define RLX_UNITTESTS_ARTIFACT_TESTCONTAINER_H

#include "RLX/Artifact/Manifest.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace rlx::test {

using Bytes = std::vector<uint8_t>;

inline void put(Bytes &bytes, size_t offset, uint64_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes[offset + i] = uint8_t(value >> 8 * i);
}

/// The hash that docs/Format.md puts at byte 32.
inline void sealPrefix(Bytes &file) {
  uint64_t manifest = 0;
  std::memcpy(&manifest, &file[24], 8);
  Bytes hashed(file.begin(), file.begin() + 32);
  hashed.insert(hashed.end(), file.begin() + manifest, file.end());
  crypto::Digest digest = crypto::sha256(hashed.data(), hashed.size());
  std::copy(digest.begin(), digest.end(), file.begin() + 32);
}

/// A writer made from docs/Format.md alone: no alignment beyond 64, everything
/// in memory. The real one must agree with it for small segments.
inline Bytes buildContainer(artifact::Manifest manifest,
                            const std::vector<Bytes> &segments) {
  Bytes file(64);
  for (size_t i = 0; i < segments.size(); ++i) {
    file.resize((file.size() + 63) / 64 * 64);
    manifest.segments[i].offset = file.size();
    manifest.segments[i].sizeBytes = segments[i].size();
    manifest.segments[i].leaves =
        artifact::hashLeaves({segments[i].data(), segments[i].size()});
    file.insert(file.end(), segments[i].begin(), segments[i].end());
  }
  file.resize((file.size() + 63) / 64 * 64);
  uint64_t manifestOffset = file.size();
  Bytes encoded = artifact::encodeManifest(manifest);
  file.insert(file.end(), encoded.begin(), encoded.end());
  std::memcpy(file.data(), "RLXBAKE1", 8);
  put(file, 8, 3, 4);
  put(file, 16, file.size(), 8);
  put(file, 24, manifestOffset, 8);
  sealPrefix(file);
  return file;
}

/// A copy of bytes that is aligned to 64 and of exactly their size, so that
/// sanitizers see every byte read beyond it.
class AlignedCopy {
public:
  explicit AlignedCopy(const Bytes &bytes) : sizeBytes(bytes.size()) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 64, sizeBytes ? sizeBytes : 1) != 0)
      std::abort();
    data.reset(static_cast<uint8_t *>(memory));
    std::copy(bytes.begin(), bytes.end(), data.get());
  }
  artifact::ByteSpan span() const { return {data.get(), sizeBytes}; }

private:
  std::unique_ptr<uint8_t, decltype(&std::free)> data{nullptr, std::free};
  uint64_t sizeBytes;
};

/// A manifest that uses every kind of row, valid together with segments of 48,
/// 12 and 100 bytes.
inline artifact::Manifest sampleManifest() {
  using namespace artifact;
  Manifest manifest;
  manifest.producer = "test 1";
  manifest.name = "sample";
  manifest.segments.resize(3);
  manifest.segments[0] = {SegmentKind::Weights, 0, 48, {}};
  manifest.segments[1] = {SegmentKind::Weights, 0, 12, {}};
  manifest.segments[2] = {SegmentKind::Executable, 0, 100, {}};
  Tensor w;
  w.name = "w";
  w.shape = {4, 3};
  w.sizeBytes = 48;
  w.layout = "panel64";
  w.origin = "fc.weight";
  Tensor bias;
  bias.name = "bias";
  bias.shape = {3};
  bias.sizeBytes = 12;
  bias.segment = 1;
  Tensor scale;
  scale.name = "scale";
  scale.shape = {3};
  scale.sizeBytes = 12;
  scale.state = TensorState::Param;
  scale.contentHash = crypto::sha256("scale", 5);
  Tensor prepared = scale;
  prepared.name = "prep0";
  prepared.state = TensorState::Prepared;
  prepared.contentHash.reset();
  manifest.tensors = {w, bias, scale, prepared};
  manifest.prepares.push_back({"main.prepare0", {1, 2}, {3}});
  Entry entry;
  entry.name = "main";
  entry.symbols = {"batch"};
  entry.inputs = {{"x", DType::F32, {Dim::dynamic(0), Dim::fixed(4)}}};
  entry.outputs = {{"y", DType::F32, {Dim::dynamic(0), Dim::fixed(3)}},
                   {"flat", DType::F32, {Dim::computed()}}};
  entry.tensors = {0, 3};
  manifest.entries.push_back(entry);
  manifest.executables.push_back({"x86-64-v3", 2, 1});
  manifest.baked.push_back({"fc.scale", "folded into 'w'"});
  manifest.report = "{}";
  return manifest;
}

inline std::vector<Bytes> sampleSegments() {
  std::vector<Bytes> segments = {Bytes(48), Bytes(12), Bytes(100)};
  for (Bytes &segment : segments)
    for (size_t i = 0; i < segment.size(); ++i)
      segment[i] = uint8_t(7 * i + segment.size());
  return segments;
}

} // namespace rlx::test

#endif // RLX_UNITTESTS_ARTIFACT_TESTCONTAINER_H
