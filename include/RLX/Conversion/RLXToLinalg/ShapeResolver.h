// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ShapeResolver.h - Sizes of all tensors of a function -----*- C++ -*-===//

#ifndef RLX_CONVERSION_RLXTOLINALG_SHAPERESOLVER_H
#define RLX_CONVERSION_RLXTOLINALG_SHAPERESOLVER_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace rlx {

class ExpandOp;
class ReshapeOp;

/// Says of every dim of every tensor in a function which number it is: a
/// constant, or an index value that dominates all uses of the tensor. Dims that
/// are known to be equal (same symbol, same computation) are the same value.
///
/// The arithmetic reads the dims of arguments and nothing else and stands at
/// the start of the function, in one run of pure ops and `cf.assert`. The
/// asserts hold what the graph takes for granted and types don't say: that two
/// `?` of an elementwise op are equal, that a reshape keeps the element count.
/// An op that RLX doesn't know has its dims read by `tensor.dim` behind it, and
/// what follows from those stands where it is needed.
class ShapeResolver {
public:
  explicit ShapeResolver(mlir::FunctionOpInterface func);

  /// Visits all ops of the function. Fails with a diagnostic if sizes that are
  /// known now contradict each other.
  llvm::LogicalResult run();

  /// An index attribute or an index value. The tensor is one that run() saw.
  mlir::OpFoldResult getDim(mlir::Value tensor, int64_t dim) const;
  llvm::SmallVector<mlir::OpFoldResult> getDims(mlir::Value tensor) const;

private:
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
  /// A product of a constant and values, as far as it can be told apart.
  struct Product {
    int64_t constant = 1;
    llvm::SmallVector<mlir::Value> values;
  };

  llvm::LogicalResult visit(mlir::Operation *op);
  mlir::FailureOr<Sizes> visitBroadcast(mlir::Operation *op);
  mlir::FailureOr<Sizes> visitProduct(mlir::Operation *op, mlir::Value lhs,
                                      mlir::Value rhs, bool isTransposed);
  mlir::FailureOr<Sizes> visitReshape(ReshapeOp op);
  mlir::FailureOr<Sizes> visitExpand(ExpandOp op);
  mlir::FailureOr<Sizes> visitShape(mlir::Operation *op, mlir::ArrayAttr shape);
  void visitOther(mlir::Operation *op);
  void visitArguments();
  void visitBlockArguments(mlir::Block &block);
  /// Reads the dims of a tensor where the builder stands.
  void recordByReading(mlir::Value tensor);

  /// The one size that lhs and rhs broadcast to, each of type size 1 or not.
  mlir::FailureOr<mlir::OpFoldResult> broadcast(mlir::Operation *op,
                                                mlir::Value lhs, int64_t lhsDim,
                                                mlir::Value rhs,
                                                int64_t rhsDim);
  /// Makes two sizes equal: by knowing it, or by an assert.
  llvm::LogicalResult requireEqual(mlir::Operation *op, mlir::OpFoldResult lhs,
                                   mlir::OpFoldResult rhs,
                                   const llvm::Twine &what);
  void emitAssert(mlir::Operation *op, mlir::Value condition,
                  const llvm::Twine &what);
  /// Number that an unknown factor of `out` must be for its product to equal
  /// `in`; asserts that there is one.
  mlir::FailureOr<mlir::OpFoldResult> divide(mlir::Operation *op, Product in,
                                             Product out);
  llvm::LogicalResult requireEqualProducts(mlir::Operation *op, Product in,
                                           Product out);
  mlir::Value multiply(const Product &product);
  mlir::Value asValue(mlir::OpFoldResult size);
  mlir::OpFoldResult resolve(mlir::Value size) const;

  /// The one of all sizes that asserts made equal to `size`.
  mlir::OpFoldResult getRepresentative(mlir::OpFoldResult size) const;

  /// Places the builder for something computed from `sizes` on behalf of `op`.
  void place(mlir::Operation *op, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  void record(mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> sizes);

  mlir::FunctionOpInterface func;
  mlir::OpBuilder builder;
  /// The first op behind the arithmetic at the start of the function.
  mlir::Operation *body = nullptr;
  llvm::DenseMap<mlir::Value, Sizes> sizesOf;
  llvm::StringMap<mlir::OpFoldResult> symbols;
  llvm::DenseMap<mlir::Value, mlir::OpFoldResult> representatives;
  /// What sizes that this class multiplied are made of.
  llvm::DenseMap<mlir::Value, Product> factors;
  /// Values that don't stand at the start of the function.
  llvm::DenseSet<mlir::Value> local;
};

} // namespace rlx

#endif // RLX_CONVERSION_RLXTOLINALG_SHAPERESOLVER_H
