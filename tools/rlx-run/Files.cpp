// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Files.h"
#include "Failure.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rlx::run;

namespace {

std::string systemError() { return std::strerror(errno); }

/// Closes on the way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

WriteBytes writeTo(int fd, const std::string &path) {
  return [fd, path](const void *data, uint64_t sizeBytes) {
    auto *bytes = static_cast<const char *>(data);
    while (sizeBytes) {
      ssize_t count = write(fd, bytes, std::min<uint64_t>(sizeBytes, 1u << 30));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        throw Failure(path + ": cannot write: " + systemError());
      bytes += count;
      sizeBytes -= static_cast<uint64_t>(count);
    }
  };
}

} // namespace

MappedFile::MappedFile(const std::string &path) : name(path) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status;
  if (file.fd < 0 || fstat(file.fd, &status) != 0)
    throw Failure(path + ": cannot open: " + systemError());
  if (!S_ISREG(status.st_mode))
    throw Failure(path + ": is not a regular file");
  size = static_cast<uint64_t>(status.st_size);
  if (!size)
    return;
  void *mapping = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd, 0);
  if (mapping == MAP_FAILED)
    throw Failure(path + ": cannot map: " + systemError());
  bytes = static_cast<uint8_t *>(mapping);
}

MappedFile::~MappedFile() {
  if (bytes)
    munmap(bytes, size);
}

void rlx::run::writeFile(
    const std::string &path,
    const std::function<void(const WriteBytes &)> &produce) {
  if (path == "-") {
    produce(writeTo(STDOUT_FILENO, "standard output"));
    return;
  }
  // Renaming onto a link would replace the link, onto a device the device.
  std::string target = path;
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      throw Failure(path + ": is not a regular file");
    char resolved[PATH_MAX];
    if (realpath(path.c_str(), resolved))
      target = resolved;
  }
  std::string temporary = target + ".XXXXXX.tmp";
  Descriptor file{mkostemps(temporary.data(), 4, O_CLOEXEC)};
  if (file.fd < 0)
    throw Failure(path + ": cannot create: " + systemError());
  try {
    produce(writeTo(file.fd, path));
    // Readable as any file the user creates.
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file.fd, 0666 & ~mask) != 0 || fsync(file.fd) != 0 ||
        rename(temporary.c_str(), target.c_str()) != 0)
      throw Failure(path + ": cannot write: " + systemError());
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}
