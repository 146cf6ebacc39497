// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXDialect.cpp - The rlx dialect -------------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

/// Parses and prints the names of `rlx.prepare`: `("w", "scale")`.
static mlir::ParseResult parseNames(mlir::OpAsmParser &parser,
                                    mlir::ArrayAttr &names) {
  llvm::SmallVector<mlir::Attribute> parsed;
  auto parseName = [&]() -> mlir::ParseResult {
    mlir::StringAttr name;
    if (parser.parseAttribute(name))
      return mlir::failure();
    parsed.push_back(name);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren,
                                     parseName))
    return mlir::failure();
  names = parser.getBuilder().getArrayAttr(parsed);
  return mlir::success();
}

static void printNames(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::ArrayAttr names) {
  printer << '(';
  llvm::interleaveComma(names, printer);
  printer << ')';
}

#include "RLX/Dialect/RLXDialect.cpp.inc"
#include "RLX/Dialect/RLXInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "RLX/Dialect/RLXOps.cpp.inc"

using namespace mlir;
using namespace rlx;

void RLXDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "RLX/Dialect/RLXOps.cpp.inc"
      >();
}
LogicalResult RLXDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argIndex,
                                                   NamedAttribute attribute) {
  return success();
}
LogicalResult RLXDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  return success();
}
