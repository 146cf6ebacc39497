// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Pipelines/Artifact.h"
#include "ArtifactContent.h"
#include "PortableGraph.h"
#include "RLX/Artifact/Reader.h"
#include "RLX/Support/Error.h"

using namespace rlx;

Artifact::Artifact(std::unique_ptr<Content> content)
    : content(std::move(content)) {}
Artifact::Artifact(Artifact &&) = default;
Artifact &Artifact::operator=(Artifact &&) = default;
Artifact::~Artifact() = default;

llvm::Expected<Artifact> Artifact::read(llvm::StringRef path) {
  Result<artifact::OpenedArtifact> opened =
      artifact::openArtifactFile(path.str());
  if (!opened)
    return makeError("{0}", opened.fault().message);
  auto content = std::make_unique<Content>();
  content->path = path.str();
  content->desc.manifest = std::move(opened->manifest);
  content->source = std::move(opened->source);
  const std::vector<artifact::Segment> &segments =
      content->desc.manifest.segments;
  for (uint32_t index = 0; index < segments.size(); ++index) {
    artifact::ByteSpan bytes = content->source->segment(index);
    content->desc.data.push_back(artifact::SegmentData::borrow(
        segments[index].kind, {bytes.data, bytes.sizeBytes}));
  }
  if (std::optional<uint32_t> graph = content->desc.manifest.graphSegment)
    content->graphLeaves = segments[*graph].leaves;
  content->desc.manifest.segments.clear();
  return Artifact(std::move(content));
}

llvm::Error Artifact::write(llvm::StringRef path) const {
  return artifact::writeArtifactFile(content->desc, path);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> Artifact::toMemory() const {
  return artifact::writeArtifactMemory(content->desc);
}

llvm::Expected<llvm::StringRef>
Artifact::getCode(llvm::StringRef cpuClass) const {
  for (const artifact::Executable &executable :
       content->desc.manifest.executables) {
    if (executable.target != cpuClass)
      continue;
    llvm::ArrayRef<uint8_t> bytes =
        content->desc.data[executable.segment].bytes;
    return llvm::StringRef(reinterpret_cast<const char *>(bytes.data()),
                           bytes.size());
  }
  return makeError("the file has no code for {0}", quoteName(cpuClass));
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
Artifact::getGraph(mlir::MLIRContext &context) const {
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> graph =
      readPortableGraph(content, context);
  if (graph || content->path.empty())
    return graph;
  return makeError("{0}: {1}", content->path,
                   llvm::toString(graph.takeError()));
}
