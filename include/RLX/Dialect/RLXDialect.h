// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXDialect.h - The rlx dialect: types, interfaces, ops ---*- C++ -*-===//

#ifndef RLX_DIALECT_RLXDIALECT_H
#define RLX_DIALECT_RLXDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace rlx {

/// The state of a session's random number generator, as a resource of side
/// effects: ops that draw numbers keep their order and are never merged.
struct RngState : mlir::SideEffects::Resource::Base<RngState> {
  llvm::StringRef getName() final { return "rlx.rng_state"; }
};

} // namespace rlx

#include "RLX/Dialect/RLXDialect.h.inc"
#include "RLX/Dialect/RLXEnums.h.inc"
#include "RLX/Dialect/RLXInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "RLX/Dialect/RLXTypes.h.inc"

#define GET_OP_CLASSES
#include "RLX/Dialect/RLXOps.h.inc"

#endif // RLX_DIALECT_RLXDIALECT_H
