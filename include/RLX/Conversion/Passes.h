// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Passes.h - Conversion passes -----------------------------*- C++ -*-===//

#ifndef RLX_CONVERSION_PASSES_H
#define RLX_CONVERSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace rlx {

#define GEN_PASS_DECL
#include "RLX/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RLX/Conversion/Passes.h.inc"

} // namespace rlx

#endif // RLX_CONVERSION_PASSES_H
