// SPDX-License-Identifier: MIT OR Apache-2.0

#include "TestProgram.h"

#include "RLX/Runtime/Abi.h"

#include <fstream>
#include <iterator>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::test;

Bytes test::readBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

TestProgram::TestProgram() {
  auto tensor = [](std::string name, std::vector<int64_t> shape,
                   TensorState state) {
    Tensor row;
    row.name = std::move(name);
    row.sizeBytes = 4;
    for (int64_t dim : shape)
      row.sizeBytes *= dim;
    row.shape = std::move(shape);
    row.state = state;
    return row;
  };
  manifest.producer = "RLXRuntimeTests";
  manifest.name = "test";
  manifest.report = "{\"profile\": \"none\"}";
  manifest.tensors = {tensor("w", {4, 3}, TensorState::Param),
                      tensor("scale", {4, 3}, TensorState::Param),
                      tensor("bias", {3}, TensorState::Constant),
                      tensor("offset", {3}, TensorState::Param),
                      tensor("product", {4, 3}, TensorState::Prepared),
                      tensor("sum", {3}, TensorState::Prepared),
                      tensor("product2", {4, 3}, TensorState::Prepared)};
  manifest.tensors[4].instance = 0;
  manifest.tensors[5].instance = 1;
  manifest.tensors[6].instance = 2;
  manifest.tensors[4].origin = "w * scale";
  manifest.prepares = {{"main.prepare0", {0, 1}, {4}},
                       {"main.prepare1", {2, 3}, {5}},
                       {"main.prepare0", {4, 1}, {6}}};
  manifest.baked = {{"w1", "folded into 'bias'"}};

  Dim four = Dim::fixed(4), three = Dim::fixed(3), first = Dim::dynamic(0);
  auto entry = [&](std::string name, std::vector<std::string> symbols,
                   std::vector<Value> inputs, std::vector<Value> outputs,
                   std::vector<uint32_t> tensors) {
    manifest.entries.push_back({std::move(name), std::move(inputs),
                                std::move(outputs), std::move(symbols),
                                std::move(tensors)});
  };
  entry("main", {"batch"}, {{"x", DType::F32, {first, four}}},
        {{"y", DType::F32, {first, three}}}, {4, 5});
  entry("chained", {"batch"}, {{"x", DType::F32, {first, four}}},
        {{"y", DType::F32, {first, three}}}, {6, 5});
  entry("calls", {}, {}, {{"out0", DType::F32, {three}}}, {});
  entry("flatten", {"rows", "columns"},
        {{"x", DType::F32, {first, Dim::dynamic(1)}}},
        {{"flat", DType::F32, {Dim::computed()}}}, {});
  entry("add", {"n"}, {{"a", DType::F32, {first}}, {"b", DType::F32, {first}}},
        {{"c", DType::F32, {first}}}, {});
  entry("liar", {}, {}, {{"out0", DType::F32, {three}}}, {});

  float bias[3] = {1, 2, 3};
  auto *bytes = reinterpret_cast<const uint8_t *>(bias);
  segments = {Bytes(bytes, bytes + sizeof bias), readBytes(TEST_EXECUTABLE_V3),
              readBytes(TEST_EXECUTABLE_V4)};
  manifest.segments.resize(3);
  manifest.segments[1].kind = SegmentKind::Executable;
  manifest.segments[2].kind = SegmentKind::Executable;
  for (size_t i = 0; i < segments.size(); ++i)
    manifest.segments[i].sizeBytes = segments[i].size();
  manifest.executables = {{"x86-64-v3", 1, RLX_ABI_VERSION},
                          {"x86-64-v4", 2, RLX_ABI_VERSION}};
}

rlx_status TestProgram::open(ProgramHandle &program,
                             const rlx_open_options *options) {
  std::vector<rlx_bytes> spans;
  memory.clear();
  for (size_t i = 0; i < segments.size(); ++i) {
    manifest.segments[i].sizeBytes = segments[i].size();
    memory.emplace_back(segments[i]);
    spans.push_back({memory.back().span().data, segments[i].size()});
  }
  Bytes encoded = encodeManifest(manifest);
  return rlx_program_open_segments(encoded.data(), encoded.size(), spans.data(),
                                   spans.size(), options, receive(program));
}

void test::setAllParams(rlx_weights *weights, float scale) {
  TestTensor w({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  TestTensor scales({4, 3}, std::vector<float>(12, scale));
  TestTensor offset({3}, {10, 10, 10});
  rlx_param params[] = {{"w", w.view(), nullptr, nullptr},
                        {"scale", scales.view(), nullptr, nullptr},
                        {"offset", offset.view(), nullptr, nullptr}};
  ASSERT_RLX_OK(rlx_weights_set_params(weights, params, 3, 0));
}

std::vector<float> test::expectedMain(int64_t batch, float scale) {
  std::vector<float> y;
  for (int64_t i = 0; i < batch; ++i)
    for (float column : {22.f, 26.f, 30.f})
      y.push_back(column * scale + 10 + (column - 18) / 4);
  return y;
}

rlx_status test::runBatch(rlx_session *session, uint32_t entry, int64_t batch,
                          std::vector<float> &y) {
  TestTensor x({batch, 4}, std::vector<float>(4 * batch, 1));
  TestTensor out({batch, 3}, std::vector<float>(3 * batch, -1));
  rlx_tensor input = x.view(), output = out.view();
  rlx_status status = rlx_session_run(session, entry, &input, 1, &output, 1);
  y = out.values;
  return status;
}

uint32_t test::entryOf(rlx_program *program, const char *name) {
  uint32_t index = 0;
  EXPECT_RLX_OK(rlx_program_find_entry(program, name, &index));
  return index;
}

rlx_stats test::statsOf(rlx_session *session) {
  rlx_stats stats = sized<rlx_stats>();
  EXPECT_RLX_OK(rlx_session_stats(session, &stats));
  return stats;
}
