// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Pipelines/Bake.h"
#include "ArtifactBuilder.h"
#include "PortableGraph.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Codegen/CPU/Kernels/KernelArchive.h"
#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/DiagnosticCollector.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Runtime/rlx_runtime.h"
#include "RLX/Support/Error.h"
#include "RLX/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace rlx;

ArrayRef<StringRef> rlx::getCPUClasses() { return kernelCpuClasses(); }

llvm::Expected<std::vector<std::string>>
rlx::resolveTargets(ArrayRef<std::string> names) {
  llvm::SetVector<StringRef> targets;
  bool none = false;
  for (StringRef name : names) {
    StringRef target = name;
    if (name == "none") {
      none = true;
      continue;
    }
    if (name == "native") {
      target = rlx_host_cpu_class();
      if (target == "none")
        return makeError(
            "target 'native': this machine's CPU is below x86-64-v3");
    }
    if (!llvm::is_contained(getCPUClasses(), target))
      return makeError(
          "no target is called {0}; there are {1:$[, ]}, native and none",
          quoteName(name),
          llvm::make_range(getCPUClasses().begin(), getCPUClasses().end()));
    targets.insert(target);
  }
  if (none && !targets.empty())
    return makeError("target 'none' means no code at all, so no other target "
                     "can go with it");
  return std::vector<std::string>(targets.begin(), targets.end());
}

/// Ops of the graph with leaves and inputs, without packing.
static uint64_t countNodes(func::FuncOp func) {
  uint64_t count = func.getNumArguments();
  func.walk([&](Operation *op) {
    if (isa_and_present<RLXDialect>(op->getDialect()) && !isa<PackOp>(op))
      ++count;
  });
  return count;
}

namespace {

/// One bake.
class Baker {
public:
  Baker(ModuleOp module, const WeightBindings &bindings,
        const BakeOptions &options)
      : module(module), bindings(bindings), options(options) {}

  llvm::Error runWeights();
  llvm::Expected<BakeResult> bake();

private:
  void step(StringRef what) {
    if (options.progress)
      options.progress(what);
  }
  void collectParams();
  void countNodesAfter();
  std::vector<artifact::Baked> describeBaked() const;
  void describeWeights(const artifact::Manifest &manifest);

  ModuleOp module;
  const WeightBindings &bindings;
  const BakeOptions &options;
  BakeReport report;
};

} // namespace

/// Which params there are before any of them becomes a constant.
void Baker::collectParams() {
  llvm::SetVector<StringRef> baked;
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic())
      report.nodesBefore += countNodes(func);
  module.walk([&](ParamOp param) {
    if (!bindings.contains(param.getName()) || !baked.insert(param.getName()))
      return;
    report.rawWeightBytes += getStoredSizeBytes(param.getType()).value_or(0);
  });
  // Other constants of the graph are literals.
  llvm::DenseSet<Attribute> stored;
  module.walk([&](ConstantOp constant) {
    bool isWeight = !constant.getWeightName().empty() ||
                    isa<DenseResourceElementsAttr>(constant.getValue());
    if (isWeight && stored.insert(constant.getValue()).second)
      report.rawWeightBytes +=
          getStoredSizeBytes(constant.getType()).value_or(0);
  });
  for (StringRef name : baked)
    report.paramsBaked.push_back(name.str());
}

llvm::Error Baker::runWeights() {
  DialectRegistry registry;
  registerAllRLXDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  collectParams();
  step("weights");
  WeightsPhaseOptions phase;
  for (StringRef name : report.paramsBaked)
    phase.bindings[name] = bindings.lookup(name);
  phase.fold = options.fold;
  phase.hoist = options.hoist;
  phase.foldGrowthThreshold = options.foldGrowthThreshold;
  phase.ownsWeights = options.ownsWeights;
  phase.evaluator = createCompiledEvaluator();

  DiagnosticCollector diagnostics(module.getContext());
  PassManager pm(module.getContext());
  buildWeightsPipeline(pm, phase);
  if (failed(pm.run(module)))
    return diagnostics.takeError("the weight passes failed");
  return llvm::Error::success();
}

void Baker::countNodesAfter() {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isPublic())
      report.nodesAfter += countNodes(func);
  }
  llvm::StringMap<unsigned> instances;
  for (PrepareOp prepare : module.getOps<PrepareOp>()) {
    ++report.prepareComponents;
    ++instances[prepare.getCallee()];
  }
  report.prepareFunctions = instances.size();
  for (auto func : module.getOps<func::FuncOp>()) {
    auto found = instances.find(func.getName());
    if (found != instances.end())
      report.nodesPrepared +=
          found->second * (countNodes(func) - func.getNumArguments());
  }
}

/// What became of each param that got its value: kept under its name, part of
/// others, or gone.
std::vector<artifact::Baked> Baker::describeBaked() const {
  std::vector<artifact::Baked> baked;
  for (const std::string &name : report.paramsBaked) {
    std::vector<std::string> users;
    bool isKept = false;
    for (const WeightReport &weight : report.weights) {
      isKept |= weight.name == name;
      if (weight.name != name && llvm::is_contained(weight.origin, name))
        users.push_back(quoteName(weight.name));
    }
    std::string note = isKept ? "stored in the file"
                       : users.empty()
                           ? "not needed for any output"
                           : "folded into " + llvm::join(users, ", ");
    baked.push_back({name, note});
  }
  return baked;
}

void Baker::describeWeights(const artifact::Manifest &manifest) {
  for (const artifact::Tensor &tensor : manifest.tensors) {
    WeightReport weight;
    weight.name = tensor.name;
    weight.shape.assign(tensor.shape.begin(), tensor.shape.end());
    weight.dtype = std::string(artifact::dtypeName(tensor.dtype));
    weight.encoding = tensor.encoding;
    weight.layout = tensor.layout;
    weight.rawBytes = tensor.sizeBytes;
    SmallVector<StringRef> origin;
    StringRef(tensor.origin).split(origin, ", ", -1, /*KeepEmpty=*/false);
    for (StringRef name : origin)
      weight.origin.push_back(name.str());
    switch (tensor.state) {
    case artifact::TensorState::Constant:
      weight.bytes = tensor.sizeBytes;
      report.weightBytes += weight.bytes;
      report.foldedConstants += !origin.empty();
      break;
    case artifact::TensorState::Param:
      weight.note = "its value comes when the file is loaded";
      report.paramsRemaining.push_back(tensor.name);
      break;
    case artifact::TensorState::Prepared:
      weight.note = "computed once when the file is loaded";
      break;
    }
    report.weights.push_back(std::move(weight));
  }
  llvm::sort(report.paramsRemaining);
}

llvm::Expected<BakeResult> Baker::bake() {
  llvm::Expected<std::vector<std::string>> cpuClasses =
      resolveTargets(options.targets);
  if (!cpuClasses)
    return cpuClasses.takeError();
  report.targets = *cpuClasses;
  report.profile = stringifyProfile(options.profile).str();
  if (auto name = module->getAttrOfType<StringAttr>(kNameAttr))
    report.graph = name.str();
  if (llvm::Error error = runWeights())
    return std::move(error);

  std::vector<TargetCode> targets;
  for (const std::string &cpuClass : *cpuClasses) {
    step("code for " + cpuClass);
    CPUCodegenOptions codegen;
    codegen.cpuClass = cpuClass;
    llvm::Expected<CompiledExecutable> executable =
        compileForCPU(module, codegen);
    if (!executable)
      return executable.takeError();
    targets.push_back({cpuClass, std::move(*executable)});
  }
  step("weight table");
  llvm::Expected<std::unique_ptr<Artifact::Content>> content =
      buildArtifactContent(module, std::move(targets));
  if (!content)
    return content.takeError();
  if (options.storeGraph)
    if (llvm::Error error = addPortableGraph(module, **content))
      return std::move(error);
  artifact::Manifest &manifest = (*content)->desc.manifest;
  describeWeights(manifest);
  countNodesAfter();
  manifest.baked = describeBaked();
  manifest.report = llvm::formatv("{0}", report.toJSON()).str();
  return BakeResult{Artifact(std::move(*content)), std::move(report)};
}

llvm::Expected<BakeResult> rlx::bake(ModuleOp graph,
                                     const WeightBindings &bindings,
                                     const BakeOptions &options) {
  return Baker(graph, bindings, options).bake();
}

llvm::Error rlx::runPhases(ModuleOp graph, const WeightBindings &bindings,
                           const BakeOptions &options, Phase phase) {
  if (phase == Phase::Import)
    return llvm::Error::success();
  if (llvm::Error error = Baker(graph, bindings, options).runWeights())
    return error;
  if (phase == Phase::Weights)
    return llvm::Error::success();
  llvm::Expected<std::vector<std::string>> targets =
      resolveTargets(options.targets);
  if (!targets)
    return targets.takeError();
  if (targets->empty())
    return makeError(
        "the lowered phase is for one CPU class; target 'none' has none");
  DiagnosticCollector diagnostics(graph.getContext());
  PassManager pm(graph.getContext());
  LowerCPUOptions lower;
  lower.cpuClass = targets->front();
  buildLowerCPUPipeline(pm, lower);
  if (failed(pm.run(graph)))
    return diagnostics.takeError("lowering failed");
  return llvm::Error::success();
}
