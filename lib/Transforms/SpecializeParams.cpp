// SPDX-License-Identifier: MIT OR Apache-2.0
//===- SpecializeParams.cpp - Turn params with values into constants ------===//

#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Support/Error.h"
#include "RLX/Support/NearMiss.h"
#include "RLX/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace rlx {
#define GEN_PASS_DEF_SPECIALIZEPARAMSPASS
#include "RLX/Transforms/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

/// Names listed in one message before it says how many more there are.
static constexpr size_t kMaxListed = 8;
static constexpr StringLiteral kBindingsAttr = "rlx.bindings";

static std::string listNames(ArrayRef<StringRef> names) {
  std::string list;
  llvm::raw_string_ostream stream(list);
  llvm::interleaveComma(names.take_front(kMaxListed), stream,
                        [&](StringRef name) { stream << quoteName(name); });
  if (names.size() > kMaxListed)
    stream << " and " << names.size() - kMaxListed << " more";
  return list;
}

namespace {

class SpecializeParamsPass
    : public rlx::impl::SpecializeParamsPassBase<SpecializeParamsPass> {
public:
  using Base::Base;
  SpecializeParamsPass(ParamBindings bindings,
                       SpecializeParamsPassOptions options,
                       WeightLoader loadWeights)
      : Base(std::move(options)), given(std::move(bindings)),
        loadWeights(std::move(loadWeights)) {}

  void runOnOperation() override;

private:
  LogicalResult collectBindings();
  LogicalResult check(ParamOp param, ElementsAttr value);
  LogicalResult reportMissing(ArrayRef<StringRef> missing,
                              ArrayRef<StringRef> extra);

  ParamBindings given;
  WeightLoader loadWeights;
  llvm::StringMap<ElementsAttr> bindings;
  /// Names in the order in which they were given.
  SmallVector<StringRef> names;
  llvm::StringMap<ParamOp> params;
};

} // namespace

LogicalResult SpecializeParamsPass::collectBindings() {
  ModuleOp module = getOperation();
  ParamBindings all;
  for (const std::string &path : weights) {
    if (!loadWeights)
      return module.emitError("weights of ")
             << quoteName(path)
             << " can't be read: this program has no reader of weight files";
    if (llvm::Error error = loadWeights(path, &getContext(), all))
      return module.emitError() << llvm::toString(std::move(error));
  }
  llvm::append_range(all, given);
  if (Attribute attribute = module->removeAttr(kBindingsAttr)) {
    auto dictionary = dyn_cast<DictionaryAttr>(attribute);
    if (!dictionary)
      return module.emitError() << "'" << kBindingsAttr
                                << "' has to be a dictionary of values by name";
    for (NamedAttribute entry : dictionary) {
      auto value = dyn_cast<ElementsAttr>(entry.getValue());
      if (!value)
        return module.emitError() << "'" << kBindingsAttr << "' gives param "
                                  << quoteName(entry.getName())
                                  << " no elements but " << entry.getValue();
      all.emplace_back(entry.getName().str(), value);
    }
  }
  for (auto &[name, value] : all) {
    auto [it, isNew] = bindings.insert_or_assign(name, value);
    if (isNew)
      names.push_back(it->getKey());
  }
  return success();
}

LogicalResult SpecializeParamsPass::check(ParamOp param, ElementsAttr value) {
  Type expected = param.getType();
  if (auto packed = dyn_cast<PackedType>(expected))
    expected = RankedTensorType::get({packed.getSizeInBytes()},
                                     IntegerType::get(&getContext(), 8));
  if (value.getType() != expected)
    return param.emitError("param ")
           << quoteName(param.getName()) << " is " << expected
           << " but the value given for it is " << value.getType();
  if (!WeightBytes::isReadable(value))
    return param.emitError("the value given for param ")
           << quoteName(param.getName()) << " is not loaded";
  return success();
}

LogicalResult SpecializeParamsPass::reportMissing(ArrayRef<StringRef> missing,
                                                  ArrayRef<StringRef> extra) {
  // A warning for each param that is missing would bury the rest: most programs
  // leave some open on purpose.
  for (StringRef name : missing) {
    std::string near = didYouMean(name, extra);
    Location loc = params.lookup(name).getLoc();
    if (strict)
      emitError(loc, "param ") << quoteName(name) << " has no value" << near;
    else if (!near.empty())
      emitWarning(loc, "param ") << quoteName(name) << " has no value" << near;
  }
  if (!extra.empty())
    emitWarning(getOperation().getLoc())
        << extra.size() << (extra.size() == 1 ? " value fits" : " values fit")
        << " no param: " << listNames(extra);
  return failure(strict && !missing.empty());
}

void SpecializeParamsPass::runOnOperation() {
  ModuleOp module = getOperation();
  bindings.clear();
  names.clear();
  params.clear();
  if (failed(collectBindings()))
    return signalPassFailure();

  SmallVector<ParamOp> ops;
  SmallVector<StringRef> missing, extra, known;
  bool isWrong = false;
  size_t numBound = 0;
  module.walk([&](ParamOp param) {
    ops.push_back(param);
    auto it = bindings.find(param.getName());
    bool isBound = it != bindings.end();
    if (isBound && failed(check(param, it->second)))
      isWrong = true;
    if (!params.try_emplace(param.getName(), param).second)
      return;
    known.push_back(param.getName());
    if (isBound)
      ++numBound;
    else
      missing.push_back(param.getName());
  });
  if (isWrong)
    return signalPassFailure();
  llvm::copy_if(names, std::back_inserter(extra),
                [&](StringRef name) { return !params.contains(name); });
  if (!names.empty() && numBound == 0) {
    InFlightDiagnostic diag = module.emitError()
                              << "none of the " << names.size()
                              << (names.size() == 1 ? " value" : " values")
                              << " fits a param; values are given for "
                              << listNames(names);
    if (known.empty())
      diag << ", and there are no params";
    else
      diag << ", params are " << listNames(known);
    return signalPassFailure();
  }
  if (failed(reportMissing(missing, extra)))
    return signalPassFailure();

  for (ParamOp param : ops) {
    auto it = bindings.find(param.getName());
    if (it == bindings.end())
      continue;
    OpBuilder builder(param);
    auto constant = ConstantOp::create(builder, param.getLoc(), param.getType(),
                                       param.getNameAttr(), it->second);
    constant->setDiscardableAttrs(
        llvm::to_vector(param->getDiscardableAttrs()));
    param.replaceAllUsesWith(constant.getResult());
    param.erase();
  }
  remark::passed(
      module.getLoc(),
      remark::RemarkOpts::name("SpecializeParams").category("weights"))
      << remark::add("{0} of {1} params have values", numBound, known.size())
      << remark::metric("Bound", numBound)
      << remark::metric("Open", missing.size());
}

std::unique_ptr<Pass>
rlx::createSpecializeParamsPass(ParamBindings bindings,
                                SpecializeParamsPassOptions options,
                                WeightLoader loadWeights) {
  return std::make_unique<SpecializeParamsPass>(
      std::move(bindings), std::move(options), std::move(loadWeights));
}
