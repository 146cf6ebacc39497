// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The operators that JSON graphs know, whether read or not.
#ifndef RLX_LIB_IMPORT_JSON_OPERATORNAMES_H
#define RLX_LIB_IMPORT_JSON_OPERATORNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace rlx {

/// Operators of MIR that are read.
llvm::ArrayRef<llvm::StringRef> readMirOperators();

/// Operators of MIR that are known but not yet read.
llvm::ArrayRef<llvm::StringRef> unreadMirOperators();

/// Blocks of HIR that are known but not yet read; those that are read are
/// `Input`, `Param`, `Constant` and `Mir`.
llvm::ArrayRef<llvm::StringRef> unreadHirOperators();

} // namespace rlx

#endif // RLX_LIB_IMPORT_JSON_OPERATORNAMES_H
