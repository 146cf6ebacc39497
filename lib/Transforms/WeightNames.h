// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Names of weights and of what is made of them, each once in a module.
#ifndef RLX_LIB_TRANSFORMS_WEIGHTNAMES_H
#define RLX_LIB_TRANSFORMS_WEIGHTNAMES_H

#include "RLX/Dialect/RLXDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace rlx {

class WeightNames {
public:
  /// Takes the names of all leaves and instance results of the module.
  explicit WeightNames(mlir::ModuleOp module);

  /// Gives a name back, because what had it is gone.
  void release(llvm::StringRef name) { taken.erase(name); }

  /// Takes `name` if it is free and not empty.
  bool take(llvm::StringRef name) {
    return !name.empty() && taken.insert(name).second;
  }

  /// A free name for what the op at `loc` makes of `weights`: the op's own
  /// name, else `<weight>.prep` if there is one weight, else `prep<i>`.
  std::string takeFor(mlir::Location loc,
                      llvm::ArrayRef<WeightLeafOpInterface> weights);

private:
  llvm::StringSet<> taken;
  unsigned next = 0;
};

/// Puts leaves at the start of functions, one of a name in each.
class LeafBuilder {
public:
  /// The leaf `name` for use where `near` stands, made by `create` on first
  /// use.
  mlir::Value
  getOrCreate(mlir::Operation *near, llvm::StringRef name,
              llvm::function_ref<mlir::Value(mlir::OpBuilder &)> create);

private:
  llvm::DenseMap<mlir::Region *, llvm::StringMap<mlir::Value>> leaves;
  llvm::DenseMap<mlir::Region *, mlir::Operation *> last;
};

/// Removes what nothing uses from the bodies of the module's functions.
void eraseDeadOps(mlir::ModuleOp module);

} // namespace rlx

#endif // RLX_LIB_TRANSFORMS_WEIGHTNAMES_H
