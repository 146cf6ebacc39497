/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Part of every program of a sanitizer build. */

const char *__asan_default_options(void);

/* LLVM's allocators poison their memory where a program was built with the
   sanitizer and don't clear it again where code of the packaged static lld,
   which was not, allocates: no user poisoning. Sizes that no machine has must
   reach the checks for a null pointer. */
const char *__asan_default_options(void) {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}
