// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Buffers in the lowered functions: where they come from and how large they
/// are; and how a value that depends on the symbols alone is computed again in
/// another function.
#ifndef RLX_CODEGEN_CPU_BUFFERS_H
#define RLX_CODEGEN_CPU_BUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

namespace rlx {

/// The arguments of a function after rlx-bind-arguments, by what they are.
struct BoundArguments {
  llvm::SmallVector<mlir::BlockArgument> buffers; ///< inputs, outputs, weights
  llvm::SmallVector<mlir::BlockArgument> outputs, symbols;
  mlir::BlockArgument arena, workers;      ///< null before rlx-plan-arena
  mlir::BlockArgument rngSeed, rngCounter; ///< null unless numbers are drawn

  explicit BoundArguments(mlir::func::FuncOp func);
};

/// The buffer that `buffer` is a view of: an argument, an allocation, a view of
/// the arena or a global.
mlir::Value getRoot(mlir::Value buffer);

/// Dims of a buffer in terms of values that its function has already: symbols,
/// dims of outputs (what the function returns), operands of views.
llvm::SmallVector<mlir::OpFoldResult> getDims(mlir::OpBuilder &builder,
                                              mlir::Value buffer);

/// Product of sizes as an index.
mlir::Value getProduct(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Bytes of one element in memory.
int64_t getElementBytes(mlir::Type elementType);

/// Clones the computation of values into another place. Only pure ops on
/// scalars are cloned; what an argument becomes is up to `leaf`.
class Rematerializer {
public:
  using Leaf = std::function<mlir::Value(mlir::BlockArgument)>;
  /// Called instead of cloning; null result: clone.
  using Special = std::function<mlir::Value(mlir::Operation *)>;

  Rematerializer(mlir::OpBuilder &builder, Leaf leaf)
      : builder(builder), leaf(std::move(leaf)) {}

  /// `root` at the insertion point of the builder. Fails, with a diagnostic,
  /// if it depends on the contents of a buffer.
  llvm::FailureOr<mlir::Value> get(mlir::Value root);

  mlir::IRMapping &getMapping() { return mapping; }
  void setSpecial(Special function) { special = std::move(function); }

private:
  mlir::OpBuilder &builder;
  Leaf leaf;
  Special special;
  mlir::IRMapping mapping;
};

} // namespace rlx

#endif // RLX_CODEGEN_CPU_BUFFERS_H
