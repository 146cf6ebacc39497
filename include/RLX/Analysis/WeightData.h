// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The bytes of weights: how many a type takes and where a constant has them.
#ifndef RLX_ANALYSIS_WEIGHTDATA_H
#define RLX_ANALYSIS_WEIGHTDATA_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace rlx {

/// Bytes that a value of `type` takes in memory: a tensor of static shape whose
/// elements `rlx` ops take (row-major, i1 one byte each), or a packed weight.
/// None for any other type: such a value is never stored, so it can't be a
/// weight or cross from prepare to main.
std::optional<int64_t> getStoredSizeBytes(mlir::Type type);

/// The elements of a constant as they lie in memory, row-major, i1 one byte
/// each, aligned at least to the element size. Borrows from the attribute where
/// that has them in this form and copies otherwise (splats, i1, misaligned
/// files).
class WeightBytes {
public:
  /// None if the elements can't be had: a resource that is not loaded, or an
  /// attribute of another dialect that doesn't give raw elements.
  static std::optional<WeightBytes> read(mlir::ElementsAttr value);

  /// True if read() would succeed; copies nothing.
  static bool isReadable(mlir::ElementsAttr value);

  /// Valid as long as this object and the attribute's storage are.
  llvm::ArrayRef<char> get() const { return data; }

private:
  explicit WeightBytes(llvm::ArrayRef<char> data) : data(data) {}
  explicit WeightBytes(mlir::AsmResourceBlob &&blob)
      : owned(std::move(blob)), data(owned.getData()) {}

  mlir::AsmResourceBlob owned;
  llvm::ArrayRef<char> data;
};

} // namespace rlx

#endif // RLX_ANALYSIS_WEIGHTDATA_H
