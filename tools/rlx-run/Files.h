// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLX_RUN_FILES_H
#define RLX_TOOLS_RLX_RUN_FILES_H

#include <cstdint>
#include <functional>
#include <string>

namespace rlx::run {

/// A regular file, mapped for reading. Throws Failure if it cannot be.
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const uint8_t *data() const { return bytes; }
  uint64_t sizeBytes() const { return size; }
  const std::string &path() const { return name; }

private:
  std::string name;
  uint8_t *bytes = nullptr;
  uint64_t size = 0;
};

/// Appends bytes to what is being written.
using WriteBytes = std::function<void(const void *data, uint64_t sizeBytes)>;

/// Writes a file that appears under its name only when `produce` is done and
/// everything reached the disk; "-" is standard output. Throws Failure and
/// leaves nothing behind if not.
void writeFile(const std::string &path,
               const std::function<void(const WriteBytes &)> &produce);

} // namespace rlx::run

#endif // RLX_TOOLS_RLX_RUN_FILES_H
