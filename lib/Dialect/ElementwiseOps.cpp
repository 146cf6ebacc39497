// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ElementwiseOps.cpp - Elementwise ops ---------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"

using namespace mlir;
using namespace rlx;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

OpFoldResult AbsOp::fold(FoldAdaptor) {
  // |x| and -x differ in the sign alone, which |.| drops.
  if (auto abs = getInput().getDefiningOp<AbsOp>())
    return abs.getResult();
  if (auto neg = getInput().getDefiningOp<NegOp>()) {
    getInputMutable().assign(neg.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto neg = getInput().getDefiningOp<NegOp>())
    return neg.getInput();
  return {};
}

LogicalResult CastOp::verify() {
  if (getInput().getType().getShape() == getType().getShape())
    return success();
  InFlightDiagnostic diag = emitOpError("result is ")
                            << getType() << " but input is "
                            << getInput().getType()
                            << "; a cast keeps the shape";
  diag.attachNote(getInput().getLoc()) << "input is " << getInput().getType();
  return diag;
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}
