// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/ElementKind.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rlx;

namespace {
struct KindInfo {
  StringLiteral name;
  unsigned sizeBytes;
};
} // namespace

/// In the order of the enumeration.
static constexpr KindInfo kinds[] = {
    {"F32", 4},     {"F16", 2},     {"BF16", 2}, {"F64", 8}, {"I8", 1},
    {"I16", 2},     {"I32", 4},     {"I64", 8},  {"U8", 1},  {"U16", 2},
    {"U32", 4},     {"U64", 8},     {"BOOL", 1}, {"C64", 8}, {"C128", 16},
    {"F8_E4M3", 1}, {"F8_E5M2", 1},
};

StringRef rlx::name(ElementKind kind) { return kinds[size_t(kind)].name; }

unsigned rlx::sizeBytes(ElementKind kind) {
  return kinds[size_t(kind)].sizeBytes;
}

std::optional<ElementKind> rlx::parseElementKind(StringRef name) {
  for (size_t i = 0; i != std::size(kinds); ++i)
    if (name.equals_insensitive(kinds[i].name))
      return ElementKind(i);
  return std::nullopt;
}

mlir::Type rlx::toType(ElementKind kind, mlir::MLIRContext *context) {
  auto integer = [&](unsigned width, bool isUnsigned = false) {
    return mlir::IntegerType::get(context, width,
                                  isUnsigned ? mlir::IntegerType::Unsigned
                                             : mlir::IntegerType::Signless);
  };
  switch (kind) {
  case ElementKind::F32:
    return mlir::Float32Type::get(context);
  case ElementKind::F16:
    return mlir::Float16Type::get(context);
  case ElementKind::BF16:
    return mlir::BFloat16Type::get(context);
  case ElementKind::F64:
    return mlir::Float64Type::get(context);
  case ElementKind::I8:
    return integer(8);
  case ElementKind::I16:
    return integer(16);
  case ElementKind::I32:
    return integer(32);
  case ElementKind::I64:
    return integer(64);
  case ElementKind::U8:
    return integer(8, /*isUnsigned=*/true);
  case ElementKind::U16:
    return integer(16, /*isUnsigned=*/true);
  case ElementKind::U32:
    return integer(32, /*isUnsigned=*/true);
  case ElementKind::U64:
    return integer(64, /*isUnsigned=*/true);
  case ElementKind::Bool:
    return integer(1);
  case ElementKind::C64:
    return mlir::ComplexType::get(mlir::Float32Type::get(context));
  case ElementKind::C128:
    return mlir::ComplexType::get(mlir::Float64Type::get(context));
  case ElementKind::F8E4M3:
    return mlir::Float8E4M3FNType::get(context);
  case ElementKind::F8E5M2:
    return mlir::Float8E5M2Type::get(context);
  }
  llvm_unreachable("all kinds are listed");
}

std::optional<uint64_t> rlx::sizeBytes(ElementKind kind,
                                       ArrayRef<int64_t> shape) {
  // A zero anywhere makes the product zero, but the others have to fit none the
  // less: what reads strides off the shape multiplies them.
  uint64_t bytes = sizeBytes(kind);
  bool isEmpty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0) {
      isEmpty = true;
      continue;
    }
    bool overflowed = false;
    bytes = SaturatingMultiply<uint64_t>(bytes, dim, &overflowed);
    if (overflowed || bytes > uint64_t(INT64_MAX))
      return std::nullopt;
  }
  return isEmpty ? 0 : bytes;
}
