// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Values of weights as attributes.
#ifndef RLX_IMPORT_ELEMENTSATTRS_H
#define RLX_IMPORT_ELEMENTSATTRS_H

#include "mlir/IR/BuiltinAttributes.h"

#include <memory>

namespace rlx {

/// The elements in `data`, which are row-major, little-endian and exactly as
/// many as `type` has; an i1 takes a byte that is 0 or 1. Small values become
/// `dense`, which prints and folds; larger ones a copy in a `dense_resource`
/// called after `name`.
mlir::ElementsAttr copyElements(mlir::ShapedType type,
                                llvm::ArrayRef<char> data,
                                llvm::StringRef name);

/// As above, but a larger value refers to `data` itself and keeps `owner`
/// alive, if the address is aligned for the element type; if not, it is copied
/// and `copied` set.
mlir::ElementsAttr aliasElements(mlir::ShapedType type,
                                 llvm::ArrayRef<char> data,
                                 std::shared_ptr<const void> owner,
                                 llvm::StringRef name, bool &copied);

} // namespace rlx

#endif // RLX_IMPORT_ELEMENTSATTRS_H
