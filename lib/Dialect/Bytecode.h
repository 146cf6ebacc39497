// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_DIALECT_BYTECODE_H
#define RLX_LIB_DIALECT_BYTECODE_H

namespace rlx {

class RLXDialect;

/// Gives the dialect its form in MLIR bytecode: a version and types.
void addBytecodeInterface(RLXDialect &dialect);

} // namespace rlx

#endif // RLX_LIB_DIALECT_BYTECODE_H
