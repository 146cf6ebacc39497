// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

std::string rlx::quoteName(StringRef name) {
  constexpr size_t maxShown = 120, keptEnd = 40;
  std::string text;
  if (name.size() <= maxShown) {
    text = name.str();
  } else {
    // Cut between characters: a continuation byte is 10xxxxxx.
    auto isInside = [&](size_t at) { return (name[at] & 0xC0) == 0x80; };
    size_t head = maxShown - keptEnd, tail = name.size() - keptEnd;
    while (head > 0 && isInside(head))
      --head;
    while (tail < name.size() && isInside(tail))
      ++tail;
    text = (name.take_front(head) + "..." + name.drop_front(tail)).str();
  }

  const auto *bytes = reinterpret_cast<const UTF8 *>(text.data());
  bool isText = isLegalUTF8String(&bytes, bytes + text.size());
  std::string quoted = "'";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !isText))
      quoted += "\\x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
    else
      quoted += c;
  }
  return quoted + "'";
}
