// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Compiled.h - Runs what a conversion made ------------------*- C++
//-*-===//

#ifndef RLX_UNITTESTS_CONVERSION_COMPILED_H
#define RLX_UNITTESTS_CONVERSION_COMPILED_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace rlx::test {

/// Functions of a module as machine code of a CPU class.
class Compiled {
public:
  /// Lowers `module` (func, scf, memref, arith, math, cf) to machine code for
  /// "x86-64-v3" or "x86-64-v4" as an artifact's code is made: O2, no
  /// fast-math, 512-bit vectors for v4; `vectorize` false turns the vectorisers
  /// off. Null, with the reason on stderr, if that fails.
  static std::unique_ptr<Compiled> create(mlir::ModuleOp module,
                                          llvm::StringRef cpuClass,
                                          bool vectorize = true);
  ~Compiled();

  /// Address of a function; with `llvm.emit_c_interface` its `_mlir_ciface_`.
  void *lookup(llvm::StringRef name) const;

  /// Names of functions that the code calls and does not define.
  const std::vector<std::string> &externals() const { return undefined; }

private:
  Compiled();
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<std::string> undefined;
};

/// True if this machine can run code of the class.
bool canRun(llvm::StringRef cpuClass);

/// The dialects and translations that Compiled needs.
void registerForCompiling(mlir::DialectRegistry &registry);

} // namespace rlx::test

#endif // RLX_UNITTESTS_CONVERSION_COMPILED_H
