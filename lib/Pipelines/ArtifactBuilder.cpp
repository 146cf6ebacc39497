// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ArtifactBuilder.cpp - The manifest of a module and its code --------===//

#include "ArtifactBuilder.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Runtime/Abi.h"
#include "RLX/Support/Error.h"
#include "RLX/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace rlx;

std::optional<artifact::DType> rlx::getDType(Type type) {
  if (type.isF32())
    return artifact::DType::F32;
  if (type.isF16())
    return artifact::DType::F16;
  if (type.isBF16())
    return artifact::DType::BF16;
  if (type.isF64())
    return artifact::DType::F64;
  if (type.isInteger(1))
    return artifact::DType::Bool;
  if (type.isUnsignedInteger(8))
    return artifact::DType::U8;
  if (type.isUnsignedInteger(32))
    return artifact::DType::U32;
  if (type.isSignlessInteger(8))
    return artifact::DType::I8;
  if (type.isSignlessInteger(16))
    return artifact::DType::I16;
  if (type.isSignlessInteger(32))
    return artifact::DType::I32;
  if (type.isSignlessInteger(64))
    return artifact::DType::I64;
  return std::nullopt;
}

bool rlx::describeType(Type type, artifact::Tensor &tensor) {
  Type elementType;
  if (auto packed = dyn_cast<PackedType>(type)) {
    tensor.shape.assign(packed.getShape().begin(), packed.getShape().end());
    tensor.layout = stringifyLayout(packed.getLayout()).str();
    elementType = packed.getElementType();
  } else {
    auto shaped = cast<RankedTensorType>(type);
    tensor.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
    elementType = shaped.getElementType();
  }
  std::optional<artifact::DType> dtype = getDType(elementType);
  std::optional<int64_t> sizeBytes = getStoredSizeBytes(type);
  if (!dtype || !sizeBytes)
    return false;
  tensor.dtype = *dtype;
  tensor.encoding = std::string(artifact::dtypeName(*dtype));
  tensor.sizeBytes = *sizeBytes;
  return true;
}

std::unique_ptr<llvm::MemoryBuffer> rlx::copyAligned(ArrayRef<char> bytes,
                                                     StringRef name) {
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      bytes.size(), name, llvm::Align(artifact::segmentAlignment));
  llvm::copy(bytes, buffer->getBufferStart());
  return buffer;
}

void Artifact::Content::addBuffer(artifact::SegmentKind kind,
                                  std::unique_ptr<llvm::MemoryBuffer> buffer) {
  desc.data.push_back(artifact::SegmentData::borrow(
      kind, ArrayRef<uint8_t>(
                reinterpret_cast<const uint8_t *>(buffer->getBufferStart()),
                buffer->getBufferSize())));
  buffers.push_back(std::move(buffer));
}

namespace {

class ContentBuilder {
public:
  ContentBuilder(ModuleOp module, std::vector<TargetCode> targets)
      : module(module), targets(std::move(targets)),
        content(std::make_unique<Artifact::Content>()),
        manifest(content->desc.manifest) {}

  llvm::Expected<std::unique_ptr<Artifact::Content>> build();

private:
  llvm::Error collectLeaves();
  llvm::Error addPrepares();
  llvm::Error addEntry(func::FuncOp func, const ExecutableFunction *code);
  llvm::Expected<artifact::Value> makeValue(func::FuncOp func, bool isInput,
                                            unsigned index, Type type,
                                            const artifact::Entry &entry);
  llvm::Expected<uint32_t> getTensor(StringRef name);
  llvm::Error setConstant(artifact::Tensor &tensor, ConstantOp constant);
  void addExecutables();
  const ExecutableFunction *findCode(StringRef name) const;

  ModuleOp module;
  std::vector<TargetCode> targets;
  std::unique_ptr<Artifact::Content> content;
  artifact::Manifest &manifest;
  /// What is known of a name that functions read. A param that only prepare
  /// functions read has no op.
  struct Leaf {
    Type type;
    Operation *op = nullptr;
  };
  llvm::StringMap<Leaf> leaves;
  llvm::StringMap<uint32_t> tensorRows;
};

} // namespace

/// A weight is called alike everywhere, so that one leaf of a name stands for
/// all.
llvm::Error ContentBuilder::collectLeaves() {
  std::string fault;
  module.walk([&](WeightLeafOpInterface leaf) {
    StringRef name = leaf.getWeightName();
    if (name.empty())
      return;
    Type type = leaf->getResult(0).getType();
    auto [found, isNew] = leaves.try_emplace(name, Leaf{type, leaf});
    const Leaf &first = found->second;
    if (first.type != type)
      llvm::raw_string_ostream(fault)
          << "weight " << quoteName(name) << " is " << first.type
          << " in one function and " << type << " in another";
    else if (first.op->getName() != leaf->getName())
      fault = "weight " + quoteName(name) +
              " has a value in one function and none in another";
  });
  if (!fault.empty())
    return makeError("{0}", fault);
  for (PrepareOp prepare : module.getOps<PrepareOp>())
    for (auto [name, type] :
         llvm::zip_equal(prepare.getWeights().getAsRange<StringAttr>(),
                         prepare.getType().getInputs()))
      leaves.try_emplace(name.getValue(), Leaf{type});
  return llvm::Error::success();
}

const ExecutableFunction *ContentBuilder::findCode(StringRef name) const {
  if (targets.empty())
    return nullptr;
  for (const ExecutableFunction &function :
       targets.front().executable.functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

llvm::Error ContentBuilder::setConstant(artifact::Tensor &tensor,
                                        ConstantOp constant) {
  std::optional<WeightBytes> bytes = WeightBytes::read(constant.getValue());
  if (!bytes)
    return makeError("the value of weight {0} is not loaded",
                     quoteName(tensor.name));
  ArrayRef<char> data = bytes->get();
  if (data.size() != tensor.sizeBytes)
    return makeError("weight {0} has {1} bytes, its type takes {2}",
                     quoteName(tensor.name), data.size(), tensor.sizeBytes);
  tensor.state = artifact::TensorState::Constant;
  tensor.segment = content->desc.data.size();
  content->desc.data.push_back(artifact::SegmentData::borrow(
      artifact::SegmentKind::Weights,
      ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(data.data()),
                        data.size())));
  content->weights.push_back(std::move(*bytes));
  return llvm::Error::success();
}

/// The row of the weight table for a name, made on first use.
llvm::Expected<uint32_t> ContentBuilder::getTensor(StringRef name) {
  auto row = tensorRows.find(name);
  if (row != tensorRows.end())
    return row->second;
  const auto [type, leaf] = leaves.lookup(name);
  if (!type)
    return makeError("nothing in the module is called {0}", quoteName(name));

  artifact::Tensor tensor;
  tensor.name = name.str();
  if (!describeType(type, tensor))
    return makeError("weight {0} has an element type that files can't store",
                     quoteName(name));
  tensor.state = artifact::TensorState::Param;
  if (auto origin =
          leaf ? leaf->getAttrOfType<ArrayAttr>(kOriginAttr) : ArrayAttr())
    tensor.origin = llvm::join(
        llvm::map_range(origin.getAsRange<StringAttr>(),
                        [](StringAttr weight) { return weight.str(); }),
        ", ");
  if (auto constant = dyn_cast_or_null<ConstantOp>(leaf))
    if (llvm::Error error = setConstant(tensor, constant))
      return std::move(error);

  uint32_t index = manifest.tensors.size();
  manifest.tensors.push_back(std::move(tensor));
  tensorRows[name] = index;
  return index;
}

llvm::Error ContentBuilder::addPrepares() {
  for (PrepareOp prepare : module.getOps<PrepareOp>()) {
    artifact::Prepare instance;
    instance.function = prepare.getCallee().str();
    for (StringAttr weight : prepare.getWeights().getAsRange<StringAttr>()) {
      llvm::Expected<uint32_t> row = getTensor(weight.getValue());
      if (!row)
        return row.takeError();
      instance.inputs.push_back(*row);
    }
    for (auto [output, result] :
         llvm::enumerate(prepare.getOutputs().getAsRange<StringAttr>())) {
      llvm::Expected<uint32_t> row = getTensor(result.getValue());
      if (!row)
        return row.takeError();
      artifact::Tensor &tensor = manifest.tensors[*row];
      tensor.state = artifact::TensorState::Prepared;
      tensor.instance = manifest.prepares.size();
      tensor.output = output;
      instance.outputs.push_back(*row);
    }
    manifest.prepares.push_back(std::move(instance));
  }
  return llvm::Error::success();
}

llvm::Expected<artifact::Value>
ContentBuilder::makeValue(func::FuncOp func, bool isInput, unsigned index,
                          Type type, const artifact::Entry &entry) {
  artifact::Value value;
  StringRef given =
      isInput ? getArgName(func, index) : getResultName(func, index);
  value.name = given.empty()
                   ? (Twine(isInput ? "in" : "out") + Twine(index)).str()
                   : given.str();
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<artifact::DType> dtype =
      tensor ? getDType(tensor.getElementType()) : std::nullopt;
  if (!dtype) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return makeError("{0} {1} of {2} is of type {3}, which no caller can pass",
                     isInput ? "input" : "output", quoteName(value.name),
                     entry.name, text);
  }
  value.dtype = *dtype;
  ArrayAttr dims =
      isInput ? getArgDims(func, index) : getResultDims(func, index);
  for (auto [axis, size] : llvm::enumerate(tensor.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      value.dims.push_back(artifact::Dim::fixed(size));
      continue;
    }
    StringRef symbol = dims ? getDim(dims[axis]).symbol : StringRef();
    auto found = llvm::find(entry.symbols, symbol);
    value.dims.push_back(
        found == entry.symbols.end()
            ? artifact::Dim::computed()
            : artifact::Dim::dynamic(found - entry.symbols.begin()));
  }
  return value;
}

llvm::Error ContentBuilder::addEntry(func::FuncOp func,
                                     const ExecutableFunction *code) {
  artifact::Entry entry;
  entry.name = func.getName().str();
  if (code) {
    entry.symbols = code->symbols;
  } else {
    for (const auto &symbol : getSymbols(func))
      entry.symbols.push_back(symbol.first.str());
  }
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    llvm::Expected<artifact::Value> value =
        makeValue(func, /*isInput=*/true, index, type, entry);
    if (!value)
      return value.takeError();
    entry.inputs.push_back(std::move(*value));
  }
  for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
    llvm::Expected<artifact::Value> value =
        makeValue(func, /*isInput=*/false, index, type, entry);
    if (!value)
      return value.takeError();
    entry.outputs.push_back(std::move(*value));
  }
  std::vector<std::string> weights;
  if (code) {
    weights = code->weights;
  } else {
    llvm::SetVector<StringRef> names;
    func.walk([&](WeightLeafOpInterface leaf) {
      if (!leaf.getWeightName().empty())
        names.insert(leaf.getWeightName());
    });
    for (StringRef name : names)
      weights.push_back(name.str());
  }
  for (StringRef name : weights) {
    llvm::Expected<uint32_t> row = getTensor(name);
    if (!row)
      return row.takeError();
    entry.tensors.push_back(*row);
  }
  manifest.entries.push_back(std::move(entry));
  return llvm::Error::success();
}

void ContentBuilder::addExecutables() {
  for (TargetCode &target : targets) {
    artifact::Executable executable;
    executable.target = target.cpuClass;
    executable.segment = content->desc.data.size();
    executable.abiVersion = RLX_ABI_VERSION;
    manifest.executables.push_back(std::move(executable));
    content->addBuffer(artifact::SegmentKind::Executable,
                       copyAligned(target.executable.bytes));
  }
}

llvm::Expected<std::unique_ptr<Artifact::Content>> ContentBuilder::build() {
  manifest.producer = "rlx " RLX_VERSION;
  if (auto name = module->getAttrOfType<StringAttr>(kNameAttr))
    manifest.name = name.str();
  if (llvm::Error error = collectLeaves())
    return std::move(error);
  if (llvm::Error error = addPrepares())
    return std::move(error);
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic())
      if (llvm::Error error = addEntry(func, findCode(func.getName())))
        return std::move(error);
  addExecutables();
  return std::move(content);
}

llvm::Expected<std::unique_ptr<Artifact::Content>>
rlx::buildArtifactContent(ModuleOp module, std::vector<TargetCode> targets) {
  return ContentBuilder(module, std::move(targets)).build();
}
