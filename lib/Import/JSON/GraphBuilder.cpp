// SPDX-License-Identifier: MIT OR Apache-2.0
#include "GraphBuilder.h"

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Import/ElementsAttrs.h"
#include "RLX/Support/Error.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;
using namespace rlx;
using json::Kind;

std::string rlx::str(ArrayRef<DeclaredDim> shape) {
  SmallVector<std::string> dims;
  for (const DeclaredDim &dim : shape)
    dims.push_back(dim.isSymbol ? symbolName(dim.value) : itostr(dim.value));
  return "[" + join(dims, ", ") + "]";
}

Location GraphBuilder::location(const DeclaredNode &node) const {
  Location place = report.location(node.offset);
  if (node.name.empty())
    return place;
  return NameLoc::get(StringAttr::get(report.getContext(), node.name), place);
}

RankedTensorType GraphBuilder::typeOf(ArrayRef<Size> shape,
                                      ElementKind kind) const {
  SmallVector<int64_t> dims;
  for (const Size &size : shape)
    dims.push_back(size.isFixed() ? size.factor() : ShapedType::kDynamic);
  return RankedTensorType::get(dims, toType(kind, report.getContext()));
}

ArrayAttr GraphBuilder::dimsAttr(ArrayRef<Size> shape) {
  SmallVector<Attribute> dims;
  for (const Size &size : shape) {
    if (size.isFixed()) {
      dims.push_back(builder.getI64IntegerAttr(size.factor()));
      continue;
    }
    // A size that is no input's symbol came from a reshape, which named it.
    uint32_t id = size.asSymbol().value_or(0);
    if (!size.asSymbol())
      id = *find_if(derivedSymbols, [&](uint32_t derived) {
        return symbols.find(derived)->second == size;
      });
    dims.push_back(FlatSymbolRefAttr::get(report.getContext(), symbolName(id)));
  }
  return builder.getArrayAttr(dims);
}

std::optional<Size> GraphBuilder::resolve(const DeclaredDim &dim) const {
  if (!dim.isSymbol)
    return Size::fixed(dim.value);
  auto found = symbols.find(dim.value);
  if (found == symbols.end())
    return std::nullopt;
  return found->second;
}

LogicalResult GraphBuilder::checkArity(const DeclaredNode &node,
                                       size_t expected) {
  if (node.operands.size() == expected)
    return success();
  return report.error(node) << node.op << " has " << node.operands.size()
                            << " inputs, expected " << expected;
}

LogicalResult GraphBuilder::checkSize(const DeclaredNode &node,
                                      ArrayRef<Size> shape) {
  // User addresses of the CPUs we know have 47 bits. The bound keeps sums of a
  // few sizes, strides and offsets within 63 bits everywhere below. A zero
  // counts as one: strides are products of the dims beside it.
  constexpr int64_t maxBytes = int64_t(1) << 47;
  SymbolicShape dims;
  for (const Size &size : shape)
    dims.push_back(size.factor() == 0 ? Size::fixed(1) : size);
  std::optional<Size> bytes = elementCount(dims);
  if (bytes)
    bytes = bytes->times(Size::fixed(sizeBytes(node.kind)));
  if (bytes && bytes->factor() <= maxBytes)
    return success();
  return report.error(node, node.shapeOffset)
         << "shape " << str(node.shape) << " of " << name(node.kind)
         << " takes more than 2^47 bytes, which no process can address";
}

LogicalResult GraphBuilder::checkKinds(const DeclaredNode &node) {
  for (size_t i = 0, e = node.operands.size(); i != e; ++i) {
    const DeclaredNode &input = declaredOperand(node, i);
    if (input.kind != node.kind)
      return report.error(node, node.shapeOffset)
             << "declares " << name(node.kind) << " but its input "
             << describe(input) << " is " << name(input.kind);
  }
  return success();
}

LogicalResult GraphBuilder::checkTakes(const DeclaredNode &node, Takes takes,
                                       StringRef kind) {
  if (includes(takes, node.kind))
    return success();
  return report.error(node)
         << kind << " takes " << describe(takes) << ", not " << name(node.kind);
}

LogicalResult GraphBuilder::checkShape(const DeclaredNode &node,
                                       ArrayRef<Size> inferred) {
  bool isEqual = inferred.size() == node.shape.size();
  for (size_t i = 0; isEqual && i != inferred.size(); ++i) {
    std::optional<Size> declared = resolve(node.shape[i]);
    if (!declared)
      return report.error(node, node.shapeOffset)
             << "dim " << i << " is symbol '" << symbolName(node.shape[i].value)
             << "', which no input carries and no reshape defines; its inputs "
             << "make it " << inferred[i].str();
    isEqual = *declared == inferred[i];
  }
  if (!isEqual)
    return report.error(node, node.shapeOffset)
           << "declares shape " << str(node.shape) << " but its inputs make it "
           << str(inferred);
  return checkSize(node, inferred);
}

FailureOr<SymbolicShape> GraphBuilder::staticShape(const DeclaredNode &node) {
  SymbolicShape shape;
  for (auto [index, dim] : enumerate(node.shape)) {
    if (dim.isSymbol)
      return report.error(node, node.shapeOffset)
             << node.op << " has symbol '" << symbolName(dim.value)
             << "' as dim " << index << ", weights have sizes only";
    shape.push_back(Size::fixed(dim.value));
  }
  if (failed(checkSize(node, shape)))
    return failure();
  return shape;
}

FailureOr<SymbolicShape> GraphBuilder::inputShape(const DeclaredNode &node) {
  SymbolicShape shape;
  for (auto [index, dim] : enumerate(node.shape)) {
    std::optional<Size> size = resolve(dim);
    if (!size || !(size->isFixed() || size->asSymbol()))
      return report.error(node, node.shapeOffset)
             << node.op << " has symbol '" << symbolName(dim.value)
             << "' as dim " << index << ", which no input carries";
    shape.push_back(*size);
  }
  if (failed(checkSize(node, shape)))
    return failure();
  return shape;
}

FailureOr<StringRef> GraphBuilder::readName(const DeclaredNode &node) {
  FailureOr<json::Value> value =
      readAttribute(node, "name", Kind::String, report);
  if (failed(value))
    return failure();
  StringRef name = value->string();
  // Names go through C interfaces.
  if (name.empty() || name.contains('\0'))
    return report.error(node, value->offset())
           << node.op << " has the name " << quoteName(name)
           << ", expected one that is not empty and has no zero byte";
  auto [entry, isNew] =
      (node.op == "Input" ? inputNames : paramNames).try_emplace(name, &node);
  if (!isNew) {
    InFlightDiagnostic diagnostic = report.error(node);
    diagnostic << node.op << " has the name " << quoteName(name) << " of "
               << describe(*entry->second);
    diagnostic.attachNote(report.location(entry->second->offset))
        << describe(*entry->second) << " is here";
    return diagnostic;
  }
  return name;
}

LogicalResult GraphBuilder::buildInputs(func::FuncOp func) {
  // Symbols first: a reshape may name one that a later input carries.
  for (const DeclaredNode &node : graph.nodes)
    if (node.op == "Input")
      for (const DeclaredDim &dim : node.shape)
        if (dim.isSymbol)
          symbols.try_emplace(dim.value, Size::symbol(dim.value));

  for (const DeclaredNode &node : graph.nodes) {
    if (node.op != "Input")
      continue;
    FailureOr<StringRef> name = readName(node);
    if (failed(name) || failed(checkArity(node, 0)))
      return failure();
    FailureOr<SymbolicShape> shape = inputShape(node);
    if (failed(shape))
      return failure();
    NamedAttribute attributes[] = {
        builder.getNamedAttr(kNameAttr, builder.getStringAttr(*name)),
        builder.getNamedAttr(kDimsAttr, dimsAttr(*shape))};
    unsigned index = func.getNumArguments();
    if (failed(func.insertArgument(index, typeOf(*shape, node.kind),
                                   builder.getDictionaryAttr(attributes),
                                   location(node))))
      return failure();
    built[node.id] = {func.getArgument(index), std::move(*shape)};
  }
  return success();
}

LogicalResult GraphBuilder::buildOutputs(func::FuncOp func) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (uint32_t id : graph.outputs) {
    values.push_back(built[id].value);
    types.push_back(values.back().getType());
  }
  func::ReturnOp::create(builder, func.getLoc(), values);
  func.setFunctionType(builder.getFunctionType(func.getArgumentTypes(), types));

  llvm::StringSet<> taken;
  for (auto [index, id] : enumerate(graph.outputs)) {
    // The same node may be an output twice, and two nodes may have one name:
    // the first has it.
    StringRef name = graph.nodes[id].name;
    std::string byPosition = "out" + utostr(index);
    if (name.empty() || !taken.insert(name).second) {
      name = byPosition;
      if (!taken.insert(name).second)
        return report.error(graph.outputsOffset)
               << "output " << index << " would be called '" << name
               << "', which is the name of another output";
    }
    func.setResultAttr(index, kNameAttr, builder.getStringAttr(name));
    func.setResultAttr(index, kDimsAttr, dimsAttr(built[id].shape));
  }
  return success();
}

FailureOr<BuiltNode> GraphBuilder::buildParam(const DeclaredNode &node) {
  FailureOr<StringRef> name = readName(node);
  if (failed(name) || failed(checkArity(node, 0)))
    return failure();
  FailureOr<SymbolicShape> shape = staticShape(node);
  if (failed(shape))
    return failure();
  Value value = ParamOp::create(builder, location(node),
                                typeOf(*shape, node.kind), *name);
  return BuiltNode{value, std::move(*shape)};
}

FailureOr<BuiltNode> GraphBuilder::buildConstant(const DeclaredNode &node) {
  FailureOr<json::Value> data =
      readAttribute(node, "data", Kind::Array, report);
  if (failed(data) || failed(checkArity(node, 0)))
    return failure();
  std::optional<ArrayRef<uint8_t>> bytes = data->bytes();
  if (!bytes)
    return report.error(node, data->offset())
           << "Constant has data that is not all integers 0 to 255";
  FailureOr<SymbolicShape> shape = staticShape(node);
  if (failed(shape))
    return failure();
  uint64_t needed = elementCount(*shape)->factor() * sizeBytes(node.kind);
  if (bytes->size() != needed)
    return report.error(node, data->offset())
           << "Constant has " << bytes->size() << " bytes, shape "
           << str(node.shape) << " of " << name(node.kind) << " needs "
           << needed;
  if (node.kind == ElementKind::Bool &&
      any_of(*bytes, [](uint8_t byte) { return byte > 1; }))
    return report.error(node, data->offset())
           << "Constant of Bool has a byte above 1";
  ArrayRef<char> raw(reinterpret_cast<const char *>(bytes->data()),
                     bytes->size());
  ElementsAttr value = copyElements(typeOf(*shape, node.kind), raw, node.name);
  Value result = ConstantOp::create(builder, location(node), value, node.name);
  return BuiltNode{result, std::move(*shape)};
}

FailureOr<BuiltNode> GraphBuilder::buildNode(const DeclaredNode &node) {
  using Build = FailureOr<BuiltNode> (GraphBuilder::*)(const DeclaredNode &);
  Build build =
      llvm::StringSwitch<Build>(node.op)
          .Case("Activation", &GraphBuilder::buildActivation)
          .Case("Binary", &GraphBuilder::buildBinary)
          .Case("Cast", &GraphBuilder::buildCast)
          .Case("Constant", &GraphBuilder::buildConstant)
          .Case("Expand", &GraphBuilder::buildExpand)
          .Case("MatMul", &GraphBuilder::buildMatMul)
          .Case("Param", &GraphBuilder::buildParam)
          .Case("Reshape", &GraphBuilder::buildReshape)
          .Cases({"RngNormal", "RngUniform"}, &GraphBuilder::buildRandom)
          .Case("StopGradient", &GraphBuilder::buildStopGradient)
          .Case("Transpose", &GraphBuilder::buildTranspose);
  return (this->*build)(node);
}

OwningOpRef<ModuleOp> GraphBuilder::build() {
  MLIRContext *context = report.getContext();
  context->loadDialect<RLXDialect, func::FuncDialect>();
  Location start = report.location(0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(start);
  (*module)->setAttr(kNameAttr, builder.getStringAttr(graph.name));
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(builder, start, "main",
                                   builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(func.addEntryBlock());

  built.resize(graph.nodes.size());
  if (failed(buildInputs(func)))
    return nullptr;
  for (const DeclaredNode &node : graph.nodes) {
    if (node.op == "Input")
      continue;
    FailureOr<BuiltNode> result = buildNode(node);
    if (failed(result))
      return nullptr;
    built[node.id] = std::move(*result);
  }
  if (failed(buildOutputs(func)) || failed(verify(*module)))
    return nullptr;
  return module;
}
