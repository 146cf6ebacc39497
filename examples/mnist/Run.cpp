// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Classifies images with the file that train_bake wrote. Needs the runtime
// alone: no compiler, no LLVM, no training code.

#include "Dataset.h"

#include "RLX/Runtime/Handles.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace mnist;

namespace {

/// One entry of a baked network, ready to run.
class Classifier {
public:
  bool load(const std::string &path) {
    auto options = rlx::sized<rlx_session_options>();
    options.workers = 1;
    if (rlx_program_open(path.c_str(), nullptr, rlx::receive(program)) !=
        RLX_OK)
      return false;
    return rlx_session_create(program.get(), nullptr, &options,
                              rlx::receive(session)) == RLX_OK;
  }

  /// `images` holds `count x 784` numbers, `logits` gets `count x 10`.
  bool run(float *images, size_t count, float *logits) {
    const int64_t imageDims[] = {int64_t(count), int64_t(imagePixels)};
    const int64_t logitDims[] = {int64_t(count), int64_t(classCount)};
    const rlx_tensor input = {images, imageDims, 2, RLX_F32};
    const rlx_tensor output = {logits, logitDims, 2, RLX_F32};
    return rlx_session_run(session.get(), /*entry=*/0, &input, 1, &output, 1) ==
           RLX_OK;
  }

  uint64_t sizeBytes() const { return rlx_program_size_bytes(program.get()); }
  const char *target() const { return rlx_session_target(session.get()); }

private:
  rlx::ProgramHandle program;
  rlx::SessionHandle session;
};

} // namespace

static double millisecondsSince(std::chrono::steady_clock::time_point start) {
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

/// Median time per image in microseconds of forwards of `batch` images, or a
/// negative number if one failed.
static double timePerImage(Classifier &classifier, std::vector<float> &images,
                           std::vector<float> &logits, size_t batch) {
  const size_t repeats = std::max<size_t>(20, 2000 / batch);
  std::vector<double> times;
  for (size_t i = 0; i != repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!classifier.run(images.data(), batch, logits.data()))
      return -1.0;
    times.push_back(millisecondsSince(start));
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2] * 1000.0 / double(batch);
}

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **) {
  if (argc > 1) {
    std::fprintf(stderr, "usage: run\nRLX_MNIST_DIR names a folder of IDX "
                         "files, RLX_BAKE_OUT the file to load\n");
    return 2;
  }
  std::string error;
  std::optional<Dataset> data = loadDataset(Part::Test, error);
  if (!data)
    return fail(error);
  const char *chosen = std::getenv("RLX_BAKE_OUT");
  const std::string path = chosen && *chosen ? chosen : RLX_MNIST_DEFAULT_OUT;

  const auto start = std::chrono::steady_clock::now();
  Classifier classifier;
  if (!classifier.load(path))
    return fail(rlx_last_error());
  const double loadTime = millisecondsSince(start);
  std::printf("loaded %s (%" PRIu64 " bytes, %s) in %.2f ms\n", path.c_str(),
              classifier.sizeBytes(), classifier.target(), loadTime);

  const size_t count = data->test.size();
  std::vector<float> images(count * imagePixels), logits(count * classCount);
  for (size_t i = 0; i != count; ++i)
    normalise(data->test.image(i), &images[i * imagePixels]);
  if (!classifier.run(images.data(), count, logits.data()))
    return fail(rlx_last_error());
  size_t correct = 0;
  for (size_t i = 0; i != count; ++i) {
    const float *own = &logits[i * classCount];
    correct += size_t(std::max_element(own, own + classCount) - own) ==
               data->test.labels[i];
  }
  std::printf("data: %s\n", data->source.c_str());
  std::printf("test accuracy: %zu of %zu (%.2f %%)\n", correct, count,
              100.0 * double(correct) / double(count));

  for (size_t batch : {size_t(1), std::min<size_t>(count, 1000)}) {
    const double time = timePerImage(classifier, images, logits, batch);
    if (time < 0.0)
      return fail(rlx_last_error());
    std::printf("time per image, batch %zu: %.2f us\n", batch, time);
  }
  return 0;
}
