// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_PIPELINES_PORTABLEGRAPH_H
#define RLX_LIB_PIPELINES_PORTABLEGRAPH_H

#include "ArtifactContent.h"
#include "mlir/IR/BuiltinOps.h"

namespace rlx {

/// Appends `module`, at the end of the `weights` phase, to `content` as MLIR
/// bytecode (docs/Format.md, "Portable graph"). Values of weights that are in
/// the weight table already are left out, places in source files too: equal
/// graphs give equal bytes. `module` stays as it is.
llvm::Error addPortableGraph(mlir::ModuleOp module, Artifact::Content &content);

/// The way back. Values refer to the segments of `content` and keep it alive.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readPortableGraph(std::shared_ptr<const Artifact::Content> content,
                  mlir::MLIRContext &context);

} // namespace rlx

#endif // RLX_LIB_PIPELINES_PORTABLEGRAPH_H
