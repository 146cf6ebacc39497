// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Element types as graph and weight files call them.
#ifndef RLX_IMPORT_ELEMENTKIND_H
#define RLX_IMPORT_ELEMENTKIND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mlir {
class MLIRContext;
class Type;
} // namespace mlir

namespace rlx {

enum class ElementKind : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool,
  C64,
  C128,
  F8E4M3,
  F8E5M2,
};

/// The name in upper case, as safetensors spells it: `F32`, `BOOL`, `F8_E4M3`.
llvm::StringRef name(ElementKind kind);

/// Bytes per element in a file; a BOOL takes one.
unsigned sizeBytes(ElementKind kind);

/// The kind of that name, whatever the case of its letters (the graph schema
/// says `Bool`).
std::optional<ElementKind> parseElementKind(llvm::StringRef name);

/// The MLIR type. Integers are signless but for `U8` ... `U64`, which stay
/// unsigned; BOOL is `i1`.
mlir::Type toType(ElementKind kind, mlir::MLIRContext *context);

/// The product of `shape` times the size of an element, or nothing if it does
/// not fit 63 bits.
std::optional<uint64_t> sizeBytes(ElementKind kind,
                                  llvm::ArrayRef<int64_t> shape);

} // namespace rlx

#endif // RLX_IMPORT_ELEMENTKIND_H
