// SPDX-License-Identifier: MIT OR Apache-2.0
//===- WeightsToArguments.cpp - Leaves become arguments -------------------===//

#include "Names.h"

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace rlx {
#define GEN_PASS_DEF_WEIGHTSTOARGUMENTSPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

/// Moves the named leaves of `func` into its signature.
static LogicalResult convertLeaves(func::FuncOp func) {
  llvm::MapVector<StringRef, SmallVector<WeightLeafOpInterface>> leaves;
  WalkResult walked = func.walk([&](WeightLeafOpInterface leaf) {
    if (!leaf.getWeightName().empty()) {
      leaves[leaf.getWeightName()].push_back(leaf);
      return WalkResult::advance();
    }
    if (isa_and_nonnull<DenseElementsAttr>(leaf.getWeightValue()) &&
        isa<RankedTensorType>(leaf->getResult(0).getType()))
      return WalkResult::advance();
    leaf.emitOpError("has no name to find its value by; only small literals "
                     "are part of the code");
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  Builder builder(func.getContext());
  for (auto &[name, ops] : leaves) {
    Operation *first = ops.front();
    Type type = first->getResult(0).getType();
    if (func->hasAttr(kPrepareFunctionAttr))
      return first->emitOpError("reads weight ")
             << quoteName(name) << " inside the prepare function "
             << quoteName(func.getName())
             << ", which takes its weights as arguments";
    for (Operation *op : ops) {
      if (op->getResult(0).getType() == type)
        continue;
      InFlightDiagnostic diag = op->emitOpError("reads weight ")
                                << quoteName(name) << " as "
                                << op->getResult(0).getType();
      diag.attachNote(first->getLoc()) << "which is read here as " << type;
      return diag;
    }
    unsigned index = func.getNumArguments();
    DictionaryAttr attrs = builder.getDictionaryAttr(
        builder.getNamedAttr(kWeightAttr, builder.getStringAttr(name)));
    if (failed(func.insertArgument(index, type, attrs, first->getLoc())))
      return failure();
    for (Operation *op : ops) {
      op->getResult(0).replaceAllUsesWith(func.getArgument(index));
      op->erase();
    }
  }
  return success();
}

namespace {
struct WeightsToArgumentsPass
    : rlx::impl::WeightsToArgumentsPassBase<WeightsToArgumentsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    for (PrepareOp prepare :
         llvm::make_early_inc_range(module.getOps<PrepareOp>())) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          prepare, prepare.getCalleeAttr());
      if (!callee) {
        prepare.emitOpError("names ")
            << prepare.getCalleeAttr() << ", which is no function";
        return signalPassFailure();
      }
      callee->setAttr(kPrepareFunctionAttr, UnitAttr::get(&getContext()));
      prepare.erase();
    }
    // The values of what instances read.
    for (WeightLeafOpInterface leaf :
         llvm::make_early_inc_range(module.getOps<WeightLeafOpInterface>()))
      leaf->erase();
    SymbolUserMap users(symbols, module);
    for (auto func :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      bool isPrepare = func->hasAttr(kPrepareFunctionAttr);
      if (func.isPrivate() && !isPrepare) {
        if (users.useEmpty(func)) {
          func.erase();
          continue;
        }
        func.emitOpError("is called by another function; CPU code generation "
                         "needs calls inlined (--inline)");
        return signalPassFailure();
      }
      if (func.isDeclaration()) {
        func.emitOpError("has no body to compile");
        return signalPassFailure();
      }
      if (!func.getBody().hasOneBlock()) {
        func.emitOpError("has control flow; CPU code generation takes graphs "
                         "of one block");
        return signalPassFailure();
      }
      if (failed(convertLeaves(func)))
        return signalPassFailure();
    }
  }
};
} // namespace
