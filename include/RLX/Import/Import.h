// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// From a file that holds a graph to a module of the rlx dialect.
///
/// Programs that make their graph themselves need none of this: they build a
/// `func.func @main` of rlx ops with `mlir::OpBuilder`.
#ifndef RLX_IMPORT_IMPORT_H
#define RLX_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace rlx {

/// The schemas of JSON graphs.
enum class GraphFormat { Mir, Hir };

/// A graph as it was read.
struct ImportedGraph {
  /// One `func.func @main`. The module attribute `rlx.name` is the graph's
  /// name; arguments and results carry `rlx.name` and `rlx.dims`; every op has
  /// the name of its node and the place in the file as its location.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What was read as what: `bundle:<path>`, `hir:<path>` or `mir:<path>`.
  std::string source;
  /// The weight file of a bundle directory, if it has one.
  std::optional<std::string> defaultWeights;
};

/// Reads the graph at `path`: a bundle directory with `model.hir.json`, an HIR
/// model (a file called `*.hir.json`, or with a top-level key `fusion_policy`)
/// or MIR Graph JSON. The graph is checked whole: ids, order, arity, shapes and
/// element types of every node. Faults are emitted as diagnostics of `context`
/// that name file, line, column and node. Loads the dialects it needs.
mlir::FailureOr<ImportedGraph> importGraph(llvm::StringRef path,
                                           mlir::MLIRContext &context);

/// As above for the text of one JSON graph in the given schema; `name` stands
/// for the file in locations.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importGraphText(llvm::StringRef text, llvm::StringRef name, GraphFormat format,
                mlir::MLIRContext &context);

} // namespace rlx

#endif // RLX_IMPORT_IMPORT_H
