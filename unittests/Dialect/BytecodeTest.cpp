// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Dialect/DiagnosticCollector.h"
#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Bytecode/Encoding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace rlx;
using testing::HasSubstr;

namespace {

/// A byte of bytecode that holds a number below 128.
char encode(unsigned number) { return char(number << 1 | 1); }

class BytecodeTest : public testing::Test {
protected:
  BytecodeTest() { context.loadDialect<RLXDialect, func::FuncDialect>(); }

  std::string write(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, stream)));
    return bytes;
  }

  /// The module as text, or the errors.
  std::string read(StringRef bytes) {
    DiagnosticCollector diagnostics(&context);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytes, &context);
    if (!module)
      return llvm::toString(diagnostics.takeError("no word"));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  /// `bytes` with another byte at `index` of the only place that is `pattern`.
  static std::string patch(std::string bytes, const std::string &pattern,
                           size_t index, char byte) {
    size_t at = bytes.find(pattern);
    EXPECT_NE(at, std::string::npos);
    EXPECT_EQ(bytes.find(pattern, at + 1), std::string::npos);
    bytes[at + index] = byte;
    return bytes;
  }

  MLIRContext context;
};

} // namespace

// Bytecode says which version of the dialect it is in, and a version that this
// release does not know is refused by its number.
TEST_F(BytecodeTest, NewerVersionsAreRefused) {
  std::string bytes = write(R"mlir(
    func.func @main() -> tensor<2xf32> {
      %0 = rlx.param "w" : tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir");
  EXPECT_THAT(read(bytes), HasSubstr("rlx.param \"w\" : tensor<2xf32>"));
  const std::string section = {char(bytecode::Section::kDialectVersions),
                               /*size=*/encode(1), /*version=*/encode(1)};
  EXPECT_THAT(read(patch(bytes, section, 2, encode(42))),
              HasSubstr("version 42 of the rlx dialect, this release of RLX "
                        "reads version 1; use the release that wrote it or a "
                        "newer one"));
  EXPECT_THAT(read(patch(bytes, section, 2, encode(0))),
              HasSubstr("version 0 of the rlx dialect"));
}

// A packed type that no release could have written is an error, not a crash.
TEST_F(BytecodeTest, PackedTypesAreChecked) {
  std::string bytes = write(R"mlir(
    func.func @main() {
      %0 = rlx.param "w" : !rlx.packed<51x52x53xf32, dense, panel64>
      return
    })mlir");
  EXPECT_THAT(read(bytes),
              HasSubstr("!rlx.packed<51x52x53xf32, dense, panel64>"));
  const std::string shape = {/*packed=*/encode(0), /*rank=*/encode(3),
                             encode(51), encode(52), encode(53)};
  EXPECT_THAT(read(patch(bytes, shape, 0, encode(9))),
              HasSubstr("no type of the rlx dialect has code 9"));
  EXPECT_THAT(read(patch(bytes, shape, 1, encode(100))),
              HasSubstr("packed weight has rank 100 but at most 3"));
  size_t elementType = bytes.find(shape) + shape.size();
  bytes[elementType + 1] = encode(7);
  EXPECT_THAT(read(bytes), HasSubstr("encoding 7 and layout 1"));
  bytes[elementType + 1] = encode(0);
  bytes[elementType + 2] = encode(8);
  EXPECT_THAT(read(bytes), HasSubstr("encoding 0 and layout 8"));
}
