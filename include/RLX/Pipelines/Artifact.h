// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Artifact.h - A baked file before and after it is one ---------------===//

#ifndef RLX_PIPELINES_ARTIFACT_H
#define RLX_PIPELINES_ARTIFACT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace rlx {

/// The content of a `.rlx` file, made by `bake` or read from one. Moves, does
/// not copy.
class Artifact {
public:
  struct Content;
  explicit Artifact(std::unique_ptr<Content> content);
  Artifact(Artifact &&);
  Artifact &operator=(Artifact &&);
  ~Artifact();

  /// Maps the file and checks prefix and manifest; refuses sealed files by
  /// name.
  static llvm::Expected<Artifact> read(llvm::StringRef path);

  /// Writes the file under a temporary name beside `path` and renames it, so an
  /// interrupted write leaves an old file as it was. Same content, same bytes.
  llvm::Error write(llvm::StringRef path) const;

  /// The same bytes in memory, 64-byte aligned.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> toMemory() const;

  /// The shared object for a CPU class.
  llvm::Expected<llvm::StringRef> getCode(llvm::StringRef cpuClass) const;

  /// The graph as it was at the end of the `weights` phase, from the portable
  /// graph in the file, whose hash is compared first. Weights with values in
  /// the file are constants that refer to them: nothing is copied, and the
  /// mapping lives as long as `context`. Not thread-safe for one context.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  getGraph(mlir::MLIRContext &context) const;

  const Content &getContent() const { return *content; }

private:
  std::shared_ptr<const Content> content;
};

} // namespace rlx

#endif // RLX_PIPELINES_ARTIFACT_H
