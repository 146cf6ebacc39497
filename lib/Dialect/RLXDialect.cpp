// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXDialect.cpp - The rlx dialect -------------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "Bytecode.h"
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
  addBytecodeInterface(*this);
}

//===----------------------------------------------------------------------===//
// Attributes on arguments and results of functions
//===----------------------------------------------------------------------===//

/// `rlx.name`: a string that no earlier argument (or result) has.
static LogicalResult verifyName(
    FunctionOpInterface func, StringRef what, unsigned index,
    Attribute attribute,
    llvm::function_ref<StringRef(FunctionOpInterface, unsigned)> getName) {
  auto name = dyn_cast<StringAttr>(attribute);
  if (!name || name.getValue().empty())
    return func.emitOpError()
           << what << ' ' << index << " has " << kNameAttr << " = " << attribute
           << " but a name is a string that is not empty";
  for (unsigned i = 0; i < index; ++i)
    if (getName(func, i) == name.getValue())
      return func.emitOpError() << what << "s " << i << " and " << index
                                << " both have the name " << name;
  return success();
}

/// `rlx.dims`: an integer for each static size and a symbol for each `?`.
static LogicalResult verifyDims(FunctionOpInterface func, StringRef what,
                                unsigned index, Attribute attribute,
                                Type type) {
  auto emitError = [&] {
    return func.emitOpError() << what << ' ' << index << " of type " << type
                              << " has " << kDimsAttr << " = " << attribute;
  };
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return emitError() << " but is no ranked tensor";
  auto dims = dyn_cast<ArrayAttr>(attribute);
  if (!dims || !llvm::all_of(dims, [](Attribute entry) {
        auto integer = dyn_cast<IntegerAttr>(entry);
        return isa<FlatSymbolRefAttr>(entry) ||
               (integer && integer.getType().isSignlessInteger(64));
      }))
    return emitError() << " but dims are a list of integers and symbols, such "
                          "as [@batch, 784]";
  if (static_cast<int64_t>(dims.size()) != shaped.getRank())
    return emitError() << " with " << dims.size() << " entries for "
                       << shaped.getRank() << " dims";
  for (auto [i, entry] : llvm::enumerate(dims)) {
    Dim dim = getDim(entry);
    int64_t size = shaped.getDimSize(i);
    if (ShapedType::isDynamic(size) && !dim.isSymbol())
      return emitError() << " but dim " << i
                         << " is `?`, which takes a symbol such as @batch";
    if (!ShapedType::isDynamic(size) && dim.size != size)
      return emitError() << " but dim " << i << " has the static size " << size;
  }
  return success();
}

/// Checks an attribute of a graph. Functions of other dialects keep these
/// attributes through lowering, where one argument may become several.
static LogicalResult verifyAttribute(
    Operation *op, StringRef what, unsigned index, NamedAttribute attribute,
    llvm::function_ref<Type(func::FuncOp)> getType,
    llvm::function_ref<StringRef(FunctionOpInterface, unsigned)> getName) {
  auto func = dyn_cast<func::FuncOp>(op);
  if (!func)
    return success();
  if (attribute.getName() == kNameAttr)
    return verifyName(func, what, index, attribute.getValue(), getName);
  if (attribute.getName() == kDimsAttr)
    return verifyDims(func, what, index, attribute.getValue(), getType(func));
  if (attribute.getName() == kRngSeedAttr ||
      attribute.getName() == kRngCounterAttr) {
    if (getType(func).isInteger(64))
      return success();
    return func.emitOpError()
           << what << ' ' << index << " has " << attribute.getName().getValue()
           << " but is " << getType(func) << "; seeds and counters are i64";
  }
  return func.emitOpError()
         << what << ' ' << index << " has the unknown attribute "
         << attribute.getName().getValue() << "; there are " << kNameAttr
         << ", " << kDimsAttr << ", " << kRngSeedAttr << " and "
         << kRngCounterAttr;
}

LogicalResult RLXDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned index,
                                                   NamedAttribute attribute) {
  return verifyAttribute(
      op, "argument", index, attribute,
      [&](func::FuncOp func) { return func.getArgumentTypes()[index]; },
      getArgName);
}

LogicalResult
RLXDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                        NamedAttribute attribute) {
  return verifyAttribute(
      op, "result", index, attribute,
      [&](func::FuncOp func) { return func.getResultTypes()[index]; },
      getResultName);
}
