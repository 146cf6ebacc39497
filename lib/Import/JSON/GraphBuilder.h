// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// From a declared graph to ops of the rlx dialect.
#ifndef RLX_LIB_IMPORT_JSON_GRAPHBUILDER_H
#define RLX_LIB_IMPORT_JSON_GRAPHBUILDER_H

#include "ElementwiseKinds.h"
#include "GraphSchema.h"
#include "SymbolicShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace rlx {

/// What a node has become.
struct BuiltNode {
  mlir::Value value;
  SymbolicShape shape;
};

/// Builds `func.func @main`. Each node's shape and element type are inferred
/// from its operands and compared with what it declares.
class GraphBuilder {
public:
  GraphBuilder(const DeclaredGraph &graph, const GraphReporter &report)
      : graph(graph), report(report), builder(report.getContext()) {}

  /// The module, or null after an error was reported.
  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  mlir::LogicalResult buildInputs(mlir::func::FuncOp func);
  mlir::LogicalResult buildOutputs(mlir::func::FuncOp func);
  mlir::FailureOr<BuiltNode> buildNode(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildParam(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildConstant(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildActivation(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildBinary(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildCast(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildMatMul(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildReshape(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildExpand(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildTranspose(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildStopGradient(const DeclaredNode &node);
  mlir::FailureOr<BuiltNode> buildRandom(const DeclaredNode &node);

  mlir::LogicalResult checkArity(const DeclaredNode &node, size_t expected);
  mlir::LogicalResult checkSize(const DeclaredNode &node,
                                llvm::ArrayRef<Size> shape);
  /// All inputs of the node have its element type.
  mlir::LogicalResult checkKinds(const DeclaredNode &node);
  mlir::LogicalResult checkTakes(const DeclaredNode &node, Takes takes,
                                 llvm::StringRef kind);
  /// What the inputs make of the shape is what the node declares.
  mlir::LogicalResult checkShape(const DeclaredNode &node,
                                 llvm::ArrayRef<Size> inferred);
  mlir::FailureOr<SymbolicShape> staticShape(const DeclaredNode &node);
  /// The declared shape, all of whose symbols are carried by inputs.
  mlir::FailureOr<SymbolicShape> inputShape(const DeclaredNode &node);
  /// The size that a declared dim stands for; nothing for a symbol that is not
  /// defined yet.
  std::optional<Size> resolve(const DeclaredDim &dim) const;
  mlir::FailureOr<llvm::StringRef> readName(const DeclaredNode &node);
  /// The list `key` of a Reshape or an Expand agrees with the declared shape.
  mlir::LogicalResult checkTarget(const DeclaredNode &node,
                                  llvm::StringRef key);
  mlir::FailureOr<llvm::APFloat> readFloat(const DeclaredNode &node,
                                           llvm::StringRef key);
  mlir::FailureOr<uint64_t> readSeed(const DeclaredNode &node,
                                     llvm::StringRef key);

  const BuiltNode &operand(const DeclaredNode &node, size_t index) const {
    return built[node.operands[index]];
  }
  const DeclaredNode &declaredOperand(const DeclaredNode &node,
                                      size_t index) const {
    return graph.nodes[node.operands[index]];
  }
  mlir::Location location(const DeclaredNode &node) const;
  mlir::RankedTensorType typeOf(llvm::ArrayRef<Size> shape,
                                ElementKind kind) const;
  mlir::ArrayAttr dimsAttr(llvm::ArrayRef<Size> shape);

  const DeclaredGraph &graph;
  const GraphReporter &report;
  mlir::OpBuilder builder;
  std::vector<BuiltNode> built;
  /// Symbols of inputs stand for themselves, those that a reshape introduces
  /// for its quotient.
  /// Ids take all 32 bits, two values of which a map of them would reserve.
  llvm::DenseMap<uint64_t, Size> symbols;
  /// The symbols that reshapes introduced, in order.
  llvm::SmallVector<uint32_t> derivedSymbols;
  llvm::StringMap<const DeclaredNode *> inputNames, paramNames;
};

/// A declared shape as messages show it.
std::string str(llvm::ArrayRef<DeclaredDim> shape);

} // namespace rlx

#endif // RLX_LIB_IMPORT_JSON_GRAPHBUILDER_H
