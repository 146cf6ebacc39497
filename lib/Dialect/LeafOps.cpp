// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LeafOps.cpp - Weights ------------------------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace rlx;

//===----------------------------------------------------------------------===//
// ParamOp
//===----------------------------------------------------------------------===//

StringRef ParamOp::getWeightName() { return getName(); }
ElementsAttr ParamOp::getWeightValue() { return {}; }
void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult ParamOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

StringRef ConstantOp::getWeightName() { return getName().value_or(""); }
ElementsAttr ConstantOp::getWeightValue() { return getValue(); }
void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getWeightName());
}

void ConstantOp::build(OpBuilder &builder, OperationState &state,
                       ElementsAttr value, StringRef name) {
  build(builder, state, value.getType(),
        name.empty() ? StringAttr() : builder.getStringAttr(name), value);
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  StringAttr name;
  OptionalParseResult hasName = parser.parseOptionalAttribute(name);
  if (hasName.has_value() && failed(*hasName))
    return failure();
  properties.name = name;
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(value))
    return failure();
  properties.value = value;
  Type type = value.getType();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(type))
    return failure();
  state.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (getNameAttr())
    printer << getNameAttr() << ' ';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"name", "value"});
  if (!(*this)->getDiscardableAttrs().empty())
    printer << ' ';
  printer << getValueAttr();
  if (getType() != getValue().getType())
    printer << " -> " << getType();
}

LogicalResult ConstantOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// PreparedOp
//===----------------------------------------------------------------------===//

StringRef PreparedOp::getWeightName() { return getName(); }
ElementsAttr PreparedOp::getWeightValue() { return {}; }
void PreparedOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult PreparedOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// PrepareOp
//===----------------------------------------------------------------------===//

LogicalResult PrepareOp::verify() { return success(); }

LogicalResult PrepareOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
