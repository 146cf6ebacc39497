// SPDX-License-Identifier: MIT OR Apache-2.0
//===- WeightData.cpp - The bytes of weights ------------------------------===//

#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cstring>

using namespace mlir;

namespace rlx {

/// What executables expect of weights.
static constexpr size_t kAlignment = 64;

/// Bytes per element; none if no `rlx` op takes such elements.
static std::optional<int64_t> getElementSizeBytes(Type type) {
  if (type.isInteger(1) || type.isInteger(8))
    return 1;
  if (type.isF16() || type.isBF16() || type.isInteger(16))
    return 2;
  if (type.isF32() || type.isInteger(32))
    return 4;
  if (type.isF64() || type.isInteger(64))
    return 8;
  return std::nullopt;
}

std::optional<int64_t> getStoredSizeBytes(Type type) {
  if (auto packed = dyn_cast<PackedType>(type))
    return packed.getSizeInBytes();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return std::nullopt;
  std::optional<int64_t> elementSize =
      getElementSizeBytes(tensor.getElementType());
  std::optional<int64_t> count = getStaticElementCount(tensor.getShape());
  if (!elementSize || !count)
    return std::nullopt;
  return llvm::checkedMul(*count, *elementSize);
}

bool WeightBytes::isReadable(ElementsAttr value) {
  std::optional<int64_t> size = getStoredSizeBytes(value.getType());
  if (!size)
    return false;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob && blob->getData().size() == uint64_t(*size);
  }
  return isa<DenseIntOrFPElementsAttr>(value);
}

std::optional<WeightBytes> WeightBytes::read(ElementsAttr value) {
  if (!isReadable(value))
    return std::nullopt;
  int64_t size = *getStoredSizeBytes(value.getType());
  int64_t elementSize = *getElementSizeBytes(value.getElementType());
  auto copy = [&](auto fill) {
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(size, kAlignment);
    fill(blob.getMutableData().data());
    return WeightBytes(std::move(blob));
  };

  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    if (llvm::isAddrAligned(llvm::Align(elementSize), data.data()))
      return WeightBytes(data);
    return copy([&](char *to) { std::memcpy(to, data.data(), size); });
  }
  auto dense = cast<DenseIntOrFPElementsAttr>(value);
  // An attribute holds eight i1 elements in a byte.
  if (dense.getElementType().isInteger(1))
    return copy([&](char *to) { llvm::copy(dense.getValues<bool>(), to); });
  ArrayRef<char> raw = dense.getRawData();
  if (dense.isSplat())
    return copy([&](char *to) {
      for (int64_t at = 0; at < size; at += elementSize)
        std::memcpy(to + at, raw.data(), elementSize);
    });
  if (llvm::isAddrAligned(llvm::Align(elementSize), raw.data()))
    return WeightBytes(raw);
  return copy([&](char *to) { std::memcpy(to, raw.data(), size); });
}

} // namespace rlx
