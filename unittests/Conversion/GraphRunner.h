// SPDX-License-Identifier: MIT OR Apache-2.0
//===- GraphRunner.h - Runs rlx functions through linalg ---------*- C++
//-*-===//

#ifndef RLX_UNITTESTS_CONVERSION_GRAPHRUNNER_H
#define RLX_UNITTESTS_CONVERSION_GRAPHRUNNER_H

#include "Compiled.h"
#include "mlir/IR/MLIRContext.h"
#include <cstring>
#include <string>
#include <vector>

namespace rlx::test {

/// A row-major tensor of any element type, as bytes.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  Tensor() = default;
  template <typename T>
  Tensor(std::vector<int64_t> shape, const std::vector<T> &values)
      : shape(std::move(shape)), bytes(values.size() * sizeof(T)) {
    if (!values.empty())
      std::memcpy(bytes.data(), values.data(), bytes.size());
  }

  template <typename T> std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty())
      std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

/// The functions of a module in textual form, lowered by rlx-to-linalg,
/// elementwise fusion and rlx-expand-math.
class GraphRunner {
public:
  GraphRunner(const std::string &text, llvm::StringRef cpuClass);

  /// False if the text doesn't parse or lower.
  explicit operator bool() const { return code != nullptr; }

  /// Calls a function of one new tensor (not a view of an input), whose shape
  /// is checked. `scalars` are i64 arguments behind the tensors.
  Tensor run(llvm::StringRef name, const std::vector<Tensor> &inputs,
             const std::vector<int64_t> &resultShape, size_t elementSize,
             const std::vector<int64_t> &scalars = {}) const;

private:
  mlir::MLIRContext context;
  std::unique_ptr<Compiled> code;
};

/// The classes that this machine can run.
std::vector<const char *> runnableClasses();

} // namespace rlx::test

#endif // RLX_UNITTESTS_CONVERSION_GRAPHRUNNER_H
