// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLXBAKE_OUTPUT_H
#define RLX_TOOLS_RLXBAKE_OUTPUT_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Twine.h"

namespace rlx {

/// One line on a terminal that says what is being done. Silent on anything
/// else.
class Progress {
public:
  explicit Progress(bool enabled);
  ~Progress() { clear(); }
  void show(const llvm::Twine &step);
  void clear();

private:
  bool enabled;
  bool shown = false;
};

/// Prints the choices of the weight passes to stderr as they are made.
/// `progress` must outlive them.
llvm::Error printRemarks(mlir::MLIRContext &context, Progress &progress);

/// Writes the module's text to a file that appears when it is complete, or to
/// stdout if `path` is empty or `-`.
llvm::Error writeText(mlir::ModuleOp module, llvm::StringRef path);
llvm::Error writeBytes(llvm::StringRef bytes, llvm::StringRef path);

/// Writes the report file and the summary on stderr.
llvm::Error finish(const BakeCommand &command, llvm::StringRef source,
                   BakeReport &report);

/// `error: ` and the message on stderr.
void printError(llvm::Error error);

} // namespace rlx

#endif // RLX_TOOLS_RLXBAKE_OUTPUT_H
