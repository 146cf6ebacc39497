// SPDX-License-Identifier: MIT OR Apache-2.0

#include "RLX/Artifact/Writer/Writer.h"
#include "RLX/Artifact/Reader.h"
#include "TestContainer.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

/// A description over bytes that the caller keeps.
ArtifactDesc describe(const Manifest &manifest,
                      const std::vector<Bytes> &segments) {
  ArtifactDesc desc;
  desc.manifest = manifest;
  for (size_t i = 0; i < segments.size(); ++i)
    desc.data.push_back(
        SegmentData::borrow(manifest.segments[i].kind, segments[i]));
  return desc;
}

Bytes bytesOf(const llvm::MemoryBuffer &buffer) {
  return Bytes(buffer.getBufferStart(), buffer.getBufferEnd());
}

Bytes readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

/// An empty folder that disappears with the object.
class Folder {
public:
  Folder() { EXPECT_TRUE(mkdtemp(path.data())); }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(path, code), end;
         it != end && !code; it.increment(code))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    return names;
  }
  std::string path = testing::TempDir() + "rlx-writer-XXXXXX";
};

} // namespace

// The writer agrees, byte for byte, with one made from the document alone.
TEST(Writer, MatchesTheDocument) {
  std::vector<Bytes> segments = sampleSegments();
  auto written = writeArtifactMemory(describe(sampleManifest(), segments));
  ASSERT_TRUE(bool(written)) << llvm::toString(written.takeError());
  EXPECT_EQ(bytesOf(**written), buildContainer(sampleManifest(), segments));
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*written)->getBufferStart()) % 64, 0u);
}

TEST(Writer, FileAndMemoryAgree) {
  Folder folder;
  std::string path = folder.path + "/model.rlx";
  std::vector<Bytes> segments = sampleSegments();
  ArtifactDesc desc = describe(sampleManifest(), segments);
  llvm::Error error = writeArtifactFile(desc, path);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  EXPECT_EQ(readFile(path), bytesOf(**writeArtifactMemory(desc)));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"model.rlx"}));
  // As readable as any file the user creates.
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666u & ~mask);
}

// Large weights start on pages, come in pieces and get a hash per MiB.
TEST(Writer, StreamsLargeSegments) {
  constexpr uint64_t size = (3 << 20) + 4;
  Manifest manifest;
  manifest.segments.resize(1);
  Tensor tensor;
  tensor.name = "big";
  tensor.shape = {size / 4};
  tensor.sizeBytes = size;
  manifest.tensors = {tensor, tensor};
  manifest.tensors[1].name = "tiny";
  manifest.tensors[1].shape = {1};
  manifest.tensors[1].sizeBytes = 4;
  manifest.tensors[1].segment = 1;
  Bytes tiny = {1, 2, 3, 4};
  ArtifactDesc desc;
  desc.manifest = manifest;
  SegmentData big;
  big.sizeBytes = size;
  big.produce = [](SegmentData::Sink sink) -> llvm::Error {
    for (uint64_t at = 0; at < size;) {
      Bytes piece(std::min<uint64_t>(size - at, 70001), uint8_t(at >> 16));
      if (llvm::Error error = sink(piece))
        return error;
      at += piece.size();
    }
    return llvm::Error::success();
  };
  desc.data = {SegmentData::borrow(SegmentKind::Weights, tiny), big};
  desc.manifest.tensors[0].segment = 1;
  desc.manifest.tensors[1].segment = 0;
  auto written = writeArtifactMemory(desc);
  ASSERT_TRUE(bool(written)) << llvm::toString(written.takeError());
  AlignedCopy copy(bytesOf(**written));
  Result<OpenedArtifact> opened = openArtifactMemory(copy.span(), "mem");
  ASSERT_TRUE(opened) << opened.fault().message;
  EXPECT_EQ(opened->manifest.segments[1].offset, 4096u);
  EXPECT_EQ(opened->manifest.segments[1].leaves.size(), 4u);
  for (uint32_t i : {0, 1})
    EXPECT_TRUE(verifySegment(opened->manifest, i, opened->source->segment(i)));
}

// Nothing is left behind, and what was there stays, whatever goes wrong.
TEST(Writer, FailuresLeaveNothing) {
  Folder folder;
  std::string path = folder.path + "/model.rlx";
  std::ofstream(path) << "old";
  std::vector<Bytes> segments = sampleSegments();

  ArtifactDesc failing = describe(sampleManifest(), segments);
  failing.data[0].produce = [](SegmentData::Sink) {
    return llvm::createStringError("disk on fire");
  };
  EXPECT_THAT(llvm::toString(writeArtifactFile(failing, path)),
              HasSubstr("disk on fire"));

  ArtifactDesc greedy = describe(sampleManifest(), segments);
  greedy.data[0].produce = [&](SegmentData::Sink sink) {
    return sink(segments[2]);
  };
  EXPECT_THAT(llvm::toString(writeArtifactFile(greedy, path)),
              HasSubstr("more than the 48 bytes it promised"));

  ArtifactDesc stingy = describe(sampleManifest(), segments);
  stingy.data[0].produce = [&](SegmentData::Sink sink) {
    return sink(segments[1]);
  };
  EXPECT_THAT(llvm::toString(writeArtifactFile(stingy, path)),
              HasSubstr("has 12 bytes, 48 were promised"));

  Manifest wrong = sampleManifest();
  wrong.tensors[0].sizeBytes = 4;
  EXPECT_THAT(
      llvm::toString(writeArtifactFile(describe(wrong, segments), path)),
      HasSubstr("the table says 4"));

  EXPECT_EQ(folder.files(), (std::vector<std::string>{"model.rlx"}));
  EXPECT_EQ(readFile(path), (Bytes{'o', 'l', 'd'}));
}

// As on a full disk: the system stops accepting bytes halfway.
TEST(Writer, NoRoom) {
  Folder folder;
  std::string path = folder.path + "/model.rlx";
  std::vector<Bytes> segments = sampleSegments();
  ArtifactDesc desc = describe(sampleManifest(), segments);
  rlimit previous;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &previous), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = {300, previous.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  std::string message = llvm::toString(writeArtifactFile(desc, path));
  setrlimit(RLIMIT_FSIZE, &previous);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("cannot write"));
  EXPECT_TRUE(folder.files().empty());
}

TEST(Writer, UnusualTargets) {
  Folder folder;
  std::vector<Bytes> segments = sampleSegments();
  ArtifactDesc desc = describe(sampleManifest(), segments);
  EXPECT_THAT(llvm::toString(writeArtifactFile(desc, "/dev/null")),
              HasSubstr("/dev/null: is not a regular file"));
  EXPECT_THAT(llvm::toString(writeArtifactFile(desc, folder.path)),
              HasSubstr("is not a regular file"));
  EXPECT_THAT(
      llvm::toString(writeArtifactFile(desc, folder.path + "/no/model.rlx")),
      HasSubstr("cannot write"));
  // A link stays a link; its target gets the new contents.
  std::ofstream(folder.path + "/target") << "old";
  ASSERT_EQ(symlink("target", (folder.path + "/link").c_str()), 0);
  EXPECT_FALSE(bool(writeArtifactFile(desc, folder.path + "/link")));
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(folder.path + "/link"));
  EXPECT_EQ(readFile(folder.path + "/target"),
            bytesOf(**writeArtifactMemory(desc)));
}
