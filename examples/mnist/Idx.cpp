// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Idx.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <zlib.h>

using namespace mnist;

namespace {

/// A file that may be gzipped: zlib reads others as they are.
class IdxFile {
public:
  explicit IdxFile(const std::string &path) : path(path) {}

  bool open(std::string &error) {
    file.reset(gzopen(path.c_str(), "rb"));
    if (!file) {
      error = path + ": cannot be opened: " + std::strerror(errno);
      return false;
    }
    return true;
  }

  /// Appends `count` bytes. Grows with what is really there, so that a header
  /// that promises too much costs nothing.
  bool read(size_t count, std::vector<uint8_t> &bytes, const std::string &what,
            std::string &error) {
    constexpr size_t step = size_t(1) << 20;
    const size_t start = bytes.size();
    while (bytes.size() - start < count) {
      const size_t got = bytes.size() - start;
      const unsigned wanted = unsigned(std::min(step, count - got));
      bytes.resize(start + got + wanted);
      const int n = gzread(file.get(), bytes.data() + start + got, wanted);
      bytes.resize(start + got + size_t(std::max(n, 0)));
      if (n < 0) {
        error = path + ": cannot be read: " + lastError();
        return false;
      }
      if (n == 0) {
        error = path + ": ends after " + std::to_string(got) + " of the " +
                std::to_string(count) + " bytes of its " + what;
        return false;
      }
    }
    return true;
  }

  /// Refuses bytes after the last element; also makes zlib compare the checksum
  /// of a gzipped file.
  bool expectEnd(std::string &error) {
    uint8_t extra;
    const int n = gzread(file.get(), &extra, 1);
    if (n > 0)
      error = path + ": has more bytes than its header promises";
    else if (n < 0)
      error = path + ": cannot be read: " + lastError();
    return n == 0;
  }

private:
  std::string lastError() {
    int code = 0;
    const char *text = gzerror(file.get(), &code);
    return code == Z_ERRNO ? std::strerror(errno) : text;
  }

  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string path;
  std::unique_ptr<gzFile_s, Close> file;
};

} // namespace

static uint32_t readBigEndian32(const uint8_t *bytes) {
  return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 |
         uint32_t(bytes[2]) << 8 | uint32_t(bytes[3]);
}

/// Reads magic number and dims: two zero bytes, 8 for "unsigned bytes", the
/// rank, then each dim as a big-endian number.
static bool readHeader(IdxFile &file, const std::string &path, size_t rank,
                       std::vector<uint32_t> &dims, std::string &error) {
  std::vector<uint8_t> header;
  if (!file.read(4 + 4 * rank, header, "header", error))
    return false;
  const uint32_t magic = readBigEndian32(header.data());
  const uint32_t expected = 0x800 + uint32_t(rank);
  if (magic != expected) {
    error = path + ": starts with " + std::to_string(magic) +
            ", but an IDX file of bytes with " + std::to_string(rank) +
            (rank == 1 ? " dim" : " dims") + " starts with " +
            std::to_string(expected);
    return false;
  }
  for (size_t i = 0; i != rank; ++i)
    dims.push_back(readBigEndian32(header.data() + 4 + 4 * i));
  return true;
}

bool mnist::readIdxImages(const std::string &path, std::vector<uint8_t> &pixels,
                          std::string &error) {
  IdxFile file(path);
  std::vector<uint32_t> dims;
  if (!file.open(error) || !readHeader(file, path, 3, dims, error))
    return false;
  if (dims[1] != imageRows || dims[2] != imageColumns) {
    error = path + ": has images of " + std::to_string(dims[1]) + "x" +
            std::to_string(dims[2]) + ", but this network takes 28x28";
    return false;
  }
  pixels.clear();
  // A 32-bit count of 784-byte images fits 64 bits.
  return file.read(size_t(dims[0]) * imagePixels, pixels,
                   std::to_string(dims[0]) + " images", error) &&
         file.expectEnd(error);
}

bool mnist::readIdxLabels(const std::string &path, std::vector<uint8_t> &labels,
                          std::string &error) {
  IdxFile file(path);
  std::vector<uint32_t> dims;
  if (!file.open(error) || !readHeader(file, path, 1, dims, error))
    return false;
  labels.clear();
  if (!file.read(dims[0], labels, std::to_string(dims[0]) + " labels", error) ||
      !file.expectEnd(error))
    return false;
  for (size_t i = 0; i != labels.size(); ++i) {
    if (labels[i] >= classCount) {
      error = path + ": label " + std::to_string(i) + " is " +
              std::to_string(labels[i]) + ", but classes are 0 to 9";
      return false;
    }
  }
  return true;
}
