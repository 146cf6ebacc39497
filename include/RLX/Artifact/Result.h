// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_ARTIFACT_RESULT_H
#define RLX_ARTIFACT_RESULT_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace rlx {

/// Why an operation of the runtime side failed. The values are those of the C
/// interface (`rlx_status`), which returns them unchanged.
enum class FaultKind : int {
  Argument = 1,   ///< a call that no program could accept
  Io = 2,         ///< the operating system refused
  Format = 3,     ///< not an RLX artifact, a damaged or a newer one
  Integrity = 4,  ///< a hash differs
  Sealed = 5,     ///< readable only with a password
  Target = 6,     ///< no executable for this CPU
  Code = 7,       ///< native code could not be loaded
  NotFound = 8,   ///< no entry or weight of that name
  ParamUnset = 9, ///< weights without a value
  Baked = 10,     ///< a weight that is part of the program
  Shape = 11,     ///< dims, dtype or byte count differ from the program's
  Memory = 12,    ///< out of memory
  Execution = 13, ///< native code reported an error
  Busy = 14       ///< a session used from two threads at once
};

/// A failure with its message: what, where, what to do; lower case, no period.
struct Fault {
  FaultKind kind;
  std::string message;
};

/// A value or the reason why there is none. The runtime side's counterpart of
/// llvm::Expected, without LLVM and without the obligation to be checked.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Result(Fault fault) : storage(std::in_place_index<1>, std::move(fault)) {}

  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() {
    assert(*this && "the result is a fault");
    return *std::get_if<0>(&storage);
  }
  T *operator->() { return &**this; }
  const Fault &fault() const {
    assert(!*this && "the result is a value");
    return *std::get_if<1>(&storage);
  }

private:
  std::variant<T, Fault> storage;
};

/// Success, or why not.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Fault fault) : failed(true), reason(std::move(fault)) {}

  explicit operator bool() const { return !failed; }
  const Fault &fault() const {
    assert(failed && "the result is a success");
    return reason;
  }

private:
  bool failed = false;
  Fault reason{FaultKind::Argument, {}};
};

} // namespace rlx

#endif // RLX_ARTIFACT_RESULT_H
