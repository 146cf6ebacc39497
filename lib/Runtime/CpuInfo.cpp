// SPDX-License-Identifier: MIT OR Apache-2.0

#include "CpuInfo.h"

#include "RLX/Runtime/Abi.h"

#include <memory>
#include <sched.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace rlx;

namespace {

#if defined(__x86_64__)
struct Features {
  bool v3 = false;
  bool v4 = false;
  uint64_t flags = 0;
};

// Asked of the processor itself: the compilers' builtins know the level names
// only in recent releases. Bit numbers are those of the x86 manuals (CPUID).
Features detect() {
  Features features;
  unsigned a = 0, b = 0, c = 0, d = 0;
  auto has = [](unsigned word, std::initializer_list<int> bits) {
    for (int bit : bits)
      if (!(word >> bit & 1))
        return false;
    return true;
  };
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return features;
  // SSE3 SSSE3 FMA CX16 SSE4.1 SSE4.2 MOVBE POPCNT OSXSAVE AVX F16C.
  if (!has(c, {0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29}))
    return features;
  unsigned enabledLow, enabledHigh;
  __asm__("xgetbv" : "=a"(enabledLow), "=d"(enabledHigh) : "c"(0));
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, {0, 5}))
    return features; // LAHF LZCNT
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return features;
  unsigned extended = b, extendedC = c;
  // BMI1 AVX2 BMI2; the system saves the state of xmm and ymm.
  features.v3 = has(extended, {3, 5, 8}) && has(enabledLow, {1, 2});
  // AVX-512 F DQ CD BW VL; and that of zmm and the masks.
  features.v4 = features.v3 && has(extended, {16, 17, 28, 30, 31}) &&
                has(enabledLow, {5, 6, 7});
  if (features.v4 && has(extendedC, {11}))
    features.flags |= RLX_ABI_CPU_AVX512_VNNI;
  if (features.v3 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && has(a, {4}))
    features.flags |= RLX_ABI_CPU_AVX_VNNI;
  return features;
}

const Features &hostFeatures() {
  static const Features features = detect();
  return features;
}
#endif

} // namespace

const std::vector<std::string_view> &runtime::cpuClasses() {
  static const std::vector<std::string_view> classes = {"x86-64-v4",
                                                        "x86-64-v3"};
  return classes;
}

bool runtime::hostSupports(std::string_view cpuClass) {
#if defined(__x86_64__)
  return (cpuClass == "x86-64-v4" && hostFeatures().v4) ||
         (cpuClass == "x86-64-v3" && hostFeatures().v3);
#else
  return false;
#endif
}

std::string_view runtime::hostCpuClass() {
  for (std::string_view cpuClass : cpuClasses())
    if (hostSupports(cpuClass))
      return cpuClass;
  return "none";
}

uint64_t runtime::hostCpuFlags() {
#if defined(__x86_64__)
  return hostFeatures().flags;
#else
  return 0;
#endif
}

namespace {
struct FreeCpuSet {
  void operator()(cpu_set_t *set) const { CPU_FREE(set); }
};
} // namespace

std::vector<int> runtime::allowedCpus() {
  std::vector<int> cpus;
  // Grows until the kernel's mask fits: machines may have more than 1024 CPUs.
  for (int count = 1024; count <= 1 << 20 && cpus.empty(); count *= 2) {
    // An owner, since adding to the list may throw.
    std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(count));
    size_t sizeBytes = CPU_ALLOC_SIZE(count);
    if (!set)
      break;
    if (sched_getaffinity(0, sizeBytes, set.get()) == 0)
      for (int cpu = 0; cpu < count; ++cpu)
        if (CPU_ISSET_S(cpu, sizeBytes, set.get()))
          cpus.push_back(cpu);
  }
  if (cpus.empty())
    cpus.push_back(0);
  return cpus;
}
