// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds a Document from RapidJSON's events. The iterative mode of its parser
// is the point: it keeps what is open on the heap, so that 300,000 brackets
// reach our depth limit and not the end of the stack.
#include "RLX/Import/JSON/Document.h"
#include "RLX/Support/Error.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/ConvertUTF.h"

#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"

using namespace llvm;
using namespace rlx;
using namespace rlx::json;

/// Receives the events. Values whose parent is still open wait in `pending`;
/// when the parent closes, its children move to the document side by side.
class Document::Builder {
public:
  Builder(Document &document, const rapidjson::MemoryStream &stream,
          unsigned maxDepth)
      : document(document), stream(stream), maxDepth(maxDepth) {}

  bool Null() { return scalar({start(), 0, 0, Kind::Null, false}); }
  bool Bool(bool value) {
    return scalar({start(), 0, uint32_t(value), Kind::Bool, false});
  }
  bool Uint(unsigned value) {
    if (value <= UINT8_MAX && !frames.empty() && frames.back().isBytes) {
      document.byteElements.push_back(value);
      lastEnd = stream.Tell();
      return true;
    }
    return number();
  }
  bool Int(int) { return number(); }
  bool Int64(int64_t) { return number(); }
  bool Uint64(uint64_t) { return number(); }
  bool Double(double) { return number(); }
  // Only called for numbers kept as strings, which is not asked for.
  bool RawNumber(const char *, unsigned, bool) { return number(); }

  bool String(const char *value, unsigned length, bool) {
    Node node{start(), 0, length, Kind::String, false};
    StringRef decoded(value, length);
    // The text between the quotes, unless something in it is escaped.
    if (stream.Tell() != uint64_t(node.offset) + length + 2) {
      const auto *bytes = reinterpret_cast<const UTF8 *>(value);
      if (!isLegalUTF8String(&bytes, bytes + length))
        return fail(node.offset, "string has an escape that is half of a "
                                 "surrogate pair");
      node.isSpecial = true;
      node.first = document.decoded.size();
      document.decoded += decoded;
    }
    return scalar(node);
  }
  bool Key(const char *value, unsigned length, bool copy) {
    return String(value, length, copy);
  }

  bool StartObject() { return open(Kind::Object); }
  bool StartArray() { return open(Kind::Array); }

  bool EndObject(unsigned members) {
    if (!checkKeys(members))
      return false;
    return close(members, 2 * size_t(members));
  }

  bool EndArray(unsigned elements) {
    const Frame &frame = frames.back();
    if (!frame.isBytes || elements == 0)
      return close(elements, elements);
    Node &array = pending[frame.node];
    array.isSpecial = true;
    array.first = frame.firstByte;
    array.count = elements;
    frames.pop_back();
    lastEnd = stream.Tell() + 1;
    return true;
  }

  void finish() {
    document.nodes.push_back(pending.front());
    document.nodes.shrink_to_fit();
  }

  /// What a callback refused, if one did.
  std::optional<std::pair<uint64_t, std::string>> failure;

private:
  struct Frame {
    size_t node;
    size_t firstByte;
    /// An array whose elements so far are all integers 0..255.
    bool isBytes;
  };

  bool fail(uint64_t offset, std::string what) {
    failure.emplace(offset, std::move(what));
    return false;
  }

  /// Where the token begins whose event this is: between two tokens stand only
  /// white space, commas and colons.
  uint32_t start() const {
    return document.text.find_first_not_of(" \t\r\n,:", lastEnd);
  }

  bool number() {
    uint32_t offset = start();
    return scalar(
        {offset, 0, uint32_t(stream.Tell() - offset), Kind::Number, false});
  }

  bool scalar(Node node) {
    leaveBytes();
    pending.push_back(node);
    lastEnd = stream.Tell();
    return true;
  }

  bool open(Kind kind) {
    uint32_t offset = stream.Tell();
    if (frames.size() == maxDepth)
      return fail(
          offset,
          formatv("nested deeper than {0} arrays and objects", maxDepth).str());
    leaveBytes();
    frames.push_back({pending.size(), document.byteElements.size(),
                      /*isBytes=*/kind == Kind::Array});
    pending.push_back({offset, 0, 0, kind, false});
    lastEnd = uint64_t(offset) + 1;
    return true;
  }

  bool close(unsigned count, size_t children) {
    Node &parent = pending[frames.back().node];
    parent.first = document.nodes.size();
    parent.count = count;
    document.nodes.insert(document.nodes.end(), pending.end() - children,
                          pending.end());
    pending.erase(pending.end() - children, pending.end());
    frames.pop_back();
    lastEnd = stream.Tell() + 1;
    return true;
  }

  /// The next element is no byte: those so far become ordinary values.
  void leaveBytes() {
    if (frames.empty() || !frames.back().isBytes)
      return;
    Frame &frame = frames.back();
    frame.isBytes = false;
    uint64_t at = uint64_t(pending[frame.node].offset) + 1;
    for (size_t i = frame.firstByte; i != document.byteElements.size(); ++i) {
      size_t first = document.text.find_first_of("0123456789", at);
      size_t last = document.text.find_first_not_of("0123456789", first);
      pending.push_back(
          {uint32_t(first), 0, uint32_t(last - first), Kind::Number, false});
      at = last;
    }
    document.byteElements.resize(frame.firstByte);
  }

  /// Refuses an object in which a key comes twice.
  bool checkKeys(unsigned members) {
    auto keyAt = [&](size_t index) -> const Node & {
      return pending[pending.size() - 2 * (members - index)];
    };
    auto refuse = [&](const Node &key) {
      return fail(key.offset,
                  "key " + quoteName(document.stringOf(key)) + " comes twice");
    };
    // Nearly all objects of a graph are this small, and a set costs an
    // allocation.
    if (members <= 8) {
      for (unsigned i = 1; i < members; ++i)
        for (unsigned j = 0; j < i; ++j)
          if (document.stringOf(keyAt(i)) == document.stringOf(keyAt(j)))
            return refuse(keyAt(i));
      return true;
    }
    DenseSet<StringRef> keys;
    for (unsigned i = 0; i < members; ++i)
      if (!keys.insert(document.stringOf(keyAt(i))).second)
        return refuse(keyAt(i));
    return true;
  }

  Document &document;
  const rapidjson::MemoryStream &stream;
  unsigned maxDepth;
  std::vector<Node> pending;
  std::vector<Frame> frames;
  /// First byte after the last token.
  uint64_t lastEnd = 0;
};

static StringRef explain(rapidjson::ParseErrorCode code) {
  switch (code) {
  case rapidjson::kParseErrorDocumentEmpty:
    return "text is empty, expected a JSON value";
  case rapidjson::kParseErrorDocumentRootNotSingular:
    return "text goes on after the JSON value";
  case rapidjson::kParseErrorObjectMissName:
    return "expected a key in double quotes";
  case rapidjson::kParseErrorObjectMissColon:
    return "expected ':' after the key";
  case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
    return "expected ',' or '}' in the object";
  case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
    return "expected ',' or ']' in the array";
  case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
    return "expected four hexadecimal digits after \\u";
  case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
    return "string has an escape that is half of a surrogate pair";
  case rapidjson::kParseErrorStringEscapeInvalid:
    return "string has an escape that JSON does not know, or a bare control "
           "character";
  case rapidjson::kParseErrorStringMissQuotationMark:
    return "string is not closed";
  case rapidjson::kParseErrorStringInvalidEncoding:
    return "string is not UTF-8";
  case rapidjson::kParseErrorNumberTooBig:
    return "number is beyond the range of double";
  case rapidjson::kParseErrorNumberMissFraction:
    return "expected a digit after the decimal point";
  case rapidjson::kParseErrorNumberMissExponent:
    return "expected a digit in the exponent";
  default:
    return "expected a JSON value";
  }
}

Expected<Document> Document::parse(StringRef text, StringRef name,
                                   const Limits &limits) {
  uint64_t maxBytes = std::min<uint64_t>(limits.maxBytes, UINT32_MAX);
  if (text.size() > maxBytes)
    return make_error<ParseError>(
        name, Position(),
        formatv("has {0} bytes of JSON, at most {1} are read", text.size(),
                maxBytes)
            .str());

  Document document;
  document.text = text;
  document.documentName = name.str();
  document.indexLines();
  auto failAt = [&](uint64_t offset, StringRef what) {
    return make_error<ParseError>(document.documentName,
                                  document.position(offset), what);
  };

  rapidjson::MemoryStream stream(text.data(), text.size());
  Builder builder(document, stream, limits.maxDepth);
  rapidjson::Reader reader;
  rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseIterativeFlag |
                   rapidjson::kParseValidateEncodingFlag>(stream, builder);
  if (builder.failure)
    return failAt(builder.failure->first, builder.failure->second);
  if (result.IsError()) {
    // The parser takes the end of the text for a zero byte that is wrong.
    if (result.Offset() >= text.size() &&
        result.Code() != rapidjson::kParseErrorDocumentEmpty)
      return failAt(text.size(), "text ends in the middle of a JSON value");
    return failAt(result.Offset(), explain(result.Code()));
  }
  // A zero byte ends the text for the parser.
  if (stream.Tell() != text.size())
    return failAt(stream.Tell(), "text goes on after the JSON value");
  builder.finish();
  return document;
}
