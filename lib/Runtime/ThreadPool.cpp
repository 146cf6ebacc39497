// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ThreadPool.h"
#include "CpuInfo.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace rlx::runtime;

namespace {

constexpr uint32_t gateOpen = 1u << 31;
/// The caller sleeps until the last worker leaves.
constexpr uint32_t gateAwaited = 1u << 30;
constexpr uint32_t gateInside = gateAwaited - 1;

// Longer than the gap between two parallel regions of one forward, shorter than
// what another process would notice. Waking a sleeping thread takes 20 to 80
// us.
constexpr std::chrono::microseconds spinTime(100);

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until `done` or the time is over; returns whether it was done.
template <typename Done> bool spinUntil(bool allowed, Done done) {
  if (done())
    return true;
  if (!allowed)
    return false;
  auto deadline = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      pause();
      if (done())
        return true;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

/// \param cpus ascending.
void bindTo(std::thread &thread, const std::vector<int> &cpus) {
  cpu_set_t *set = CPU_ALLOC(cpus.back() + 1);
  if (!set)
    return;
  size_t sizeBytes = CPU_ALLOC_SIZE(cpus.back() + 1);
  CPU_ZERO_S(sizeBytes, set);
  for (int cpu : cpus)
    CPU_SET_S(cpu, sizeBytes, set);
  // A CPU that went away meanwhile costs speed, not correctness.
  pthread_setaffinity_np(thread.native_handle(), sizeBytes, set);
  CPU_FREE(set);
}

/// Forks on the way from the first process with this library to this one.
std::atomic<uint32_t> forks{0};

void countForks() {
  static const int registered = pthread_atfork(
      nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered; // Without memory for it, forks stay as unsafe as usual.
}

} // namespace

ThreadPool::ThreadPool(int64_t workers, bool pin)
    : workerCount(workers), pin(pin), cpus(allowedCpus()),
      spin(workers <= static_cast<int64_t>(cpus.size())) {}

ThreadPool::~ThreadPool() {
  if (isInherited())
    forgetThreads();
  stopping.store(true);
  epoch.fetch_add(1);
  futexWake(epoch, INT_MAX);
  for (std::thread &thread : threads)
    thread.join();
}

/// Whether a fork left the threads behind, in the parent.
bool ThreadPool::isInherited() const {
  return started && startedAtFork != forks.load(std::memory_order_relaxed);
}

void ThreadPool::forgetThreads() {
  // These name threads of another process: joining them would wait forever, and
  // detaching them touch memory that the C library has reused since.
  for (std::thread &thread : threads)
    new (&thread) std::thread;
  threads.clear();
  started = false;
  epoch.store(0);
  sleepers.store(0);
  gate.store(0);
}

void ThreadPool::start() noexcept {
  countForks();
  started = true;
  startedAtFork = forks.load(std::memory_order_relaxed);
  // Signals of the host program are for the host's threads. Those of a fault go
  // to the thread that is at fault or kill the process unseen.
  sigset_t all, previous;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  try {
    threads.reserve(workerCount - 1);
    for (int64_t worker = 1; worker < workerCount; ++worker) {
      threads.emplace_back([this, worker] { workerLoop(worker); });
      pthread_setname_np(threads.back().native_handle(), "rlx-worker");
      bindTo(threads.back(),
             pin ? std::vector<int>{cpus[worker % cpus.size()]} : cpus);
    }
  } catch (...) {
    // No more threads: those there are, at least the caller, do the work.
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void ThreadPool::work(int64_t worker) {
  const int64_t count = this->count.load(std::memory_order_relaxed);
  for (int64_t index;
       (index = next.fetch_add(1, std::memory_order_relaxed)) < count;)
    task(context, index, worker);
}

/// Waits until the epoch is not `seen`; false when the pool is shutting down.
bool ThreadPool::waitForRegion(uint32_t &seen) {
  auto changed = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  if (!spinUntil(spin, changed)) {
    // Sequentially consistent against run(): either it sees a sleeper or the
    // sleeper sees the new epoch.
    sleepers.fetch_add(1);
    while (epoch.load() == seen)
      futexWait(epoch, seen);
    sleepers.fetch_sub(1);
  }
  seen = epoch.load(std::memory_order_acquire);
  return !stopping.load(std::memory_order_acquire);
}

void ThreadPool::workerLoop(int64_t worker) {
  uint32_t seen = 0;
  while (waitForRegion(seen)) {
    // A worker that comes late must not make the caller wait for it, which it
    // would if it were preempted inside.
    if (next.load(std::memory_order_relaxed) >=
        count.load(std::memory_order_relaxed))
      continue;
    uint32_t state = gate.load(std::memory_order_relaxed);
    while ((state & gateOpen) &&
           !gate.compare_exchange_weak(state, state + 1,
                                       std::memory_order_acquire,
                                       std::memory_order_relaxed))
      ;
    if (!(state & gateOpen))
      continue; // Too late for this one.
    work(worker);
    uint32_t before = gate.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & gateAwaited) && (before & gateInside) == 1)
      futexWake(gate, 1);
  }
}

void ThreadPool::waitForWorkers() {
  gate.fetch_and(~gateOpen, std::memory_order_acq_rel);
  auto empty = [&] {
    return (gate.load(std::memory_order_acquire) & gateInside) == 0;
  };
  if (!spinUntil(spin, empty)) {
    uint32_t state = gate.fetch_or(gateAwaited) | gateAwaited;
    while (state & gateInside) {
      futexWait(gate, state);
      state = gate.load(std::memory_order_acquire);
    }
  }
  gate.store(0, std::memory_order_relaxed);
}

void ThreadPool::run(rlx_abi_task newTask, void *newContext,
                     int64_t newCount) noexcept {
  if (isInherited())
    forgetThreads();
  if (workerCount > 1 && newCount > 1 && !started)
    start();
  if (threads.empty() || newCount <= 1) {
    for (int64_t index = 0; index < newCount; ++index)
      newTask(newContext, index, /*worker=*/0);
    return;
  }
  task = newTask;
  context = newContext;
  count.store(newCount, std::memory_order_relaxed);
  next.store(0, std::memory_order_relaxed);
  gate.store(gateOpen, std::memory_order_release);
  epoch.fetch_add(1);
  if (sleepers.load())
    futexWake(epoch, static_cast<int>(std::min<int64_t>(
                         newCount - 1, static_cast<int64_t>(threads.size()))));
  work(/*worker=*/0);
  waitForWorkers();
}

void ThreadPool::parallel(void *pool, rlx_abi_task task, void *context,
                          int64_t count) {
  static_cast<ThreadPool *>(pool)->run(task, context, count);
}
