// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_UNITTESTS_CODEGEN_KERNELS_KERNELMODULES_H
#define RLX_UNITTESTS_CODEGEN_KERNELS_KERNELMODULES_H

#include "RLX/Codegen/CPU/Kernels/KernelModule.h"

#include <ostream>
#include <string>
#include <vector>

namespace rlx::test {

struct KernelModule {
  std::string cpuClass;
  const rlx_kernel_table *kernels;
};
inline std::ostream &operator<<(std::ostream &stream,
                                const KernelModule &module) {
  return stream << module.cpuClass;
}

/// The archives of the classes that this machine can run, each linked into a
/// module of its own with --no-undefined and loaded.
const std::vector<KernelModule> &kernelModules();

/// The module of `cpuClass`, null if this machine cannot run it.
const rlx_kernel_table *findKernels(const std::string &cpuClass);

} // namespace rlx::test

#endif
