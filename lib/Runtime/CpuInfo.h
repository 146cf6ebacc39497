// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_CPUINFO_H
#define RLX_LIB_RUNTIME_CPUINFO_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace rlx::runtime {

/// The CPU classes that executables are compiled for, best first.
const std::vector<std::string_view> &cpuClasses();

/// Whether the machine, processor and operating system, runs code for a class.
bool hostSupports(std::string_view cpuClass);

/// The best class of the machine, "none" if there is none.
std::string_view hostCpuClass();

/// RLX_ABI_CPU_* bits of the machine.
uint64_t hostCpuFlags();

/// Numbers of the CPUs that the process may use, at least one.
std::vector<int> allowedCpus();

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_CPUINFO_H
