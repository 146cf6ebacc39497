// SPDX-License-Identifier: MIT OR Apache-2.0
//
// NumPy's .npy format, https://numpy.org/doc/stable/reference/generated/
// numpy.lib.format.html: magic, version, header length, a Python dict, data.

#include "Array.h"
#include "Failure.h"
#include "Files.h"

#include <cctype>
#include <cstring>
#include <optional>

using namespace rlx::run;

namespace {

struct Descr {
  const char *text;
  int32_t dtype;
};
// What NumPy writes on a little-endian machine. There is no name for bf16.
constexpr Descr descrs[] = {
    {"<f4", RLX_F32}, {"<f2", RLX_F16},  {"<f8", RLX_F64}, {"|i1", RLX_I8},
    {"<i2", RLX_I16}, {"<i4", RLX_I32},  {"<i8", RLX_I64}, {"|u1", RLX_U8},
    {"<u4", RLX_U32}, {"|b1", RLX_BOOL}, {"<c8", RLX_C64}, {"<c16", RLX_C128}};

constexpr uint64_t maxHeaderBytes = 1 << 20;

struct Header {
  std::string descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
};

/// Reads the one kind of Python dict that the format allows.
class HeaderParser {
public:
  HeaderParser(const std::string &path, const char *text, size_t size)
      : path(path), at(text), end(text + size) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr")
        header.descr = descr();
      else if (key == "fortran_order")
        header.fortranOrder = boolean();
      else if (key == "shape")
        header.shape = tuple();
      else
        fail("has unknown key '" + key + "'");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (at != end)
      fail("goes on after its dict");
    if (header.descr.empty() || !header.fortranOrder || !header.shape)
      fail("lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

private:
  [[noreturn]] void fail(const std::string &text) {
    throw Failure(path + ": the .npy header " + text);
  }
  void skipSpace() {
    while (at != end && std::isspace(static_cast<unsigned char>(*at)))
      ++at;
  }
  bool accept(char character) {
    skipSpace();
    if (at == end || *at != character)
      return false;
    ++at;
    return true;
  }
  void expect(char character) {
    if (!accept(character))
      fail(std::string("lacks '") + character + "'");
  }
  std::string string() {
    skipSpace();
    if (at == end || (*at != '\'' && *at != '"'))
      fail("lacks a string");
    char quote = *at++;
    const char *begin = at;
    while (at != end && *at != quote)
      ++at;
    if (at == end)
      fail("has a string without end");
    return std::string(begin, at++);
  }
  std::string descr() {
    skipSpace();
    if (at != end && *at == '[')
      throw Failure(path + ": holds records; save each field as an array");
    return string();
  }
  bool boolean() {
    skipSpace();
    for (const char *word : {"True", "False"}) {
      size_t length = std::strlen(word);
      if (size_t(end - at) < length || std::memcmp(at, word, length))
        continue;
      at += length;
      return *word == 'T';
    }
    fail("has a 'fortran_order' that is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t dim = 0;
      const char *begin = at;
      for (; at != end && *at >= '0' && *at <= '9'; ++at)
        if (__builtin_mul_overflow(dim, int64_t(10), &dim) ||
            __builtin_add_overflow(dim, int64_t(*at - '0'), &dim))
          fail("has a dimension of more than 2^63");
      if (at == begin)
        fail("has a 'shape' that is no tuple of sizes");
      dims.push_back(dim);
      if (dims.size() > 32)
        fail("has more than 32 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  const std::string &path;
  const char *at;
  const char *end;
};

int32_t dtypeOf(const std::string &path, const std::string &descr) {
  for (const Descr &known : descrs)
    if (descr == known.text)
      return known.dtype;
  if (!descr.empty() && descr[0] == '>')
    throw Failure(path + ": holds big-endian numbers ('" + descr +
                  "'); save a.astype(a.dtype.newbyteorder('<'))");
  throw Failure(path + ": holds elements of type '" + descr +
                "', which no RLX program takes");
}

} // namespace

Array rlx::run::readNpy(const std::string &path) {
  auto file = std::make_shared<MappedFile>(path);
  const uint8_t *bytes = file->data();
  uint64_t size = file->sizeBytes();
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6))
    throw Failure(path + ": is not an .npy file");
  unsigned major = bytes[6];
  if (major < 1 || major > 3)
    throw Failure(path + ": is version " + std::to_string(major) +
                  " of the .npy format, 1 to 3 are read");
  uint64_t headerBegin = major == 1 ? 10 : 12;
  if (size < headerBegin)
    throw Failure(path + ": the .npy header is cut off");
  uint64_t headerBytes = bytes[8] | uint64_t(bytes[9]) << 8;
  if (major > 1)
    headerBytes |= uint64_t(bytes[10]) << 16 | uint64_t(bytes[11]) << 24;
  if (headerBytes > maxHeaderBytes || headerBytes > size - headerBegin)
    throw Failure(path + ": the .npy header should have " +
                  std::to_string(headerBytes) + " bytes, the file has " +
                  std::to_string(size - headerBegin) + " left");
  auto *text = reinterpret_cast<const char *>(bytes) + headerBegin;
  Header header = HeaderParser(path, text, headerBytes).parse();

  Array array;
  array.dtype = dtypeOf(path, header.descr);
  array.dims = *header.shape;
  if (*header.fortranOrder && array.dims.size() > 1)
    throw Failure(path + ": is in Fortran order; save "
                         "numpy.ascontiguousarray(a)");
  uint64_t needed = rlx_dtype_size(array.dtype);
  for (int64_t dim : array.dims)
    if (__builtin_mul_overflow(needed, uint64_t(dim), &needed))
      throw Failure(path + ": shape " + describe(array.dtype, array.dims) +
                    " takes more than 2^64 bytes");
  uint64_t available = size - headerBegin - headerBytes;
  if (needed != available)
    throw Failure(path + ": " + describe(array.dtype, array.dims) + " takes " +
                  std::to_string(needed) + " bytes, the file has " +
                  std::to_string(available));
  array.sizeBytes = needed;
  array.data = const_cast<uint8_t *>(bytes + headerBegin + headerBytes);
  array.owner = file;
  if (reinterpret_cast<uintptr_t>(array.data) % 8) {
    // NumPy aligns the data; other writers need not.
    Array copy = allocateArray(path, array.dtype, array.dims);
    std::memcpy(copy.data, array.data, needed);
    return copy;
  }
  return array;
}

void rlx::run::writeNpy(const std::string &path, const Array &array) {
  const char *descr = nullptr;
  for (const Descr &known : descrs)
    if (known.dtype == array.dtype)
      descr = known.text;
  if (!descr)
    throw Failure(path + ": .npy has no type for " +
                  std::string(rlx_dtype_name(array.dtype)));
  std::string header = std::string("{'descr': '") + descr +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.dims.size(); ++i)
    header += (i ? ", " : "") + std::to_string(array.dims[i]);
  header += array.dims.size() == 1 ? ",), }" : "), }";
  // At most 32 dims of 19 digits: version 1 always has room.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  char start[10] = {'\x93',
                    'N',
                    'U',
                    'M',
                    'P',
                    'Y',
                    1,
                    0,
                    static_cast<char>(header.size() & 255),
                    static_cast<char>(header.size() >> 8)};
  writeFile(path, [&](const WriteBytes &write) {
    write(start, sizeof start);
    write(header.data(), header.size());
    write(array.data, array.sizeBytes);
  });
}
