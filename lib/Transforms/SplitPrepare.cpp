// SPDX-License-Identifier: MIT OR Apache-2.0
//===- SplitPrepare.cpp - Prepare functions and main ----------------------===//

#include "PreparePartition.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Transforms/Passes.h"
#include "WeightNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace rlx {
#define GEN_PASS_DEF_SPLITPREPAREPASS
#include "RLX/Transforms/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

class SplitPreparePass
    : public rlx::impl::SplitPreparePassBase<SplitPreparePass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void nameArguments(const PreparePartition &partition, WeightNames &names);
  void insertFunctions(PreparePartition &partition);
  void keepConstants(const PreparePartition &partition);

  /// Names of prepare functions, by index of the partition.
  SmallVector<StringAttr> functionNames;
};

} // namespace

/// A constant without a name can't be listed as what an instance reads.
void SplitPreparePass::nameArguments(const PreparePartition &partition,
                                     WeightNames &names) {
  // A packed weight and a tensor may have the same bytes.
  DenseMap<std::pair<Attribute, Type>, StringAttr> newNames;
  for (const PrepareInstance &instance : partition.getInstances())
    for (NodeValue argument : instance.arguments) {
      auto constant =
          dyn_cast<ConstantOp>(partition.getNode(argument.node).getOp());
      if (!constant || !constant.getWeightName().empty())
        continue;
      StringAttr &name = newNames[{constant.getValue(), constant.getType()}];
      if (!name)
        name = StringAttr::get(&getContext(),
                               names.takeFor(constant.getLoc(), {}));
    }
  if (newNames.empty())
    return;
  getOperation().walk([&](ConstantOp constant) {
    if (StringAttr name =
            newNames.lookup({constant.getValue(), constant.getType()});
        name && constant.getWeightName().empty())
      constant.setNameAttr(name);
  });
}

void SplitPreparePass::insertFunctions(PreparePartition &partition) {
  SymbolTable symbols(getOperation());
  SmallVector<OwningOpRef<func::FuncOp>> functions = partition.takeFunctions();
  functionNames.assign(functions.size(), nullptr);
  llvm::StringMap<unsigned> next;
  DenseMap<Operation *, Operation *> insertAfter;
  for (const PrepareInstance &instance : partition.getInstances()) {
    StringAttr &name = functionNames[instance.function];
    if (name)
      continue;
    auto entry = partition.getNode(instance.nodes.front())
                     .getOp()
                     ->getParentOfType<func::FuncOp>();
    std::string candidate;
    do {
      candidate =
          (entry.getSymName() + ".prepare" + Twine(next[entry.getSymName()]++))
              .str();
    } while (symbols.lookup(candidate));

    func::FuncOp function = functions[instance.function].release();
    function.setSymName(candidate);
    Operation *&previous = insertAfter[entry];
    symbols.insert(function,
                   std::next(Block::iterator(previous ? previous : entry)));
    previous = function;
    name = function.getSymNameAttr();
  }
}

/// Constants that instances read stay in the module, at its top level, whether
/// main reads them or not: a name is no use that would keep their values.
void SplitPreparePass::keepConstants(const PreparePartition &partition) {
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  llvm::StringSet<> kept;
  for (auto leaf : getOperation().getOps<WeightLeafOpInterface>())
    kept.insert(leaf.getWeightName());
  for (const PrepareInstance &instance : partition.getInstances())
    for (NodeValue argument : instance.arguments) {
      Operation *op = partition.getNode(argument.node).getOp();
      auto leaf = dyn_cast<WeightLeafOpInterface>(op);
      if (leaf && leaf.getWeightValue() &&
          kept.insert(leaf.getWeightName()).second)
        builder.clone(*op);
    }
}

void SplitPreparePass::runOnOperation() {
  ModuleOp module = getOperation();
  PreparePartition::Options options;
  options.mayCross = [](Operation *op) { return !isFreeInMain(op); };
  options.maxSharedBytes = maxSharedBytes;
  PreparePartition partition(module, getAnalysis<WeightOnlyAnalysis>(),
                             std::move(options));
  if (partition.getInstances().empty())
    return markAllAnalysesPreserved();

  WeightNames names(module);
  nameArguments(partition, names);
  insertFunctions(partition);
  keepConstants(partition);

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  LeafBuilder leaves;
  std::map<NodeValue, StringAttr> resultNames;
  for (const PrepareInstance &instance : partition.getInstances()) {
    SmallVector<Attribute> weights, results;
    SmallVector<Type> weightTypes, resultTypes;
    int64_t resultBytes = 0;
    for (NodeValue argument : instance.arguments) {
      Operation *source = partition.getNode(argument.node).getOp();
      auto leaf = dyn_cast<WeightLeafOpInterface>(source);
      weights.push_back(leaf ? builder.getStringAttr(leaf.getWeightName())
                             : resultNames.at(argument));
      weightTypes.push_back(partition.getType(argument));
    }
    for (NodeValue result : instance.results) {
      Operation *op = partition.getNode(result.node).getOp();
      StringAttr name = builder.getStringAttr(
          names.takeFor(op->getLoc(), partition.getWeights(result)));
      resultNames[result] = name;
      results.push_back(name);
      Type type = partition.getType(result);
      resultTypes.push_back(type);
      resultBytes += *getStoredSizeBytes(type);
    }
    Operation *last = partition.getNode(instance.results.front().node).getOp();
    StringAttr function = functionNames[instance.function];
    PrepareOp::create(
        builder, last->getLoc(), FlatSymbolRefAttr::get(function),
        builder.getArrayAttr(weights), builder.getArrayAttr(results),
        TypeAttr::get(builder.getFunctionType(weightTypes, resultTypes)));
    remark::passed(last->getLoc(),
                   remark::RemarkOpts::name("SplitPrepare").category("weights"))
        << remark::add("{0} is computed once, by @{1}",
                       cast<StringAttr>(results.front()).getValue(),
                       function.getValue())
        << remark::metric("Ops", instance.nodes.size())
        << remark::metric("Weights", weights.size())
        << remark::metric("Results", results.size())
        << remark::metric("ResultBytes", resultBytes);
  }

  for (const auto &named : resultNames) {
    NodeValue value = named.first;
    StringAttr name = named.second;
    if (!partition.isUsedByMain(value))
      continue;
    Type type = partition.getType(value);
    for (Value occurrence : partition.getOccurrences(value)) {
      Operation *op = occurrence.getDefiningOp();
      Value prepared = leaves.getOrCreate(op, name, [&](OpBuilder &builder) {
        return PreparedOp::create(builder, op->getLoc(), type, name);
      });
      occurrence.replaceAllUsesWith(prepared);
    }
  }
  eraseDeadOps(module);
}
