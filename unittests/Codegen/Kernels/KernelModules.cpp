// SPDX-License-Identifier: MIT OR Apache-2.0
#include "KernelModules.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace rlx::test;

static KernelModule loadModule(const char *cpuClass, const char *path) {
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *table = module ? dlsym(module, RLX_KERNEL_TABLE_SYMBOL) : nullptr;
  if (!table) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return {cpuClass, static_cast<const rlx_kernel_table *>(table)};
}

const std::vector<KernelModule> &rlx::test::kernelModules() {
  static const std::vector<KernelModule> modules = [] {
    std::vector<KernelModule> loaded;
    if (__builtin_cpu_supports("x86-64-v3"))
      loaded.push_back(loadModule("x86-64-v3", RLX_KERNELS_V3));
    if (__builtin_cpu_supports("x86-64-v4"))
      loaded.push_back(loadModule("x86-64-v4", RLX_KERNELS_V4));
    return loaded;
  }();
  return modules;
}

const rlx_kernel_table *rlx::test::findKernels(const std::string &cpuClass) {
  for (const KernelModule &module : kernelModules())
    if (module.cpuClass == cpuClass)
      return module.kernels;
  return nullptr;
}
