// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C interface from C99, without a C++ compiler's help.

#include "RLX/Runtime/Abi.h"
#include "RLX/Runtime/rlx_runtime.h"

const char *versionFromC(void);

const char *versionFromC(void) {
  rlx_program *program = 0;
  if (rlx_program_open("", 0, &program) != RLX_ERR_IO || program)
    return "";
  return rlx_version();
}
