// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LinearAlgebraOps.cpp - Products and packing --------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace rlx;

LogicalResult MatmulOp::verify() { return success(); }
void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {}
LogicalResult LinearOp::verify() { return success(); }
LogicalResult PackOp::verify() { return success(); }
void PackOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {}
