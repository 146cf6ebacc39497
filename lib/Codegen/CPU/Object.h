// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// From LLVM IR to a linked shared object.
#ifndef RLX_CODEGEN_CPU_OBJECT_H
#define RLX_CODEGEN_CPU_OBJECT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace rlx {

/// Optimises `module` and compiles it to a relocatable ELF object for a CPU
/// class. Position independent; without unwind tables.
llvm::Expected<llvm::SmallVector<char, 0>>
compileToObject(llvm::Module &module, llvm::StringRef cpuClass);

/// Links an object with the members of `archive` that it needs into a shared
/// object that exports rlx_executable_query alone. Nothing may stay undefined.
/// Links are made one at a time.
llvm::Expected<llvm::SmallVector<char, 0>>
linkExecutable(llvm::StringRef object, llvm::StringRef archive);

} // namespace rlx

#endif // RLX_CODEGEN_CPU_OBJECT_H
