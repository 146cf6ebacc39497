// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Codegen/CPU/Kernels/KernelArchive.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace llvm;

namespace {

/// What the members of an archive define for each other and still need.
struct Symbols {
  std::map<std::string, std::string> memberOf; ///< global symbol -> member
  std::set<std::string> undefined;
  std::vector<std::string> exported; ///< defined but not hidden
};

Symbols readSymbols(StringRef bytes) {
  Symbols symbols;
  MemoryBufferRef buffer(bytes, "kernels.a");
  auto archive = cantFail(object::Archive::create(buffer));
  Error error = Error::success();
  for (const object::Archive::Child &child : archive->children(error)) {
    std::string member = cantFail(child.getName()).str();
    auto binary = cantFail(child.getAsBinary());
    auto *object = cast<object::ELFObjectFileBase>(binary.get());
    for (const object::ELFSymbolRef &symbol : object->symbols()) {
      std::string name = cantFail(symbol.getName()).str();
      uint32_t flags = cantFail(symbol.getFlags());
      if (flags & object::SymbolRef::SF_Undefined) {
        if (!name.empty())
          symbols.undefined.insert(name);
        continue;
      }
      if (!(flags & object::SymbolRef::SF_Global))
        continue;
      symbols.memberOf[name] = member;
      if ((symbol.getOther() & 3) != ELF::STV_HIDDEN)
        symbols.exported.push_back(name);
    }
  }
  cantFail(std::move(error));
  return symbols;
}

} // namespace

TEST(KernelArchiveTest, ClassesHaveTheSameSymbols) {
  ASSERT_EQ(rlx::kernelCpuClasses().size(), 2u);
  Symbols v3 = readSymbols(rlx::kernelArchive("x86-64-v3"));
  Symbols v4 = readSymbols(rlx::kernelArchive("x86-64-v4"));
  EXPECT_EQ(v3.memberOf, v4.memberOf);
  std::vector<std::string> names;
  for (auto &[name, member] : v4.memberOf)
    names.push_back(name);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre(
                  "rlx_gemm_f32", "rlx_pack_f32", "rlx_unpack_f32", "memcpy",
                  "memmove", "memset", "memcmp", "bcmp", "fmod", "fmodf",
                  "__truncdfhf2", "__truncdfbf2", "__truncsfbf2"));
}

// Linked into an executable with --no-undefined, exporting nothing.
TEST(KernelArchiveTest, NeedsNothingAndExportsNothing) {
  for (StringRef cpuClass : rlx::kernelCpuClasses()) {
    Symbols symbols = readSymbols(rlx::kernelArchive(cpuClass));
    for (const std::string &name : symbols.undefined)
      EXPECT_TRUE(symbols.memberOf.count(name)) << name;
    EXPECT_THAT(symbols.exported, testing::IsEmpty());
  }
}

// An executable that only packs does not carry the product.
TEST(KernelArchiveTest, MembersAreLinkedOneByOne) {
  Symbols symbols = readSymbols(rlx::kernelArchive("x86-64-v4"));
  std::set<std::string> members;
  for (const char *name : {"rlx_gemm_f32", "rlx_pack_f32", "rlx_unpack_f32",
                           "memcpy", "fmod", "__truncdfhf2"})
    members.insert(symbols.memberOf[name]);
  EXPECT_EQ(members.size(), 6u);
}

TEST(KernelArchiveTest, IsEmptyForUnknownClasses) {
  EXPECT_TRUE(rlx::kernelArchive("x86-64-v2").empty());
  EXPECT_TRUE(rlx::kernelArchive("").empty());
}
