// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The parts behind the C interface that deserve a closer look.

#include "CodeLoader.h"
#include "CpuInfo.h"
#include "NearMiss.h"
#include "TestProgram.h"
#include "ThreadPool.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rlx;
using namespace rlx::runtime;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

struct Counters {
  std::vector<std::atomic<int>> perIndex;
  std::atomic<int64_t> highestWorker{0};
  explicit Counters(int64_t count) : perIndex(count) {}
};

void countTask(void *context, int64_t index, int64_t worker) {
  auto *counters = static_cast<Counters *>(context);
  ++counters->perIndex[index];
  int64_t highest = counters->highestWorker;
  while (worker > highest &&
         !counters->highestWorker.compare_exchange_weak(highest, worker))
    ;
}

uint64_t openDescriptors() {
  uint64_t count = 0;
  for (auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += !entry.path().empty();
  return count;
}

} // namespace

// Each index is visited once, by a worker that exists, in back-to-back regions
// and after pauses long enough for workers to fall asleep.
TEST(ThreadPool, VisitsEachIndexOnce) {
  for (int64_t workers : {1, 2, 3, 5}) {
    ThreadPool pool(workers, /*pin=*/false);
    for (int round = 0; round < 300; ++round) {
      int64_t count = round % 7 * (round % 3 ? 1 : 40);
      Counters counters(count);
      pool.run(countTask, &counters, count);
      for (auto &visits : counters.perIndex)
        ASSERT_EQ(visits, 1);
      ASSERT_LT(counters.highestWorker, workers);
      if (round % 100 == 99)
        usleep(2000);
    }
  }
}

// Pools that work at the same time do not disturb each other.
TEST(ThreadPool, SeveralPools) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([] {
      ThreadPool pool(2, /*pin=*/false);
      for (int round = 0; round < 500; ++round) {
        Counters counters(16);
        pool.run(countTask, &counters, 16);
        for (auto &visits : counters.perIndex)
          ASSERT_EQ(visits, 1);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(ThreadPool, DestroyedWithoutRegions) { ThreadPool pool(4, true); }

// The child of a fork has none of its parent's threads: it starts its own, and
// waits for nobody when it destroys a pool that it inherited.
TEST(ThreadPool, SurvivesFork) {
  auto pool = std::make_unique<ThreadPool>(3, /*pin=*/false);
  auto idle = std::make_unique<ThreadPool>(3, /*pin=*/false);
  Counters counters(50);
  pool->run(countTask, &counters, 50);
  idle->run(countTask, &counters, 50);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20); // Instead of waiting forever.
    idle.reset();
    pool->run(countTask, &counters, 50);
    pool.reset();
    for (auto &visits : counters.perIndex)
      if (visits != 3)
        _exit(1);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "the child ended with wait status " << status;
}

// Workers leave the host's signals to the host's threads, but not those that
// their own faults raise: crash reporters want to see them. Unless pinned, they
// run where the creator of the pool could, wherever the caller has gone since.
TEST(ThreadPool, WorkersInheritNothingFromTheCaller) {
  struct Seen {
    std::atomic<int> workers{0}, wrongSignals{0}, fewerCpus{0};
    size_t cpus = allowedCpus().size();
  } seen;
  cpu_set_t before, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  ThreadPool pool(2, /*pin=*/false);
  CPU_ZERO(&first);
  CPU_SET(allowedCpus().front(), &first);
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  auto look = [](void *context, int64_t, int64_t worker) {
    auto *seen = static_cast<Seen *>(context);
    // Whoever is here first waits until the other one is, too.
    ++seen->workers;
    while (seen->workers < 2)
      std::this_thread::yield();
    if (worker == 0)
      return;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    seen->wrongSignals += !sigismember(&blocked, SIGTERM);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
      seen->wrongSignals += sigismember(&blocked, fault);
    seen->fewerCpus += allowedCpus().size() < seen->cpus;
  };
  pool.run(look, &seen, 2);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(seen.wrongSignals, 0);
  EXPECT_EQ(seen.fewerCpus, 0);
}

TEST(CodeLoader, BothWays) {
  Bytes bytes = readBytes(TEST_EXECUTABLE_V3);
  artifact::ByteSpan span = {bytes.data(), bytes.size()};
  std::string folder = testing::TempDir() + "rlx-code-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder.data()));
  for (bool fromFolder : {false, true}) {
    Result<LoadedCode> code =
        fromFolder ? loadFromFolder(span, folder) : loadFromMemory(span);
    ASSERT_TRUE(code) << code.fault().message;
    EXPECT_NE(code->symbol(RLX_ABI_QUERY_SYMBOL), nullptr);
    EXPECT_EQ(code->symbol("functions"), nullptr);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  rmdir(folder.c_str());
  Result<LoadedCode> missing = loadFromFolder(span, folder);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.fault().message, HasSubstr("cannot create a file"));
}

// The loader takes equal paths for equal libraries: code that is loaded after
// other code was unloaded must be the new code, whatever descriptor it got.
TEST(CodeLoader, DoesNotMixUpLibraries) {
  Bytes v3 = readBytes(TEST_EXECUTABLE_V3), v4 = readBytes(TEST_EXECUTABLE_V4);
  uint64_t before = openDescriptors();
  for (int round = 0; round < 20; ++round) {
    const Bytes &bytes = round % 2 ? v3 : v4;
    Result<LoadedCode> code = loadFromMemory({bytes.data(), bytes.size()});
    ASSERT_TRUE(code) << code.fault().message;
    auto query =
        reinterpret_cast<rlx_abi_query>(code->symbol(RLX_ABI_QUERY_SYMBOL));
    EXPECT_STREQ(query(RLX_ABI_VERSION)->target,
                 round % 2 ? "x86-64-v3" : "x86-64-v4");
  }
  EXPECT_EQ(openDescriptors(), before);
}

TEST(CodeLoader, RefusesWhatIsNoCode) {
  Bytes bytes(4096, 'x');
  uint64_t before = openDescriptors();
  EXPECT_FALSE(loadFromMemory({bytes.data(), bytes.size()}));
  EXPECT_FALSE(
      loadFromFolder({bytes.data(), bytes.size()}, testing::TempDir()));
  EXPECT_EQ(openDescriptors(), before);
}

// Where neither memory nor a folder can be used, the message names the way out.
TEST(CodeLoader, NamesThePolicy) {
  Bytes bytes = readBytes(TEST_EXECUTABLE_V3);
  rlimit previous;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &previous), 0);
  rlimit none = {0, previous.rlim_max};
  for (const char *folder : {"", "/tmp"}) {
    setenv("RLX_CODE_DIR", folder, 1);
    unsetenv("XDG_RUNTIME_DIR");
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    Result<LoadedCode> code = loadCode({bytes.data(), bytes.size()});
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &previous), 0);
    ASSERT_FALSE(code);
    EXPECT_EQ(code.fault().kind, FaultKind::Code);
    EXPECT_THAT(code.fault().message,
                testing::AllOf(HasSubstr("anonymous executable memory"),
                               HasSubstr("set RLX_CODE_DIR to a private")));
  }
  unsetenv("RLX_CODE_DIR");
  EXPECT_TRUE(loadCode({bytes.data(), bytes.size()}));
}

TEST(CpuInfo, Consistent) {
  EXPECT_FALSE(allowedCpus().empty());
  if (hostSupports("x86-64-v4")) {
    EXPECT_TRUE(hostSupports("x86-64-v3"));
  }
  EXPECT_FALSE(hostSupports("z80"));
#if defined(__x86_64__) && defined(__GNUC__)
  EXPECT_EQ(hostSupports("x86-64-v3"), __builtin_cpu_supports("avx2") &&
                                           __builtin_cpu_supports("fma") &&
                                           __builtin_cpu_supports("bmi2"));
  EXPECT_EQ(hostSupports("x86-64-v4"), __builtin_cpu_supports("avx512f") &&
                                           __builtin_cpu_supports("avx512bw") &&
                                           __builtin_cpu_supports("avx512vl") &&
                                           __builtin_cpu_supports("avx512dq"));
#endif
}

TEST(NearMiss, SuggestsCloseNamesOnly) {
  std::vector<std::string_view> names = {"encoder.weight", "encoder.bias", "b"};
  EXPECT_EQ(suggestion("encoder.wieght", names),
            "; did you mean 'encoder.weight'?");
  EXPECT_EQ(suggestion("a", names), "; did you mean 'b'?");
  EXPECT_EQ(suggestion("decoder", names), "");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), names), "");
  EXPECT_EQ(suggestion("x", {}), "");
}

TEST(NearMiss, Lists) {
  EXPECT_EQ(quotedList({"a", "b", "c"}, 2), "'a', 'b' and 1 more");
  EXPECT_EQ(quotedList({"a"}), "'a'");
}
