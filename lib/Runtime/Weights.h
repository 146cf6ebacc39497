// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_WEIGHTS_H
#define RLX_LIB_RUNTIME_WEIGHTS_H

#include "Program.h"
#include "ThreadPool.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace rlx::runtime {

/// The outputs of one prepare instance for one set of param values. Shared by
/// all snapshots in which nothing the instance reads has changed.
class PreparedInstance {
public:
  /// Whether the outputs are there. Once true, always true.
  bool ready() const { return done.load(std::memory_order_acquire); }

  /// The memory of an output of a ready instance.
  void *output(uint32_t index) const { return outputs[index].get(); }

  /// Calls `compute` unless somebody did or does so successfully; waits for
  /// that somebody. Of all callers racing for a fresh instance exactly one
  /// computes. Sets `computed` if this call did.
  template <typename Compute>
  Result<void> ensure(Compute compute, bool &computed);

private:
  std::atomic<bool> done{false};
  bool running = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<void>> outputs;
};

/// One immutable set of param values, and what was prepared from it so far. A
/// forward pins one and sees nothing else.
struct Snapshot {
  /// Distinguishes the snapshots of a process.
  uint64_t id;
  /// By row of the weight table; null where no value is set, or none can be.
  std::vector<std::shared_ptr<const void>> params;
  std::vector<std::shared_ptr<PreparedInstance>> instances;
  /// Whether it counts among the prepared snapshots already.
  std::atomic<bool> counted{false};
};

/// A value on its way into a set of weights.
struct ParamUpdate {
  std::string_view name;
  artifact::DType dtype;
  std::vector<int64_t> dims;
  const void *data;
  /// Owns `data`; null: the bytes are copied.
  std::shared_ptr<const void> owner;
};

/// Params by name and the current snapshot. Safe from any thread.
class WeightSet {
public:
  explicit WeightSet(std::shared_ptr<Program> program);

  const std::shared_ptr<Program> &program() const { return owner; }

  /// The current snapshot.
  std::shared_ptr<Snapshot> pin() const;

  /// Publishes a snapshot with all of `updates` in place, or none.
  Result<void> set(const std::vector<ParamUpdate> &updates);

  /// Makes everything that `entry` reads ready in `snapshot`, using `pool` for
  /// work that is left. Names all params that lack a value.
  Result<void> prepare(Snapshot &snapshot, uint32_t entry,
                       const BoundExecutable &code, ThreadPool &pool);

  /// The bytes behind a row of the table in a prepared snapshot.
  void *tensorData(const Snapshot &snapshot, uint32_t row) const;

  uint64_t prepareRuns() const { return snapshotsPrepared; }
  uint64_t prepareComponentsRun() const { return instancesRun; }
  uint64_t bytesCopied() const { return copiedBytes; }
  /// Bytes of the prepared tensors of the current snapshot.
  uint64_t preparedBytes() const;

private:
  Result<std::shared_ptr<const void>> accept(const ParamUpdate &update,
                                             uint32_t row);
  Result<void> checkPlan(uint32_t instance,
                         const std::vector<int64_t> &planned) const;
  Result<std::vector<std::shared_ptr<void>>>
  runInstance(const Snapshot &snapshot, uint32_t instance,
              const BoundExecutable &code, ThreadPool &pool) const;

  const std::shared_ptr<Program> owner;
  mutable std::mutex mutex; // For `current`.
  std::shared_ptr<Snapshot> current;
  std::atomic<uint64_t> snapshotsPrepared{0};
  std::atomic<uint64_t> instancesRun{0};
  std::atomic<uint64_t> copiedBytes{0};
};

template <typename Compute>
Result<void> PreparedInstance::ensure(Compute compute, bool &computed) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return !running; });
  if (ready())
    return {};
  running = true;
  lock.unlock();
  // If this throws for want of memory, waiting threads must not wait forever.
  struct Finish {
    PreparedInstance &instance;
    ~Finish() {
      std::lock_guard<std::mutex> lock(instance.mutex);
      instance.running = false;
      instance.changed.notify_all();
    }
  } finish{*this};
  Result<std::vector<std::shared_ptr<void>>> result = compute();
  if (!result)
    return result.fault(); // The next one may have more luck.
  outputs = std::move(*result);
  computed = true;
  done.store(true, std::memory_order_release);
  return {};
}

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_WEIGHTS_H
