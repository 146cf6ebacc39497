// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_RUNTIME_HANDLES_H
#define RLX_RUNTIME_HANDLES_H

#include "RLX/Runtime/rlx_runtime.h"

#include <memory>

namespace rlx {

/// Releases what an owning pointer holds.
struct ReleaseHandle {
  void operator()(rlx_program *program) const { rlx_program_release(program); }
  void operator()(rlx_weights *weights) const { rlx_weights_release(weights); }
  void operator()(rlx_session *session) const { rlx_session_release(session); }
};

/// The handles of the C interface as owners, for C++ users of it:
///
///     rlx::ProgramHandle program;
///     if (rlx_program_open(path, nullptr, rlx::receive(program)) != RLX_OK)
///       return rlx_last_error();
using ProgramHandle = std::unique_ptr<rlx_program, ReleaseHandle>;
using WeightsHandle = std::unique_ptr<rlx_weights, ReleaseHandle>;
using SessionHandle = std::unique_ptr<rlx_session, ReleaseHandle>;

/// An out-parameter that ends up in an owner, at the end of the full
/// expression.
template <typename Handle> class Receiver {
public:
  explicit Receiver(Handle &owner) : owner(owner) {}
  ~Receiver() { owner.reset(received); }
  Receiver(const Receiver &) = delete;
  Receiver &operator=(const Receiver &) = delete;
  operator typename Handle::pointer *() { return &received; }

private:
  Handle &owner;
  typename Handle::pointer received = nullptr;
};

template <typename Handle> Receiver<Handle> receive(Handle &owner) {
  return Receiver<Handle>(owner);
}

/// Options and statistics with `struct_size` set and everything else zero.
template <typename Struct> Struct sized() {
  Struct value = {};
  value.struct_size = sizeof(Struct);
  return value;
}

} // namespace rlx

#endif // RLX_RUNTIME_HANDLES_H
