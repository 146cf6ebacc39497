// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Plain structures to FlatBuffers.

#include "RLX/Artifact/Manifest.h"
#include "RLX/Artifact/Manifest_generated.h"

using namespace rlx;
using namespace rlx::artifact;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {

template <typename T, typename Source, typename Convert>
Offset<flatbuffers::Vector<Offset<T>>>
encodeAll(FlatBufferBuilder &builder, const std::vector<Source> &sources,
          Convert convert) {
  std::vector<Offset<T>> offsets;
  offsets.reserve(sources.size());
  for (const Source &source : sources)
    offsets.push_back(convert(source));
  return builder.CreateVector(offsets);
}

Offset<fb::Value> encodeValue(FlatBufferBuilder &builder, const Value &value) {
  std::vector<int64_t> dims;
  for (const Dim &dim : value.dims)
    dims.push_back(dim.isComputed()  ? INT64_MIN
                   : dim.isDynamic() ? -1 - int64_t(dim.symbol)
                                     : dim.size);
  auto name = builder.CreateString(value.name);
  return fb::CreateValue(builder, name, static_cast<uint8_t>(value.dtype),
                         builder.CreateVector(dims));
}

Offset<fb::Entry> encodeEntry(FlatBufferBuilder &builder, const Entry &entry) {
  auto value = [&](const Value &value) { return encodeValue(builder, value); };
  auto name = builder.CreateString(entry.name);
  auto inputs = encodeAll<fb::Value>(builder, entry.inputs, value);
  auto outputs = encodeAll<fb::Value>(builder, entry.outputs, value);
  auto symbols = builder.CreateVectorOfStrings(entry.symbols);
  auto tensors = builder.CreateVector(entry.tensors);
  return fb::CreateEntry(builder, name, inputs, outputs, symbols, tensors);
}

Offset<fb::Tensor> encodeTensor(FlatBufferBuilder &builder,
                                const Tensor &tensor) {
  auto name = builder.CreateString(tensor.name);
  auto dims = builder.CreateVector(tensor.shape);
  // Few distinct texts for many rows.
  auto encoding = builder.CreateSharedString(tensor.encoding);
  auto layout = builder.CreateSharedString(tensor.layout);
  Offset<flatbuffers::Vector<uint8_t>> hash;
  if (tensor.contentHash)
    hash = builder.CreateVector(tensor.contentHash->data(),
                                tensor.contentHash->size());
  auto origin = builder.CreateSharedString(tensor.origin);
  auto note = builder.CreateSharedString(tensor.note);
  return fb::CreateTensor(
      builder, name, static_cast<uint8_t>(tensor.dtype), dims, encoding, layout,
      tensor.sizeBytes, static_cast<uint8_t>(tensor.state), tensor.segment,
      tensor.segmentOffset, tensor.instance, tensor.output, hash, origin, note);
}

Offset<fb::Prepare> encodePrepare(FlatBufferBuilder &builder,
                                  const Prepare &prepare) {
  auto function = builder.CreateSharedString(prepare.function);
  auto inputs = builder.CreateVector(prepare.inputs);
  auto outputs = builder.CreateVector(prepare.outputs);
  return fb::CreatePrepare(builder, function, inputs, outputs);
}

Offset<fb::Segment> encodeSegment(FlatBufferBuilder &builder,
                                  const Segment &segment) {
  std::vector<uint8_t> leaves;
  leaves.reserve(segment.leaves.size() * sizeof(crypto::Digest));
  for (const crypto::Digest &leaf : segment.leaves)
    leaves.insert(leaves.end(), leaf.begin(), leaf.end());
  return fb::CreateSegment(builder, static_cast<uint8_t>(segment.kind),
                           segment.offset, segment.sizeBytes,
                           builder.CreateVector(leaves));
}

} // namespace

std::vector<uint8_t> artifact::encodeManifest(const Manifest &manifest) {
  FlatBufferBuilder builder;
  auto producer = builder.CreateString(manifest.producer);
  auto name = builder.CreateString(manifest.name);
  auto features = builder.CreateVectorOfStrings(manifest.requiredFeatures);
  auto segments = encodeAll<fb::Segment>(
      builder, manifest.segments,
      [&](const Segment &segment) { return encodeSegment(builder, segment); });
  auto tensors = encodeAll<fb::Tensor>(
      builder, manifest.tensors,
      [&](const Tensor &tensor) { return encodeTensor(builder, tensor); });
  auto entries =
      encodeAll<fb::Entry>(builder, manifest.entries, [&](const Entry &entry) {
        return encodeEntry(builder, entry);
      });
  auto prepares = encodeAll<fb::Prepare>(
      builder, manifest.prepares,
      [&](const Prepare &prepare) { return encodePrepare(builder, prepare); });
  auto executables = encodeAll<fb::Executable>(
      builder, manifest.executables, [&](const Executable &executable) {
        auto target = builder.CreateString(executable.target);
        return fb::CreateExecutable(builder, target, executable.segment,
                                    executable.abiVersion);
      });
  auto baked =
      encodeAll<fb::Baked>(builder, manifest.baked, [&](const Baked &baked) {
        auto bakedName = builder.CreateString(baked.name);
        auto note = builder.CreateSharedString(baked.note);
        return fb::CreateBaked(builder, bakedName, note);
      });
  auto report = builder.CreateString(manifest.report);
  int32_t graph = manifest.graphSegment ? int32_t(*manifest.graphSegment) : -1;
  builder.Finish(fb::CreateManifest(builder, producer, name, features, segments,
                                    tensors, entries, prepares, executables,
                                    graph, baked, report),
                 fb::ManifestIdentifier());
  return std::vector<uint8_t>(builder.GetBufferPointer(),
                              builder.GetBufferPointer() + builder.GetSize());
}
