// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Patterns.h - The patterns of RLXToLinalg by family -------*- C++ -*-===//

#ifndef RLX_LIB_CONVERSION_RLXTOLINALG_PATTERNS_H
#define RLX_LIB_CONVERSION_RLXTOLINALG_PATTERNS_H

#include "RLX/Conversion/RLXToLinalg/RLXToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace rlx {

void populateElementwiseToLinalgPatterns(mlir::RewritePatternSet &patterns,
                                         const ShapeResolver &shapes);
void populateRandomToLinalgPatterns(mlir::RewritePatternSet &patterns,
                                    const ShapeResolver &shapes,
                                    RngStateProvider rngState);
void populateShapeOpsToTensorPatterns(mlir::RewritePatternSet &patterns,
                                      const ShapeResolver &shapes);

/// An uninitialised tensor of the type and sizes of `tensor`.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        const ShapeResolver &shapes, mlir::Value tensor);

/// How an input of `type` is read when it broadcasts to `result`: dims aligned
/// at the innermost one, size 1 read at 0.
mlir::AffineMap getBroadcastMap(mlir::RankedTensorType type,
                                mlir::RankedTensorType result);

/// A `linalg.generic` over all elements of `result`'s type and sizes.
mlir::Value
createGeneric(mlir::OpBuilder &builder, mlir::Location loc,
              const ShapeResolver &shapes, mlir::Value result,
              mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
              llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                             mlir::ValueRange)>
                  body);

} // namespace rlx

#endif // RLX_LIB_CONVERSION_RLXTOLINALG_PATTERNS_H
