// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_UNITTESTS_RUNTIME_TEMPORARYFOLDER_H
#define RLX_UNITTESTS_RUNTIME_TEMPORARYFOLDER_H

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace rlx::test {

/// An empty folder that disappears with the object and all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() { EXPECT_TRUE(mkdtemp(path.data())); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) {
    std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    return path + "/" + name;
  }
  std::string read(const std::string &name) const {
    std::ifstream stream(path + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string path = testing::TempDir() + "rlx-test-XXXXXX";
};

} // namespace rlx::test

#endif // RLX_UNITTESTS_RUNTIME_TEMPORARYFOLDER_H
