// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_UNITTESTS_RUNTIME_TESTPROGRAM_H
#define RLX_UNITTESTS_RUNTIME_TESTPROGRAM_H

#include "../Artifact/TestContainer.h"
#include "RLX/Runtime/Handles.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rlx::test {

/// The manifest of TestExecutable.c and its segments: the constant `bias`, and
/// the executables.
///
///     product  = w * scale                 instance 0, main.prepare0
///     sum      = bias + offset             instance 1, main.prepare1
///     product2 = product * scale           instance 2, main.prepare0 again
///     main:    y = x @ product  + sum
///     chained: y = x @ product2 + sum
struct TestProgram {
  TestProgram();

  artifact::Manifest manifest;
  std::vector<Bytes> segments;

  /// Opens without a file; segments are copied to aligned memory that `memory`
  /// keeps.
  rlx_status open(ProgramHandle &program,
                  const rlx_open_options *options = nullptr);
  /// As a file's bytes.
  Bytes container() const { return buildContainer(manifest, segments); }

  std::vector<AlignedCopy> memory;
};

/// The contents of a file.
Bytes readBytes(const std::string &path);

/// A tensor of f32 with its own memory.
struct TestTensor {
  TestTensor(std::vector<int64_t> dims, std::vector<float> values)
      : dims(std::move(dims)), values(std::move(values)) {}
  rlx_tensor view() {
    return {values.data(), dims.data(), static_cast<int32_t>(dims.size()),
            RLX_F32};
  }
  std::vector<int64_t> dims;
  std::vector<float> values;
};

/// Values for all params of TestProgram: w counts from 1, scale is `scale`
/// everywhere, offset is 10.
void setAllParams(rlx_weights *weights, float scale);

/// What `main` must give for x = 1 everywhere: per column, scale times the sum
/// of w's column, plus bias and offset.
std::vector<float> expectedMain(int64_t batch, float scale);

/// Runs an entry on ones of [batch, 4].
rlx_status runBatch(rlx_session *session, uint32_t entry, int64_t batch,
                    std::vector<float> &y);

/// The index of an entry.
uint32_t entryOf(rlx_program *program, const char *name);

rlx_stats statsOf(rlx_session *session);

} // namespace rlx::test

#define ASSERT_RLX_OK(call) ASSERT_EQ((call), RLX_OK) << rlx_last_error()
#define EXPECT_RLX_OK(call) EXPECT_EQ((call), RLX_OK) << rlx_last_error()

#endif // RLX_UNITTESTS_RUNTIME_TESTPROGRAM_H
