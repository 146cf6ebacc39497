// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Which tensor of the weight files is which parameter of a graph.
#ifndef RLX_IMPORT_WEIGHTBINDINGS_H
#define RLX_IMPORT_WEIGHTBINDINGS_H

#include "RLX/Import/TensorSource.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"

namespace rlx {

struct BindOptions {
  /// A parameter without a tensor is an error rather than left open.
  bool isStrict = false;
};

/// A name of one side without a partner, and the name of the other side that
/// looks like it.
struct UnboundName {
  std::string name;
  /// Empty if none is near, and after the first twenty of a list.
  std::string nearest;
};

/// What was bound to what, for the user.
struct BindingReport {
  /// Parameters that have their tensor, in the order of the graph.
  std::vector<std::string> matched;
  /// Parameters without a tensor; they stay open.
  std::vector<UnboundName> missing;
  /// Tensors without a parameter; they are not used.
  std::vector<UnboundName> extra;
  /// Tensors that lie in their file at an address unfit for their elements and
  /// were copied; all others are used where they are mapped.
  size_t copiedTensors = 0;
  uint64_t copiedBytes = 0;

  /// One line for each list that is not empty.
  void print(llvm::raw_ostream &os) const;
};

struct BoundWeights {
  /// The value of each parameter that has one, by its name; of the parameter's
  /// type.
  llvm::StringMap<mlir::ElementsAttr> values;
  BindingReport report;
};

/// Matches the `rlx.param` ops of `module` with the tensors of `sources` by
/// name. Values of more than a few hundred bytes refer to the mapped files,
/// which live as long as the context.
///
/// Errors: a tensor in two sources, a tensor whose shape or element type
/// differs from the parameter's, no match at all, and a missing one if strict.
/// All faults are in one error.
llvm::Expected<BoundWeights>
bindWeights(mlir::ModuleOp module,
            llvm::ArrayRef<std::shared_ptr<TensorSource>> sources,
            const BindOptions &options = {});

/// Appends the value of every tensor in the file at `path`, in its order, by
/// name. What openTensorSource() takes is taken; values refer to the mapped
/// file as above. Loads no dialect.
llvm::Error
loadWeightFile(llvm::StringRef path, mlir::MLIRContext *context,
               std::vector<std::pair<std::string, mlir::ElementsAttr>> &values);

} // namespace rlx

#endif // RLX_IMPORT_WEIGHTBINDINGS_H
