// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Shapes whose dims may be symbols, and what operators make of them.
#ifndef RLX_LIB_IMPORT_JSON_SYMBOLICSHAPE_H
#define RLX_LIB_IMPORT_JSON_SYMBOLICSHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rlx {

/// What symbol `id` is called: `batch`, `seq`, `rows`, `past_seq` for 0 to 3,
/// else `s<id>`.
std::string symbolName(uint32_t id);

/// A size of the form factor * symbol * symbol ...: all that static dims,
/// symbols of inputs and reshapes between them can make. Equal sizes are equal
/// as values.
class Size {
public:
  /// A static size, which is not negative.
  static Size fixed(int64_t size) { return Size(size, {}); }
  static Size symbol(uint32_t id) { return Size(1, {id}); }

  bool isFixed() const { return symbols.empty(); }
  bool isOne() const { return isFixed() && coefficient == 1; }
  /// The size if it is fixed, else what its symbols are multiplied by.
  int64_t factor() const { return coefficient; }
  /// The symbol that this size is, if it is one symbol times 1.
  std::optional<uint32_t> asSymbol() const;

  /// The product, or nothing if its factor exceeds 63 bits.
  std::optional<Size> times(const Size &other) const;
  /// The size that times `other` is this one, if there is exactly one of this
  /// form.
  std::optional<Size> dividedBy(const Size &other) const;

  bool operator==(const Size &other) const {
    return coefficient == other.coefficient && symbols == other.symbols;
  }
  bool operator!=(const Size &other) const { return !(*this == other); }

  /// `8`, `batch`, `2*batch*seq`.
  std::string str() const;

private:
  Size(int64_t coefficient, llvm::ArrayRef<uint32_t> symbols)
      : coefficient(coefficient), symbols(symbols) {}

  int64_t coefficient;
  /// Sorted; a symbol comes as often as its power says. Empty if the factor is
  /// zero.
  llvm::SmallVector<uint32_t, 2> symbols;
};

using SymbolicShape = llvm::SmallVector<Size, 4>;

/// `[batch, 784]`.
std::string str(llvm::ArrayRef<Size> shape);

/// The product of all dims, or nothing if a factor exceeds 63 bits.
std::optional<Size> elementCount(llvm::ArrayRef<Size> shape);

/// Broadcasts as NumPy does, aligned at the innermost dim. Dims are equal only
/// if they are the same symbol or number. On failure `conflict` is the result
/// dim, counted from the outside.
std::optional<SymbolicShape>
broadcast(llvm::ArrayRef<Size> lhs, llvm::ArrayRef<Size> rhs, size_t &conflict);

} // namespace rlx

#endif // RLX_LIB_IMPORT_JSON_SYMBOLICSHAPE_H
