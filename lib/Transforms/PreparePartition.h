// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The part of a module that depends on weights alone, cut into instances of
/// functions: what `rlx-const-fold` runs and `rlx-split-prepare` moves.
#ifndef RLX_LIB_TRANSFORMS_PREPAREPARTITION_H
#define RLX_LIB_TRANSFORMS_PREPAREPARTITION_H

#include "RLX/Analysis/WeightOnly.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <functional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace rlx {

/// One result of one node. Values that different functions of the module
/// compute in the same way from the same weights are one.
struct NodeValue {
  unsigned node;
  unsigned result;

  bool operator==(const NodeValue &other) const {
    return node == other.node && result == other.result;
  }
  bool operator<(const NodeValue &other) const {
    return std::tie(node, result) < std::tie(other.node, other.result);
  }
};

/// A weight-only computation, however many ops of the module perform it.
struct PrepareNode {
  /// Ops that are equal, in program order.
  llvm::SmallVector<mlir::Operation *, 1> ops;
  /// Operands, then captured values.
  llvm::SmallVector<NodeValue, 2> inputs;
  bool isLeaf = false;

  mlir::Operation *getOp() const { return ops.front(); }
};

/// One run of a function.
struct PrepareInstance {
  llvm::SmallVector<unsigned> nodes;
  /// Leaves, and results of instances that stand before this one.
  llvm::SmallVector<NodeValue> arguments;
  llvm::SmallVector<NodeValue> results;
  /// Index into PreparePartition::getFunctions().
  unsigned function = 0;
};

/// Looks at all functions but prepare functions: those are what it makes.
class PreparePartition {
public:
  struct Options {
    /// False for ops to leave in main, and with them what they feed.
    std::function<bool(mlir::Operation *)> mayMove;
    /// False for ops whose results main computes itself if it uses them.
    std::function<bool(mlir::Operation *)> mayCross;
    /// Largest intermediate that becomes a result of an instance of its own
    /// where several results need it; below zero none does.
    int64_t maxSharedBytes = -1;
  };

  PreparePartition(mlir::ModuleOp module, const WeightOnlyAnalysis &weightOnly,
                   Options options);

  /// An instance stands after those whose results it takes.
  llvm::ArrayRef<PrepareInstance> getInstances() const { return instances; }

  /// One private function, in no module yet, for each structure of instances.
  /// Owned by the caller after takeFunctions().
  llvm::ArrayRef<mlir::OwningOpRef<mlir::func::FuncOp>> getFunctions() const {
    return functions;
  }
  llvm::SmallVector<mlir::OwningOpRef<mlir::func::FuncOp>> takeFunctions() {
    return std::move(functions);
  }

  const PrepareNode &getNode(unsigned node) const { return nodes[node]; }
  mlir::Type getType(NodeValue value) const;

  /// The values of the module that are `value`, in program order.
  llvm::SmallVector<mlir::Value> getOccurrences(NodeValue value) const;

  /// True if main uses the value, or it is an output.
  bool isUsedByMain(NodeValue value) const;
  /// True if main holds the op that uses the value here.
  bool isUsedByMain(mlir::OpOperand &use) const;

  /// Leaves with a name that the value is computed from, in the order in which
  /// its computation reads them.
  llvm::SmallVector<WeightLeafOpInterface> getWeights(NodeValue value) const;

private:
  void findMovable(mlir::func::FuncOp function);
  void findKept();
  void findBoundary();
  bool mayCross(mlir::Value value) const;

  unsigned number(mlir::Operation *op);
  unsigned numberOne(mlir::Operation *op);
  NodeValue lookup(mlir::Value value) const;

  void buildInstances();
  void cutComponent(llvm::ArrayRef<unsigned> component);
  void addInstance(llvm::ArrayRef<unsigned> component);
  unsigned addFunction(PrepareInstance &instance);

  Options options;
  const WeightOnlyAnalysis &weightOnly;
  /// Outermost weight-only ops that are no leaves, in program order.
  llvm::SetVector<mlir::Operation *> movable;
  /// Of these, the ones that main computes itself, though prepare may as well.
  llvm::DenseSet<mlir::Operation *> kept;

  /// A node stands after its inputs.
  std::vector<PrepareNode> nodes;
  llvm::DenseMap<mlir::Operation *, unsigned> nodeOf;
  std::unordered_map<size_t, llvm::SmallVector<unsigned, 1>> nodesByHash;
  /// Values that leave their instance.
  std::set<NodeValue> results;

  llvm::SmallVector<PrepareInstance> instances;
  llvm::SmallVector<mlir::OwningOpRef<mlir::func::FuncOp>> functions;
  std::unordered_map<size_t, llvm::SmallVector<unsigned, 1>> functionsByHash;
};

/// True if the ops that use this leaf get a copy of it rather than an argument:
/// literals, and constants of other dialects.
bool isInlinedLeaf(mlir::Operation *leaf);

/// True for ops that cost main nothing, while prepare would have to store their
/// results: views and broadcasts.
bool isFreeInMain(mlir::Operation *op);

/// The user's name for what an op computes, from its location; empty if none.
llvm::StringRef getLocationName(mlir::Location loc);

} // namespace rlx

#endif // RLX_LIB_TRANSFORMS_PREPAREPARTITION_H
