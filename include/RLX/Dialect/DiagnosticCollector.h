// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_DIALECT_DIAGNOSTICCOLLECTOR_H
#define RLX_DIALECT_DIAGNOSTICCOLLECTOR_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <string>

namespace rlx {

/// Turns the errors that passes report into one llvm::Error. Warnings and
/// remarks go on to the handlers registered before.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  /// The errors so far, one per line with their places and notes, or `fallback`
  /// if a pass failed without a word.
  llvm::Error takeError(llvm::StringRef fallback);

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace rlx

#endif // RLX_DIALECT_DIAGNOSTICCOLLECTOR_H
