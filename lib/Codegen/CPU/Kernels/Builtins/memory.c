/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The memory functions that compiled code calls. Freestanding: an executable
   has no undefined symbols, so the C library of its host is out of reach. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef float vector __attribute__((vector_size(32), aligned(1), may_alias));

/* From here on the string instructions win: they move whole lines without
   reading the target first. Every CPU of the classes has ERMS. */
enum { stringBytes = 2048 };

void *memcpy(void *restrict target, const void *restrict source, size_t size) {
  char *to = target;
  const char *from = source;
  if (size >= stringBytes) {
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(size)
                     :
                     : "memory");
    return target;
  }
  if (size < sizeof(word)) {
    for (size_t i = 0; i < size; ++i)
      to[i] = from[i];
    return target;
  }
  if (size < sizeof(vector)) {
    for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word))
      *(word *)(to + i) = *(const word *)(from + i);
    size_t last = size - sizeof(word);
    *(word *)(to + last) = *(const word *)(from + last);
    return target;
  }
  for (size_t i = 0; i + sizeof(vector) <= size; i += sizeof(vector))
    *(vector *)(to + i) = *(const vector *)(from + i);
  size_t last = size - sizeof(vector);
  *(vector *)(to + last) = *(const vector *)(from + last);
  return target;
}

void *memmove(void *target, const void *source, size_t size) {
  char *to = target;
  const char *from = source;
  uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
  uintptr_t behind = (uintptr_t)from - (uintptr_t)to;
  if (ahead >= size && behind >= size)
    return memcpy(target, source, size);
  /* Each piece is read before it is written, from the end that the target does
     not reach first. */
  if (ahead >= size) {
    size_t i = 0;
    for (; i + sizeof(vector) <= size; i += sizeof(vector))
      *(vector *)(to + i) = *(const vector *)(from + i);
    for (; i < size; ++i)
      to[i] = from[i];
    return target;
  }
  while (size >= sizeof(vector)) {
    size -= sizeof(vector);
    *(vector *)(to + size) = *(const vector *)(from + size);
  }
  while (size-- > 0)
    to[size] = from[size];
  return target;
}

void *memset(void *target, int value, size_t size) {
  char *to = target;
  if (size >= stringBytes) {
    __asm__ volatile("rep stosb"
                     : "+D"(to), "+c"(size)
                     : "a"(value)
                     : "memory");
    return target;
  }
  word pattern = (uint8_t)value * UINT64_C(0x0101010101010101);
  size_t i = 0;
  for (; i + sizeof(word) <= size; i += sizeof(word))
    *(word *)(to + i) = pattern;
  for (; i < size; ++i)
    to[i] = (char)value;
  return target;
}

int memcmp(const void *lhs, const void *rhs, size_t size) {
  const uint8_t *left = lhs, *right = rhs;
  size_t i = 0;
  while (i + sizeof(word) <= size &&
         *(const word *)(left + i) == *(const word *)(right + i))
    i += sizeof(word);
  for (; i < size; ++i)
    if (left[i] != right[i])
      return left[i] - right[i];
  return 0;
}

int bcmp(const void *lhs, const void *rhs, size_t size) {
  return memcmp(lhs, rhs, size);
}
