// SPDX-License-Identifier: MIT OR Apache-2.0
//===- PortableGraph.cpp - The graph of a file as MLIR bytecode -----------===//

#include "PortableGraph.h"
#include "ArtifactBuilder.h"
#include "RLX/Dialect/DiagnosticCollector.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Import/ElementsAttrs.h"
#include "RLX/Support/Error.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace rlx;

//===----------------------------------------------------------------------===//
// What a graph may consist of
//===----------------------------------------------------------------------===//

static bool isPortable(StringRef dialect) {
  return dialect == BuiltinDialect::getDialectNamespace() ||
         dialect == func::FuncDialect::getDialectNamespace() ||
         dialect == RLXDialect::getDialectNamespace();
}

/// Fails if an op, type or attribute is not of `builtin`, `func` or `rlx`: only
/// these are there in every compiler that reads files.
static llvm::Error checkDialects(ModuleOp graph) {
  std::string foreign;
  auto note = [&](StringRef what, auto value) {
    if (foreign.empty())
      llvm::raw_string_ostream(foreign) << what << ' ' << value;
    return WalkResult::interrupt();
  };
  AttrTypeWalker parts;
  parts.addWalk([&](Attribute attribute) {
    return isPortable(attribute.getDialect().getNamespace())
               ? WalkResult::advance()
               : note("attribute", attribute);
  });
  parts.addWalk([&](Type type) {
    return isPortable(type.getDialect().getNamespace()) ? WalkResult::advance()
                                                        : note("type", type);
  });
  graph.walk([&](Operation *op) {
    if (!isPortable(op->getName().getDialectNamespace()))
      return note("op", op->getName());
    if (parts.walk(op->getAttrDictionary()).wasInterrupted())
      return WalkResult::interrupt();
    for (Type type : op->getResultTypes())
      if (parts.walk(type).wasInterrupted())
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (parts.walk(type).wasInterrupted())
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (foreign.empty())
    return llvm::Error::success();
  return makeError("the portable graph can't have {0}: only the dialects "
                   "builtin, func and rlx are in files",
                   foreign);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The node's name without the place in a file that it came from.
static Location reduceLocation(Location location) {
  Location reduced = UnknownLoc::get(location.getContext());
  location->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    if (!name)
      return WalkResult::advance();
    reduced = NameLoc::get(name.getName());
    return WalkResult::interrupt();
  });
  return reduced;
}

static void reduceLocations(ModuleOp graph) {
  graph.walk([](Operation *op) {
    op->setLoc(reduceLocation(op->getLoc()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setLoc(reduceLocation(argument.getLoc()));
  });
}

/// Weights whose values are in the file, by name.
using StoredWeights = llvm::StringMap<const artifact::Tensor *>;

static StoredWeights getStoredWeights(const artifact::Manifest &manifest) {
  StoredWeights stored;
  for (const artifact::Tensor &tensor : manifest.tensors)
    if (tensor.state == artifact::TensorState::Constant)
      stored.try_emplace(tensor.name, &tensor);
  return stored;
}

/// Leaves the values of `stored` to the weight table.
static void dropValues(ModuleOp graph, const StoredWeights &stored) {
  graph.walk([&](ConstantOp constant) {
    if (!stored.contains(constant.getWeightName()))
      return;
    OpBuilder builder(constant);
    auto param = ParamOp::create(builder, constant.getLoc(), constant.getType(),
                                 constant.getNameAttr());
    param->setDiscardableAttrs(
        llvm::to_vector(constant->getDiscardableAttrs()));
    constant.replaceAllUsesWith(param.getResult());
    constant.erase();
  });
}

llvm::Error rlx::addPortableGraph(ModuleOp module, Artifact::Content &content) {
  OwningOpRef<ModuleOp> graph = module.clone();
  dropValues(*graph, getStoredWeights(content.desc.manifest));
  reduceLocations(*graph);
  if (llvm::Error error = checkDialects(*graph))
    return error;
  SmallVector<char> bytes;
  llvm::raw_svector_ostream stream(bytes);
  BytecodeWriterConfig config("rlx " RLX_VERSION);
  if (failed(writeBytecodeToFile(*graph, stream, config)))
    return makeError("the portable graph can't be written as bytecode");
  content.addBuffer(artifact::SegmentKind::Graph, copyAligned(bytes));
  content.desc.manifest.graphSegment = content.desc.data.size() - 1;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The attribute for a weight that `op` reads, on the bytes where they lie.
static llvm::Expected<ElementsAttr>
makeValue(ParamOp op, const artifact::Tensor &stored,
          const std::shared_ptr<const Artifact::Content> &content) {
  artifact::Tensor expected;
  if (!describeType(op.getType(), expected) || expected.dtype != stored.dtype ||
      expected.shape != stored.shape || expected.encoding != stored.encoding ||
      expected.layout != stored.layout)
    return makeError("weight {0} has a type in the portable graph that differs "
                     "from the weight table; the file is damaged",
                     quoteName(stored.name));
  ArrayRef<uint8_t> bytes = content->desc.data[stored.segment].bytes.slice(
      stored.segmentOffset, stored.sizeBytes);
  auto type = dyn_cast<ShapedType>(op.getType());
  if (!type)
    type = RankedTensorType::get({int64_t(stored.sizeBytes)},
                                 IntegerType::get(op.getContext(), 8));
  bool isCopied;
  return aliasElements(
      type,
      ArrayRef<char>(reinterpret_cast<const char *>(bytes.data()),
                     bytes.size()),
      content, stored.name, isCopied);
}

/// Gives weights that have a value in the file that value again.
static llvm::Error
restoreValues(ModuleOp graph,
              const std::shared_ptr<const Artifact::Content> &content) {
  StoredWeights stored = getStoredWeights(content->desc.manifest);
  // One attribute per weight: different ones would be different weights.
  llvm::StringMap<ElementsAttr> values;
  SmallVector<ParamOp> params;
  graph.walk([&](ParamOp param) { params.push_back(param); });
  for (ParamOp param : params) {
    auto found = stored.find(param.getName());
    if (found == stored.end())
      continue;
    ElementsAttr &value = values[param.getName()];
    if (!value) {
      llvm::Expected<ElementsAttr> made =
          makeValue(param, *found->second, content);
      if (!made)
        return made.takeError();
      value = *made;
    }
    OpBuilder builder(param);
    auto constant = ConstantOp::create(builder, param.getLoc(), param.getType(),
                                       param.getNameAttr(), value);
    constant->setDiscardableAttrs(
        llvm::to_vector(param->getDiscardableAttrs()));
    param.replaceAllUsesWith(constant.getResult());
    param.erase();
  }
  return llvm::Error::success();
}

llvm::Expected<OwningOpRef<ModuleOp>>
rlx::readPortableGraph(std::shared_ptr<const Artifact::Content> content,
                       MLIRContext &context) {
  const artifact::Manifest &manifest = content->desc.manifest;
  if (!manifest.graphSegment)
    return makeError("the file has no portable graph; bake the model again");
  // What is hashed is what is parsed: a private copy, which nobody can change
  // in between.
  ArrayRef<uint8_t> mapped = content->desc.data[*manifest.graphSegment].bytes;
  std::unique_ptr<llvm::MemoryBuffer> bytes =
      copyAligned(ArrayRef<char>(reinterpret_cast<const char *>(mapped.data()),
                                 mapped.size()),
                  "portable graph");
  artifact::ByteSpan copy = {
      reinterpret_cast<const uint8_t *>(bytes->getBufferStart()),
      bytes->getBufferSize()};
  if (content->graphLeaves &&
      artifact::hashLeaves(copy) != *content->graphLeaves)
    return makeError("the portable graph does not have the SHA-256 that the "
                     "manifest states; the file is damaged");
  if (!isBytecode(*bytes))
    return makeError("the portable graph is no MLIR bytecode");

  context.loadDialect<RLXDialect, func::FuncDialect>();
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(bytes), llvm::SMLoc());
  DiagnosticCollector diagnostics(&context);
  auto graph = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!graph)
    return diagnostics.takeError("the portable graph could not be read");
  if (llvm::Error error = checkDialects(*graph))
    return std::move(error);
  if (llvm::Error error = restoreValues(*graph, content))
    return std::move(error);
  return std::move(graph);
}
