// SPDX-License-Identifier: MIT OR Apache-2.0
#include "GraphSchema.h"

#include "OperatorNames.h"
#include "RLX/Support/Error.h"
#include "RLX/Support/NearMiss.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace rlx;
using json::Kind;

/// More dims than any model has; bounds the loops that are generated.
static constexpr size_t maxRank = 16;

std::string rlx::describe(const DeclaredNode &node) {
  std::string text = "node " + utostr(node.id);
  if (!node.name.empty())
    text += " " + quoteName(node.name);
  return text;
}

Location GraphReporter::location(uint64_t offset) const {
  json::Position at = document.position(offset);
  return FileLineColLoc::get(context, document.name(), at.line, at.column);
}

InFlightDiagnostic GraphReporter::error(const DeclaredNode &node,
                                        uint64_t offset) const {
  InFlightDiagnostic diagnostic = error(offset);
  diagnostic << describe(node) << ": ";
  return diagnostic;
}

namespace {

class SchemaReader {
public:
  SchemaReader(const json::Document &document, GraphFormat format,
               const GraphReporter &report)
      : document(document), format(format), report(report) {}

  FailureOr<DeclaredGraph> read();

private:
  /// The member `key` of `object`, which messages call `owner`.
  FailureOr<json::Value> field(json::Value object, StringRef key, Kind kind,
                               const Twine &owner);
  LogicalResult checkName(StringRef name, uint64_t offset);
  FailureOr<DeclaredNode> readNode(json::Value value, size_t position);
  LogicalResult readOperator(json::Value value, DeclaredNode &node);
  LogicalResult readShape(json::Value value, DeclaredNode &node);
  LogicalResult readOperands(json::Value value, DeclaredNode &node);
  /// A node id: an integer from 0 to 2^32 - 1.
  std::optional<uint32_t> readId(json::Value value);
  LogicalResult checkOrder(const DeclaredGraph &graph);
  LogicalResult readOutputs(json::Value value, DeclaredGraph &graph);
  LogicalResult checkOperators(const DeclaredGraph &graph);

  const json::Document &document;
  GraphFormat format;
  const GraphReporter &report;
  /// Positions of HIR nodes whose operator is an HIR block rather than
  /// Mir(...).
  SmallVector<bool> isBlock;
};

} // namespace

FailureOr<json::Value> SchemaReader::field(json::Value object, StringRef key,
                                           Kind kind, const Twine &owner) {
  std::optional<json::Value> value = object.find(key);
  if (!value)
    return report.error(object.offset())
           << owner.str() << " has no \"" << key << "\", expected "
           << json::describe(kind);
  if (!value->is(kind))
    return report.error(value->offset())
           << owner.str() << " has " << json::describe(value->kind())
           << " as \"" << key << "\", expected " << json::describe(kind);
  return *value;
}

FailureOr<json::Value> rlx::readAttribute(const DeclaredNode &node,
                                          StringRef key, Kind kind,
                                          const GraphReporter &report) {
  if (!node.payload || !node.payload->is(Kind::Object))
    return report.error(node, node.opOffset)
           << node.op << " has no attributes, expected \"" << key << "\"";
  std::optional<json::Value> value = node.payload->find(key);
  if (!value)
    return report.error(node, node.opOffset)
           << node.op << " has no \"" << key << "\", expected "
           << json::describe(kind);
  if (!value->is(kind))
    return report.error(node, value->offset())
           << node.op << " has " << json::describe(value->kind()) << " as \""
           << key << "\", expected " << json::describe(kind);
  return *value;
}

FailureOr<DeclaredGraph> SchemaReader::read() {
  json::Value root = document.root();
  if (!root.is(Kind::Object))
    return report.error(root.offset())
           << "graph is " << json::describe(root.kind())
           << ", expected an object";
  DeclaredGraph graph;
  FailureOr<json::Value> name = field(root, "name", Kind::String, "graph");
  if (failed(name))
    return failure();
  graph.name = name->string();
  if (failed(checkName(graph.name, name->offset())))
    return failure();

  if (format == GraphFormat::Hir) {
    FailureOr<json::Value> policy =
        field(root, "fusion_policy", Kind::String, "HIR model");
    if (failed(policy))
      return failure();
    if (policy->string() != "Fusable" && policy->string() != "Direct")
      return report.error(policy->offset())
             << "\"fusion_policy\" is " << quoteName(policy->string())
             << ", expected \"Fusable\" or \"Direct\"";
  }

  FailureOr<json::Value> nodes = field(root, "nodes", Kind::Array, "graph");
  if (failed(nodes))
    return failure();
  for (size_t i = 0, e = nodes->size(); i != e; ++i) {
    FailureOr<DeclaredNode> node = readNode((*nodes)[i], i);
    if (failed(node))
      return failure();
    graph.nodes.push_back(std::move(*node));
  }

  FailureOr<json::Value> outputs = field(root, "outputs", Kind::Array, "graph");
  if (failed(outputs) || failed(readOutputs(*outputs, graph)) ||
      failed(checkOrder(graph)) || failed(checkOperators(graph)))
    return failure();
  return graph;
}

/// Names go through C interfaces.
LogicalResult SchemaReader::checkName(StringRef name, uint64_t offset) {
  if (!name.contains('\0'))
    return success();
  return report.error(offset)
         << "name " << quoteName(name) << " has a zero byte";
}

std::optional<uint32_t> SchemaReader::readId(json::Value value) {
  if (!value.is(Kind::Number))
    return std::nullopt;
  std::optional<int64_t> id = value.integer();
  if (!id || *id < 0 || *id > UINT32_MAX)
    return std::nullopt;
  return *id;
}

FailureOr<DeclaredNode> SchemaReader::readNode(json::Value value,
                                               size_t position) {
  if (!value.is(Kind::Object))
    return report.error(value.offset())
           << "node at position " << position << " is "
           << json::describe(value.kind()) << ", expected an object";
  std::string owner = "node at position " + utostr(position);
  FailureOr<json::Value> idValue = field(value, "id", Kind::Number, owner);
  if (failed(idValue))
    return failure();
  std::optional<uint32_t> id = readId(*idValue);
  if (!id || *id != position)
    return report.error(idValue->offset())
           << owner << " has id " << idValue->digits() << ", expected "
           << position << ": ids count the nodes in order";

  DeclaredNode node{};
  node.id = *id;
  node.offset = value.offset();
  std::optional<json::Value> name = value.find("name");
  if (name && name->is(Kind::String)) {
    node.name = name->string();
    if (failed(checkName(node.name, name->offset())))
      return failure();
  } else if (name && !name->is(Kind::Null)) {
    return report.error(name->offset())
           << owner << " has " << json::describe(name->kind())
           << " as \"name\", expected a string or null";
  }

  owner = describe(node);
  FailureOr<json::Value> inputs = field(value, "inputs", Kind::Array, owner);
  FailureOr<json::Value> shape = field(value, "shape", Kind::Object, owner);
  if (failed(inputs) || failed(shape))
    return failure();
  std::optional<json::Value> op = value.find("op");
  if (!op)
    return report.error(node) << "has no \"op\"";
  if (failed(readOperator(*op, node)) || failed(readShape(*shape, node)) ||
      failed(readOperands(*inputs, node)))
    return failure();
  return node;
}

/// An operator is a bare name, or an object whose one key is the name.
LogicalResult SchemaReader::readOperator(json::Value value,
                                         DeclaredNode &node) {
  auto take = [&](json::Value op) -> LogicalResult {
    node.opOffset = op.offset();
    node.payload.reset();
    if (op.is(Kind::String)) {
      node.op = op.string();
      return success();
    }
    if (!op.is(Kind::Object) || op.size() != 1)
      return report.error(node, op.offset())
             << "\"op\" is " << json::describe(op.kind())
             << ", expected the name of an operator or an object with one key";
    node.op = op.key(0);
    node.payload = op.member(0);
    return success();
  };
  if (failed(take(value)))
    return failure();
  bool isMir = format == GraphFormat::Mir;
  if (!isMir && node.op == "Mir") {
    isMir = true;
    if (!node.payload)
      return report.error(node, node.opOffset)
             << "Mir has no operator, expected {\"Mir\": ...}";
    if (failed(take(*node.payload)))
      return failure();
  }
  isBlock.push_back(!isMir);
  return success();
}

LogicalResult SchemaReader::readShape(json::Value value, DeclaredNode &node) {
  std::string owner = "shape of " + describe(node);
  node.shapeOffset = value.offset();
  FailureOr<json::Value> dims = field(value, "dims", Kind::Array, owner);
  FailureOr<json::Value> dtype = field(value, "dtype", Kind::String, owner);
  if (failed(dims) || failed(dtype))
    return failure();

  std::optional<ElementKind> kind = parseElementKind(dtype->string());
  constexpr StringLiteral names[] = {"F32",  "F16", "BF16", "F64", "I8",
                                     "I16",  "I32", "I64",  "U8",  "U32",
                                     "Bool", "C64", "C128"};
  if (!kind || !is_contained(names, dtype->string()))
    return report.error(node, dtype->offset())
           << "dtype " << quoteName(dtype->string()) << " is not known"
           << didYouMean(
                  dtype->string(),
                  SmallVector<StringRef>(std::begin(names), std::end(names)));
  if (*kind == ElementKind::C64 || *kind == ElementKind::C128)
    return report.error(node, dtype->offset())
           << "dtype " << dtype->string() << " is not yet supported";
  node.kind = *kind;

  if (dims->size() > maxRank)
    return report.error(node, dims->offset())
           << "has " << dims->size() << " dims, at most " << maxRank
           << " are read";
  for (size_t i = 0, e = dims->size(); i != e; ++i) {
    json::Value dim = (*dims)[i];
    bool isStatic =
        dim.is(Kind::Object) && dim.size() == 1 && dim.key(0) == "Static";
    bool isSymbol =
        dim.is(Kind::Object) && dim.size() == 1 && dim.key(0) == "Dynamic";
    if (!isStatic && !isSymbol)
      return report.error(node, dim.offset())
             << "dim " << i
             << " is neither {\"Static\": size} nor {\"Dynamic\": symbol}";
    json::Value number = dim.member(0);
    std::optional<int64_t> size;
    if (number.is(Kind::Number))
      size = number.integer();
    if (!size || *size < 0 || (isSymbol && *size > UINT32_MAX))
      return report.error(node, number.offset())
             << "dim " << i << " is "
             << (number.is(Kind::Number) ? number.digits()
                                         : json::describe(number.kind()).str())
             << ", expected "
             << (isSymbol ? "a symbol id below 2^32" : "a size below 2^63");
    node.shape.push_back({isSymbol, *size});
  }
  return success();
}

LogicalResult SchemaReader::readOperands(json::Value value,
                                         DeclaredNode &node) {
  for (size_t i = 0, e = value.size(); i != e; ++i) {
    json::Value element = value[i];
    std::optional<uint32_t> id = readId(element);
    if (!id)
      return report.error(node, element.offset())
             << "input " << i << " is "
             << (element.is(Kind::Number)
                     ? element.digits()
                     : json::describe(element.kind()).str())
             << ", expected the id of a node";
    node.operands.push_back(*id);
  }
  return success();
}

LogicalResult SchemaReader::readOutputs(json::Value value,
                                        DeclaredGraph &graph) {
  graph.outputsOffset = value.offset();
  if (value.size() == 0)
    return report.error(value.offset()) << "graph has no outputs";
  for (size_t i = 0, e = value.size(); i != e; ++i) {
    json::Value element = value[i];
    std::optional<uint32_t> id = readId(element);
    if (!id)
      return report.error(element.offset())
             << "output " << i << " is no id of a node";
    if (*id >= graph.nodes.size())
      return report.error(element.offset())
             << "output " << i << " is node " << *id << ", graph has "
             << graph.nodes.size() << " nodes";
    graph.outputs.push_back(*id);
  }
  return success();
}

/// Nodes stand after what they read, so that a graph has no cycle.
LogicalResult SchemaReader::checkOrder(const DeclaredGraph &graph) {
  for (const DeclaredNode &node : graph.nodes) {
    for (auto [index, id] : enumerate(node.operands)) {
      if (id < node.id)
        continue;
      if (id >= graph.nodes.size())
        return report.error(node)
               << "input " << index << " is node " << id << ", graph has "
               << graph.nodes.size() << " nodes";
      if (id == node.id)
        return report.error(node) << "input " << index << " is the node itself";
      InFlightDiagnostic diagnostic = report.error(node);
      diagnostic << "input " << index << " is " << describe(graph.nodes[id])
                 << ", which comes later";
      diagnostic.attachNote(report.location(graph.nodes[id].offset))
          << describe(graph.nodes[id]) << " is here; nodes come after what "
          << "they read, and a graph has no cycle";
      return diagnostic;
    }
  }
  return success();
}

/// One message for each operator that nobody knows, and one for all that are
/// not yet read, so that the user sees at once what a model lacks.
LogicalResult SchemaReader::checkOperators(const DeclaredGraph &graph) {
  SmallVector<StringRef> mirNames(readMirOperators());
  append_range(mirNames, unreadMirOperators());
  SmallVector<StringRef> blockNames(unreadHirOperators());
  blockNames.append({"Input", "Param", "Constant", "Mir"});
  constexpr StringLiteral leaves[] = {"Input", "Param", "Constant"};

  MapVector<StringRef, SmallVector<const DeclaredNode *>> unread, unknown;
  for (const DeclaredNode &node : graph.nodes) {
    bool block = isBlock[node.id];
    if (block ? is_contained(leaves, node.op)
              : is_contained(readMirOperators(), node.op))
      continue;
    bool isKnown = is_contained(block ? blockNames : mirNames, node.op);
    (isKnown ? unread : unknown)[node.op].push_back(&node);
  }

  for (auto &[op, nodes] : unknown) {
    bool block = isBlock[nodes.front()->id];
    InFlightDiagnostic diagnostic =
        report.error(*nodes.front(), nodes.front()->opOffset);
    diagnostic << "operator " << quoteName(op) << " is not known"
               << didYouMean(op, block ? blockNames : mirNames);
    // Each schema's operators are likely to turn up in the other.
    if (block && is_contained(mirNames, op))
      diagnostic << "; in an HIR model it is written {\"Mir\": ...}";
    if (!block && is_contained(blockNames, op))
      diagnostic << "; it belongs to HIR models, which have a "
                 << "\"fusion_policy\"";
  }
  if (!unread.empty()) {
    InFlightDiagnostic diagnostic =
        report.error(unread.front().second.front()->opOffset);
    diagnostic << "graph has operators that are not yet supported: ";
    interleaveComma(unread, diagnostic, [&](auto &entry) {
      constexpr size_t maxShown = 8;
      ArrayRef<const DeclaredNode *> nodes = entry.second;
      diagnostic << entry.first << " (";
      interleaveComma(
          nodes.take_front(maxShown), diagnostic,
          [&](const DeclaredNode *node) { diagnostic << describe(*node); });
      if (nodes.size() > maxShown)
        diagnostic << " and " << nodes.size() - maxShown << " more";
      diagnostic << ")";
    });
  }
  return success(unknown.empty() && unread.empty());
}

FailureOr<DeclaredGraph> rlx::readGraph(const json::Document &document,
                                        GraphFormat format,
                                        const GraphReporter &report) {
  return SchemaReader(document, format, report).read();
}
