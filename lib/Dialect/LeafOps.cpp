// SPDX-License-Identifier: MIT OR Apache-2.0
//===- LeafOps.cpp - Weights ------------------------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace rlx;

/// Checks what all weights have in common: a name, unless it is a literal, and
/// a static shape.
static LogicalResult verifyLeaf(Operation *op, std::optional<StringRef> name) {
  if (name && name->empty())
    return op->emitOpError("has an empty name");
  Type type = op->getResult(0).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || getStaticElementCount(tensor.getShape()))
    return success();
  InFlightDiagnostic diag = op->emitOpError();
  if (name)
    diag << "weight \"" << *name << "\" ";
  if (tensor.hasStaticShape())
    return diag << "has type " << type << " of more than 2^63 - 1 elements";
  return diag << "has type " << type << " but weights have static shapes";
}

//===----------------------------------------------------------------------===//
// ParamOp
//===----------------------------------------------------------------------===//

StringRef ParamOp::getWeightName() { return getName(); }
ElementsAttr ParamOp::getWeightValue() { return {}; }
void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult ParamOp::verify() { return verifyLeaf(*this, getName()); }

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
  OptionalParseResult hasName =
      parser.parseOptionalAttribute(name, parser.getBuilder().getNoneType());
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

/// Bytes that each element takes in a resource; i1 takes a whole one.
static int64_t getElementBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

LogicalResult ConstantOp::verify() {
  if (failed(verifyLeaf(*this, getName())))
    return failure();
  auto valueType = dyn_cast<RankedTensorType>(getValue().getType());
  if (auto packed = dyn_cast<PackedType>(getType())) {
    int64_t bytes = packed.getSizeInBytes();
    if (!valueType || valueType.getRank() != 1 ||
        !valueType.getElementType().isInteger(8) ||
        valueType.getDimSize(0) != bytes)
      return emitOpError(describe(getResult(), "value"))
             << " is " << getValue().getType() << " but " << packed
             << " takes tensor<" << bytes << "xi8>";
  } else if (valueType != getType()) {
    return emitOpError(describe(getResult(), "value"))
           << " is " << getValue().getType() << " but result is " << getType();
  }

  // A resource without bytes was elided from the text; readers of it say so.
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValueAttr());
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return success();
  std::optional<int64_t> expected = llvm::checkedMul(
      valueType.getNumElements(), getElementBytes(valueType.getElementType()));
  if (expected && static_cast<uint64_t>(*expected) == blob->getData().size())
    return success();
  return emitOpError("resource '")
         << resource.getRawHandle().getKey() << "' has "
         << blob->getData().size() << " bytes but " << valueType << " takes "
         << (expected ? std::to_string(*expected) : "more than 2^63 - 1");
}

//===----------------------------------------------------------------------===//
// PreparedOp
//===----------------------------------------------------------------------===//

StringRef PreparedOp::getWeightName() { return getName(); }
ElementsAttr PreparedOp::getWeightValue() { return {}; }
void PreparedOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult PreparedOp::verify() { return verifyLeaf(*this, getName()); }

LogicalResult PreparedOp::verifySymbolUses(SymbolTableCollection &) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (!module)
    return success();
  for (auto prepare : module.getOps<PrepareOp>()) {
    auto outputs = prepare.getOutputs().getAsValueRange<StringAttr>();
    auto it = llvm::find(outputs, getName());
    if (it == outputs.end())
      continue;
    Type type = prepare.getType().getResult(std::distance(outputs.begin(), it));
    if (type == getType())
      return success();
    InFlightDiagnostic diag = emitOpError("\"")
                              << getName() << "\" is " << getType()
                              << " but its rlx.prepare makes " << type;
    diag.attachNote(prepare.getLoc()) << "made here";
    return diag;
  }
  return emitOpError("\"") << getName()
                           << "\" is no result of an rlx.prepare of the module";
}

//===----------------------------------------------------------------------===//
// PrepareOp
//===----------------------------------------------------------------------===//

/// Checks one side of the signature: as many names as types, no name empty or
/// given twice, each type one that weights have.
static LogicalResult verifyNames(PrepareOp op, StringRef what, ArrayAttr names,
                                 TypeRange types) {
  if (names.size() != types.size())
    return op.emitOpError("has ") << names.size() << " names of " << what
                                  << " but its type has " << types.size();
  llvm::StringSet<> seen;
  for (auto [name, type] :
       llvm::zip_equal(names.getAsValueRange<StringAttr>(), types)) {
    if (name.empty())
      return op.emitOpError("has an empty name among its ") << what;
    if (!seen.insert(name).second)
      return op.emitOpError("names \"")
             << name << "\" twice among its " << what;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!isa<PackedType>(type) && (!tensor || !tensor.hasStaticShape()))
      return op.emitOpError("\"")
             << name << "\" is " << type
             << " but weights are static tensors or packed";
  }
  return success();
}

LogicalResult PrepareOp::verify() {
  if (failed(
          verifyNames(*this, "weights", getWeights(), getType().getInputs())))
    return failure();
  return verifyNames(*this, "results", getOutputs(), getType().getResults());
}

namespace {

/// The instances of a module and the names they connect.
class PrepareGraph {
public:
  explicit PrepareGraph(ModuleOp module) : module(module) {}

  LogicalResult verify() {
    return success(succeeded(addOutputs()) && succeeded(verifyOperands()) &&
                   succeeded(verifyOrder()));
  }

private:
  struct Output {
    PrepareOp op;
    Type type;
  };

  LogicalResult addOutputs();
  LogicalResult verifyOperands();
  LogicalResult verifyOrder();

  ModuleOp module;
  llvm::StringMap<Output> outputs;
};

LogicalResult PrepareGraph::addOutputs() {
  for (auto op : module.getOps<PrepareOp>())
    for (auto [name, type] :
         llvm::zip_equal(op.getOutputs().getAsValueRange<StringAttr>(),
                         op.getType().getResults())) {
      auto [it, isNew] = outputs.try_emplace(name, Output{op, type});
      if (isNew)
        continue;
      InFlightDiagnostic diag =
          op.emitOpError("result \"")
          << name << "\" is also the result of another rlx.prepare";
      diag.attachNote(it->second.op.getLoc()) << "the other one is here";
      return diag;
    }
  return success();
}

LogicalResult PrepareGraph::verifyOperands() {
  llvm::StringMap<WeightLeafOpInterface> leaves;
  module.walk([&](WeightLeafOpInterface leaf) {
    if (!isa<PreparedOp>(leaf) && !leaf.getWeightName().empty())
      leaves.try_emplace(leaf.getWeightName(), leaf);
  });
  for (auto &[name, output] : outputs)
    if (auto it = leaves.find(name); it != leaves.end()) {
      InFlightDiagnostic diag = output.op.emitOpError("result \"")
                                << name << "\" has the name of a weight";
      diag.attachNote(it->second.getLoc()) << "the weight is here";
      return diag;
    }
  for (auto op : module.getOps<PrepareOp>())
    for (auto [name, type] :
         llvm::zip_equal(op.getWeights().getAsValueRange<StringAttr>(),
                         op.getType().getInputs())) {
      Type actual = type;
      Location loc = op.getLoc();
      if (auto output = outputs.find(name); output != outputs.end()) {
        actual = output->second.type;
        loc = output->second.op.getLoc();
      } else if (auto leaf = leaves.find(name); leaf != leaves.end()) {
        actual = leaf->second->getResult(0).getType();
        loc = leaf->second.getLoc();
      }
      if (actual == type)
        continue;
      InFlightDiagnostic diag = op.emitOpError("takes \"")
                                << name << "\" as " << type << " but it is "
                                << actual;
      diag.attachNote(loc) << "\"" << name << "\" is " << actual;
      return diag;
    }
  return success();
}

/// Instances run in program order.
LogicalResult PrepareGraph::verifyOrder() {
  llvm::SmallPtrSet<Operation *, 8> done;
  for (auto op : module.getOps<PrepareOp>()) {
    for (StringRef name : op.getWeights().getAsValueRange<StringAttr>()) {
      auto it = outputs.find(name);
      if (it == outputs.end() || done.contains(it->second.op))
        continue;
      InFlightDiagnostic diag = op.emitOpError("takes \"")
                                << name << "\", which is not made before";
      diag.attachNote(it->second.op.getLoc()) << "made here";
      return diag;
    }
    done.insert(op);
  }
  return success();
}

} // namespace

LogicalResult PrepareOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto func =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!func)
    return emitOpError("calls ")
           << getCalleeAttr() << " but the module has no such function";
  if (func.getFunctionType() != getType()) {
    InFlightDiagnostic diag = emitOpError("has type ")
                              << getType() << " but " << getCalleeAttr()
                              << " has " << func.getFunctionType();
    diag.attachNote(func.getLoc()) << "the function is here";
    return diag;
  }
  // The first instance checks what concerns all of them.
  auto module = cast<ModuleOp>((*this)->getParentOp());
  if (*module.getOps<PrepareOp>().begin() != *this)
    return success();
  return PrepareGraph(module).verify();
}
