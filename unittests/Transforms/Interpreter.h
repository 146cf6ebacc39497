// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// An evaluator for tests that need no code generator: a few ops, element by
/// element, and a record of what was asked of it.
#ifndef RLX_UNITTESTS_TRANSFORMS_INTERPRETER_H
#define RLX_UNITTESTS_TRANSFORMS_INTERPRETER_H

#include "RLX/Transforms/ConstantEvaluator.h"

#include <string>
#include <vector>

/// Evaluates rlx.add, mul, neg, expand, transpose and pack (as a copy) on f32,
/// and rlx.cast between f32 and i1.
class Interpreter : public rlx::ConstantEvaluator {
public:
  bool canEvaluate(mlir::Operation *op) override {
    return op->getName().getStringRef() != refused;
  }

  llvm::Expected<std::unique_ptr<rlx::CompiledConstants>>
  compile(mlir::OwningOpRef<mlir::ModuleOp> module) override;

  /// An op to leave in the program.
  std::string refused;
  /// If set, compile() or run() fails with this message.
  std::string compileError, runError;

  /// Functions of each module compiled.
  std::vector<unsigned> functionsCompiled;
  /// Function of each run.
  std::vector<std::string> runs;
};

#endif // RLX_UNITTESTS_TRANSFORMS_INTERPRETER_H
