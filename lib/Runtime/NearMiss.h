// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_NEARMISS_H
#define RLX_LIB_RUNTIME_NEARMISS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::runtime {

/// "; did you mean 'scale'?" for the candidate closest to `name`, or "" if none
/// is close.
std::string suggestion(std::string_view name,
                       const std::vector<std::string_view> &candidates);

/// "'a', 'b', 'c'", cut after `limit` names with the number of the others.
std::string quotedList(const std::vector<std::string_view> &names,
                       size_t limit = SIZE_MAX);

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_NEARMISS_H
