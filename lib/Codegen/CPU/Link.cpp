// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Link.cpp - In-process lld ------------------------------------------===//

#include "Object.h"

#include "RLX/Runtime/Abi.h"
#include "RLX/Support/Error.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace rlx;

namespace {

/// A file in memory, named by its descriptor.
class MemoryFile {
public:
  explicit MemoryFile(const char *name)
      : descriptor(memfd_create(name, MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }

  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

  Error write(StringRef bytes) {
    if (descriptor < 0)
      return makeError("cannot create a file in memory to link code: {0}",
                       sys::StrError());
    while (!bytes.empty()) {
      ssize_t count = sys::RetryAfterSignal(-1, ::write, descriptor,
                                            bytes.data(), bytes.size());
      if (count < 0)
        return makeError("cannot write {0} bytes of code to memory: {1}",
                         bytes.size(), sys::StrError());
      bytes = bytes.drop_front(count);
    }
    return Error::success();
  }

private:
  int descriptor;
};

/// The reading end of a pipe. lld replaces regular files, by a temporary beside
/// them; what is no file it writes to.
class Pipe {
public:
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      ends[0] = ends[1] = -1;
    else
      reader = std::thread([this] { readAll(); });
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  ~Pipe() {
    if (ends[0] < 0)
      return;
    finish();
    close(ends[0]);
  }

  bool isOpen() const { return ends[0] >= 0; }
  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(ends[1]);
  }

  /// What was written, once nobody else holds the writing end.
  Expected<SmallVector<char, 0>> take() {
    finish();
    if (error)
      return makeError("cannot read linked code: {0}", sys::StrError(error));
    return std::move(bytes);
  }

private:
  void readAll() {
    size_t size = 0;
    while (true) {
      bytes.resize_for_overwrite(size + (1 << 16));
      ssize_t count = sys::RetryAfterSignal(-1, ::read, ends[0],
                                            bytes.data() + size, 1 << 16);
      if (count < 0)
        error = errno;
      if (count <= 0)
        break;
      size += count;
    }
    bytes.resize(size);
  }
  void finish() {
    if (!reader.joinable())
      return;
    close(ends[1]);
    reader.join();
  }

  int ends[2];
  int error = 0;
  SmallVector<char, 0> bytes;
  std::thread reader;
};

} // namespace

Expected<SmallVector<char, 0>> rlx::linkExecutable(StringRef object,
                                                   StringRef archive) {
  // lld keeps its state in globals.
  static std::mutex mutex;
  static bool canRun = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!canRun)
    return makeError("the linker crashed before and cannot run again in this "
                     "process");

  MemoryFile objectFile("rlx-object"), archiveFile("rlx-kernels"),
      versionFile("rlx-version");
  std::string version = "{ global: " RLX_ABI_QUERY_SYMBOL "; local: *; };\n";
  if (Error error = objectFile.write(object))
    return error;
  if (Error error = archiveFile.write(archive))
    return error;
  if (Error error = versionFile.write(version))
    return error;
  Pipe output;
  if (!output.isOpen())
    return makeError("cannot create a pipe to link code: {0}", sys::StrError());

  std::string objectPath = objectFile.getPath(),
              archivePath = archiveFile.getPath(),
              versionOption = "--version-script=" + versionFile.getPath(),
              outputPath = output.getPath();
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             "-o",
                             outputPath.c_str(),
                             "-soname=rlx-executable.so",
                             "--no-undefined",
                             "--gc-sections",
                             "--strip-all",
                             "--hash-style=gnu",
                             "--no-eh-frame-hdr",
                             "--threads=1",
                             "-znow",
                             "-znoexecstack",
                             versionOption.c_str(),
                             objectPath.c_str(),
                             archivePath.c_str()};
  std::string messages;
  raw_string_ostream stream(messages);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(arguments, stream, stream, drivers);
  canRun = result.canRunAgain;
  if (result.retCode != 0)
    return makeError("linking the executable failed: {0}", messages);
  return output.take();
}
