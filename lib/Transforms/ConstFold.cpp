// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ConstFold.cpp - Compute what depends on known weights alone --------===//
//
// The part to fold is cut as for the prepare/main split, but each connected
// part stays whole: nothing is recomputed later. All structures are compiled in
// one go, since starting a compiler costs far more than compiling one more
// function, and then run one instance after the other, so that no more than one
// instance's weights and results exist twice.
//
//===----------------------------------------------------------------------===//

#include "PreparePartition.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Transforms/Passes.h"
#include "WeightNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Memory.h"

#include <cstring>

namespace rlx {
#define GEN_PASS_DEF_CONSTFOLDPASS
#include "RLX/Transforms/Passes.h.inc"

CompiledConstants::~CompiledConstants() = default;
ConstantEvaluator::~ConstantEvaluator() = default;
} // namespace rlx

using namespace mlir;
using namespace rlx;

/// Constants up to this size are attributes: uniqued, printed in place.
static constexpr uint64_t kMaxInlineBytes = 256;
/// From this size on, memory comes straight from the system and goes back to
/// it: the heap would keep what a bake frees until its end.
static constexpr uint64_t kMinMappedBytes = 1 << 20;
/// What executables expect of weights.
static constexpr size_t kAlignment = 64;

static FailureOr<AsmResourceBlob> allocate(uint64_t size) {
  if (size < kMinMappedBytes)
    return HeapAsmResourceBlob::allocate(std::max<uint64_t>(size, 1),
                                         kAlignment);
  std::error_code error;
  llvm::sys::MemoryBlock block = llvm::sys::Memory::allocateMappedMemory(
      size, nullptr, llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE,
      error);
  if (error)
    return failure();
  auto release = [block](void *, size_t, size_t) mutable {
    llvm::sys::Memory::releaseMappedMemory(block);
  };
  return AsmResourceBlob(
      ArrayRef<char>(static_cast<const char *>(block.base()), size), kAlignment,
      std::move(release), /*dataIsMutable=*/true);
}

/// The tensor type of the attribute that holds a value of type `type`.
static RankedTensorType getAttributeType(Type type) {
  if (auto packed = dyn_cast<PackedType>(type))
    return RankedTensorType::get({packed.getSizeInBytes()},
                                 IntegerType::get(type.getContext(), 8));
  return cast<RankedTensorType>(type);
}

/// True if there are elements and all have the same bits.
static bool isSplat(RankedTensorType type, ArrayRef<char> bytes) {
  if (bytes.empty())
    return false;
  size_t elementSize = bytes.size() / type.getNumElements();
  return std::memcmp(bytes.data(), bytes.data() + elementSize,
                     bytes.size() - elementSize) == 0;
}

/// An attribute in place for `bytes`: all elements, or the one of a splat.
static ElementsAttr makeInlineValue(RankedTensorType type,
                                    ArrayRef<char> bytes) {
  if (bytes.empty())
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  // An attribute holds eight i1 elements in a byte.
  SmallVector<bool> bits(bytes.begin(), bytes.end());
  return DenseElementsAttr::get(type, bits);
}

namespace {

class ConstFoldPass : public rlx::impl::ConstFoldPassBase<ConstFoldPass> {
public:
  using Base::Base;
  ConstFoldPass(std::shared_ptr<ConstantEvaluator> evaluator,
                ConstFoldPassOptions options)
      : Base(options), evaluator(std::move(evaluator)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    if (evaluator)
      evaluator->getDependentDialects(registry);
  }
  void runOnOperation() override;

private:
  std::shared_ptr<ConstantEvaluator> evaluator;
};

/// One run of the pass.
class Folder {
public:
  Folder(ModuleOp module, const WeightOnlyAnalysis &weightOnly,
         ConstantEvaluator *evaluator, uint64_t growthThreshold,
         bool releaseDead);

  /// True if there is something to fold.
  bool plan();
  LogicalResult run();

private:
  std::unique_ptr<PreparePartition> makePartition();
  bool declineGrowth();
  LogicalResult compile();
  LogicalResult fold(const PrepareInstance &instance);
  FailureOr<SmallVector<AsmResourceBlob>>
  evaluate(const PrepareInstance &instance);
  void releaseArguments(const PrepareInstance &instance);
  void replace(NodeValue result, AsmResourceBlob &&blob);

  bool dies(NodeValue leaf);
  std::string nameFor(NodeValue result,
                      ArrayRef<WeightLeafOpInterface> weights);
  uint64_t getSizeBytes(NodeValue value) const {
    return *getStoredSizeBytes(partition->getType(value));
  }
  Operation *getOp(NodeValue value) const {
    return partition->getNode(value.node).getOp();
  }

  ModuleOp module;
  const WeightOnlyAnalysis &weightOnly;
  ConstantEvaluator *evaluator;
  uint64_t growthThreshold;
  bool releaseDead;

  std::unique_ptr<PreparePartition> partition;
  std::unique_ptr<CompiledConstants> compiled;
  WeightNames names;
  LeafBuilder leaves;
  /// Ops whose results are not worth their bytes.
  llvm::DenseSet<Operation *> declined;
  /// Leaf ops of the module that hold a value.
  DenseMap<Attribute, SmallVector<Operation *>> holders;
  /// Weights that instances of the module read.
  llvm::StringSet<> namedByInstances;
  /// Answers of dies() for this partition.
  DenseMap<Attribute, bool> dying;
  /// Instances that still have to read a value.
  DenseMap<Attribute, unsigned> pendingReads;
};

} // namespace

/// The value of a leaf; null if it is none, or it has no value.
static ElementsAttr getLeafValue(Operation *op) {
  auto leaf = dyn_cast<WeightLeafOpInterface>(op);
  return leaf ? leaf.getWeightValue() : ElementsAttr();
}

Folder::Folder(ModuleOp module, const WeightOnlyAnalysis &weightOnly,
               ConstantEvaluator *evaluator, uint64_t growthThreshold,
               bool releaseDead)
    : module(module), weightOnly(weightOnly), evaluator(evaluator),
      growthThreshold(growthThreshold), releaseDead(releaseDead),
      names(module) {
  module.walk([&](Operation *op) {
    if (ElementsAttr value = getLeafValue(op))
      holders[value].push_back(op);
    if (auto prepare = dyn_cast<PrepareOp>(op))
      for (StringRef name : prepare.getWeights().getAsValueRange<StringAttr>())
        namedByInstances.insert(name);
  });
}

//===----------------------------------------------------------------------===//
// What to fold
//===----------------------------------------------------------------------===//

std::unique_ptr<PreparePartition> Folder::makePartition() {
  PreparePartition::Options options;
  options.mayMove = [&](Operation *op) {
    return llvm::all_of(op->getResults(),
                        [&](Value v) { return weightOnly.isValueKnown(v); }) &&
           (!evaluator || evaluator->canEvaluate(op));
  };
  options.mayCross = [&](Operation *op) { return !declined.contains(op); };
  return std::make_unique<PreparePartition>(module, weightOnly,
                                            std::move(options));
}

/// True if no op that stays reads the value of this leaf, and no instance of a
/// split that was made before names it.
bool Folder::dies(NodeValue leaf) {
  ElementsAttr value = getLeafValue(getOp(leaf));
  auto [known, isNew] = dying.try_emplace(value, true);
  if (isNew)
    known->second = llvm::none_of(holders[value], [&](Operation *holder) {
      StringRef name = cast<WeightLeafOpInterface>(holder).getWeightName();
      return namedByInstances.contains(name) ||
             llvm::any_of(holder->getUses(), [&](OpOperand &use) {
               return partition->isUsedByMain(use);
             });
    });
  return known->second;
}

/// Marks the largest results of instances that take more than they give back.
/// False if there are none.
bool Folder::declineGrowth() {
  bool changed = false;
  llvm::DenseSet<Attribute> counted;
  for (const PrepareInstance &instance : partition->getInstances()) {
    uint64_t dyingBytes = 0, resultBytes = 0;
    for (NodeValue argument : instance.arguments)
      // A weight that several instances share dies once.
      if (dies(argument) &&
          counted.insert(getLeafValue(getOp(argument))).second)
        dyingBytes = llvm::SaturatingAdd(dyingBytes, getSizeBytes(argument));
    for (NodeValue result : instance.results)
      resultBytes = llvm::SaturatingAdd(resultBytes, getSizeBytes(result));
    if (resultBytes <= llvm::SaturatingAdd(dyingBytes, growthThreshold))
      continue;
    NodeValue largest =
        *std::max_element(instance.results.begin(), instance.results.end(),
                          [&](NodeValue lhs, NodeValue rhs) {
                            return getSizeBytes(lhs) < getSizeBytes(rhs);
                          });
    const PrepareNode &node = partition->getNode(largest.node);
    declined.insert(node.ops.begin(), node.ops.end());
    changed = true;
    remark::missed(node.getOp()->getLoc(),
                   remark::RemarkOpts::name("ConstFold").category("weights"))
        << remark::reason(
               "not folded: the results would take {0} bytes and the weights "
               "that die take {1}",
               resultBytes, dyingBytes)
        << remark::suggest("growth-threshold={0} allows it",
                           resultBytes - dyingBytes)
        << remark::metric("ResultBytes", resultBytes)
        << remark::metric("DyingBytes", dyingBytes);
  }
  return changed;
}

bool Folder::plan() {
  do {
    dying.clear();
    partition = makePartition();
  } while (declineGrowth());
  return !partition->getInstances().empty();
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

static std::string getFunctionName(unsigned index) {
  return "fold" + std::to_string(index);
}

LogicalResult Folder::compile() {
  if (!evaluator)
    return module.emitError(
        "constants can't be folded without an evaluator; a compiler that "
        "embeds rlx-const-fold gives one to registerRLXPasses or "
        "createConstFoldPass");
  OwningOpRef<ModuleOp> functions = ModuleOp::create(module.getLoc());
  for (auto [index, function] : llvm::enumerate(partition->takeFunctions())) {
    function->setName(getFunctionName(index));
    function->setPublic();
    functions->push_back(function.release());
  }
  llvm::Expected<std::unique_ptr<CompiledConstants>> result =
      evaluator->compile(std::move(functions));
  if (!result)
    return module.emitError("constants can't be folded: ")
           << llvm::toString(result.takeError());
  compiled = std::move(*result);
  return success();
}

/// What dies leaves its name to what is made of it alone.
std::string Folder::nameFor(NodeValue result,
                            ArrayRef<WeightLeafOpInterface> weights) {
  if (weights.size() == 1) {
    WeightLeafOpInterface weight = weights.front();
    if (names.take(weight.getWeightName()))
      return weight.getWeightName().str();
  }
  return names.takeFor(getOp(result)->getLoc(), weights);
}

/// Names of the weights that the user gave, however many rounds ago.
static SmallVector<Attribute>
getOrigins(ArrayRef<WeightLeafOpInterface> weights) {
  llvm::SetVector<Attribute> origins;
  for (WeightLeafOpInterface weight : weights) {
    if (auto names = weight->getAttrOfType<ArrayAttr>(kOriginAttr))
      origins.insert(names.begin(), names.end());
    else
      origins.insert(
          StringAttr::get(weight->getContext(), weight.getWeightName()));
  }
  return origins.takeVector();
}

/// Runs the instance; the blobs of its results may be larger than these.
FailureOr<SmallVector<AsmResourceBlob>>
Folder::evaluate(const PrepareInstance &instance) {
  SmallVector<WeightBytes> inputs;
  SmallVector<ArrayRef<char>> arguments;
  for (NodeValue argument : instance.arguments) {
    // The analysis calls no value known that can't be read.
    inputs.push_back(*WeightBytes::read(getLeafValue(getOp(argument))));
    arguments.push_back(inputs.back().get());
  }
  SmallVector<AsmResourceBlob> blobs;
  SmallVector<MutableArrayRef<char>> results;
  for (NodeValue result : instance.results) {
    uint64_t size = getSizeBytes(result);
    FailureOr<AsmResourceBlob> blob = allocate(size);
    if (failed(blob))
      return getOp(result)->emitError("can't be folded: no memory for its ")
             << size << " bytes";
    blobs.push_back(std::move(*blob));
    results.push_back(blobs.back().getMutableData().take_front(size));
  }
  if (llvm::Error error =
          compiled->run(getFunctionName(instance.function), arguments, results))
    return getOp(instance.results.front())->emitError("can't be folded: ")
           << llvm::toString(std::move(error));
  return blobs;
}

/// Gives up names, and the memory where asked to, of weights that die.
void Folder::releaseArguments(const PrepareInstance &instance) {
  for (NodeValue argument : instance.arguments) {
    ElementsAttr value = getLeafValue(getOp(argument));
    if (--pendingReads[value] != 0 || !dies(argument))
      continue;
    for (Operation *holder : holders[value])
      names.release(cast<WeightLeafOpInterface>(holder).getWeightName());
    if (!releaseDead)
      continue;
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
      resource.getRawHandle().getResource()->setBlob(AsmResourceBlob());
  }
}

void Folder::replace(NodeValue result, AsmResourceBlob &&blob) {
  Type type = partition->getType(result);
  RankedTensorType attributeType = getAttributeType(type);
  ArrayRef<char> bytes = blob.getData().take_front(getSizeBytes(result));
  SmallVector<WeightLeafOpInterface> weights = partition->getWeights(result);
  // What comes of literals alone is a literal again where that is small: no
  // entry of the weight table.
  bool isSmall = bytes.size() <= kMaxInlineBytes;
  bool isLiteralSplat = weights.empty() && isSplat(attributeType, bytes);
  std::string name;
  if (!weights.empty() || !(isSmall || isLiteralSplat))
    name = nameFor(result, weights);
  if (isLiteralSplat)
    bytes = bytes.take_front(bytes.size() / attributeType.getNumElements());
  ElementsAttr value = isSmall || isLiteralSplat
                           ? makeInlineValue(attributeType, bytes)
                           : DenseResourceElementsAttr::get(attributeType, name,
                                                            std::move(blob));
  for (Value occurrence : partition->getOccurrences(result)) {
    Operation *op = occurrence.getDefiningOp();
    auto create = [&](OpBuilder &builder) -> Value {
      auto constant = ConstantOp::create(
          builder, op->getLoc(), type,
          name.empty() ? StringAttr() : builder.getStringAttr(name), value);
      if (!weights.empty())
        constant->setAttr(kOriginAttr,
                          builder.getArrayAttr(getOrigins(weights)));
      return constant;
    };
    OpBuilder builder(op);
    occurrence.replaceAllUsesWith(
        name.empty() ? create(builder) : leaves.getOrCreate(op, name, create));
  }
}

LogicalResult Folder::fold(const PrepareInstance &instance) {
  FailureOr<SmallVector<AsmResourceBlob>> blobs = evaluate(instance);
  if (failed(blobs))
    return failure();
  releaseArguments(instance);

  int64_t resultBytes = 0;
  llvm::SetVector<StringRef> weights;
  for (auto [result, blob] : llvm::zip_equal(instance.results, *blobs)) {
    resultBytes += getSizeBytes(result);
    for (WeightLeafOpInterface weight : partition->getWeights(result))
      weights.insert(weight.getWeightName());
    replace(result, std::move(blob));
  }
  remark::passed(getOp(instance.results.front())->getLoc(),
                 remark::RemarkOpts::name("ConstFold").category("weights"))
      << remark::add("folded {0} ops into {1} constants", instance.nodes.size(),
                     instance.results.size())
      << remark::metric("Ops", instance.nodes.size())
      << remark::metric("ResultBytes", resultBytes)
      << remark::metric("Weights", llvm::join(weights, ", "));
  return success();
}

LogicalResult Folder::run() {
  if (failed(compile()))
    return failure();
  for (const PrepareInstance &instance : partition->getInstances())
    for (NodeValue argument : instance.arguments)
      ++pendingReads[getLeafValue(getOp(argument))];
  for (const PrepareInstance &instance : partition->getInstances())
    if (failed(fold(instance)))
      return failure();
  eraseDeadOps(module);
  return success();
}

void ConstFoldPass::runOnOperation() {
  Folder folder(getOperation(), getAnalysis<WeightOnlyAnalysis>(),
                evaluator.get(), growthThreshold, releaseDead);
  if (!folder.plan())
    return markAllAnalysesPreserved();
  if (failed(folder.run()))
    signalPassFailure();
}

std::unique_ptr<Pass>
rlx::createConstFoldPass(std::shared_ptr<ConstantEvaluator> evaluator,
                         ConstFoldPassOptions options) {
  return std::make_unique<ConstFoldPass>(std::move(evaluator),
                                         std::move(options));
}
