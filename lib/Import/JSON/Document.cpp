// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/JSON/Document.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>

using namespace llvm;
using namespace rlx::json;

StringRef rlx::json::describe(Kind kind) {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Bool:
    return "a truth value";
  case Kind::Number:
    return "a number";
  case Kind::String:
    return "a string";
  case Kind::Array:
    return "an array";
  case Kind::Object:
    return "an object";
  }
  llvm_unreachable("all kinds are listed");
}

char ParseError::ID = 0;

void ParseError::log(raw_ostream &os) const {
  os << name << ":" << position.line << ":" << position.column << ": " << what;
}

std::error_code ParseError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Kind Value::kind() const {
  return byteIndex == notAByte ? document->nodes[node].kind : Kind::Number;
}

uint64_t Value::offset() const {
  const Document::Node &self = document->nodes[node];
  return byteIndex == notAByte ? self.offset
                               : document->byteElementOffset(self, byteIndex);
}

bool Value::boolean() const {
  assert(is(Kind::Bool));
  return document->nodes[node].count != 0;
}

StringRef Value::string() const {
  assert(is(Kind::String));
  return document->stringOf(document->nodes[node]);
}

std::string Value::digits() const {
  assert(is(Kind::Number));
  const Document::Node &self = document->nodes[node];
  if (byteIndex != notAByte)
    return utostr(document->byteElements[self.first + byteIndex]);
  return document->text.substr(self.offset, self.count).str();
}

std::optional<int64_t> Value::integer() const {
  assert(is(Kind::Number));
  const Document::Node &self = document->nodes[node];
  if (byteIndex != notAByte)
    return document->byteElements[self.first + byteIndex];
  int64_t value;
  if (document->text.substr(self.offset, self.count).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

size_t Value::size() const {
  assert(is(Kind::Array) || is(Kind::Object));
  return document->nodes[node].count;
}

Value Value::operator[](size_t index) const {
  assert(is(Kind::Array) && index < size());
  const Document::Node &self = document->nodes[node];
  if (self.isSpecial)
    return Value(document, node, index);
  return Value(document, self.first + index);
}

std::optional<ArrayRef<uint8_t>> Value::bytes() const {
  assert(is(Kind::Array));
  const Document::Node &self = document->nodes[node];
  if (self.count == 0)
    return ArrayRef<uint8_t>();
  if (!self.isSpecial)
    return std::nullopt;
  return ArrayRef(document->byteElements).slice(self.first, self.count);
}

StringRef Value::key(size_t index) const {
  assert(is(Kind::Object) && index < size());
  const Document::Node &self = document->nodes[node];
  return document->stringOf(document->nodes[self.first + 2 * index]);
}

uint64_t Value::keyOffset(size_t index) const {
  assert(is(Kind::Object) && index < size());
  const Document::Node &self = document->nodes[node];
  return document->nodes[self.first + 2 * index].offset;
}

Value Value::member(size_t index) const {
  assert(is(Kind::Object) && index < size());
  return Value(document, document->nodes[node].first + 2 * index + 1);
}

std::optional<Value> Value::find(StringRef wanted) const {
  for (size_t i = 0, e = size(); i != e; ++i)
    if (key(i) == wanted)
      return member(i);
  return std::nullopt;
}

StringRef Document::stringOf(const Node &node) const {
  if (node.isSpecial)
    return StringRef(decoded).substr(node.first, node.count);
  return text.substr(node.offset + 1, node.count);
}

/// Elements kept as bytes keep no offset: such an array holds only digits,
/// commas and white space, so an element is found again by counting commas.
/// Only messages ask.
uint64_t Document::byteElementOffset(const Node &array, uint32_t index) const {
  uint64_t at = array.offset + 1;
  for (; index > 0; --index)
    at = text.find(',', at) + 1;
  return text.find_first_of("0123456789", at);
}

void Document::indexLines() {
  for (size_t at = text.find('\n'); at != StringRef::npos;
       at = text.find('\n', at + 1))
    lineStarts.push_back(at + 1);
}

Position Document::position(uint64_t offset) const {
  auto next = llvm::upper_bound(lineStarts, offset);
  uint64_t lineStart = next == lineStarts.begin() ? 0 : *std::prev(next);
  Position position;
  position.line = 1 + (next - lineStarts.begin());
  position.column = 1 + (offset - lineStart);
  return position;
}

std::string Document::locate(uint64_t offset) const {
  Position at = position(offset);
  return documentName + ":" + utostr(at.line) + ":" + utostr(at.column);
}

size_t Document::memoryBytes() const {
  return nodes.capacity() * sizeof(Node) + byteElements.capacity() +
         decoded.capacity() + lineStarts.capacity() * sizeof(uint32_t);
}
