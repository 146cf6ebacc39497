// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_PIPELINES_ARTIFACTBUILDER_H
#define RLX_LIB_PIPELINES_ARTIFACTBUILDER_H

#include "ArtifactContent.h"
#include "RLX/Artifact/Manifest.h"
#include "RLX/Codegen/CPU/Compile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Types.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>

namespace rlx {

/// The file format's name for an element type of the dialect.
std::optional<artifact::DType> getDType(mlir::Type type);

/// Sets shape, element type, encoding, layout and size in bytes of a weight.
/// False if no file can store such a type.
bool describeType(mlir::Type type, artifact::Tensor &tensor);

/// The bytes at an address that segments may have.
std::unique_ptr<llvm::MemoryBuffer>
copyAligned(llvm::ArrayRef<char> bytes, llvm::StringRef name = "segment");

/// Code for one CPU class.
struct TargetCode {
  std::string cpuClass;
  CompiledExecutable executable;
};

/// The content of a file for `module`, at the end of the `weights` phase, and
/// its code. Weights are borrowed from the module's constants. Report and names
/// of baked weights are left to the caller.
llvm::Expected<std::unique_ptr<Artifact::Content>>
buildArtifactContent(mlir::ModuleOp module, std::vector<TargetCode> targets);

} // namespace rlx

#endif // RLX_LIB_PIPELINES_ARTIFACTBUILDER_H
