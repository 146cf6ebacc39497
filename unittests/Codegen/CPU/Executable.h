// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Compiles a module, loads the executable as a runtime would, and runs it.
#ifndef RLX_UNITTESTS_CODEGEN_CPU_EXECUTABLE_H
#define RLX_UNITTESTS_CODEGEN_CPU_EXECUTABLE_H

#include "RLX/Codegen/CPU/Compile.h"
#include "RLX/Runtime/Abi.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <vector>

namespace rlx::test {

/// A tensor whose memory begins where a test wants: 4 bytes behind a cache
/// line unless it is packed.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> data;

  Tensor() = default;
  explicit Tensor(std::vector<int64_t> dims);
  /// Numbers in (-1, 1) that depend on `seed` alone.
  static Tensor random(std::vector<int64_t> dims, uint32_t seed);
  int64_t size() const { return static_cast<int64_t>(data.size()); }
  float &at(std::initializer_list<int64_t> indices);
};

/// What a call gave.
struct CallResult {
  int32_t status = 0;
  /// Text of a status from RLX_ABI_MESSAGE_BASE on.
  std::string message;
  uint64_t arenaBytes = 0;
  /// Parallel regions that were started.
  int regions = 0;
  std::vector<Tensor> outputs;
};

/// A loaded executable.
class Executable {
public:
  ~Executable();
  /// Loads compiled code; a test failure if that is not possible.
  static std::unique_ptr<Executable> load(CompiledExecutable compiled);

  const rlx_abi_executable &getTable() const { return *table; }
  const CompiledExecutable &getCompiled() const { return compiled; }
  const rlx_abi_function *find(llvm::StringRef name) const;
  rlx_abi_query getQuery() const { return query; }

  /// Plans and runs `name`. `tensors`: inputs, then weights. A status of `plan`
  /// other than RLX_ABI_OK ends the call.
  CallResult call(llvm::StringRef name, std::vector<Tensor> tensors,
                  std::vector<int64_t> symbols = {}, int workers = 1) const;

private:
  Executable() = default;
  CompiledExecutable compiled;
  int descriptor = -1;
  void *handle = nullptr;
  rlx_abi_query query = nullptr;
  const rlx_abi_executable *table = nullptr;
};

/// Parses a module of the weights phase; a test failure if it is none.
class Source {
public:
  explicit Source(llvm::StringRef text);
  mlir::ModuleOp getModule() { return *module; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Compiles `text` for `cpuClass` and loads it.
std::unique_ptr<Executable> compile(llvm::StringRef text,
                                    llvm::StringRef cpuClass = "x86-64-v3");

/// The error that compiling `text` gives; empty if it compiles.
std::string getCompileError(llvm::StringRef text);

/// The classes that this machine can run.
std::vector<std::string> getRunnableClasses();

/// `m` x `k` times `k` x `n` in f64.
Tensor multiply(const Tensor &a, const Tensor &b);
/// The transpose of a matrix.
Tensor transpose(const Tensor &a);
/// A matrix in layout `panel64`.
Tensor packPanels(const Tensor &a);

/// Largest difference of two tensors of equal dims; a test failure if not
/// equal.
double maxDifference(const Tensor &a, const Tensor &b);
/// True if dims and all bits are equal.
bool isBitEqual(const Tensor &a, const Tensor &b);

} // namespace rlx::test

#endif // RLX_UNITTESTS_CODEGEN_CPU_EXECUTABLE_H
