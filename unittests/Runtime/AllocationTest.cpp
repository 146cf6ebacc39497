// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Exhausted memory: each allocation of each call fails once. No exception may
// cross the C interface, and nothing may be lost.

#include "TestProgram.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

using namespace rlx;
using namespace rlx::test;

namespace {
/// Allocations of this thread until one fails; negative: none does.
thread_local int64_t allocationsLeft = -1;
} // namespace

// The library is part of this program, so these are its operators too.
void *operator new(size_t sizeBytes) {
  if (allocationsLeft >= 0 && allocationsLeft-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(sizeBytes ? sizeBytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {

/// Repeats `call` with its first, second, ... allocation failing until none
/// does. Every failure must be RLX_ERR_MEMORY and the last status `expected`.
/// `afterEach` is run after each call. Returns how many calls failed.
template <typename Call, typename AfterEach>
int failEach(rlx_status expected, Call call, AfterEach afterEach) {
  for (int failing = 0; failing < 1000; ++failing) {
    allocationsLeft = failing;
    rlx_status status = RLX_OK;
    bool thrown = false;
    try {
      status = call();
    } catch (...) {
      thrown = true;
    }
    bool failed = allocationsLeft < 0;
    allocationsLeft = -1;
    EXPECT_FALSE(thrown) << "allocation " << failing << " threw";
    afterEach();
    if (!failed) {
      EXPECT_EQ(status, expected) << rlx_last_error();
      return failing;
    }
    // A refusal stays one if there is no memory for its message alone.
    bool refused = expected != RLX_OK && status == expected;
    EXPECT_TRUE(refused || status == RLX_ERR_MEMORY)
        << "allocation " << failing << ": status " << status;
    EXPECT_STREQ(rlx_last_error(), "out of memory");
  }
  ADD_FAILURE() << "the call never succeeded";
  return 0;
}

template <typename Call> int failEach(rlx_status expected, Call call) {
  return failEach(expected, call, [] {});
}

} // namespace

TEST(Allocation, MayFailAnywhere) {
  TestProgram source;
  AlignedCopy file(source.container());
  ProgramHandle program;
  WeightsHandle weights;
  SessionHandle session;
  EXPECT_GT(failEach(RLX_OK,
                     [&] {
                       return rlx_program_open_memory(
                           file.span().data, file.span().sizeBytes, nullptr,
                           receive(program));
                     }),
            50);
  ASSERT_TRUE(program);
  std::string path = "/nonexistent/" + std::string(200, 'x');
  ProgramHandle none;
  EXPECT_GT(failEach(RLX_ERR_IO,
                     [&] {
                       return rlx_program_open(path.c_str(), nullptr,
                                               receive(none));
                     }),
            1);
  EXPECT_GT(failEach(RLX_ERR_NOT_FOUND,
                     [&] {
                       uint32_t index;
                       return rlx_program_find_entry(program.get(), "nobody",
                                                     &index);
                     }),
            1);
  EXPECT_GT(failEach(RLX_OK,
                     [&] {
                       return rlx_weights_create(program.get(),
                                                 receive(weights));
                     }),
            1);
  EXPECT_GT(failEach(RLX_ERR_ARGUMENT,
                     [&] {
                       return rlx_weights_set_param(weights.get(), "scale",
                                                    nullptr);
                     }),
            0);
  setAllParams(weights.get(), 2);
  rlx_session_options options = sized<rlx_session_options>();
  options.workers = 1;
  EXPECT_GT(failEach(RLX_OK,
                     [&] {
                       return rlx_session_create(program.get(), weights.get(),
                                                 &options, receive(session));
                     }),
            5);
  ASSERT_TRUE(session);

  // A forward that fails leaves the session and what it prepared usable.
  uint32_t main = entryOf(program.get(), "main");
  TestTensor x({1, 4}, {1, 1, 1, 1}), y({1, 3}, {0, 0, 0});
  rlx_tensor input = x.view(), output = y.view();
  EXPECT_GT(failEach(RLX_OK,
                     [&] {
                       return rlx_session_run(session.get(), main, &input, 1,
                                              &output, 1);
                     }),
            5);
  EXPECT_EQ(y.values, expectedMain(1, 2));
  EXPECT_EQ(statsOf(session.get()).prepare_runs, 1u);
}

// What was lent is given back, all of it and once, wherever memory ran out.
TEST(Allocation, ReturnsBorrowedParams) {
  TestProgram source;
  ProgramHandle program;
  ASSERT_RLX_OK(source.open(program));
  WeightsHandle weights;
  ASSERT_RLX_OK(rlx_weights_create(program.get(), receive(weights)));
  TestTensor scale({4, 3}, std::vector<float>(12, 3)), offset({3}, {1, 2, 3});
  auto release = [](void *count) { ++*static_cast<int *>(count); };
  int lent = 0, returned[2] = {0, 0};
  rlx_param params[] = {{"scale", scale.view(), release, &returned[0]},
                        {"offset", offset.view(), release, &returned[1]}};
  auto set = [&] {
    ++lent;
    return rlx_weights_set_params(weights.get(), params, 2, RLX_BORROW);
  };
  bool succeeded = false;
  failEach(RLX_OK, set, [&] {
    succeeded = returned[0] == lent - 1 && returned[1] == lent - 1;
    EXPECT_TRUE(succeeded || (returned[0] == lent && returned[1] == lent))
        << lent << " lent, " << returned[0] << " and " << returned[1]
        << " returned";
  });
  EXPECT_TRUE(succeeded);
  weights.reset();
  EXPECT_EQ(returned[0], lent);
  EXPECT_EQ(returned[1], lent);
}
