// SPDX-License-Identifier: MIT OR Apache-2.0
#include "SymbolicShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;
using namespace rlx;

std::string rlx::symbolName(uint32_t id) {
  constexpr StringLiteral conventional[] = {"batch", "seq", "rows", "past_seq"};
  return id < std::size(conventional) ? conventional[id].str()
                                      : "s" + utostr(id);
}

std::optional<uint32_t> Size::asSymbol() const {
  if (coefficient == 1 && symbols.size() == 1)
    return symbols.front();
  return std::nullopt;
}

std::optional<Size> Size::times(const Size &other) const {
  int64_t product;
  if (MulOverflow(coefficient, other.coefficient, product))
    return std::nullopt;
  if (product == 0)
    return fixed(0);
  SmallVector<uint32_t, 2> merged;
  std::merge(symbols.begin(), symbols.end(), other.symbols.begin(),
             other.symbols.end(), std::back_inserter(merged));
  return Size(product, merged);
}

std::optional<Size> Size::dividedBy(const Size &other) const {
  if (other.coefficient == 0 || coefficient % other.coefficient != 0)
    return std::nullopt;
  if (!std::includes(symbols.begin(), symbols.end(), other.symbols.begin(),
                     other.symbols.end()))
    return std::nullopt;
  SmallVector<uint32_t, 2> rest;
  std::set_difference(symbols.begin(), symbols.end(), other.symbols.begin(),
                      other.symbols.end(), std::back_inserter(rest));
  return Size(coefficient / other.coefficient, rest);
}

std::string Size::str() const {
  std::string text;
  if (isFixed() || coefficient != 1)
    text = itostr(coefficient);
  for (uint32_t id : symbols)
    text += (text.empty() ? "" : "*") + symbolName(id);
  return text;
}

std::string rlx::str(ArrayRef<Size> shape) {
  return "[" +
         join(map_range(shape, [](const Size &size) { return size.str(); }),
              ", ") +
         "]";
}

std::optional<Size> rlx::elementCount(ArrayRef<Size> shape) {
  std::optional<Size> count = Size::fixed(1);
  for (const Size &size : shape) {
    count = count->times(size);
    if (!count)
      return std::nullopt;
  }
  return count;
}

std::optional<SymbolicShape>
rlx::broadcast(ArrayRef<Size> lhs, ArrayRef<Size> rhs, size_t &conflict) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SymbolicShape result(lhs);
  size_t outer = lhs.size() - rhs.size();
  for (size_t i = 0; i != rhs.size(); ++i) {
    Size &dim = result[outer + i];
    if (dim == rhs[i] || rhs[i].isOne())
      continue;
    if (!dim.isOne()) {
      conflict = outer + i;
      return std::nullopt;
    }
    dim = rhs[i];
  }
  return result;
}
