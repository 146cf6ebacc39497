// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Codegen/CPU/Kernels/KernelArchive.h"

#include "llvm/ADT/STLExtras.h"

// The build passes the paths of the archives and rebuilds this file when they
// change.
#define RLX_EMBED(symbol, path)                                                \
  __asm__(".section .rodata\n"                                                 \
          ".balign 64\n"                                                       \
          ".global " #symbol "_begin\n"                                        \
          ".hidden " #symbol "_begin\n" #symbol "_begin:\n"                    \
          ".incbin \"" path "\"\n"                                             \
          ".global " #symbol "_end\n"                                          \
          ".hidden " #symbol "_end\n" #symbol "_end:\n"                        \
          ".byte 0\n"                                                          \
          ".previous\n");                                                      \
  extern "C" const char symbol##_begin[];                                      \
  extern "C" const char symbol##_end[];

RLX_EMBED(rlx_kernels_v3, RLX_KERNEL_ARCHIVE_V3)
RLX_EMBED(rlx_kernels_v4, RLX_KERNEL_ARCHIVE_V4)

static constexpr llvm::StringRef classNames[] = {"x86-64-v3", "x86-64-v4"};

llvm::ArrayRef<llvm::StringRef> rlx::kernelCpuClasses() { return classNames; }

llvm::StringRef rlx::kernelArchive(llvm::StringRef cpuClass) {
  auto bytes = [](const char *begin, const char *end) {
    return llvm::StringRef(begin, end - begin);
  };
  if (cpuClass == classNames[0])
    return bytes(rlx_kernels_v3_begin, rlx_kernels_v3_end);
  if (cpuClass == classNames[1])
    return bytes(rlx_kernels_v4_begin, rlx_kernels_v4_end);
  return {};
}
