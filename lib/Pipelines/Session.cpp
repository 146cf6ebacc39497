// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Pipelines/Session.h"
#include "ArtifactBuilder.h"
#include "ArtifactContent.h"
#include "RLX/Artifact/Manifest.h"
#include "RuntimeStatus.h"

using namespace rlx;

struct CompiledGraph::Storage {
  Storage(BakeResult result) : result(std::move(result)) {}

  /// Released before what they refer to.
  BakeResult result;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> aligned;
  ProgramHandle program;
  SessionHandle session;
};

CompiledGraph::CompiledGraph(std::unique_ptr<Storage> storage)
    : storage(std::move(storage)) {}
CompiledGraph::CompiledGraph(CompiledGraph &&) = default;
CompiledGraph &CompiledGraph::operator=(CompiledGraph &&) = default;
CompiledGraph::~CompiledGraph() = default;

const BakeReport &CompiledGraph::getReport() const {
  return storage->result.report;
}
rlx_program *CompiledGraph::getProgram() const {
  return storage->program.get();
}
rlx_session *CompiledGraph::getSession() const {
  return storage->session.get();
}

llvm::Error CompiledGraph::setParam(llvm::StringRef name,
                                    const rlx_tensor &value) {
  WeightsHandle weights;
  if (llvm::Error error =
          check(rlx_weights_default(getProgram(), receive(weights))))
    return error;
  return check(
      rlx_weights_set_param(weights.get(), name.str().c_str(), &value));
}

llvm::Error CompiledGraph::run(llvm::ArrayRef<rlx_tensor> inputs,
                               llvm::ArrayRef<rlx_tensor> outputs,
                               llvm::StringRef entry) {
  uint32_t index;
  std::string name = entry.str();
  if (llvm::Error error = check(rlx_program_find_entry(
          getProgram(), name.empty() ? nullptr : name.c_str(), &index)))
    return error;
  return check(rlx_session_run(getSession(), index, inputs.data(),
                               inputs.size(), outputs.data(), outputs.size()));
}

rlx_stats CompiledGraph::getStats() const {
  auto stats = sized<rlx_stats>();
  rlx_session_stats(getSession(), &stats);
  return stats;
}

/// Packed constants that the runtime could not use where they are: attributes
/// hold small values at any address. `aligned` gets what replaces them.
static void
alignPacked(const artifact::ArtifactDesc &desc,
            std::vector<std::unique_ptr<llvm::MemoryBuffer>> &aligned,
            std::vector<rlx_bytes> &segments) {
  for (const artifact::Tensor &tensor : desc.manifest.tensors) {
    if (tensor.state != artifact::TensorState::Constant ||
        tensor.layout == "row_major")
      continue;
    rlx_bytes &bytes = segments[tensor.segment];
    if (reinterpret_cast<uintptr_t>(bytes.data) % artifact::segmentAlignment ==
        0)
      continue;
    aligned.push_back(copyAligned(
        {static_cast<const char *>(bytes.data), size_t(bytes.size_bytes)},
        tensor.name));
    bytes.data = aligned.back()->getBufferStart();
  }
}

/// The manifest of an artifact that stays in memory: segments without places
/// and hashes.
static std::vector<uint8_t> encodeInPlace(const artifact::ArtifactDesc &desc,
                                          std::vector<rlx_bytes> &segments) {
  artifact::Manifest manifest = desc.manifest;
  for (const artifact::SegmentData &data : desc.data) {
    artifact::Segment segment;
    segment.kind = data.kind;
    segment.sizeBytes = data.sizeBytes;
    manifest.segments.push_back(std::move(segment));
    segments.push_back({data.bytes.data(), data.sizeBytes});
  }
  return artifact::encodeManifest(manifest);
}

llvm::Expected<CompiledGraph> Session::compile(mlir::ModuleOp graph,
                                               const CompileOptions &options) {
  BakeOptions bakeOptions = BakeOptions::fromProfile(Profile::Exact);
  if (options.cacheParamInvariant)
    bakeOptions.hoist = *options.cacheParamInvariant;
  bakeOptions.targets = {"native"};
  bakeOptions.storeGraph = false;
  llvm::Expected<BakeResult> result =
      bake(graph, options.paramBindings, bakeOptions);
  if (!result)
    return result.takeError();

  auto storage = std::make_unique<CompiledGraph::Storage>(std::move(*result));
  std::vector<rlx_bytes> segments;
  const artifact::ArtifactDesc &desc =
      storage->result.artifact.getContent().desc;
  std::vector<uint8_t> manifest = encodeInPlace(desc, segments);
  alignPacked(desc, storage->aligned, segments);
  if (llvm::Error error = check(rlx_program_open_segments(
          manifest.data(), manifest.size(), segments.data(), segments.size(),
          nullptr, receive(storage->program))))
    return std::move(error);
  auto sessionOptions = sized<rlx_session_options>();
  sessionOptions.workers = options.workers;
  if (llvm::Error error =
          check(rlx_session_create(storage->program.get(), nullptr,
                                   &sessionOptions, receive(storage->session))))
    return std::move(error);
  return CompiledGraph(std::move(storage));
}

llvm::Expected<CompiledGraph> rlx::compile(mlir::ModuleOp graph,
                                           const CompileOptions &options) {
  return Session().compile(graph, options);
}
