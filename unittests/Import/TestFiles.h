// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Files for the tests of readers.
#ifndef RLX_UNITTESTS_IMPORT_TESTFILES_H
#define RLX_UNITTESTS_IMPORT_TESTFILES_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <string>

/// A directory that is removed with what is in it.
class TestDirectory {
public:
  TestDirectory() {
    std::error_code code =
        llvm::sys::fs::createUniqueDirectory("rlx-import-test", directory);
    EXPECT_FALSE(code) << code.message();
  }
  ~TestDirectory() { llvm::sys::fs::remove_directories(directory); }

  std::string path(llvm::StringRef name) const {
    llvm::SmallString<128> full(directory);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }

  /// Writes a file, a new one each time, and returns its path. Cutting off the
  /// old one instead would make some file systems write it to the disk.
  std::string write(llvm::StringRef name, llvm::StringRef bytes) const {
    llvm::sys::fs::remove(path(name));
    std::error_code code;
    llvm::raw_fd_ostream os(path(name), code);
    EXPECT_FALSE(code) << code.message();
    os << bytes;
    return path(name);
  }

private:
  llvm::SmallString<128> directory;
};

/// The bytes of a safetensors file.
inline std::string safetensors(llvm::StringRef header, llvm::StringRef data) {
  std::string bytes(8, '\0');
  llvm::support::endian::write64le(bytes.data(), header.size());
  return bytes + header.str() + data.str();
}

#endif // RLX_UNITTESTS_IMPORT_TESTFILES_H
