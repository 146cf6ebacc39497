// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Damaged and forged containers: whatever a file says, opening it either
// succeeds with what was written or fails with a message.

#include "RLX/Artifact/Reader.h"
#include "TestContainer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

Bytes sampleFile() {
  return buildContainer(sampleManifest(), sampleSegments());
}

Result<OpenedArtifact> openBytes(const Bytes &bytes) {
  AlignedCopy copy(bytes);
  Result<OpenedArtifact> opened = openArtifactMemory(copy.span(), "mem");
  // Whatever opens must be safe to use.
  if (opened)
    for (uint32_t i = 0; i < opened->manifest.segments.size(); ++i)
      (void)verifySegment(opened->manifest, i, opened->source->segment(i));
  return opened;
}

std::string messageFor(const Bytes &bytes) {
  Result<OpenedArtifact> opened = openBytes(bytes);
  return opened ? "" : opened.fault().message;
}

/// Writes bytes to a file that disappears with the object.
class TemporaryFile {
public:
  explicit TemporaryFile(const Bytes &bytes) {
    int fd = mkstemp(path.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), ssize_t(bytes.size()));
    close(fd);
  }
  ~TemporaryFile() { unlink(path.c_str()); }
  std::string path = testing::TempDir() + "rlx-reader-XXXXXX";
};

} // namespace

// What was written is what is read, from memory and from a file.
TEST(Reader, RoundTrip) {
  Bytes file = sampleFile();
  AlignedCopy copy(file);
  TemporaryFile onDisk(file);
  for (bool fromFile : {false, true}) {
    Result<OpenedArtifact> opened =
        fromFile ? openArtifactFile(onDisk.path)
                 : openArtifactMemory(copy.span(), "mem");
    ASSERT_TRUE(opened) << opened.fault().message;
    const Manifest &manifest = opened->manifest;
    EXPECT_EQ(opened->fileSizeBytes, file.size());
    EXPECT_EQ(manifest.producer, "test 1");
    EXPECT_EQ(manifest.name, "sample");
    EXPECT_EQ(manifest.report, "{}");
    ASSERT_EQ(manifest.tensors.size(), 4u);
    EXPECT_EQ(manifest.tensors[0].layout, "panel64");
    EXPECT_EQ(manifest.tensors[0].origin, "fc.weight");
    EXPECT_EQ(manifest.tensors[0].shape, (std::vector<int64_t>{4, 3}));
    EXPECT_EQ(manifest.tensors[2].contentHash, crypto::sha256("scale", 5));
    EXPECT_FALSE(manifest.tensors[3].contentHash);
    ASSERT_EQ(manifest.entries.size(), 1u);
    const Entry &entry = manifest.entries[0];
    EXPECT_EQ(entry.symbols, (std::vector<std::string>{"batch"}));
    EXPECT_EQ(entry.inputs[0].dims[0].symbol, 0);
    EXPECT_EQ(entry.inputs[0].dims[1].size, 4);
    EXPECT_TRUE(entry.outputs[1].dims[0].isComputed());
    EXPECT_EQ(entry.tensors, (std::vector<uint32_t>{0, 3}));
    EXPECT_EQ(manifest.prepares[0].function, "main.prepare0");
    EXPECT_EQ(manifest.executables[0].target, "x86-64-v3");
    EXPECT_EQ(manifest.baked[0].note, "folded into 'w'");
    EXPECT_FALSE(manifest.graphSegment);
    std::vector<Bytes> segments = sampleSegments();
    for (uint32_t i = 0; i < segments.size(); ++i) {
      ByteSpan span = opened->source->segment(i);
      EXPECT_EQ(Bytes(span.data, span.data + span.sizeBytes), segments[i]);
      EXPECT_TRUE(verifySegment(manifest, i, span));
    }
  }
}

// A file cut anywhere is refused.
TEST(Reader, EveryTruncation) {
  Bytes file = sampleFile();
  for (size_t size = 0; size < file.size(); ++size) {
    Bytes cut(file.begin(), file.begin() + size);
    EXPECT_NE(messageFor(cut), "") << size;
  }
  Bytes appended = file;
  appended.push_back(0);
  EXPECT_THAT(messageFor(appended), HasSubstr("something was appended"));
}

// Any flipped bit in prefix, manifest or padding is refused when opening; one
// in a segment is found by its leaf.
TEST(Reader, EveryFlippedBit) {
  Bytes file = sampleFile();
  Result<OpenedArtifact> intact = openBytes(file);
  ASSERT_TRUE(intact);
  auto segmentAt = [&](size_t offset) {
    for (size_t i = 0; i < intact->manifest.segments.size(); ++i) {
      const Segment &segment = intact->manifest.segments[i];
      if (offset >= segment.offset &&
          offset < segment.offset + segment.sizeBytes)
        return int(i);
    }
    return -1;
  };
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    file[bit / 8] ^= 1 << bit % 8;
    int segment = segmentAt(bit / 8);
    AlignedCopy copy(file);
    Result<OpenedArtifact> opened = openArtifactMemory(copy.span(), "mem");
    EXPECT_EQ(bool(opened), segment >= 0) << "byte " << bit / 8;
    if (opened && segment >= 0) {
      EXPECT_EQ(verifySegment(opened->manifest, segment,
                              opened->source->segment(segment))
                    .fault()
                    .kind,
                FaultKind::Integrity);
    }
    file[bit / 8] ^= 1 << bit % 8;
  }
}

// Forged prefixes whose hash is right: zero, largest, one off.
TEST(Reader, ForgedPrefixFields) {
  const Bytes file = sampleFile();
  struct Field {
    size_t offset;
    int size;
  } fields[] = {{0, 8}, {8, 4}, {12, 4}, {16, 8}, {24, 8}};
  for (const Field &field : fields) {
    uint64_t original = 0;
    std::memcpy(&original, &file[field.offset], field.size);
    for (uint64_t value :
         {uint64_t(0), ~uint64_t(0), uint64_t(INT64_MAX), original - 1,
          original + 1, original + 64, original - 64}) {
      uint64_t mask = field.size == 8 ? ~uint64_t(0) : 0xffffffff;
      if ((value & mask) == original)
        continue;
      Bytes forged = file;
      put(forged, field.offset, value, field.size);
      uint64_t manifest = 0;
      std::memcpy(&manifest, &forged[24], 8);
      if (manifest <= forged.size())
        sealPrefix(forged);
      EXPECT_NE(messageFor(forged), "")
          << "field at " << field.offset << " = " << value;
    }
  }
}

// Files that users mistake for artifacts are called by their name.
TEST(Reader, NamesOtherFormats) {
  auto starting = [](const std::string &start) {
    Bytes bytes(start.begin(), start.end());
    bytes.resize(256);
    return bytes;
  };
  Bytes version1 = starting("RLXBAKE1"), version2 = version1,
        version4 = version1;
  put(version1, 8, 1, 4);
  put(version2, 8, 2, 4);
  put(version4, 8, 4, 4);
  EXPECT_THAT(messageFor(version1), HasSubstr("bincode"));
  EXPECT_THAT(messageFor(version2), HasSubstr("version 2"));
  EXPECT_THAT(messageFor(version4), HasSubstr("reads version 3"));
  EXPECT_THAT(messageFor(starting("RLXENC01")), HasSubstr("sealed"));
  EXPECT_EQ(openBytes(starting("RLXENC01")).fault().kind, FaultKind::Sealed);
  EXPECT_THAT(messageFor(starting("RLXPFLAT")), HasSubstr("package"));
  EXPECT_THAT(messageFor(starting("\x7f"
                                  "ELF")),
              HasSubstr("'\\x7fELF\\x00"));
  EXPECT_THAT(messageFor(Bytes()), HasSubstr("has 0 bytes"));
}

// Segments stay within the file, in order, aligned, hashed, with zeros between.
TEST(Reader, ForgedLayout) {
  const std::vector<Bytes> segments = sampleSegments();
  auto forged = [&](auto change) {
    Bytes file = buildContainer(sampleManifest(), segments);
    AlignedCopy copy(file);
    Result<OpenedArtifact> opened = openArtifactMemory(copy.span(), "mem");
    Manifest manifest = opened->manifest;
    uint64_t offset = 0;
    std::memcpy(&offset, &file[24], 8);
    change(manifest, file);
    file.resize(offset);
    Bytes encoded = encodeManifest(manifest);
    file.insert(file.end(), encoded.begin(), encoded.end());
    put(file, 16, file.size(), 8);
    sealPrefix(file);
    return messageFor(file);
  };
  EXPECT_EQ(forged([](Manifest &, Bytes &) {}), "");
  EXPECT_THAT(forged([](Manifest &m, Bytes &) { m.segments[0].offset = 0; }),
              HasSubstr("before the end of what precedes it"));
  EXPECT_THAT(forged([](Manifest &m, Bytes &) {
                m.segments[1].offset = m.segments[0].offset;
              }),
              HasSubstr("before the end of what precedes it"));
  EXPECT_THAT(forged([](Manifest &m, Bytes &) { m.segments[1].offset += 8; }),
              HasSubstr("no multiple of 64"));
  EXPECT_THAT(forged([](Manifest &m, Bytes &) {
                m.segments[2].offset = uint64_t(1) << 63;
              }),
              HasSubstr("but the manifest starts"));
  EXPECT_THAT(
      forged([](Manifest &m, Bytes &) { m.segments[2].sizeBytes = INT64_MAX; }),
      HasSubstr("but the manifest starts"));
  EXPECT_THAT(
      forged([](Manifest &m, Bytes &) { m.segments[0].leaves.clear(); }),
      HasSubstr("0 leaf hashes, its 48 bytes need 1"));
  EXPECT_THAT(
      forged([](Manifest &m, Bytes &) { m.segments[2].leaves.resize(2); }),
      HasSubstr("2 leaf hashes"));
  EXPECT_THAT(
      forged([](Manifest &m, Bytes &f) { f[m.segments[0].offset + 48] = 1; }),
      HasSubstr("padding byte that is not zero"));
}

// Gaps of a page and more could hide data.
TEST(Reader, LongGap) {
  Bytes file = sampleFile();
  uint64_t offset = 0;
  std::memcpy(&offset, &file[24], 8);
  file.insert(file.begin() + offset, 4096, 0);
  put(file, 16, file.size(), 8);
  put(file, 24, offset + 4096, 8);
  sealPrefix(file);
  EXPECT_THAT(messageFor(file), HasSubstr("unused bytes"));
}

TEST(Reader, UnusualFiles) {
  EXPECT_THAT(openArtifactFile("/nonexistent/x.rlx").fault().message,
              HasSubstr("/nonexistent/x.rlx: cannot open"));
  EXPECT_THAT(openArtifactFile(testing::TempDir()).fault().message,
              HasSubstr("not a regular file"));
  std::string fifo =
      testing::TempDir() + "rlx-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(openArtifactFile(fifo).fault().message,
              HasSubstr("not a regular file"));
  unlink(fifo.c_str());
  Bytes file = sampleFile();
  file.insert(file.begin(), 0);
  AlignedCopy copy(file);
  EXPECT_THAT(openArtifactMemory({copy.span().data + 1, file.size() - 1}, "mem")
                  .fault()
                  .message,
              HasSubstr("not aligned to 64"));
}

// In-process segments are checked against the manifest as a file's are.
TEST(Reader, Segments) {
  Bytes encoded = encodeManifest(sampleManifest());
  AlignedCopy manifest(encoded);
  std::vector<Bytes> bytes = sampleSegments();
  std::vector<AlignedCopy> copies;
  std::vector<ByteSpan> spans;
  for (const Bytes &segment : bytes)
    copies.emplace_back(segment);
  for (const AlignedCopy &copy : copies)
    spans.push_back(copy.span());
  Result<OpenedArtifact> opened =
      openArtifactSegments(manifest.span(), spans, "seg");
  ASSERT_TRUE(opened) << opened.fault().message;
  EXPECT_EQ(opened->source->segment(1).data, spans[1].data);
  EXPECT_EQ(opened->fileSizeBytes, 160u);
  std::vector<ByteSpan> fewer(spans.begin(), spans.end() - 1);
  EXPECT_THAT(
      openArtifactSegments(manifest.span(), fewer, "seg").fault().message,
      HasSubstr("2 segments given, the manifest has 3"));
  // Packed weights are aligned to 64, others as their elements.
  Bytes shifted(8 + 48);
  std::vector<ByteSpan> moved = spans;
  moved[1].data = shifted.data() + 4;
  EXPECT_TRUE(openArtifactSegments(manifest.span(), moved, "seg"));
  moved[1].data = shifted.data() + 2;
  EXPECT_THAT(
      openArtifactSegments(manifest.span(), moved, "seg").fault().message,
      HasSubstr("'bias' in segment 1 is not aligned to 4"));
  moved = spans;
  moved[0].data = spans[0].data + 4;
  EXPECT_THAT(
      openArtifactSegments(manifest.span(), moved, "seg").fault().message,
      HasSubstr("'w' in segment 0 is not aligned to 64"));
  spans[0].sizeBytes -= 1;
  EXPECT_THAT(
      openArtifactSegments(manifest.span(), spans, "seg").fault().message,
      HasSubstr("segment 0 has 47 bytes, the manifest says 48"));
}
