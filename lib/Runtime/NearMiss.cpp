// SPDX-License-Identifier: MIT OR Apache-2.0

#include "NearMiss.h"

#include <algorithm>

using namespace rlx;

namespace {

/// Levenshtein's distance.
size_t editDistance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      size_t substituted = diagonal + (left[i - 1] != right[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

} // namespace

std::string
runtime::suggestion(std::string_view name,
                    const std::vector<std::string_view> &candidates) {
  // One slip in three characters; names of absurd length are not compared.
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  if (name.size() > 256)
    return "";
  std::string_view closest;
  for (std::string_view candidate : candidates) {
    if (candidate.size() >= name.size() + best ||
        name.size() >= candidate.size() + best)
      continue;
    size_t distance = editDistance(name, candidate);
    if (distance >= best)
      continue;
    best = distance;
    closest = candidate;
  }
  if (closest.empty())
    return "";
  return "; did you mean '" + std::string(closest) + "'?";
}

std::string runtime::quotedList(const std::vector<std::string_view> &names,
                                size_t limit) {
  std::string text;
  for (size_t i = 0; i < std::min(limit, names.size()); ++i)
    text += (i ? ", '" : "'") + std::string(names[i]) + "'";
  if (names.size() > limit)
    text += " and " + std::to_string(names.size() - limit) + " more";
  return text;
}
