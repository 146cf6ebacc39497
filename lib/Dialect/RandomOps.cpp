// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RandomOps.cpp - Random numbers ---------------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"

using namespace mlir;
using namespace rlx;

LogicalResult RngNormalOp::verify() { return success(); }
LogicalResult RngUniformOp::verify() { return success(); }
