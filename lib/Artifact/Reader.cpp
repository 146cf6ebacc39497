// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The container around manifest and segments.

#include "RLX/Artifact/Reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rlx;
using namespace rlx::artifact;

SegmentSource::~SegmentSource() = default;

namespace {

/// Reads [offset, offset + size) into `target`; false if that failed.
using ReadRange =
    std::function<bool(uint64_t offset, void *target, uint64_t sizeBytes)>;

uint32_t readU32(const uint8_t *bytes) {
  return uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8 |
         uint32_t(bytes[2]) << 16 | uint32_t(bytes[3]) << 24;
}

uint64_t readU64(const uint8_t *bytes) {
  return readU32(bytes) | uint64_t(readU32(bytes + 4)) << 32;
}

/// The first eight bytes as something that can be printed.
std::string printable(const uint8_t *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] >= 0x20 && bytes[i] < 0x7f) {
      text += static_cast<char>(bytes[i]);
      continue;
    }
    text += "\\x";
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

Fault formatFault(std::string text) {
  return Fault{FaultKind::Format, std::move(text)};
}

/// What else a file can be that users mistake for an artifact.
Result<void> checkMagic(const uint8_t *bytes, size_t available) {
  if (available < sizeof magic)
    return formatFault("has " + std::to_string(available) +
                       " bytes, an RLX artifact has at least " +
                       std::to_string(prefixSizeBytes));
  if (!std::memcmp(bytes, "RLXENC01", 8))
    return Fault{FaultKind::Sealed,
                 "is sealed (RLXENC01); this version of RLX cannot open sealed "
                 "files yet, open it with the tool that sealed it"};
  if (!std::memcmp(bytes, "RLXPFLAT", 8))
    return formatFault("is an RLX package (RLXPFLAT), which this version of "
                       "RLX does not read yet; use a plain .rlx artifact");
  if (std::memcmp(bytes, magic, sizeof magic))
    return formatFault("starts with '" + printable(bytes, 8) +
                       "' instead of 'RLXBAKE1': not an RLX artifact");
  return {};
}

/// What the prefix says, after all checks that need only the prefix.
struct Prefix {
  uint64_t manifestOffset;
  uint64_t manifestSizeBytes;
  crypto::Digest digest;
};

Result<Prefix> checkPrefix(const uint8_t *bytes, uint64_t fileSizeBytes) {
  if (Result<void> known = checkMagic(bytes, fileSizeBytes); !known)
    return known.fault();
  if (fileSizeBytes >= 12) {
    uint32_t version = readU32(bytes + 8);
    if (version == 1 || version == 2)
      return formatFault(
          "is version " + std::to_string(version) +
          " of the format, the serialised memory (bincode) of a Rust program "
          "that only the release that wrote it can read; bake the model again");
    if (version != containerVersion)
      return formatFault("is version " + std::to_string(version) +
                         " of the format, this version of RLX reads version " +
                         std::to_string(containerVersion));
  }
  if (fileSizeBytes < prefixSizeBytes)
    return formatFault("has " + std::to_string(fileSizeBytes) +
                       " bytes, an RLX artifact has at least " +
                       std::to_string(prefixSizeBytes) +
                       "; the file is cut off");
  if (uint32_t flags = readU32(bytes + 12))
    return formatFault("sets flags " + std::to_string(flags) +
                       " in its prefix, version 3 defines none");
  uint64_t total = readU64(bytes + 16);
  if (total != fileSizeBytes)
    return formatFault(
        "should have " + std::to_string(total) +
        " bytes by its prefix but has " + std::to_string(fileSizeBytes) +
        (total > fileSizeBytes ? "; the file is cut off"
                               : "; something was appended to it"));
  Prefix prefix;
  prefix.manifestOffset = readU64(bytes + 24);
  if (prefix.manifestOffset < prefixSizeBytes ||
      prefix.manifestOffset >= total ||
      prefix.manifestOffset % segmentAlignment)
    return formatFault("places its manifest at byte " +
                       std::to_string(prefix.manifestOffset) +
                       ", which is no multiple of 64 within the file of " +
                       std::to_string(total) + " bytes");
  prefix.manifestSizeBytes = total - prefix.manifestOffset;
  if (prefix.manifestSizeBytes > maxManifestSizeBytes)
    return formatFault("has a manifest of " +
                       std::to_string(prefix.manifestSizeBytes) +
                       " bytes, at most " +
                       std::to_string(maxManifestSizeBytes) + " are read");
  std::copy_n(bytes + hashedPrefixSizeBytes, prefix.digest.size(),
              prefix.digest.begin());
  return prefix;
}

/// Segments are in file order, aligned, apart from each other, within the file,
/// hashed, and separated by zeros.
Result<void> checkLayout(const Manifest &manifest, uint64_t manifestOffset,
                         const ReadRange &read) {
  uint64_t end = prefixSizeBytes;
  auto checkPadding = [&](uint64_t begin) -> Result<void> {
    uint8_t padding[maxPaddingBytes];
    uint64_t size = begin - end;
    if (size >= maxPaddingBytes)
      return formatFault("has " + std::to_string(size) +
                         " unused bytes from byte " + std::to_string(end) +
                         " on, at most " + std::to_string(maxPaddingBytes - 1) +
                         " are allowed");
    if (!read(end, padding, size))
      return Fault{FaultKind::Io, "cannot be read at byte " +
                                      std::to_string(end) + ": " +
                                      std::strerror(errno)};
    for (uint64_t i = 0; i < size; ++i)
      if (padding[i])
        return formatFault("has a padding byte that is not zero at byte " +
                           std::to_string(end + i));
    return {};
  };
  for (size_t i = 0; i < manifest.segments.size(); ++i) {
    const Segment &segment = manifest.segments[i];
    std::string who = "manifest: segment " + std::to_string(i);
    if (segment.offset % segmentAlignment)
      return formatFault(who + " starts at byte " +
                         std::to_string(segment.offset) +
                         ", which is no multiple of 64");
    if (segment.offset < end)
      return formatFault(who + " starts at byte " +
                         std::to_string(segment.offset) +
                         ", before the end of what precedes it at byte " +
                         std::to_string(end));
    if (segment.offset > manifestOffset ||
        segment.sizeBytes > manifestOffset - segment.offset)
      return formatFault(who + " needs " + std::to_string(segment.sizeBytes) +
                         " bytes from byte " + std::to_string(segment.offset) +
                         " on, but the manifest starts at byte " +
                         std::to_string(manifestOffset));
    uint64_t leaves = (segment.sizeBytes + leafSizeBytes - 1) / leafSizeBytes;
    if (segment.leaves.size() != leaves)
      return formatFault(who + " has " + std::to_string(segment.leaves.size()) +
                         " leaf hashes, its " +
                         std::to_string(segment.sizeBytes) + " bytes need " +
                         std::to_string(leaves));
    if (Result<void> zero = checkPadding(segment.offset); !zero)
      return zero;
    end = segment.offset + segment.sizeBytes;
  }
  return checkPadding(manifestOffset);
}

/// Everything but mapping: returns a manifest whose segments may be used.
Result<Manifest> openContainer(const uint8_t *start, uint64_t fileSizeBytes,
                               const ReadRange &read) {
  Result<Prefix> prefix = checkPrefix(start, fileSizeBytes);
  if (!prefix)
    return prefix.fault();
  // A private copy is hashed and then decoded: a file that changes underneath
  // cannot show one manifest to the hash and another to the decoder.
  std::vector<uint8_t> bytes(prefix->manifestSizeBytes);
  if (!read(prefix->manifestOffset, bytes.data(), bytes.size()))
    return Fault{FaultKind::Io, std::string("cannot read the manifest: ") +
                                    std::strerror(errno)};
  crypto::Sha256 hasher;
  hasher.update(start, hashedPrefixSizeBytes);
  hasher.update(bytes.data(), bytes.size());
  if (hasher.finish() != prefix->digest)
    return Fault{FaultKind::Integrity,
                 "prefix or manifest do not have the SHA-256 that the prefix "
                 "states; the file is damaged"};
  Result<Manifest> manifest = decodeManifest({bytes.data(), bytes.size()});
  if (!manifest)
    return manifest;
  if (Result<void> layout =
          checkLayout(*manifest, prefix->manifestOffset, read);
      !layout)
    return layout.fault();
  return manifest;
}

class SpanSource : public SegmentSource {
public:
  explicit SpanSource(std::vector<ByteSpan> spans) : spans(std::move(spans)) {}
  ByteSpan segment(uint32_t index) const override { return spans[index]; }

private:
  std::vector<ByteSpan> spans;
};

class MappedSource final : public SpanSource {
public:
  MappedSource(void *mapping, uint64_t sizeBytes, std::vector<ByteSpan> spans)
      : SpanSource(std::move(spans)), mapping(mapping), sizeBytes(sizeBytes) {}
  ~MappedSource() override { munmap(mapping, sizeBytes); }

private:
  void *mapping;
  uint64_t sizeBytes;
};

std::vector<ByteSpan> spansWithin(const Manifest &manifest,
                                  const uint8_t *base) {
  std::vector<ByteSpan> spans;
  spans.reserve(manifest.segments.size());
  for (const Segment &segment : manifest.segments)
    spans.push_back({base + segment.offset, segment.sizeBytes});
  return spans;
}

class FileDescriptor {
public:
  explicit FileDescriptor(int fd) : fd(fd) {}
  ~FileDescriptor() {
    if (fd >= 0)
      close(fd);
  }
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  int get() const { return fd; }

private:
  int fd;
};

bool readFully(int fd, uint64_t offset, void *target, uint64_t sizeBytes) {
  auto *bytes = static_cast<uint8_t *>(target);
  while (sizeBytes) {
    ssize_t count = pread(fd, bytes, std::min<uint64_t>(sizeBytes, 1u << 30),
                          static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0)
      errno = ENODATA; // Cut off since its size was read.
    if (count <= 0)
      return false;
    bytes += count;
    offset += static_cast<uint64_t>(count);
    sizeBytes -= static_cast<uint64_t>(count);
  }
  return true;
}

Fault prefixed(const std::string &name, const Fault &fault) {
  return {fault.kind, name + ": " + fault.message};
}

} // namespace

Result<OpenedArtifact> artifact::openArtifactFile(const std::string &path) {
  // Non-blocking, so that a named pipe is refused instead of waited for.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0)
    return Fault{FaultKind::Io,
                 path + ": cannot open: " + std::strerror(errno)};
  if (!S_ISREG(status.st_mode))
    return Fault{FaultKind::Io, path + ": is not a regular file"};
  auto size = static_cast<uint64_t>(status.st_size);
  auto read = [&](uint64_t offset, void *target, uint64_t sizeBytes) {
    return readFully(file.get(), offset, target, sizeBytes);
  };
  uint8_t start[prefixSizeBytes] = {};
  if (!read(0, start, std::min(size, prefixSizeBytes)))
    return Fault{FaultKind::Io,
                 path + ": cannot read: " + std::strerror(errno)};
  Result<Manifest> manifest = openContainer(start, size, read);
  if (!manifest)
    return prefixed(path, manifest.fault());

  void *mapping =
      mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), /*offset=*/0);
  if (mapping == MAP_FAILED)
    return Fault{FaultKind::Io, path + ": cannot map " + std::to_string(size) +
                                    " bytes: " + std::strerror(errno)};
  OpenedArtifact opened;
  opened.source = std::make_unique<MappedSource>(
      mapping, size,
      spansWithin(*manifest, static_cast<const uint8_t *>(mapping)));
  opened.manifest = std::move(*manifest);
  opened.fileSizeBytes = size;
  return opened;
}

Result<OpenedArtifact> artifact::openArtifactMemory(ByteSpan bytes,
                                                    const std::string &name) {
  if (reinterpret_cast<uintptr_t>(bytes.data) % segmentAlignment)
    return Fault{FaultKind::Argument, name + ": the bytes are not aligned to " +
                                          std::to_string(segmentAlignment) +
                                          "; align them or ask for a copy"};
  auto read = [&](uint64_t offset, void *target, uint64_t sizeBytes) {
    std::copy_n(bytes.data + offset, sizeBytes, static_cast<uint8_t *>(target));
    return true;
  };
  uint8_t start[prefixSizeBytes] = {};
  read(0, start, std::min(bytes.sizeBytes, prefixSizeBytes));
  Result<Manifest> manifest = openContainer(start, bytes.sizeBytes, read);
  if (!manifest)
    return prefixed(name, manifest.fault());
  OpenedArtifact opened;
  opened.source =
      std::make_unique<SpanSource>(spansWithin(*manifest, bytes.data));
  opened.manifest = std::move(*manifest);
  opened.fileSizeBytes = bytes.sizeBytes;
  return opened;
}

Result<OpenedArtifact>
artifact::openArtifactSegments(ByteSpan encodedManifest,
                               const std::vector<ByteSpan> &segments,
                               const std::string &name) {
  if (reinterpret_cast<uintptr_t>(encodedManifest.data) % 8)
    return Fault{FaultKind::Argument,
                 name + ": the manifest is not aligned to 8 bytes"};
  Result<Manifest> manifest = decodeManifest(encodedManifest);
  if (!manifest)
    return prefixed(name, manifest.fault());
  if (segments.size() != manifest->segments.size())
    return Fault{FaultKind::Argument,
                 name + ": " + std::to_string(segments.size()) +
                     " segments given, the manifest has " +
                     std::to_string(manifest->segments.size())};
  OpenedArtifact opened;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment &expected = manifest->segments[i];
    if (segments[i].sizeBytes != expected.sizeBytes)
      return Fault{FaultKind::Argument,
                   name + ": segment " + std::to_string(i) + " has " +
                       std::to_string(segments[i].sizeBytes) +
                       " bytes, the manifest says " +
                       std::to_string(expected.sizeBytes)};
    uint64_t leaves = (expected.sizeBytes + leafSizeBytes - 1) / leafSizeBytes;
    if (!expected.leaves.empty() && expected.leaves.size() != leaves)
      return Fault{FaultKind::Format,
                   name + ": segment " + std::to_string(i) + " has " +
                       std::to_string(expected.leaves.size()) +
                       " leaf hashes, its " +
                       std::to_string(expected.sizeBytes) + " bytes need " +
                       std::to_string(leaves)};
    opened.fileSizeBytes += expected.sizeBytes;
  }
  // Constants may lie in a mapped weight file; code asks more of packed ones.
  for (const Tensor &tensor : manifest->tensors) {
    if (tensor.state != TensorState::Constant)
      continue;
    uint64_t alignment =
        tensor.layout == "row_major"
            ? std::min<uint64_t>(dtypeSizeBytes(tensor.dtype), 8)
            : segmentAlignment;
    auto address = reinterpret_cast<uintptr_t>(segments[tensor.segment].data) +
                   tensor.segmentOffset;
    if (tensor.sizeBytes && address % alignment)
      return Fault{FaultKind::Argument,
                   name + ": tensor '" + tensor.name + "' in segment " +
                       std::to_string(tensor.segment) + " is not aligned to " +
                       std::to_string(alignment) + " bytes"};
  }
  opened.source = std::make_unique<SpanSource>(segments);
  opened.manifest = std::move(*manifest);
  return opened;
}

Result<void> artifact::verifyLeaves(const Manifest &manifest, uint32_t segment,
                                    ByteSpan bytes, uint64_t firstLeaf,
                                    uint64_t lastLeaf) {
  const std::vector<crypto::Digest> &leaves = manifest.segments[segment].leaves;
  if (leaves.empty())
    return {};
  crypto::Sha256 hasher;
  for (uint64_t leaf = firstLeaf; leaf < lastLeaf; ++leaf) {
    uint64_t begin = leaf * leafSizeBytes;
    uint64_t size = std::min(leafSizeBytes, bytes.sizeBytes - begin);
    hasher.update(bytes.data + begin, size);
    if (hasher.finish() != leaves[leaf])
      return Fault{FaultKind::Integrity,
                   "segment " + std::to_string(segment) + ": bytes [" +
                       std::to_string(begin) + ", " +
                       std::to_string(begin + size) +
                       ") do not have the SHA-256 that the manifest states; "
                       "the file is damaged"};
  }
  return {};
}

Result<void> artifact::verifySegment(const Manifest &manifest, uint32_t segment,
                                     ByteSpan bytes) {
  return verifyLeaves(manifest, segment, bytes, 0,
                      manifest.segments[segment].leaves.size());
}
