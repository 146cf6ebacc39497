// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Opening programs, choosing and loading code.

#include "RLX/Artifact/Reader.h"
#include "TestProgram.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::test;
using testing::HasSubstr;

namespace {

/// Writes bytes to a file that disappears with the object.
class TemporaryFile {
public:
  explicit TemporaryFile(const Bytes &bytes) {
    int fd = mkstemp(path.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), ssize_t(bytes.size()));
    close(fd);
  }
  ~TemporaryFile() { unlink(path.c_str()); }
  std::string path = testing::TempDir() + "rlx-program-XXXXXX";
};

/// Sets an environment variable until the end of the scope.
class ScopedEnvironment {
public:
  ScopedEnvironment(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~ScopedEnvironment() { unsetenv(name); }

private:
  const char *name;
};

bool hostRuns(const std::string &cpuClass) {
  std::string best = rlx_host_cpu_class();
  return best == cpuClass || best == "x86-64-v4";
}

/// Opens, creates a session and runs `main` once.
void expectRuns(rlx_program *program) {
  WeightsHandle weights;
  ASSERT_RLX_OK(rlx_weights_default(program, receive(weights)));
  setAllParams(weights.get(), 3);
  SessionHandle session;
  ASSERT_RLX_OK(
      rlx_session_create(program, nullptr, nullptr, receive(session)));
  std::vector<float> y;
  ASSERT_RLX_OK(runBatch(session.get(), entryOf(program, "main"), 2, y));
  EXPECT_EQ(y, expectedMain(2, 3));
}

/// The message of a session that cannot be created.
std::string sessionFault(rlx_program *program, rlx_status status) {
  SessionHandle session;
  EXPECT_EQ(rlx_session_create(program, nullptr, nullptr, receive(session)),
            status);
  EXPECT_FALSE(session);
  return rlx_last_error();
}

} // namespace

TEST(Program, FromFileAndMemory) {
  TestProgram source;
  Bytes bytes = source.container();
  TemporaryFile file(bytes);
  ProgramHandle program;
  ASSERT_RLX_OK(rlx_program_open(file.path.c_str(), nullptr, receive(program)));
  EXPECT_EQ(rlx_program_size_bytes(program.get()), bytes.size());
  expectRuns(program.get());

  AlignedCopy aligned(bytes);
  ASSERT_RLX_OK(rlx_program_open_memory(aligned.span().data, bytes.size(),
                                        nullptr, receive(program)));
  expectRuns(program.get());

  // A copy may come from anywhere, and the original may go.
  Bytes odd(bytes);
  odd.insert(odd.begin(), 0);
  EXPECT_EQ(rlx_program_open_memory(odd.data() + 1, bytes.size(), nullptr,
                                    receive(program)),
            RLX_ERR_ARGUMENT);
  rlx_open_options options = sized<rlx_open_options>();
  options.copy = 1;
  ASSERT_RLX_OK(rlx_program_open_memory(odd.data() + 1, bytes.size(), &options,
                                        receive(program)));
  odd.assign(odd.size(), 0);
  expectRuns(program.get());
}

// A gigabyte of weights is neither read nor made resident by opening it.
TEST(Program, OpensWithoutReadingWeights) {
  constexpr uint64_t size = uint64_t(1) << 30;
  TestProgram source;
  Tensor big;
  big.name = "big";
  big.shape = {1 << 14, 1 << 14};
  big.sizeBytes = size;
  big.segment = 3;
  source.manifest.tensors.push_back(big);
  source.manifest.segments.push_back({SegmentKind::Weights, 0, size, {}});
  // A sparse file with the other segments behind the hole: prefix, hole, ...
  std::swap(source.manifest.segments[0], source.manifest.segments[3]);
  source.manifest.tensors[2].segment = 3;
  source.manifest.tensors.back().segment = 0;
  std::vector<Bytes> segments = {Bytes(), source.segments[1],
                                 source.segments[2], source.segments[0]};
  uint64_t end = 64 + size;
  source.manifest.segments[0].offset = 64;
  source.manifest.segments[0].leaves.resize(size / leafSizeBytes);
  Bytes tail;
  for (size_t i = 1; i < segments.size(); ++i) {
    Segment &segment = source.manifest.segments[i];
    segment.offset = end + tail.size();
    segment.sizeBytes = segments[i].size();
    segment.leaves = hashLeaves({segments[i].data(), segments[i].size()});
    tail.insert(tail.end(), segments[i].begin(), segments[i].end());
    tail.resize((tail.size() + 63) / 64 * 64);
  }
  Bytes encoded = encodeManifest(source.manifest);
  Bytes prefix(64);
  std::memcpy(prefix.data(), "RLXBAKE1", 8);
  put(prefix, 8, 3, 4);
  put(prefix, 16, end + tail.size() + encoded.size(), 8);
  put(prefix, 24, end + tail.size(), 8);
  Bytes hashed(prefix.begin(), prefix.begin() + 32);
  hashed.insert(hashed.end(), encoded.begin(), encoded.end());
  crypto::Digest digest = crypto::sha256(hashed.data(), hashed.size());
  std::copy(digest.begin(), digest.end(), prefix.begin() + 32);
  tail.insert(tail.end(), encoded.begin(), encoded.end());

  TemporaryFile file(prefix);
  int fd = open(file.path.c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, tail.data(), tail.size(), off_t(end)),
            ssize_t(tail.size()));
  close(fd);
  auto residentPages = [] {
    long total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident;
  };
  long before = residentPages();
  ProgramHandle program;
  ASSERT_RLX_OK(rlx_program_open(file.path.c_str(), nullptr, receive(program)));
  expectRuns(program.get());
  EXPECT_LT(residentPages() - before, 4096); // 16 MiB of 1,024
  EXPECT_EQ(rlx_program_weight(program.get(), 7)->size_bytes, size);
}

TEST(Program, Describes) {
  TestProgram source;
  ProgramHandle program;
  ASSERT_RLX_OK(source.open(program));
  rlx_program *p = program.get();
  EXPECT_STREQ(rlx_program_name(p), "test");
  EXPECT_STREQ(rlx_program_producer(p), "RLXRuntimeTests");
  EXPECT_STREQ(rlx_program_report(p), "{\"profile\": \"none\"}");
  ASSERT_EQ(rlx_program_target_count(p), 2u);
  EXPECT_STREQ(rlx_program_target(p, 1), "x86-64-v4");
  EXPECT_EQ(rlx_program_target(p, 2), nullptr);
  ASSERT_EQ(rlx_program_entry_count(p), 6u);
  EXPECT_EQ(rlx_program_entry(p, 6), nullptr);
  const rlx_entry_info *main = rlx_program_entry(p, 0);
  EXPECT_STREQ(main->name, "main");
  ASSERT_EQ(main->input_count, 1u);
  EXPECT_STREQ(main->inputs[0].name, "x");
  EXPECT_EQ(main->inputs[0].rank, 2);
  EXPECT_EQ(main->inputs[0].dims[0], -1);
  EXPECT_EQ(main->inputs[0].dims[1], 4);
  EXPECT_STREQ(main->inputs[0].symbols[0], "batch");
  EXPECT_EQ(main->inputs[0].symbols[1], nullptr);
  ASSERT_EQ(main->symbol_count, 1u);
  EXPECT_STREQ(main->symbols[0], "batch");
  ASSERT_EQ(main->weight_count, 2u);
  EXPECT_EQ(main->weights[1], 5u);
  const rlx_entry_info *flatten = rlx_program_entry(p, 3);
  EXPECT_EQ(flatten->outputs[0].dims[0], -1);
  EXPECT_EQ(flatten->outputs[0].symbols[0], nullptr);
  ASSERT_EQ(rlx_program_weight_count(p), 7u);
  const rlx_weight_info *bias = rlx_program_weight(p, 2);
  EXPECT_STREQ(bias->name, "bias");
  EXPECT_STREQ(bias->encoding, "f32");
  EXPECT_STREQ(bias->layout, "row_major");
  EXPECT_EQ(bias->state, RLX_WEIGHT_CONSTANT);
  EXPECT_EQ(bias->size_bytes, 12u);
  EXPECT_EQ(static_cast<const float *>(bias->data)[1], 2);
  EXPECT_EQ(rlx_program_weight(p, 0)->data, nullptr);
  EXPECT_EQ(rlx_program_weight(p, 6)->instance, 2u);
  ASSERT_EQ(rlx_program_prepare_count(p), 3u);
  const rlx_prepare_info *chained = rlx_program_prepare(p, 2);
  EXPECT_STREQ(chained->function, "main.prepare0");
  EXPECT_EQ(chained->inputs[0], 4u);
  EXPECT_EQ(chained->outputs[0], 6u);
  EXPECT_EQ(rlx_program_prepare(p, 3), nullptr);
}

TEST(Program, FindsEntries) {
  TestProgram source;
  ProgramHandle program;
  ASSERT_RLX_OK(source.open(program));
  uint32_t index = 9;
  ASSERT_RLX_OK(rlx_program_find_entry(program.get(), nullptr, &index));
  EXPECT_EQ(index, 0u);
  ASSERT_RLX_OK(rlx_program_find_entry(program.get(), "add", &index));
  EXPECT_EQ(index, 4u);
  EXPECT_EQ(rlx_program_find_entry(program.get(), "sub", &index),
            RLX_ERR_NOT_FOUND);
  EXPECT_THAT(rlx_last_error(),
              HasSubstr("no entry is called 'sub'; there are 'main', "));
}

// Weights are hashed when asked: not at all, what an entry reads, or
// everything.
TEST(Program, VerifyModes) {
  TestProgram source;
  Bytes bytes = source.container();
  TestProgram reference;
  // The first segment is `bias`, which `main` reads and `add` does not.
  bytes[64] ^= 1;
  AlignedCopy aligned(bytes);
  for (int32_t verify : {RLX_VERIFY_NONE, RLX_VERIFY_TOUCHED, RLX_VERIFY_ALL}) {
    rlx_open_options options = sized<rlx_open_options>();
    options.verify = verify;
    ProgramHandle program;
    rlx_status opened = rlx_program_open_memory(
        aligned.span().data, bytes.size(), &options, receive(program));
    if (verify == RLX_VERIFY_ALL) {
      EXPECT_EQ(opened, RLX_ERR_INTEGRITY);
      EXPECT_THAT(rlx_last_error(), HasSubstr("weight 'bias'"));
      continue;
    }
    ASSERT_RLX_OK(opened);
    WeightsHandle weights;
    SessionHandle session;
    ASSERT_RLX_OK(rlx_weights_default(program.get(), receive(weights)));
    setAllParams(weights.get(), 1);
    ASSERT_RLX_OK(
        rlx_session_create(program.get(), nullptr, nullptr, receive(session)));
    ASSERT_RLX_OK(
        rlx_session_prepare(session.get(), entryOf(program.get(), "add")));
    std::vector<float> y;
    EXPECT_EQ(runBatch(session.get(), entryOf(program.get(), "main"), 1, y),
              verify == RLX_VERIFY_NONE ? RLX_OK : RLX_ERR_INTEGRITY);
  }
  rlx_open_options options = sized<rlx_open_options>();
  options.verify = 3;
  ProgramHandle program;
  EXPECT_EQ(source.open(program, &options), RLX_ERR_ARGUMENT);
}

// A flipped bit of the executable is always refused, before a byte of it runs.
TEST(Program, DamagedExecutable) {
  TestProgram source;
  Bytes bytes = source.container();
  AlignedCopy probe(bytes);
  Result<OpenedArtifact> opened = openArtifactMemory(probe.span(), "mem");
  ASSERT_TRUE(opened);
  rlx_open_options options = sized<rlx_open_options>();
  options.cpu_class = "x86-64-v3";
  if (!hostRuns("x86-64-v3"))
    GTEST_SKIP() << "this machine does not run x86-64-v3";
  const Segment &segment = opened->manifest.segments[1];
  for (uint64_t at = 0; at < segment.sizeBytes; at += 97) {
    Bytes damaged = bytes;
    damaged[segment.offset + at] ^= uint8_t(1u << at % 8);
    AlignedCopy aligned(damaged);
    ProgramHandle program;
    ASSERT_RLX_OK(rlx_program_open_memory(aligned.span().data, damaged.size(),
                                          &options, receive(program)));
    EXPECT_THAT(sessionFault(program.get(), RLX_ERR_INTEGRITY),
                HasSubstr("the executable for 'x86-64-v3': segment 1"));
  }
}

TEST(Program, ChoosesTheClass) {
  if (!hostRuns("x86-64-v3"))
    GTEST_SKIP() << "this machine does not run x86-64-v3";
  TestProgram source;
  auto targetWith = [&](const char *cpuClass) {
    rlx_open_options options = sized<rlx_open_options>();
    options.cpu_class = cpuClass;
    ProgramHandle program;
    EXPECT_RLX_OK(source.open(program, &options));
    SessionHandle session;
    EXPECT_RLX_OK(
        rlx_session_create(program.get(), nullptr, nullptr, receive(session)));
    return std::string(session ? rlx_session_target(session.get()) : "");
  };
  EXPECT_EQ(targetWith(nullptr), rlx_host_cpu_class());
  EXPECT_EQ(targetWith("x86-64-v3"), "x86-64-v3");
  {
    ScopedEnvironment environment("RLX_CPU_CLASS", "x86-64-v3");
    EXPECT_EQ(targetWith(nullptr), "x86-64-v3");
    if (hostRuns("x86-64-v4")) {
      EXPECT_EQ(targetWith("x86-64-v4"), "x86-64-v4");
    }
  }
  ProgramHandle program;
  {
    ScopedEnvironment environment("RLX_CPU_CLASS", "z80");
    ASSERT_RLX_OK(source.open(program));
    EXPECT_THAT(sessionFault(program.get(), RLX_ERR_ARGUMENT),
                HasSubstr("RLX_CPU_CLASS is 'z80'; known CPU classes are "
                          "'x86-64-v4', 'x86-64-v3'"));
  }
  source.manifest.executables.erase(source.manifest.executables.begin());
  rlx_open_options options = sized<rlx_open_options>();
  options.cpu_class = "x86-64-v3";
  ASSERT_RLX_OK(source.open(program, &options));
  EXPECT_THAT(sessionFault(program.get(), RLX_ERR_TARGET),
              HasSubstr("but it holds code for 'x86-64-v4'; bake it with "
                        "--target x86-64-v3"));
  source.manifest.executables.clear();
  ASSERT_RLX_OK(source.open(program));
  EXPECT_THAT(sessionFault(program.get(), RLX_ERR_TARGET),
              HasSubstr("the program has no code for any CPU, as --target none "
                        "makes it; bake the model again with --target "
                        "x86-64-v"));
  // A program without code can still be looked at.
  EXPECT_EQ(rlx_program_entry_count(program.get()), 6u);
}

// A class that the CPU lacks is refused, not run into an illegal instruction.
TEST(Program, RefusesClassesTheCpuLacks) {
  if (hostRuns("x86-64-v4"))
    GTEST_SKIP() << "this machine runs all classes";
  TestProgram source;
  ProgramHandle program;
  rlx_open_options options = sized<rlx_open_options>();
  options.cpu_class = "x86-64-v4";
  ASSERT_RLX_OK(source.open(program, &options));
  EXPECT_THAT(sessionFault(program.get(), RLX_ERR_TARGET),
              HasSubstr("the cpu_class option asks for 'x86-64-v4', but this "
                        "CPU is of class '"));
  ScopedEnvironment environment("RLX_CPU_CLASS", "x86-64-v4");
  ASSERT_RLX_OK(source.open(program));
  EXPECT_THAT(sessionFault(program.get(), RLX_ERR_TARGET),
              HasSubstr("RLX_CPU_CLASS asks for 'x86-64-v4', but this CPU is "
                        "of class '"));
}

// Code that does not fit the manifest is never called.
TEST(Program, CodeMustFitTheManifest) {
  auto faultWith = [](auto change) {
    TestProgram source;
    change(source);
    ProgramHandle program;
    EXPECT_RLX_OK(source.open(program));
    return sessionFault(program.get(), RLX_ERR_CODE);
  };
  auto useOnly = [](TestProgram &source, const char *path) {
    source.segments[1] = readBytes(path);
    source.manifest.executables.pop_back();
  };
  EXPECT_THAT(
      faultWith(
          [&](TestProgram &s) { useOnly(s, TEST_EXECUTABLE_OTHER_COUNTS); }),
      HasSubstr("function 'main' has weights = 3, the manifest says 2"));
  EXPECT_THAT(faultWith([&](TestProgram &s) {
                useOnly(s, TEST_EXECUTABLE_OTHER_VERSION);
              }),
              HasSubstr("does not speak version 1"));
  EXPECT_THAT(faultWith([&](TestProgram &s) {
                std::swap(s.segments[1], s.segments[2]);
              }),
              HasSubstr("says that it is for"));
  EXPECT_THAT(
      faultWith([&](TestProgram &s) { s.manifest.entries[2].name = "gone"; }),
      HasSubstr("lacks function 'gone'"));
  EXPECT_THAT(faultWith([&](TestProgram &s) {
                s.manifest.prepares[1].function = "main";
              }),
              HasSubstr("function 'main' has kind = 0"));
  EXPECT_THAT(faultWith([&](TestProgram &s) {
                for (Executable &executable : s.manifest.executables)
                  executable.abiVersion = 2;
              }),
              HasSubstr("needs version 2 of the executable interface"));
  EXPECT_THAT(faultWith([&](TestProgram &s) {
                s.segments[1] = s.segments[2] = Bytes(100, 'x');
              }),
              HasSubstr("the executable for"));
}

// Opening costs what the manifest holds, not entries times tensors.
TEST(Program, OpensManyEntries) {
  TestProgram source;
  Manifest &manifest = source.manifest;
  manifest.entries.resize(1);
  for (int i = 0; i < 150000; ++i) {
    manifest.entries.push_back(manifest.entries.front());
    manifest.entries.back().name = "entry" + std::to_string(i);
    manifest.tensors.push_back(manifest.tensors.front());
    manifest.tensors.back().name = "weight" + std::to_string(i);
  }
  auto timeOf = [](auto work) {
    auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begin;
  };
  Bytes encoded = encodeManifest(manifest);
  auto decoding = timeOf(
      [&] { EXPECT_TRUE(decodeManifest({encoded.data(), encoded.size()})); });
  std::vector<AlignedCopy> copies(source.segments.begin(),
                                  source.segments.end());
  std::vector<rlx_bytes> spans;
  for (const AlignedCopy &copy : copies)
    spans.push_back({copy.span().data, copy.span().sizeBytes});
  ProgramHandle program;
  auto opening = timeOf([&] {
    EXPECT_RLX_OK(rlx_program_open_segments(encoded.data(), encoded.size(),
                                            spans.data(), spans.size(), nullptr,
                                            receive(program)));
  });
  EXPECT_LT(opening, 10 * decoding);
}

// A segment is somewhere, unless there is nothing of it.
TEST(Program, SegmentsWithoutBytes) {
  TestProgram source;
  source.segments[0].clear();
  source.manifest.segments[0].sizeBytes = 0;
  source.manifest.tensors[2].shape = {0};
  source.manifest.tensors[2].sizeBytes = 0;
  ProgramHandle program;
  ASSERT_RLX_OK(source.open(program));
  Bytes encoded = encodeManifest(source.manifest);
  std::vector<rlx_bytes> spans;
  for (const AlignedCopy &copy : source.memory)
    spans.push_back({copy.span().data, copy.span().sizeBytes});
  auto open = [&] {
    return rlx_program_open_segments(encoded.data(), encoded.size(),
                                     spans.data(), spans.size(), nullptr,
                                     receive(program));
  };
  spans[0].data = nullptr;
  ASSERT_RLX_OK(open());
  WeightsHandle weights;
  ASSERT_RLX_OK(rlx_weights_default(program.get(), receive(weights)));
  setAllParams(weights.get(), 1);
  SessionHandle session;
  ASSERT_RLX_OK(
      rlx_session_create(program.get(), nullptr, nullptr, receive(session)));
  // Prepare gets a pointer for `bias`, too.
  EXPECT_RLX_OK(
      rlx_session_prepare(session.get(), entryOf(program.get(), "main")));

  spans[1].data = nullptr;
  EXPECT_EQ(open(), RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(),
              HasSubstr("segment 1 has " + std::to_string(spans[1].size_bytes) +
                        " bytes but its address is NULL"));
}

TEST(Program, ArgumentErrors) {
  ProgramHandle program;
  EXPECT_EQ(rlx_program_open(nullptr, nullptr, receive(program)),
            RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("path is NULL"));
  EXPECT_EQ(rlx_program_open("x", nullptr, nullptr), RLX_ERR_ARGUMENT);
  EXPECT_EQ(rlx_program_open("/nonexistent", nullptr, receive(program)),
            RLX_ERR_IO);
  EXPECT_EQ(rlx_program_open_memory(nullptr, 10, nullptr, receive(program)),
            RLX_ERR_ARGUMENT);
  EXPECT_EQ(rlx_program_open_segments(nullptr, 0, nullptr, 0, nullptr,
                                      receive(program)),
            RLX_ERR_ARGUMENT);
  rlx_open_options future = sized<rlx_open_options>();
  future.struct_size += 8;
  EXPECT_EQ(rlx_program_open("x", &future, receive(program)), RLX_ERR_ARGUMENT);
  EXPECT_THAT(rlx_last_error(), HasSubstr("struct_size"));
  TestProgram source;
  ASSERT_RLX_OK(source.open(program));
  rlx_session_options options = sized<rlx_session_options>();
  options.workers = -1;
  SessionHandle session;
  EXPECT_EQ(
      rlx_session_create(program.get(), nullptr, &options, receive(session)),
      RLX_ERR_ARGUMENT);
  rlx_program_release(nullptr);
  rlx_weights_release(nullptr);
  rlx_session_release(nullptr);
}

TEST(Program, Names) {
  EXPECT_STREQ(rlx_status_name(RLX_OK), "ok");
  EXPECT_STREQ(rlx_status_name(RLX_ERR_BUSY), "busy");
  EXPECT_STREQ(rlx_status_name(15), "unknown");
  EXPECT_STREQ(rlx_status_name(-1), "unknown");
  EXPECT_STREQ(rlx_dtype_name(RLX_F32), "f32");
  EXPECT_STREQ(rlx_dtype_name(RLX_C128), "c128");
  EXPECT_EQ(rlx_dtype_name(13), nullptr);
  EXPECT_EQ(rlx_dtype_size(RLX_C64), 8u);
  EXPECT_EQ(rlx_dtype_size(-1), 0u);
}

extern "C" const char *versionFromC(void);

TEST(Program, FromC) { EXPECT_STREQ(versionFromC(), rlx_version()); }
