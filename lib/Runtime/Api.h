// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_API_H
#define RLX_LIB_RUNTIME_API_H

#include "Session.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

// The handles of the C interface: a reference count around a C++ object.

struct rlx_program {
  std::atomic<uint64_t> references{1};
  std::shared_ptr<rlx::runtime::Program> program;
  std::mutex mutex; // For `defaults`.
  std::shared_ptr<rlx::runtime::WeightSet> defaults;

  std::shared_ptr<rlx::runtime::WeightSet> defaultWeights();
};

struct rlx_weights {
  std::atomic<uint64_t> references{1};
  std::shared_ptr<rlx::runtime::WeightSet> weights;
};

struct rlx_session {
  std::atomic<uint64_t> references{1};
  std::unique_ptr<rlx::runtime::Session> session;
};

namespace rlx::runtime {

/// Keeps the message for rlx_last_error() and returns the status.
rlx_status report(FaultKind kind, const char *message) noexcept;

/// Runs the body of a C function: faults and exceptions become statuses.
template <typename Body> rlx_status guarded(Body body) noexcept {
  try {
    Result<void> result = body();
    return result ? rlx_status(RLX_OK)
                  : report(result.fault().kind, result.fault().message.c_str());
  } catch (const std::bad_alloc &) {
    return report(FaultKind::Memory, "out of memory");
  } catch (const std::length_error &) {
    // More than any container can hold.
    return report(FaultKind::Memory, "out of memory");
  } catch (const std::exception &error) {
    return report(FaultKind::Execution, error.what());
  }
}

template <typename Handle> void retain(Handle *handle) {
  if (handle)
    handle->references.fetch_add(1, std::memory_order_relaxed);
}

template <typename Handle> void release(Handle *handle) {
  if (handle && handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete handle;
}

inline Fault nullArgument(const char *function, const char *argument) {
  return {FaultKind::Argument,
          std::string(function) + ": " + argument + " is NULL"};
}

/// Copies what the caller's version of a structure has onto ours.
template <typename Options>
Result<Options> readOptions(const Options *given, const char *name) {
  Options options = {};
  options.struct_size = sizeof(Options);
  if (!given)
    return options;
  if (given->struct_size < sizeof(uint64_t) ||
      given->struct_size > sizeof(Options))
    return Fault{FaultKind::Argument, std::string(name) + ".struct_size is " +
                                          std::to_string(given->struct_size) +
                                          ", this version of RLX knows up to " +
                                          std::to_string(sizeof(Options)) +
                                          "; set it to sizeof(" + name + ")"};
  auto *from = reinterpret_cast<const char *>(given);
  std::copy(from, from + given->struct_size,
            reinterpret_cast<char *>(&options));
  return options;
}

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_API_H
