// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../../../lib/Codegen/CPU/Object.h"

#include "RLX/Codegen/CPU/Kernels/KernelArchive.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace rlx;

namespace {

constexpr char kClass[] = "x86-64-v3";

/// The object of a module in textual LLVM IR.
std::string compileText(llvm::StringRef text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, diagnostic, context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getMessage().str();
    return "";
  }
  llvm::SmallVector<char, 0> object =
      llvm::cantFail(compileToObject(*module, kClass));
  return std::string(object.begin(), object.end());
}

std::string getLinkError(llvm::StringRef object) {
  llvm::Expected<llvm::SmallVector<char, 0>> linked =
      linkExecutable(object, kernelArchive(kClass));
  return linked ? "" : llvm::toString(linked.takeError());
}

// A link that fails is an error with the linker's words; the next one works.
TEST(Link, FailureIsAnError) {
  EXPECT_THAT(getLinkError("no object"),
              testing::HasSubstr("linking the executable failed"));
  EXPECT_THAT(getLinkError(compileText(R"ll(
declare ptr @nobody_has_this()
define ptr @rlx_executable_query(i32 %version) {
  %1 = call ptr @nobody_has_this()
  ret ptr %1
}
)ll")),
              testing::HasSubstr("undefined symbol: nobody_has_this"));
  EXPECT_EQ(getLinkError(compileText(R"ll(
define ptr @rlx_executable_query(i32 %version) {
  ret ptr null
}
)ll")),
            "");
}

} // namespace
