// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Support/NearMiss.h"

#include "RLX/Support/Error.h"

using namespace llvm;

/// Whether one name is the other below some module: equal after a dot.
static bool isDottedSuffix(StringRef a, StringRef b) {
  if (a.size() < b.size())
    std::swap(a, b);
  return !b.empty() && a.size() > b.size() + 1 && a.ends_with(b) &&
         a[a.size() - b.size() - 1] == '.';
}

/// Whether two names differ by two adjacent letters that changed places, the
/// commonest slip of all; an edit distance counts it as two.
static bool hasLettersSwapped(StringRef a, StringRef b) {
  if (a.size() != b.size())
    return false;
  size_t at = 0;
  while (at < a.size() && a[at] == b[at])
    ++at;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
         a.drop_front(at + 2) == b.drop_front(at + 2);
}

StringRef rlx::nearestName(StringRef name, ArrayRef<StringRef> candidates) {
  for (StringRef candidate : candidates)
    if (name.equals_insensitive(candidate))
      return candidate;
  for (StringRef candidate : candidates)
    if (isDottedSuffix(name, candidate))
      return candidate;

  for (StringRef candidate : candidates)
    if (hasLettersSwapped(name, candidate))
      return candidate;

  // Names of a hundred bytes or more are not typed by hand; the quadratic
  // distance stays cheap.
  if (name.size() > 100)
    return {};
  StringRef nearest;
  unsigned bound = name.size() / 3;
  for (StringRef candidate : candidates) {
    if (bound == 0)
      break;
    size_t lengthGap = std::max(name.size(), candidate.size()) -
                       std::min(name.size(), candidate.size());
    if (lengthGap > bound)
      continue;
    unsigned distance = name.edit_distance(
        candidate, /*AllowReplacements=*/true, /*MaxEditDistance=*/bound);
    if (distance <= bound) {
      nearest = candidate;
      bound = distance - 1; // Zero is impossible: equality was found above.
    }
  }
  return nearest;
}

std::string rlx::didYouMean(StringRef name, ArrayRef<StringRef> candidates) {
  StringRef nearest = nearestName(name, candidates);
  return nearest.empty() ? std::string()
                         : ", did you mean " + quoteName(nearest) + "?";
}
