// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/ElementsAttrs.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace llvm;
using namespace mlir;
using namespace rlx;

/// Below this many bytes a value is an attribute of its own, uniqued in the
/// context.
static constexpr size_t maxInlineBytes = 256;

static StringRef blobName(StringRef name) {
  return name.empty() ? "constant" : name;
}

/// The value as a uniqued attribute, for small ones and for i1, whose bytes a
/// resource would have to bring in another form.
static ElementsAttr inlineElements(ShapedType type, ArrayRef<char> data) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, data);
  SmallVector<bool> bits;
  for (char byte : data)
    bits.push_back(byte != 0);
  return DenseElementsAttr::get(type, bits);
}

static bool isInline(ShapedType type, ArrayRef<char> data) {
  return data.size() <= maxInlineBytes || type.getElementType().isInteger(1);
}

/// Bytes to which elements are aligned in memory.
static size_t elementAlignment(ShapedType type) {
  return divideCeil(type.getElementTypeBitWidth(), 8u);
}

ElementsAttr rlx::copyElements(ShapedType type, ArrayRef<char> data,
                               StringRef name) {
  if (isInline(type, data))
    return inlineElements(type, data);
  return DenseResourceElementsAttr::get(
      type, blobName(name),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(data, /*align=*/64));
}

ElementsAttr rlx::aliasElements(ShapedType type, ArrayRef<char> data,
                                std::shared_ptr<const void> owner,
                                StringRef name, bool &copied) {
  size_t alignment = elementAlignment(type);
  bool isAligned = reinterpret_cast<uintptr_t>(data.data()) % alignment == 0;
  copied = !isAligned && !isInline(type, data);
  if (isInline(type, data) || !isAligned)
    return copyElements(type, data, name);
  // The blob does not own the bytes; its deleter is the place that holds who
  // does.
  auto release = [owner = std::move(owner)](void *, size_t, size_t) mutable {
    owner.reset();
  };
  return DenseResourceElementsAttr::get(
      type, blobName(name),
      UnmanagedAsmResourceBlob::allocateWithAlign(data, alignment,
                                                  std::move(release)));
}
