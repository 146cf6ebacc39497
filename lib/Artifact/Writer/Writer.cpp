// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Lays an artifact out and writes it: segments first, manifest last, so that
// leaf hashes are known in one pass over the data.

#include "RLX/Artifact/Writer/Writer.h"
#include "RLX/Artifact/Reader.h"
#include "RLX/Support/Error.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace rlx;
using namespace rlx::artifact;
using llvm::ArrayRef;
using llvm::Error;

namespace {

// Segments from this size on start on a page of their own, so that a mapped
// weight shares no page with its neighbours; smaller ones would waste space.
constexpr uint64_t pageAlignFrom = 64 << 10;
constexpr uint64_t pageSizeBytes = 4096;

/// Receives the bytes of a file in order.
using Output = llvm::function_ref<Error(ArrayRef<uint8_t>)>;

/// Cuts a stream into leaves and hashes them.
class LeafHasher {
public:
  void update(ArrayRef<uint8_t> bytes) {
    while (!bytes.empty()) {
      size_t count =
          std::min<uint64_t>(bytes.size(), leafSizeBytes - leafBytes);
      hasher.update(bytes.data(), count);
      leafBytes += count;
      bytes = bytes.drop_front(count);
      if (leafBytes == leafSizeBytes)
        finishLeaf();
    }
  }
  std::vector<crypto::Digest> finish() {
    if (leafBytes)
      finishLeaf();
    return std::move(leaves);
  }

private:
  void finishLeaf() {
    leaves.push_back(hasher.finish());
    leafBytes = 0;
  }
  crypto::Sha256 hasher;
  uint64_t leafBytes = 0;
  std::vector<crypto::Digest> leaves;
};

Error writeZeros(uint64_t count, Output output) {
  static const uint8_t zeros[pageSizeBytes] = {};
  return output(ArrayRef<uint8_t>(zeros, count));
}

Error writeSegment(const SegmentData &data, size_t index, Output output,
                   std::vector<crypto::Digest> &leaves) {
  LeafHasher hasher;
  uint64_t written = 0;
  auto sink = [&](ArrayRef<uint8_t> bytes) -> Error {
    written += bytes.size();
    if (written > data.sizeBytes)
      return makeError(
          "segment {0}: its producer gave more than the {1} bytes it promised",
          index, data.sizeBytes);
    hasher.update(bytes);
    return output(bytes);
  };
  if (Error error = data.produce ? data.produce(sink) : sink(data.bytes))
    return error;
  if (written != data.sizeBytes)
    return makeError("segment {0}: has {1} bytes, {2} were promised", index,
                     written, data.sizeBytes);
  leaves = hasher.finish();
  return Error::success();
}

/// Writes everything after the prefix and returns the prefix.
llvm::Expected<std::array<uint8_t, prefixSizeBytes>>
writeBody(const ArtifactDesc &desc, Output output) {
  Manifest manifest = desc.manifest;
  manifest.segments.clear();
  uint64_t end = prefixSizeBytes;
  for (const SegmentData &data : desc.data) {
    uint64_t alignment =
        data.sizeBytes >= pageAlignFrom ? pageSizeBytes : segmentAlignment;
    Segment segment;
    segment.kind = data.kind;
    segment.offset = llvm::alignTo(end, alignment);
    segment.sizeBytes = data.sizeBytes;
    end = segment.offset + segment.sizeBytes;
    manifest.segments.push_back(std::move(segment));
  }
  uint64_t manifestOffset = llvm::alignTo(end, segmentAlignment);
  // What no reader would accept is never written.
  if (Result<void> valid = validateManifest(manifest); !valid)
    return makeError("{0}", valid.fault().message);

  end = prefixSizeBytes;
  for (size_t i = 0; i < desc.data.size(); ++i) {
    Segment &segment = manifest.segments[i];
    if (Error error = writeZeros(segment.offset - end, output))
      return error;
    if (Error error = writeSegment(desc.data[i], i, output, segment.leaves))
      return error;
    end = segment.offset + segment.sizeBytes;
  }
  if (Error error = writeZeros(manifestOffset - end, output))
    return error;
  std::vector<uint8_t> encoded = encodeManifest(manifest);
  if (encoded.size() > maxManifestSizeBytes)
    return makeError("the manifest takes {0} bytes, readers accept at most {1}",
                     encoded.size(), maxManifestSizeBytes);
  if (Error error = output(encoded))
    return error;

  std::array<uint8_t, prefixSizeBytes> prefix = {};
  std::copy_n(magic, sizeof magic, prefix.begin());
  llvm::support::endian::write32le(&prefix[8], containerVersion);
  llvm::support::endian::write64le(&prefix[16],
                                   manifestOffset + encoded.size());
  llvm::support::endian::write64le(&prefix[24], manifestOffset);
  crypto::Sha256 hasher;
  hasher.update(prefix.data(), hashedPrefixSizeBytes);
  hasher.update(encoded.data(), encoded.size());
  crypto::Digest digest = hasher.finish();
  std::copy(digest.begin(), digest.end(), &prefix[hashedPrefixSizeBytes]);
  return prefix;
}

Error writeFully(int fd, uint64_t offset, ArrayRef<uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count =
        pwrite(fd, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30),
               static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return llvm::errorCodeToError(
          std::error_code(errno, std::generic_category()));
    offset += count;
    bytes = bytes.drop_front(count);
  }
  return Error::success();
}

Error writeTemporary(const ArtifactDesc &desc, int fd) {
  uint64_t offset = prefixSizeBytes;
  auto output = [&](ArrayRef<uint8_t> bytes) -> Error {
    uint64_t at = offset;
    offset += bytes.size();
    return writeFully(fd, at, bytes);
  };
  llvm::Expected<std::array<uint8_t, prefixSizeBytes>> prefix =
      writeBody(desc, output);
  if (!prefix)
    return prefix.takeError();
  if (Error error = writeFully(fd, 0, *prefix))
    return error;
  // Some file systems report a full disk only here.
  if (fsync(fd) != 0)
    return llvm::errorCodeToError(
        std::error_code(errno, std::generic_category()));
  return Error::success();
}

/// Makes the rename itself durable. A folder that cannot be synchronised (some
/// network file systems) is no reason to report a complete file as failed.
void syncFolder(llvm::StringRef file) {
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(file));
  int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

} // namespace

Error artifact::writeArtifactFile(const ArtifactDesc &desc,
                                  llvm::StringRef path) {
  auto fault = [&](Error error) {
    return makeError("{0}: cannot write: {1}", path,
                     llvm::toString(std::move(error)));
  };
  // Renaming onto a link would replace the link instead of its target, and
  // renaming onto a device would replace the device.
  llvm::SmallString<256> target(path);
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && llvm::sys::fs::exists(status)) {
    if (!llvm::sys::fs::is_regular_file(status))
      return makeError("{0}: is not a regular file; an artifact is written "
                       "beside its name and then renamed",
                       path);
    if (std::error_code code = llvm::sys::fs::real_path(path, target))
      return fault(llvm::errorCodeToError(code));
  }
  llvm::Expected<llvm::sys::fs::TempFile> temporary =
      llvm::sys::fs::TempFile::create(target + ".%%%%%%.tmp",
                                      llvm::sys::fs::all_read |
                                          llvm::sys::fs::all_write);
  if (!temporary)
    return fault(temporary.takeError());
  if (Error error = writeTemporary(desc, temporary->FD))
    return fault(llvm::joinErrors(std::move(error), temporary->discard()));
  if (Error error = temporary->keep(target)) {
    llvm::consumeError(temporary->discard());
    return fault(std::move(error));
  }
  syncFolder(target);
  return Error::success();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
artifact::writeArtifactMemory(const ArtifactDesc &desc) {
  // Grows by doubling: the manifest's size is known only at the end, and
  // artifacts in memory are small.
  std::vector<uint8_t> bytes(prefixSizeBytes);
  auto output = [&](ArrayRef<uint8_t> more) -> Error {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return Error::success();
  };
  llvm::Expected<std::array<uint8_t, prefixSizeBytes>> prefix =
      writeBody(desc, output);
  if (!prefix)
    return prefix.takeError();
  std::copy(prefix->begin(), prefix->end(), bytes.begin());
  std::unique_ptr<llvm::WritableMemoryBuffer> buffer =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
          bytes.size(), "artifact", llvm::Align(segmentAlignment));
  if (!buffer)
    return makeError("cannot allocate {0} bytes for the artifact",
                     bytes.size());
  std::copy(bytes.begin(), bytes.end(), buffer->getBufferStart());
  return std::unique_ptr<llvm::MemoryBuffer>(std::move(buffer));
}
