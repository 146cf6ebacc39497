// SPDX-License-Identifier: MIT OR Apache-2.0
//===- FunctionInfo.cpp - What the loader knows of a function -------------===//

#include "FunctionInfo.h"

#include "Names.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rlx;

static std::vector<std::string> getStrings(DictionaryAttr dict, StringRef key) {
  std::vector<std::string> strings;
  if (auto array = dict.getAs<ArrayAttr>(key))
    for (StringAttr string : array.getAsRange<StringAttr>())
      strings.push_back(string.str());
  return strings;
}

static ArrayAttr getAttr(Builder &builder, ArrayRef<std::string> strings) {
  SmallVector<Attribute> attrs;
  for (const std::string &string : strings)
    attrs.push_back(builder.getStringAttr(string));
  return builder.getArrayAttr(attrs);
}

std::vector<ExecutableFunction> rlx::getFunctions(ModuleOp module) {
  std::vector<ExecutableFunction> functions;
  auto array = module->getAttrOfType<ArrayAttr>(kFunctionsAttr);
  if (!array)
    return functions;
  for (DictionaryAttr dict : array.getAsRange<DictionaryAttr>()) {
    ExecutableFunction &function = functions.emplace_back();
    if (auto name = dict.getAs<StringAttr>("name"))
      function.name = name.str();
    function.isPrepare = dict.contains("prepare");
    function.inputs = getStrings(dict, "inputs");
    function.outputs = getStrings(dict, "outputs");
    function.weights = getStrings(dict, "weights");
    function.symbols = getStrings(dict, "symbols");
    if (auto count = dict.getAs<IntegerAttr>("output_dims"))
      function.outputDimCount = count.getInt();
  }
  return functions;
}

void rlx::setFunctions(ModuleOp module,
                       ArrayRef<ExecutableFunction> functions) {
  Builder builder(module.getContext());
  SmallVector<Attribute> dicts;
  for (const ExecutableFunction &function : functions) {
    SmallVector<NamedAttribute> attrs = {
        builder.getNamedAttr("name", builder.getStringAttr(function.name)),
        builder.getNamedAttr("inputs", getAttr(builder, function.inputs)),
        builder.getNamedAttr("outputs", getAttr(builder, function.outputs)),
        builder.getNamedAttr("weights", getAttr(builder, function.weights)),
        builder.getNamedAttr("symbols", getAttr(builder, function.symbols)),
        builder.getNamedAttr(
            "output_dims", builder.getI64IntegerAttr(function.outputDimCount))};
    if (function.isPrepare)
      attrs.push_back(builder.getNamedAttr("prepare", builder.getUnitAttr()));
    dicts.push_back(builder.getDictionaryAttr(attrs));
  }
  module->setAttr(kFunctionsAttr, builder.getArrayAttr(dicts));
}
