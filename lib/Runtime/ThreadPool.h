// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_RUNTIME_THREADPOOL_H
#define RLX_LIB_RUNTIME_THREADPOOL_H

#include "RLX/Runtime/Abi.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace rlx::runtime {

/// The worker threads of one session. The calling thread is worker 0. Idle
/// workers spin for a short time and then sleep in the kernel; a region never
/// waits for a worker that has not woken up yet. The child of a fork starts
/// workers of its own.
class ThreadPool {
public:
  /// \param workers with the calling thread, at least 1. \param pin binds
  /// worker i > 0 to the i-th CPU the process may use. Threads start with the
  /// first region that needs them.
  ThreadPool(int64_t workers, bool pin);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int64_t workers() const { return workerCount; }

  /// Runs task(context, i, worker) for i in [0, count). One caller at a time.
  /// If the system refuses threads, fewer do the work.
  void run(rlx_abi_task task, void *context, int64_t count) noexcept;

  /// `rlx_abi_params::parallel` with a ThreadPool as its context.
  static void parallel(void *pool, rlx_abi_task task, void *context,
                       int64_t count);

private:
  void start() noexcept;
  bool isInherited() const;
  void forgetThreads();
  void workerLoop(int64_t worker);
  void work(int64_t worker);
  bool waitForRegion(uint32_t &seen);
  void waitForWorkers();

  const int64_t workerCount;
  const bool pin;
  /// Of the creating thread, for the workers: a caller that binds itself later
  /// does not take them along.
  const std::vector<int> cpus;
  /// Spinning hurts when there are more workers than CPUs.
  const bool spin;
  std::vector<std::thread> threads;
  bool started = false;
  /// How many forks this process and its ancestors had seen when it started.
  uint32_t startedAtFork = 0;

  // The region. Written while the gate is closed and nobody is inside.
  rlx_abi_task task = nullptr;
  void *context = nullptr;
  std::atomic<int64_t> count{0};
  alignas(64) std::atomic<int64_t> next{0};

  /// Counts regions; workers wait here for the next one.
  alignas(64) std::atomic<uint32_t> epoch{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};

  /// How many workers are inside the region, and whether more may enter.
  alignas(64) std::atomic<uint32_t> gate{0};
};

} // namespace rlx::runtime

#endif // RLX_LIB_RUNTIME_THREADPOOL_H
