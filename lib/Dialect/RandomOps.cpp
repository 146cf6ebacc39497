// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RandomOps.cpp - Random numbers ---------------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "Verify.h"

using namespace mlir;
using namespace rlx;

LogicalResult RngNormalOp::verify() {
  if (!getMean().isFinite() || !getScale().isFinite() ||
      getScale().isNegative())
    return emitOpError("has mean ")
           << getMeanAttr() << " and scale " << getScaleAttr()
           << " but needs a finite mean and a finite scale of at least 0";
  return verifyShapeAttr(*this, getShape(), getType());
}

LogicalResult RngNormalOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySymbolsOfInputs(*this, getShape());
}

LogicalResult RngUniformOp::verify() {
  if (!getLow().isFinite() || !getHigh().isFinite() || getHigh() < getLow())
    return emitOpError("has low ")
           << getLowAttr() << " and high " << getHighAttr()
           << " but needs finite bounds with low <= high";
  return verifyShapeAttr(*this, getShape(), getType());
}

LogicalResult RngUniformOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySymbolsOfInputs(*this, getShape());
}
