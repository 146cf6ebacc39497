// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/Import.h"

#include "RLX/Import/JSON/Document.h"
#include "RLX/Support/File.h"
#include "JSON/GraphBuilder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;
using namespace rlx;

static FailureOr<OwningOpRef<ModuleOp>>
importDocument(const json::Document &document, GraphFormat format,
               MLIRContext &context) {
  GraphReporter report(document, &context);
  FailureOr<DeclaredGraph> graph = readGraph(document, format, report);
  if (failed(graph))
    return failure();
  OwningOpRef<ModuleOp> module = GraphBuilder(*graph, report).build();
  if (!module)
    return failure();
  return std::move(module);
}

static FailureOr<json::Document> parse(StringRef text, StringRef name,
                                       MLIRContext &context) {
  Expected<json::Document> document = json::Document::parse(text, name);
  if (document)
    return std::move(*document);
  handleAllErrors(document.takeError(), [&](const json::ParseError &error) {
    emitError(FileLineColLoc::get(&context, error.name, error.position.line,
                                  error.position.column))
        << error.what;
  });
  return failure();
}

FailureOr<OwningOpRef<ModuleOp>> rlx::importGraphText(StringRef text,
                                                      StringRef name,
                                                      GraphFormat format,
                                                      MLIRContext &context) {
  FailureOr<json::Document> document = parse(text, name, context);
  if (failed(document))
    return failure();
  return importDocument(*document, format, context);
}

/// Whether a document is an HIR model: the key is required there and unknown to
/// MIR. Looked for in the document, not in the text, where it might be the name
/// of a node.
static bool hasFusionPolicy(const json::Document &document) {
  json::Value root = document.root();
  return root.is(json::Kind::Object) && root.find("fusion_policy");
}

static bool hasNodes(const json::Document &document) {
  json::Value root = document.root();
  return root.is(json::Kind::Object) && root.find("nodes");
}

FailureOr<ImportedGraph> rlx::importGraph(StringRef path,
                                          MLIRContext &context) {
  // Faults of a file as a whole have no line, so the path is in the text.
  auto fail = [&](const Twine &what) {
    return emitError(UnknownLoc::get(&context)) << path << ": " << what;
  };
  ImportedGraph graph;
  SmallString<256> file(path);
  bool isBundle = sys::fs::is_directory(path);
  if (isBundle) {
    SmallString<256> weights(path);
    sys::path::append(weights, "weights.safetensors");
    if (sys::fs::exists(weights))
      graph.defaultWeights = weights.str().str();
    sys::path::append(file, "model.hir.json");
    if (!sys::fs::exists(file))
      return fail("directory is no bundle, it has no model.hir.json");
  }

  Expected<std::unique_ptr<MemoryBuffer>> buffer = openRegularFile(file);
  if (!buffer)
    return emitError(UnknownLoc::get(&context)) << toString(buffer.takeError());
  FailureOr<json::Document> document =
      parse((*buffer)->getBuffer(), file, context);
  if (failed(document))
    return failure();

  if (isBundle || file.ends_with(".hir.json") || hasFusionPolicy(*document)) {
    graph.source = ((isBundle ? "bundle:" : "hir:") + path).str();
    FailureOr<OwningOpRef<ModuleOp>> module =
        importDocument(*document, GraphFormat::Hir, context);
    if (failed(module))
      return failure();
    graph.module = std::move(*module);
    return std::move(graph);
  }

  if (!hasNodes(*document))
    return fail("is neither MIR Graph JSON, which has \"nodes\", nor an HIR "
                "model, which has a \"fusion_policy\" too");
  graph.source = ("mir:" + path).str();
  FailureOr<OwningOpRef<ModuleOp>> module =
      importDocument(*document, GraphFormat::Mir, context);
  if (failed(module))
    return failure();
  graph.module = std::move(*module);
  return std::move(graph);
}
