// SPDX-License-Identifier: MIT OR Apache-2.0
//===- PrintWeightOnly.cpp - Say what depends on weights alone ------------===//

#include "RLX/Analysis/WeightOnly.h"
#include "RLX/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace rlx {
#define GEN_PASS_DEF_PRINTWEIGHTONLYPASS
#include "RLX/Transforms/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

class PrintWeightOnlyPass
    : public rlx::impl::PrintWeightOnlyPassBase<PrintWeightOnlyPass> {
  void runOnOperation() override;
};

} // namespace

/// An op's results share what reaches its operands and captures.
static StringRef describe(const WeightOnlyAnalysis &weightOnly, Value result) {
  if (!weightOnly.isWeightOnly(result))
    return "dynamic";
  if (weightOnly.isHoistable(result))
    return weightOnly.isValueKnown(result) ? "known" : "params";
  return weightOnly.isValueKnown(result) ? "known, local" : "params, local";
}

void PrintWeightOnlyPass::runOnOperation() {
  const auto &weightOnly = getAnalysis<WeightOnlyAnalysis>();
  Builder builder(&getContext());
  getOperation().walk([&](Operation *op) {
    if (op->getNumResults() != 0)
      op->setAttr("rlx.weight_only", builder.getStringAttr(describe(
                                         weightOnly, op->getResult(0))));
  });
}
