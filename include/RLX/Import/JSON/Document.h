// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// A parsed JSON text in which every value knows where it stands.
///
/// The parser keeps its own stack, so that nesting costs no native stack;
/// duplicate keys, invalid UTF-8 and numbers beyond double are refused. An
/// array of integers 0..255 is kept as bytes: the payload of a constant takes
/// one byte per element instead of one value.
#ifndef RLX_IMPORT_JSON_DOCUMENT_H
#define RLX_IMPORT_JSON_DOCUMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rlx::json {

/// What a text may ask for before it is refused.
struct Limits {
  /// Bytes of text; offsets are 32 bits wide.
  uint64_t maxBytes = UINT32_MAX;
  /// Arrays and objects within each other; sub-graphs of a graph cost about six
  /// each.
  unsigned maxDepth = 128;
};

enum class Kind : uint8_t { Null, Bool, Number, String, Array, Object };

/// How `kind` is called in messages, with its article: `an array`.
llvm::StringRef describe(Kind kind);

struct Position {
  unsigned line = 1, column = 1;
};

/// Why a text is not JSON, and where. Reads `name:line:column: what`.
class ParseError : public llvm::ErrorInfo<ParseError> {
public:
  static char ID;

  ParseError(llvm::StringRef name, Position position, llvm::StringRef what)
      : name(name), position(position), what(what) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  const std::string name;
  const Position position;
  const std::string what;
};

class Document;

/// One value of a document: a small handle, valid as long as the document and
/// its text.
class Value {
public:
  Kind kind() const;
  bool is(Kind expected) const { return kind() == expected; }

  /// First byte of the value in the text.
  uint64_t offset() const;

  /// The value of a Bool.
  bool boolean() const;

  /// The decoded text of a String.
  llvm::StringRef string() const;

  /// The digits of a Number as written.
  std::string digits() const;

  /// The value of a Number written without fraction and exponent, if it fits.
  std::optional<int64_t> integer() const;

  /// Elements of an Array, members of an Object.
  size_t size() const;

  /// Element `index` of an Array.
  Value operator[](size_t index) const;

  /// The elements of an Array of integers 0..255 (of an empty one too), else
  /// nothing.
  std::optional<llvm::ArrayRef<uint8_t>> bytes() const;

  /// Key and value of member `index` of an Object, in the order of the text.
  llvm::StringRef key(size_t index) const;
  uint64_t keyOffset(size_t index) const;
  Value member(size_t index) const;

  /// The member called `key` of an Object.
  std::optional<Value> find(llvm::StringRef key) const;

private:
  friend class Document;
  static constexpr uint32_t notAByte = UINT32_MAX;

  Value(const Document *document, uint32_t node, uint32_t byteIndex = notAByte)
      : document(document), node(node), byteIndex(byteIndex) {}

  const Document *document;
  uint32_t node;
  /// Set for an element of an array that is kept as bytes; `node` is then the
  /// array.
  uint32_t byteIndex;
};

/// A parsed text. Movable; values refer to the document by address, so take
/// them after moving.
class Document {
public:
  /// Parses all of `text`, which has to outlive the document. Fails with a
  /// ParseError; `name` stands for the text in it.
  static llvm::Expected<Document>
  parse(llvm::StringRef text, llvm::StringRef name, const Limits &limits = {});

  Value root() const { return Value(this, nodes.size() - 1); }

  /// Line and column, from 1 and in bytes, of a byte of the text.
  Position position(uint64_t offset) const;

  /// `name:line:column` of a byte of the text.
  std::string locate(uint64_t offset) const;

  llvm::StringRef name() const { return documentName; }

  /// Bytes of memory that the document holds besides the text.
  size_t memoryBytes() const;

private:
  friend class Value;
  class Builder;

  /// A value, 16 bytes; what `first` and `count` mean depends on the kind.
  struct Node {
    uint32_t offset;
    /// Array, Object: the first child. Bytes: the first byte. Escaped String:
    /// where in `decoded`.
    uint32_t first;
    /// Array, Bytes: elements. Object: members. String: bytes. Number: digits.
    /// Bool: 0 or 1.
    uint32_t count;
    Kind kind;
    /// Array: kept as bytes. String: has escapes, hence decoded.
    bool isSpecial;
  };

  Document() = default;
  void indexLines();
  llvm::StringRef stringOf(const Node &node) const;
  uint64_t byteElementOffset(const Node &array, uint32_t index) const;

  llvm::StringRef text;
  std::string documentName;
  /// Children of one value are adjacent; the root is last. Members are key,
  /// value, key, value.
  std::vector<Node> nodes;
  std::vector<uint8_t> byteElements;
  std::string decoded;
  /// Offsets of the first byte of each line but the first.
  std::vector<uint32_t> lineStarts;
};

} // namespace rlx::json

#endif // RLX_IMPORT_JSON_DOCUMENT_H
