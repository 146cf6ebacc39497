// SPDX-License-Identifier: MIT OR Apache-2.0
//
// FlatBuffers to plain structures. Every byte comes from a file that may have
// been damaged or forged.

#include "RLX/Artifact/Manifest.h"
#include "RLX/Artifact/Manifest_generated.h"

#include <algorithm>
#include <cstring>

using namespace rlx;
using namespace rlx::artifact;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and so must the machine be"
#endif

namespace {

// The schema nests three levels deep; tables are at most one per 8 bytes.
constexpr unsigned maxDepth = 8;
constexpr unsigned maxTables = 8u << 20;

// FlatBuffers may refer to one string or table any number of times, so a small
// file could unpack to terabytes. Honest manifests unpack to less than this
// many times their size.
constexpr uint64_t maxExpansion = 16;

class Decoder {
public:
  explicit Decoder(uint64_t sizeBytes)
      : budget((sizeBytes + 4096) * maxExpansion) {}

  /// Whether everything was within limits. If not, parts are missing.
  bool ok() const { return !overBudget && !badHash; }
  std::string fault() const {
    if (overBudget)
      return "manifest: unpacks to more than " + std::to_string(maxExpansion) +
             " times its size; the file was not written by RLX";
    return "manifest: a hash does not have 32 bytes; the file was not written "
           "by RLX";
  }

  std::string text(const flatbuffers::String *string) {
    if (!string || !spend(string->size()))
      return {};
    return string->str();
  }

  std::vector<std::string>
  texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>
            *strings) {
    std::vector<std::string> result;
    if (!strings || !spend(strings->size() * sizeof(std::string)))
      return result;
    for (const flatbuffers::String *string : *strings)
      result.push_back(text(string));
    return result;
  }

  template <typename T>
  std::vector<T> numbers(const flatbuffers::Vector<T> *vector) {
    if (!vector || !spend(vector->size() * sizeof(T)))
      return {};
    // The verifier aligns vectors to their length field, not to their elements.
    std::vector<T> copy(vector->size());
    if (!copy.empty())
      std::memcpy(copy.data(), vector->Data(), copy.size() * sizeof(T));
    return copy;
  }

  /// Decodes every row of a vector of tables.
  template <typename Target, typename T>
  std::vector<Target>
  all(const flatbuffers::Vector<flatbuffers::Offset<T>> *rows) {
    std::vector<Target> targets;
    if (!rows || !spend(rows->size() * sizeof(Target)))
      return targets;
    targets.reserve(rows->size());
    for (const T *row : *rows)
      targets.push_back(decode(*row));
    return targets;
  }

private:
  bool spend(uint64_t bytes) {
    overBudget |= bytes > budget;
    budget -= overBudget ? 0 : bytes;
    return !overBudget;
  }

  Value decode(const fb::Value &row) {
    Value value;
    value.name = text(row.name());
    value.dtype = static_cast<DType>(row.dtype());
    for (int64_t dim : numbers(row.dims())) {
      // Symbols far out of range stay out of range: validation names them.
      if (dim == INT64_MIN)
        value.dims.push_back(Dim::computed());
      else if (dim < 0)
        value.dims.push_back(Dim::dynamic(
            static_cast<int32_t>(std::min<int64_t>(-1 - dim, INT32_MAX))));
      else
        value.dims.push_back(Dim::fixed(dim));
    }
    return value;
  }

  Entry decode(const fb::Entry &row) {
    Entry entry;
    entry.name = text(row.name());
    entry.inputs = all<Value>(row.inputs());
    entry.outputs = all<Value>(row.outputs());
    entry.symbols = texts(row.symbols());
    entry.tensors = numbers(row.tensors());
    return entry;
  }

  Tensor decode(const fb::Tensor &row) {
    Tensor tensor;
    tensor.name = text(row.name());
    tensor.dtype = static_cast<DType>(row.dtype());
    tensor.shape = numbers(row.dims());
    tensor.encoding = text(row.encoding());
    tensor.layout = text(row.layout());
    tensor.sizeBytes = row.size_bytes();
    tensor.state = static_cast<TensorState>(row.state());
    tensor.segment = row.segment();
    tensor.segmentOffset = row.segment_offset();
    tensor.instance = row.instance();
    tensor.output = row.output();
    if (const auto *hash = row.content_hash()) {
      std::vector<crypto::Digest> digests = hashes(*hash);
      badHash |= digests.size() != 1;
      if (digests.size() == 1)
        tensor.contentHash = digests.front();
    }
    tensor.origin = text(row.origin());
    tensor.note = text(row.note());
    return tensor;
  }

  Prepare decode(const fb::Prepare &row) {
    return {text(row.function()), numbers(row.inputs()),
            numbers(row.outputs())};
  }

  Executable decode(const fb::Executable &row) {
    return {text(row.target()), row.segment(), row.abi_version()};
  }

  Segment decode(const fb::Segment &row) {
    Segment segment;
    segment.kind = static_cast<SegmentKind>(row.kind());
    segment.offset = row.offset();
    segment.sizeBytes = row.size_bytes();
    if (row.leaves())
      segment.leaves = hashes(*row.leaves());
    return segment;
  }

  Baked decode(const fb::Baked &row) {
    return {text(row.name()), text(row.note())};
  }

  std::vector<crypto::Digest>
  hashes(const flatbuffers::Vector<uint8_t> &bytes) {
    constexpr size_t size = sizeof(crypto::Digest);
    badHash |= bytes.size() % size != 0;
    if (badHash || !spend(bytes.size()))
      return {};
    std::vector<crypto::Digest> digests(bytes.size() / size);
    for (size_t i = 0; i < digests.size(); ++i)
      std::copy_n(bytes.data() + i * size, size, digests[i].begin());
    return digests;
  }

  uint64_t budget;
  bool overBudget = false;
  bool badHash = false;
};

} // namespace

Result<Manifest> artifact::decodeManifest(ByteSpan bytes) {
  // The verifier's own arithmetic is 32 bits wide.
  if (bytes.sizeBytes < 16 || bytes.sizeBytes >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Fault{FaultKind::Format,
                 "manifest: " + std::to_string(bytes.sizeBytes) +
                     " bytes are no manifest, which has from 16 to " +
                     std::to_string(FLATBUFFERS_MAX_BUFFER_SIZE - 1)};
  flatbuffers::Verifier verifier(bytes.data, bytes.sizeBytes, maxDepth,
                                 maxTables);
  if (!fb::VerifyManifestBuffer(verifier))
    return Fault{FaultKind::Format,
                 "manifest: is not a FlatBuffers table of the RLX schema; the "
                 "file is damaged or was not written by RLX"};

  const fb::Manifest &root = *fb::GetManifest(bytes.data);
  Decoder decoder(bytes.sizeBytes);
  Manifest manifest;
  manifest.producer = decoder.text(root.producer());
  manifest.name = decoder.text(root.name());
  manifest.requiredFeatures = decoder.texts(root.required_features());
  manifest.segments = decoder.all<Segment>(root.segments());
  manifest.tensors = decoder.all<Tensor>(root.tensors());
  manifest.entries = decoder.all<Entry>(root.entries());
  manifest.prepares = decoder.all<Prepare>(root.prepares());
  manifest.executables = decoder.all<Executable>(root.executables());
  manifest.baked = decoder.all<Baked>(root.baked());
  manifest.report = decoder.text(root.report());
  if (!decoder.ok())
    return Fault{FaultKind::Format, decoder.fault()};
  if (root.graph_segment() < -1)
    return Fault{FaultKind::Format,
                 "manifest: the portable graph names segment " +
                     std::to_string(root.graph_segment())};
  if (root.graph_segment() >= 0)
    manifest.graphSegment = static_cast<uint32_t>(root.graph_segment());

  if (Result<void> valid = validateManifest(manifest); !valid)
    return valid.fault();
  return manifest;
}
