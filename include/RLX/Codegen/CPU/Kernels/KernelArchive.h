// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_CODEGEN_CPU_KERNELS_KERNELARCHIVE_H
#define RLX_CODEGEN_CPU_KERNELS_KERNELARCHIVE_H

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace rlx {

/// The CPU classes that have a kernel archive, weakest first.
llvm::ArrayRef<llvm::StringRef> kernelCpuClasses();

/// A static archive (ar, GNU symbol table) of ELF objects for `cpuClass`:
/// the functions of KernelAbi.h and the builtins that compiled code may call
/// (mem*, fmod, conversions of half and bfloat). Objects are position
/// independent, their symbols hidden, and they need nothing but each other, so
/// a link with --no-undefined succeeds. Empty if there is no such class. The
/// bytes live as long as the program.
llvm::StringRef kernelArchive(llvm::StringRef cpuClass);

} // namespace rlx

#endif
