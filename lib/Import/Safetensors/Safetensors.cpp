// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout: 8 bytes of header length, that many bytes of JSON, then the
// tensors' bytes. The header maps a name to {"dtype", "shape", "data_offsets"},
// offsets counted from its end.
#include "RLX/Import/JSON/Document.h"
#include "RLX/Import/TensorSource.h"
#include "RLX/Support/Error.h"
#include "RLX/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace rlx;

/// The cap of the reference implementation; a header of a million tensors is a
/// tenth of it.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

namespace {

class SafetensorsFile : public TensorSource {
public:
  SafetensorsFile(StringRef path, std::unique_ptr<MemoryBuffer> file)
      : TensorSource(path), file(std::move(file)) {}

  Error readHeader();

private:
  /// A tensor and where its bytes are, counted from the end of the header.
  struct Entry {
    SourceTensor tensor;
    uint64_t begin, end;
  };

  Error readMetadata(json::Value metadata);
  Expected<Entry> readEntry(StringRef name, json::Value entry);
  Error checkLayout(ArrayRef<Entry> entries, uint64_t dataBytes) const;

  Error fail(const Twine &what) const {
    return makeError("{0}: {1}", path(), what.str());
  }

  std::unique_ptr<MemoryBuffer> file;
};

} // namespace

/// What a file is that does not begin as safetensors do, if its first bytes say
/// so.
static StringRef otherFormat(StringRef bytes) {
  if (bytes.starts_with("GGUF"))
    return "GGUF";
  if (bytes.starts_with("\x93NUMPY"))
    return "npy";
  if (bytes.starts_with("PK\x03\x04"))
    return "zip (npz or a PyTorch checkpoint)";
  return {};
}

Error SafetensorsFile::readHeader() {
  StringRef bytes = file->getBuffer();
  if (StringRef format = otherFormat(bytes); !format.empty())
    return fail("is " + format +
                ", which is not yet read; weights are read from safetensors");
  if (bytes.size() < 8)
    return fail("has " + Twine(bytes.size()) +
                " bytes, a safetensors file has 8 and a header");
  uint64_t headerBytes = support::endian::read64le(bytes.data());
  if (headerBytes > maxHeaderBytes)
    return fail("header length is " + Twine(headerBytes) + ", at most " +
                Twine(maxHeaderBytes) +
                " is read; is this a safetensors file?");
  if (headerBytes > bytes.size() - 8)
    return fail("needs 8 + " + Twine(headerBytes) +
                " bytes for its header, file has " + Twine(bytes.size()));

  // Offsets are shown within the header, which is one line.
  StringRef data = bytes.drop_front(8 + headerBytes);
  Expected<json::Document> header = json::Document::parse(
      bytes.substr(8, headerBytes), (path() + ": header").str());
  if (!header)
    return header.takeError();
  json::Value root = header->root();
  if (!root.is(json::Kind::Object))
    return fail("header is " + describe(root.kind()) +
                ", expected an object of tensors");

  std::vector<Entry> entries;
  for (size_t i = 0, e = root.size(); i != e; ++i) {
    if (root.key(i) == "__metadata__") {
      if (Error error = readMetadata(root.member(i)))
        return error;
      continue;
    }
    Expected<Entry> entry = readEntry(root.key(i), root.member(i));
    if (!entry)
      return entry.takeError();
    entries.push_back(std::move(*entry));
  }

  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.begin, a.end, a.tensor.name) <
           std::tie(b.begin, b.end, b.tensor.name);
  });
  if (Error error = checkLayout(entries, data.size()))
    return error;
  for (Entry &entry : entries) {
    entry.tensor.data =
        ArrayRef(data.data() + entry.begin, data.data() + entry.end);
    add(std::move(entry.tensor));
  }
  return Error::success();
}

Error SafetensorsFile::readMetadata(json::Value metadata) {
  if (!metadata.is(json::Kind::Object))
    return fail("__metadata__ is " + describe(metadata.kind()) +
                ", expected an object of strings");
  for (size_t i = 0, e = metadata.size(); i != e; ++i) {
    json::Value value = metadata.member(i);
    if (!value.is(json::Kind::String))
      return fail("__metadata__ " + quoteName(metadata.key(i)) + " is " +
                  describe(value.kind()) + ", expected a string");
    notes[metadata.key(i)] = value.string().str();
  }
  return Error::success();
}

/// The integers of a JSON array of nonnegative ones that fit 63 bits, or
/// nothing.
static std::optional<SmallVector<int64_t, 4>>
readSizes(std::optional<json::Value> value) {
  if (!value || !value->is(json::Kind::Array))
    return std::nullopt;
  SmallVector<int64_t, 4> sizes;
  for (size_t i = 0, e = value->size(); i != e; ++i) {
    json::Value element = (*value)[i];
    if (!element.is(json::Kind::Number))
      return std::nullopt;
    std::optional<int64_t> size = element.integer();
    if (!size || *size < 0)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

Expected<SafetensorsFile::Entry> SafetensorsFile::readEntry(StringRef name,
                                                            json::Value entry) {
  auto failTensor = [&](const Twine &what) {
    return fail("tensor " + quoteName(name) + ": " + what);
  };
  if (!entry.is(json::Kind::Object))
    return failTensor("is " + describe(entry.kind()) +
                      ", expected an object with dtype, shape, data_offsets");

  std::optional<json::Value> dtype = entry.find("dtype");
  if (!dtype || !dtype->is(json::Kind::String))
    return failTensor("has no dtype, expected a string such as \"F32\"");
  std::optional<ElementKind> kind = parseElementKind(dtype->string());
  if (!kind)
    return failTensor("has dtype " + quoteName(dtype->string()) +
                      ", which is not known");

  std::optional<SmallVector<int64_t, 4>> shape = readSizes(entry.find("shape"));
  if (!shape)
    return failTensor("has no shape, expected an array of sizes below 2^63");
  std::optional<SmallVector<int64_t, 4>> offsets =
      readSizes(entry.find("data_offsets"));
  if (!offsets || offsets->size() != 2)
    return failTensor("has no data_offsets, expected two offsets below 2^63");

  uint64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (end < begin)
    return failTensor("ends at byte " + Twine(end) + " before it begins at " +
                      Twine(begin));
  std::optional<uint64_t> needed = sizeBytes(*kind, *shape);
  if (!needed)
    return failTensor("has a shape of more than 2^63 bytes");
  if (*needed != end - begin)
    return failTensor("needs " + Twine(*needed) +
                      " bytes by shape and dtype, " + "its offsets [" +
                      Twine(begin) + ", " + Twine(end) + ") hold " +
                      Twine(end - begin));
  SourceTensor tensor{name.str(), *kind, std::move(*shape), {}, path()};
  return Entry{std::move(tensor), begin, end};
}

/// The entries, sorted by offset, have to cover the bytes after the header
/// exactly once: what overlaps or belongs to no tensor would be a way to
/// smuggle bytes past a checker.
Error SafetensorsFile::checkLayout(ArrayRef<Entry> entries,
                                   uint64_t dataBytes) const {
  uint64_t covered = 0;
  const Entry *previous = nullptr;
  for (const Entry &entry : entries) {
    std::string range =
        ("[" + Twine(entry.begin) + ", " + Twine(entry.end) + ")").str();
    if (entry.end > dataBytes)
      return fail("tensor " + quoteName(entry.tensor.name) + ": needs bytes " +
                  range + ", file has " + Twine(dataBytes) +
                  " after its header");
    if (entry.begin < covered)
      return fail("tensor " + quoteName(entry.tensor.name) + ": its bytes " +
                  range + " overlap those of tensor " +
                  quoteName(previous->tensor.name) + ", which end at " +
                  Twine(covered));
    if (entry.begin > covered)
      return fail("bytes [" + Twine(covered) + ", " + Twine(entry.begin) +
                  ") before tensor " + quoteName(entry.tensor.name) +
                  " belong to no tensor");
    covered = entry.end;
    previous = &entry;
  }
  if (covered != dataBytes)
    return fail("tensors end at byte " + Twine(covered) + ", file has " +
                Twine(dataBytes) + " after its header");
  return Error::success();
}

Expected<std::shared_ptr<TensorSource>> rlx::openSafetensors(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> file = openRegularFile(path);
  if (!file)
    return file.takeError();
  auto source = std::make_shared<SafetensorsFile>(path, std::move(*file));
  if (Error error = source->readHeader())
    return std::move(error);
  return source;
}
