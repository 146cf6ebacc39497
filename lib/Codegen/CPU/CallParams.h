// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Reads of `rlx_abi_params` in generated code.
#ifndef RLX_CODEGEN_CPU_CALLPARAMS_H
#define RLX_CODEGEN_CPU_CALLPARAMS_H

#include "Buffers.h"

namespace rlx {

/// Gives values of a lowered function in another function that has the
/// parameters of the call.
class CallParams {
public:
  /// `params`: pointer to rlx_abi_params in the function that `builder` is in.
  CallParams(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::func::FuncOp original, mlir::Value params);

  /// A scalar of the original function.
  llvm::FailureOr<mlir::Value> getScalar(mlir::Value value) {
    return remat.get(value);
  }
  /// Address of a buffer: an argument or a view of the arena.
  llvm::FailureOr<mlir::Value> getBuffer(mlir::Value buffer);
  /// Address `offset` (index) bytes into the arena.
  mlir::Value getArenaAddress(mlir::Value offset);
  /// The field of rlx_abi_params at `offset`.
  mlir::Value loadField(size_t offset, mlir::Type type);

private:
  mlir::Value loadElement(mlir::Value base, int64_t i, mlir::Type type);
  mlir::Value getArgument(mlir::BlockArgument arg);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  BoundArguments arguments;
  mlir::Value params, buffers, symbols, arena;
  Rematerializer remat;
};

} // namespace rlx

#endif // RLX_CODEGEN_CPU_CALLPARAMS_H
