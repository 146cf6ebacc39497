// SPDX-License-Identifier: MIT OR Apache-2.0
#include "GuardedBuffer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace rlx::test;

static void require(bool success, const char *what) {
  if (success)
    return;
  std::perror(what);
  std::abort();
}

GuardedBuffer::GuardedBuffer(int64_t elementCount, Side side)
    : count(elementCount) {
  size_t page = sysconf(_SC_PAGESIZE), bytes = count * sizeof(float);
  size_t body = (bytes + page - 1) / page * page;
  mappedBytes = body + 2 * page;
  void *memory =
      mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  mapping = static_cast<char *>(memory);
  if (body)
    require(mprotect(mapping + page, body, PROT_READ | PROT_WRITE) == 0,
            "mprotect");
  char *begin = mapping + page + (side == Side::End ? body - bytes : 0);
  elements = reinterpret_cast<float *>(begin);
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping, mappedBytes); }

void GuardedBuffer::fill(float value) { std::fill_n(elements, count, value); }

void GuardedBuffer::fillRandom(uint32_t seed) {
  std::mt19937 generator(seed);
  for (int64_t i = 0; i < count; ++i)
    elements[i] =
        static_cast<float>(static_cast<int32_t>(generator())) * 0x1p-31f;
}

void GuardedBuffer::makeReadOnly() {
  size_t page = sysconf(_SC_PAGESIZE);
  if (mappedBytes > 2 * page)
    require(mprotect(mapping + page, mappedBytes - 2 * page, PROT_READ) == 0,
            "mprotect");
}
