// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// What `rlx-const-fold` asks of whoever computes constants for it.
#ifndef RLX_TRANSFORMS_CONSTANTEVALUATOR_H
#define RLX_TRANSFORMS_CONSTANTEVALUATOR_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace rlx {

/// Functions that a ConstantEvaluator made ready to run.
class CompiledConstants {
public:
  virtual ~CompiledConstants();

  /// Runs one function. Buffers come in the order of its arguments and results
  /// and hold the elements row-major (i1: one byte each), for a packed type its
  /// bytes. Arguments are aligned to their element size, results to 64 bytes.
  /// Called from one thread at a time, several times for one function.
  virtual llvm::Error
  run(llvm::StringRef function, llvm::ArrayRef<llvm::ArrayRef<char>> arguments,
      llvm::ArrayRef<llvm::MutableArrayRef<char>> results) = 0;
};

/// Computes weight-only functions while a program is compiled. The pipelines
/// give one that uses the code generator of the model, so that folding gives
/// the bits that running would; a host compiler may give its own.
class ConstantEvaluator {
public:
  virtual ~ConstantEvaluator();

  /// Adds the dialects and extensions that compile() needs in the context: a
  /// pass can't load them once it runs.
  virtual void getDependentDialects(mlir::DialectRegistry &registry) const {}

  /// False for ops to be left in the program; what depends on them is left too.
  virtual bool canEvaluate(mlir::Operation *op) { return true; }

  /// Takes a module of public functions, each of one block without side
  /// effects, over tensors of static shape and packed weights.
  virtual llvm::Expected<std::unique_ptr<CompiledConstants>>
  compile(mlir::OwningOpRef<mlir::ModuleOp> module) = 0;
};

} // namespace rlx

#endif // RLX_TRANSFORMS_CONSTANTEVALUATOR_H
