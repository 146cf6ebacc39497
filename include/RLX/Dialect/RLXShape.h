// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXShape.h - Shapes and symbols of the rlx dialect -------*- C++ -*-===//

#ifndef RLX_DIALECT_RLXSHAPE_H
#define RLX_DIALECT_RLXSHAPE_H

#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <optional>

namespace rlx {

/// Names of the attributes on arguments and results of functions.
constexpr llvm::StringLiteral kNameAttr = "rlx.name";
constexpr llvm::StringLiteral kDimsAttr = "rlx.dims";
/// Mark the i64 arguments that lowering appends to a function that draws random
/// numbers: the session's seed and the number of this forward.
constexpr llvm::StringLiteral kRngSeedAttr = "rlx.rng_seed";
constexpr llvm::StringLiteral kRngCounterAttr = "rlx.rng_counter";

/// One entry of `rlx.dims` or of a `shape` attribute.
struct Dim {
  /// The symbol without `@`; empty for an integer.
  llvm::StringRef symbol;
  /// The integer; kDynamic for a symbol.
  int64_t size = mlir::ShapedType::kDynamic;

  bool isSymbol() const { return !symbol.empty(); }
};

/// Reads an entry that is an i64 or a flat symbol, as verifiers ensure.
Dim getDim(mlir::Attribute entry);
/// All entries of a dims attribute, in order.
llvm::SmallVector<Dim> getDims(mlir::ArrayAttr dims);

/// `rlx.dims` of an argument or a result; null if absent.
mlir::ArrayAttr getArgDims(mlir::FunctionOpInterface func, unsigned index);
mlir::ArrayAttr getResultDims(mlir::FunctionOpInterface func, unsigned index);
/// `rlx.name` of an argument or a result; empty if absent.
llvm::StringRef getArgName(mlir::FunctionOpInterface func, unsigned index);
llvm::StringRef getResultName(mlir::FunctionOpInterface func, unsigned index);

/// Where a symbol gets its value: dim `dim` of argument `arg`.
struct SymbolSource {
  unsigned arg;
  unsigned dim;
};
/// The first argument dim that carries `symbol`; none if there is none.
std::optional<SymbolSource> findSymbol(mlir::FunctionOpInterface func,
                                       llvm::StringRef symbol);
/// All symbols that arguments carry, in order of their first appearance.
llvm::SmallVector<std::pair<llvm::StringRef, SymbolSource>>
getSymbols(mlir::FunctionOpInterface func);

/// Size of a dim that comes of broadcasting two: 1 stretches, `?` equals what
/// it meets unless that is 1. None if both are known, differ and neither is 1.
std::optional<int64_t> broadcastDim(int64_t lhs, int64_t rhs);

/// Broadcasts two shapes, aligned at the innermost dim, as NumPy does.
/// On failure `result` is unspecified.
llvm::LogicalResult broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                    llvm::ArrayRef<int64_t> rhs,
                                    llvm::SmallVectorImpl<int64_t> &result);

/// Appends the type that two ranked tensors broadcast to. Without a location it
/// fails silently.
llvm::LogicalResult inferBroadcast(std::optional<mlir::Location> location,
                                   mlir::Value lhs, mlir::Value rhs,
                                   llvm::SmallVectorImpl<mlir::Type> &inferred);

/// Type of `rlx.matmul`; null if the operands don't fit. `rhs` is a tensor or a
/// packed weight.
mlir::RankedTensorType getMatmulType(mlir::RankedTensorType lhs,
                                     mlir::Type rhs);
/// Type of `rlx.linear`; null if the operands don't fit. `weight` is a tensor
/// (NxK) or a packed weight (KxN).
mlir::RankedTensorType getLinearType(mlir::RankedTensorType input,
                                     mlir::Type weight);

/// Number of elements; none if a dim is dynamic or the product exceeds int64.
std::optional<int64_t> getStaticElementCount(llvm::ArrayRef<int64_t> shape);

/// True for ops that implement WeightLeafOpInterface: params, constants,
/// prepared tensors, and a host compiler's own weight ops.
bool isWeightLeaf(mlir::Operation *op);

} // namespace rlx

#endif // RLX_DIALECT_RLXSHAPE_H
