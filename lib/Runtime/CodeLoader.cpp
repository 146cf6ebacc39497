// SPDX-License-Identifier: MIT OR Apache-2.0

#include "CodeLoader.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

// Linux 6.3; older headers do not have it.
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

using namespace rlx;
using namespace rlx::runtime;

LoadedCode::~LoadedCode() {
  if (handle)
    dlclose(handle);
  if (fd >= 0)
    close(fd);
}

LoadedCode::LoadedCode(LoadedCode &&other) noexcept
    : handle(std::exchange(other.handle, nullptr)),
      fd(std::exchange(other.fd, -1)) {}

LoadedCode &LoadedCode::operator=(LoadedCode &&other) noexcept {
  std::swap(handle, other.handle);
  std::swap(fd, other.fd);
  return *this;
}

void *LoadedCode::symbol(const char *name) const { return dlsym(handle, name); }

namespace {

Fault codeFault(const std::string &text) { return {FaultKind::Code, text}; }

std::string systemError() { return std::strerror(errno); }

std::string loaderError() {
  const char *text = dlerror();
  return text ? text : "unknown reason";
}

bool writeFully(int fd, artifact::ByteSpan bytes) {
  while (bytes.sizeBytes) {
    ssize_t count =
        write(fd, bytes.data, std::min<uint64_t>(bytes.sizeBytes, 1u << 30));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes.data += count;
    bytes.sizeBytes -= static_cast<uint64_t>(count);
  }
  return true;
}

int createAnonymousFile() {
  int fd = memfd_create("rlx-code", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (fd < 0 && errno == EINVAL)
    fd = memfd_create("rlx-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return fd;
}

std::string descriptorPath(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

/// A library that the loader could not unload keeps its path. Moves the
/// descriptor on until its path is nobody's.
int withUnusedPath(int fd) {
  while (void *stale = dlopen(descriptorPath(fd).c_str(),
                              RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)) {
    dlclose(stale);
    int other = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    if (other < 0)
      return fd;
    close(fd);
    fd = other;
  }
  dlerror(); // Not loaded yet is what was hoped for.
  return fd;
}

} // namespace

Result<LoadedCode> runtime::loadFromMemory(artifact::ByteSpan bytes) {
  LoadedCode code;
  code.fd = createAnonymousFile();
  if (code.fd < 0)
    return codeFault("memfd_create: " + systemError());
  if (!writeFully(code.fd, bytes))
    return codeFault("writing an anonymous file: " + systemError());
  if (fcntl(code.fd, F_ADD_SEALS,
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return codeFault("sealing an anonymous file: " + systemError());
  code.fd = withUnusedPath(code.fd);
  code.handle = dlopen(descriptorPath(code.fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!code.handle)
    return codeFault(loaderError());
  return code;
}

Result<LoadedCode> runtime::loadFromFolder(artifact::ByteSpan bytes,
                                           const std::string &folder) {
  std::string path = folder + "/rlx-code-XXXXXX";
  LoadedCode code;
  // Mode 0600, and fails rather than opening what another user put there.
  code.fd = mkostemp(path.data(), O_CLOEXEC);
  if (code.fd < 0)
    return codeFault(folder + ": cannot create a file: " + systemError());
  bool written = writeFully(code.fd, bytes);
  std::string reason = written ? "" : path + ": " + systemError();
  if (written) {
    code.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!code.handle)
      reason = loaderError();
  }
  unlink(path.c_str());
  if (!code.handle)
    return codeFault(reason);
  return code;
}

Result<LoadedCode> runtime::loadCode(artifact::ByteSpan bytes) {
  Result<LoadedCode> anonymous = loadFromMemory(bytes);
  if (anonymous)
    return anonymous;
  const char *folder = secure_getenv("RLX_CODE_DIR");
  if (!folder || !*folder)
    folder = secure_getenv("XDG_RUNTIME_DIR");
  std::string policy =
      "native code cannot be loaded: the system does not allow anonymous "
      "executable memory (" +
      anonymous.fault().message + ")";
  if (!folder || !*folder)
    return codeFault(policy + ", and there is no folder to load it from; set "
                              "RLX_CODE_DIR to a private folder on a file "
                              "system that is not mounted noexec");
  Result<LoadedCode> file = loadFromFolder(bytes, folder);
  if (file)
    return file;
  return codeFault(policy + " nor a file (" + file.fault().message +
                   "); set RLX_CODE_DIR to a private folder on a file system "
                   "that is not mounted noexec");
}
