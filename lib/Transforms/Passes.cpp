// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Passes.cpp - Registration ------------------------------------------===//

#include "RLX/Transforms/Passes.h"

using namespace mlir;

void rlx::registerRLXPasses(const PassServices &services) {
  registerDropUnusedPass();
  registerLayoutWeightsPass();
  registerNameConstantsPass();
  registerPrintWeightOnlyPass();
  registerSplitPreparePass();
  registerPass([evaluator = services.evaluator] {
    return createConstFoldPass(evaluator);
  });
  registerPass([loadWeights = services.loadWeights] {
    return createSpecializeParamsPass({}, {}, loadWeights);
  });
}
