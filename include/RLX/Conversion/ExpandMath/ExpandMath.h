// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ExpandMath.h - math ops to arith ops ---------------------*- C++ -*-===//

#ifndef RLX_CONVERSION_EXPANDMATH_EXPANDMATH_H
#define RLX_CONVERSION_EXPANDMATH_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace rlx {

/// Rewrites the math ops that would become calls of libm, and `arith.remf`, on
/// f32 scalars and vectors into arith ops that vectorise (ScalarMath.h).
void populateRLXMathPatterns(mlir::RewritePatternSet &patterns);

/// True for a math op, or an `arith.remf`, that LLVM would turn into a call.
bool becomesMathCall(mlir::Operation *op);

} // namespace rlx

#endif // RLX_CONVERSION_EXPANDMATH_EXPANDMATH_H
