// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The name that the user probably meant.
#ifndef RLX_SUPPORT_NEARMISS_H
#define RLX_SUPPORT_NEARMISS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace rlx {

/// The one of `candidates` that `name` is most likely a slip of: equal but for
/// case, one a dotted suffix of the other (`model.fc1.weight` for
/// `fc1.weight`), two letters swapped, or within a third of its length in edit
/// distance. Empty if none is near. Ties go to the earlier candidate.
llvm::StringRef nearestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// `, did you mean 'x'?` for the nearest candidate, or nothing.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace rlx

#endif // RLX_SUPPORT_NEARMISS_H
