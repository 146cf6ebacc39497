// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Hugging Face's .safetensors: u64 header length, a JSON object, data. Nothing
// in the file is trusted; the JSON is read by a parser without recursion.

#include "Array.h"
#include "Failure.h"
#include "Files.h"

#include <cstring>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <set>

using namespace rlx::run;

namespace {

// As the reference implementation.
constexpr uint64_t maxHeaderBytes = 100'000'000;

struct Row {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape, offsets;
  bool hasShape = false;
};

/// Receives the JSON's events. The document is {name: {dtype, shape,
/// data_offsets}, __metadata__: {name: string}}.
class TableHandler
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TableHandler> {
public:
  std::vector<Row> rows;
  std::string fault;

  bool StartObject() {
    if (state == Start)
      state = Names;
    else if (state == AfterName)
      state = metadata ? Metadata : Fields;
    else
      return fail("has an object where none belongs");
    return true;
  }
  bool Key(const char *text, rapidjson::SizeType length, bool) {
    std::string key(text, length);
    if (state == Names) {
      if (!names.insert(key).second)
        return fail("lists tensor '" + key + "' twice");
      metadata = key == "__metadata__";
      if (!metadata) {
        rows.emplace_back();
        rows.back().name = std::move(key);
      }
      state = AfterName;
      return true;
    }
    if (state == Metadata)
      return true;
    field = std::move(key);
    if (field != "dtype" && field != "shape" && field != "data_offsets")
      return fail("has unknown field '" + field + "' in tensor '" +
                  rows.back().name + "'");
    return true;
  }
  bool String(const char *text, rapidjson::SizeType length, bool) {
    if (state == Metadata)
      return true;
    if (state != Fields || field != "dtype")
      return fail("has a string where none belongs");
    rows.back().dtype.assign(text, length);
    return true;
  }
  bool StartArray() {
    if (state != Fields || (field != "shape" && field != "data_offsets"))
      return fail("has a list where none belongs");
    state = field == "shape" ? Shape : Offsets;
    rows.back().hasShape |= state == Shape;
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    state = Fields;
    return true;
  }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Uint64(uint64_t value) {
    if (state != Shape && state != Offsets)
      return fail("has a number where none belongs");
    auto &list = state == Shape ? rows.back().shape : rows.back().offsets;
    list.push_back(value);
    if (list.size() > 32)
      return fail("has more than 32 numbers for tensor '" + rows.back().name +
                  "'");
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    state = state == Names ? End : Names;
    return true;
  }
  /// Everything else: null, booleans, negative and fractional numbers.
  bool Default() { return fail("has a value of a kind that does not belong"); }

private:
  bool fail(std::string text) {
    fault = std::move(text);
    return false;
  }
  enum {
    Start,
    Names,
    AfterName,
    Fields,
    Shape,
    Offsets,
    Metadata,
    End
  } state = Start;
  bool metadata = false;
  std::string field;
  std::set<std::string> names;
};

int32_t dtypeOf(const std::string &name) {
  static const struct {
    const char *name;
    int32_t dtype;
  } known[] = {{"F32", RLX_F32}, {"F16", RLX_F16},  {"BF16", RLX_BF16},
               {"F64", RLX_F64}, {"I8", RLX_I8},    {"I16", RLX_I16},
               {"I32", RLX_I32}, {"I64", RLX_I64},  {"U8", RLX_U8},
               {"U32", RLX_U32}, {"BOOL", RLX_BOOL}};
  for (const auto &row : known)
    if (name == row.name)
      return row.dtype;
  return -1;
}

Array arrayOf(const std::string &path, const Row &row,
              const std::shared_ptr<MappedFile> &file, uint64_t dataBegin) {
  std::string who = path + ": tensor '" + row.name + "': ";
  uint64_t dataBytes = file->sizeBytes() - dataBegin;
  Array array;
  array.dtype = dtypeOf(row.dtype);
  if (array.dtype < 0)
    throw Failure(who + "dtype '" + row.dtype + "' is not known to RLX");
  if (!row.hasShape || row.offsets.size() != 2)
    throw Failure(who + "lacks a shape or its two data_offsets");
  uint64_t begin = row.offsets[0], end = row.offsets[1];
  if (begin > end || end > dataBytes)
    throw Failure(who + "needs bytes [" + std::to_string(begin) + ", " +
                  std::to_string(end) + "), the file has " +
                  std::to_string(dataBytes));
  uint64_t size = rlx_dtype_size(array.dtype);
  for (uint64_t dim : row.shape) {
    if (__builtin_mul_overflow(size, dim, &size) || dim > INT64_MAX)
      throw Failure(who + "its shape takes more than 2^64 bytes");
    array.dims.push_back(static_cast<int64_t>(dim));
  }
  if (size != end - begin)
    throw Failure(who + describe(array.dtype, array.dims) + " takes " +
                  std::to_string(size) + " bytes, its data_offsets span " +
                  std::to_string(end - begin));
  array.sizeBytes = size;
  array.data = const_cast<uint8_t *>(file->data() + dataBegin + begin);
  array.owner = file;
  return array;
}

} // namespace

std::vector<NamedArray> rlx::run::readSafetensors(const std::string &path) {
  auto file = std::make_shared<MappedFile>(path);
  uint64_t headerBytes = 0;
  if (file->sizeBytes() < 8)
    throw Failure(path + ": has " + std::to_string(file->sizeBytes()) +
                  " bytes, a .safetensors file has at least 8");
  std::memcpy(&headerBytes, file->data(), 8);
  if (headerBytes > file->sizeBytes() - 8 || headerBytes > maxHeaderBytes)
    throw Failure(path +
                  ": is not a .safetensors file, or it is cut off: its "
                  "header should have " +
                  std::to_string(headerBytes) + " bytes, the file has " +
                  std::to_string(file->sizeBytes() - 8) + " left");
  rapidjson::MemoryStream stream(
      reinterpret_cast<const char *>(file->data()) + 8, headerBytes);
  TableHandler handler;
  rapidjson::Reader reader;
  rapidjson::ParseResult parsed =
      reader.Parse<rapidjson::kParseIterativeFlag |
                   rapidjson::kParseValidateEncodingFlag>(stream, handler);
  if (!parsed)
    throw Failure(path + ": byte " + std::to_string(8 + parsed.Offset()) +
                  ": the .safetensors header " +
                  (handler.fault.empty()
                       ? std::string("is not JSON: ") +
                             rapidjson::GetParseError_En(parsed.Code())
                       : handler.fault));
  std::vector<NamedArray> tensors;
  for (const Row &row : handler.rows)
    tensors.push_back({row.name, arrayOf(path, row, file, 8 + headerBytes)});
  return tensors;
}
