// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/WeightBindings.h"

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Import/ElementsAttrs.h"
#include "RLX/Support/Error.h"
#include "RLX/Support/NearMiss.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace rlx;

/// Names shown of a list before it is cut. Only for these is a near one looked
/// for, which compares with every name of the other side.
static constexpr size_t maxShown = 20;

static void printNames(raw_ostream &os, StringRef what,
                       ArrayRef<UnboundName> names) {
  if (names.empty())
    return;
  os << what << ": ";
  interleaveComma(names.take_front(maxShown), os, [&](const UnboundName &name) {
    os << quoteName(name.name);
    if (!name.nearest.empty())
      os << " (did you mean " << quoteName(name.nearest) << "?)";
  });
  if (names.size() > maxShown)
    os << " and " << names.size() - maxShown << " more";
  os << "\n";
}

void BindingReport::print(raw_ostream &os) const {
  printNames(os, "parameters without a tensor, left open", missing);
  printNames(os, "tensors without a parameter, not used", extra);
  if (copiedTensors > 0)
    os << "tensors copied because their file does not align them: "
       << copiedTensors << " (" << copiedBytes << " bytes)\n";
}

/// `F32 [4, 3]`.
static std::string str(ElementKind kind, ArrayRef<int64_t> shape) {
  return name(kind).str() + " [" +
         join(map_range(shape, [](int64_t dim) { return itostr(dim); }), ", ") +
         "]";
}

static std::string str(mlir::Type type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

/// Whether two shapes are the same but for the order of their dims.
static bool hasSameDims(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         std::is_permutation(a.begin(), a.end(), b.begin());
}

static void addUnbound(std::vector<UnboundName> &list, StringRef name,
                       ArrayRef<StringRef> others) {
  StringRef nearest;
  if (list.size() < maxShown)
    nearest = nearestName(name, others);
  list.push_back({name.str(), nearest.str()});
}

namespace {

class Binder {
public:
  explicit Binder(ArrayRef<std::shared_ptr<TensorSource>> sources)
      : sources(sources) {}

  /// Collects the tensors of all sources.
  Error collect();
  Expected<BoundWeights> bind(mlir::ModuleOp module,
                              const BindOptions &options);

private:
  struct Found {
    const SourceTensor *tensor;
    std::shared_ptr<TensorSource> source;
  };

  void bindParam(ParamOp param, const Found &found);
  void fail(Error error) {
    errors = joinErrors(std::move(errors), std::move(error));
  }
  std::string sourceNames() const;

  ArrayRef<std::shared_ptr<TensorSource>> sources;
  StringMap<Found> tensors;
  BoundWeights bindings;
  Error errors = Error::success();
};

} // namespace

Error Binder::collect() {
  for (const std::shared_ptr<TensorSource> &source : sources)
    for (const SourceTensor &tensor : source->tensors()) {
      auto [entry, isNew] =
          tensors.try_emplace(tensor.name, Found{&tensor, source});
      if (!isNew)
        fail(makeError("tensor {0} is in {1} and in {2}",
                       quoteName(tensor.name), entry->second.tensor->file,
                       tensor.file));
    }
  return std::move(errors);
}

std::string Binder::sourceNames() const {
  return join(
      map_range(sources,
                [](const auto &source) { return source->path().str(); }),
      ", ");
}

void Binder::bindParam(ParamOp param, const Found &found) {
  const SourceTensor &tensor = *found.tensor;
  StringRef name = param.getName();
  // Packed parameters arise after weights are bound.
  auto type = dyn_cast<mlir::RankedTensorType>(param.getType());
  if (!type)
    return fail(makeError("parameter {0} has type {1}, tensors are bound to "
                          "parameters of a tensor type",
                          quoteName(name), str(param.getType())));
  mlir::Type elementType = toType(tensor.kind, param.getContext());
  bool hasShape = type.getShape() == ArrayRef<int64_t>(tensor.shape);
  if (!hasShape || type.getElementType() != elementType) {
    std::string note;
    if (!hasShape && hasSameDims(type.getShape(), tensor.shape))
      note = "; its dims are in another order, is it transposed?";
    else if (!hasShape && type.getNumElements() * sizeBytes(tensor.kind) ==
                              int64_t(tensor.data.size()))
      note = "; the number of elements is the same";
    return fail(makeError("parameter {0} is {1} but {2} has {3}{4}",
                          quoteName(name), str(type), tensor.file,
                          str(tensor.kind, tensor.shape), note));
  }
  if (bindings.values.contains(name))
    return; // The same parameter in another function.
  bool copied = false;
  bindings.values[name] =
      aliasElements(type, tensor.data, found.source, name, copied);
  bindings.report.matched.push_back(name.str());
  if (copied) {
    ++bindings.report.copiedTensors;
    bindings.report.copiedBytes += tensor.data.size();
  }
}

Expected<BoundWeights> Binder::bind(mlir::ModuleOp module,
                                    const BindOptions &options) {
  SmallVector<ParamOp> params;
  module.walk([&](ParamOp param) { params.push_back(param); });
  SmallVector<StringRef> paramNames, tensorNames;
  llvm::StringSet<> isParam;
  for (ParamOp param : params)
    if (isParam.insert(param.getName()).second)
      paramNames.push_back(param.getName());
  for (const std::shared_ptr<TensorSource> &source : sources)
    for (const SourceTensor &tensor : source->tensors())
      tensorNames.push_back(tensor.name);

  BindingReport &report = bindings.report;
  llvm::StringSet<> isMissing;
  bool hasMatch = false;
  for (ParamOp param : params) {
    auto found = tensors.find(param.getName());
    if (found != tensors.end()) {
      hasMatch = true;
      bindParam(param, found->second);
    } else if (isMissing.insert(param.getName()).second) {
      addUnbound(report.missing, param.getName(), tensorNames);
    }
  }
  for (StringRef name : tensorNames)
    if (!isParam.contains(name))
      addUnbound(report.extra, name, paramNames);

  if (!hasMatch && !sources.empty() && !(params.empty() && tensors.empty())) {
    std::string hint;
    for (const UnboundName &name : report.missing)
      if (hint.empty() && !name.nearest.empty())
        hint = "; the graph has " + quoteName(name.name) + ", the file " +
               quoteName(name.nearest);
    fail(makeError("{0}: none of {1} tensors is one of the graph's {2} "
                   "parameters{3}",
                   sourceNames(), tensors.size(), paramNames.size(), hint));
  } else if (options.isStrict && !report.missing.empty()) {
    std::string text;
    raw_string_ostream os(text);
    printNames(os, "parameters without a tensor (strict)", report.missing);
    fail(makeError("{0}", StringRef(text).rtrim()));
  }
  if (errors)
    return std::move(errors);
  return std::move(bindings);
}

Expected<BoundWeights>
rlx::bindWeights(mlir::ModuleOp module,
                 ArrayRef<std::shared_ptr<TensorSource>> sources,
                 const BindOptions &options) {
  Binder binder(sources);
  if (Error error = binder.collect())
    return std::move(error);
  return binder.bind(module, options);
}

Error rlx::loadWeightFile(
    StringRef path, mlir::MLIRContext *context,
    std::vector<std::pair<std::string, mlir::ElementsAttr>> &values) {
  Expected<std::shared_ptr<TensorSource>> source = openTensorSource(path);
  if (!source)
    return source.takeError();
  for (const SourceTensor &tensor : (*source)->tensors()) {
    auto type =
        mlir::RankedTensorType::get(tensor.shape, toType(tensor.kind, context));
    bool copied = false;
    values.emplace_back(tensor.name, aliasElements(type, tensor.data, *source,
                                                   tensor.name, copied));
  }
  return Error::success();
}
