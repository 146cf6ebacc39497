// SPDX-License-Identifier: MIT OR Apache-2.0
//===- DropUnused.cpp - Remove weights, instances, functions without use --===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Transforms/Passes.h"
#include "WeightNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rlx {
#define GEN_PASS_DEF_DROPUNUSEDPASS
#include "RLX/Transforms/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

class DropUnusedPass : public rlx::impl::DropUnusedPassBase<DropUnusedPass> {
  void runOnOperation() override;
};

} // namespace

/// Removes instances none of whose results is read, then the leaves that only
/// they named.
static bool eraseDeadInstances(ModuleOp module) {
  llvm::DenseSet<StringAttr> read;
  module.walk(
      [&](PreparedOp prepared) { read.insert(prepared.getNameAttr()); });
  auto isRead = [&](Attribute name) {
    return read.contains(cast<StringAttr>(name));
  };
  bool changed = false;
  // An instance stands after those whose results it takes.
  SmallVector<PrepareOp> instances(module.getOps<PrepareOp>());
  for (PrepareOp instance : llvm::reverse(instances)) {
    if (llvm::none_of(instance.getOutputs(), isRead)) {
      instance.erase();
      changed = true;
      continue;
    }
    for (auto name : instance.getWeights().getAsRange<StringAttr>())
      read.insert(name);
  }
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    auto leaf = dyn_cast<WeightLeafOpInterface>(op);
    if (!leaf || !op.use_empty() ||
        read.contains(
            StringAttr::get(module.getContext(), leaf.getWeightName())))
      continue;
    op.erase();
    changed = true;
  }
  return changed;
}

static bool eraseDeadFunctions(ModuleOp module) {
  SymbolTableCollection symbolTables;
  SymbolUserMap users(symbolTables, module);
  bool changed = false;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!function.isPrivate() || !users.useEmpty(function))
      continue;
    function.erase();
    changed = true;
  }
  return changed;
}

void DropUnusedPass::runOnOperation() {
  for (bool changed = true; changed;) {
    eraseDeadOps(getOperation());
    changed = eraseDeadInstances(getOperation());
    changed |= eraseDeadFunctions(getOperation());
  }
}
