// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// A JSON graph as its file describes it: the schema is checked, the meaning is
/// not.
#ifndef RLX_LIB_IMPORT_JSON_GRAPHSCHEMA_H
#define RLX_LIB_IMPORT_JSON_GRAPHSCHEMA_H

#include "RLX/Import/ElementKind.h"
#include "RLX/Import/Import.h"
#include "RLX/Import/JSON/Document.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace rlx {

/// A dim of a declared shape: a size, or the id of a symbol.
struct DeclaredDim {
  bool isSymbol;
  int64_t value;
};

struct DeclaredNode {
  uint32_t id;
  /// Where the node's object, its operator and its shape stand in the text.
  uint64_t offset, opOffset, shapeOffset;
  llvm::StringRef op;
  /// What the operator carries: an object of attributes, or the one kind of
  /// Binary and the like.
  std::optional<json::Value> payload;
  llvm::SmallVector<uint32_t, 2> operands;
  llvm::SmallVector<DeclaredDim, 4> shape;
  ElementKind kind;
  /// Empty if it has none.
  llvm::StringRef name;
};

struct DeclaredGraph {
  llvm::StringRef name;
  std::vector<DeclaredNode> nodes;
  llvm::SmallVector<uint32_t> outputs;
  uint64_t outputsOffset;
};

/// Emits diagnostics about places in a document.
class GraphReporter {
public:
  GraphReporter(const json::Document &document, mlir::MLIRContext *context)
      : document(document), context(context) {}

  mlir::Location location(uint64_t offset) const;

  mlir::InFlightDiagnostic error(uint64_t offset) const {
    return mlir::emitError(location(offset));
  }
  /// An error that begins with the node's id and name.
  mlir::InFlightDiagnostic error(const DeclaredNode &node) const {
    return error(node, node.offset);
  }
  mlir::InFlightDiagnostic error(const DeclaredNode &node,
                                 uint64_t offset) const;

  mlir::MLIRContext *getContext() const { return context; }

private:
  const json::Document &document;
  mlir::MLIRContext *context;
};

/// How messages call a node: `node 4 'fc1'`.
std::string describe(const DeclaredNode &node);

/// Reads the schema of MIR Graph JSON or of an HIR model. Nodes have the ids of
/// their positions, operands come before their users, outputs are nodes, and
/// every operator is one that buildGraph() reads: those that are not are
/// reported together.
mlir::FailureOr<DeclaredGraph> readGraph(const json::Document &document,
                                         GraphFormat format,
                                         const GraphReporter &report);

/// The member `key` of a node's attributes, if it is of that kind; an error
/// otherwise.
mlir::FailureOr<json::Value> readAttribute(const DeclaredNode &node,
                                           llvm::StringRef key, json::Kind kind,
                                           const GraphReporter &report);

} // namespace rlx

#endif // RLX_LIB_IMPORT_JSON_GRAPHSCHEMA_H
