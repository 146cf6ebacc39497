// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Finds images to train and test on.
#ifndef RLX_EXAMPLES_MNIST_DATASET_H
#define RLX_EXAMPLES_MNIST_DATASET_H

#include "Idx.h"

#include <optional>

namespace mnist {

/// Labelled images.
struct Split {
  /// `size() x 784`, 0 to 255.
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;

  size_t size() const { return labels.size(); }
  const uint8_t *image(size_t i) const { return &pixels[i * imagePixels]; }
};

struct Dataset {
  /// A folder, or what was made up instead.
  std::string source;
  Split train;
  Split test;
};

enum class Part { Test, TrainAndTest };

/// Loads from the first of:
///  1. `RLX_MNIST_DIR`, where it is an error to find nothing;
///  2. what torchvision has downloaded: `MNIST/raw` or `FashionMNIST/raw` below
///     `data/` here or in the home folder, or below `~/.cache/torchvision`;
///  3. the Debian package dataset-fashion-mnist;
///  4. `syntheticDataset()`.
/// `Part::Test` leaves `train` empty. Returns nothing on failure and says why
/// in `error`.
std::optional<Dataset> loadDataset(Part part, std::string &error);

/// Stripes that a network can learn when there are no pictures: class c is
/// bright in the rows whose number mod 10 is c. The same at every call.
Dataset syntheticDataset();

/// Writes an image as the network's input: 784 numbers from 0 to 1.
void normalise(const uint8_t *image, float *out);

} // namespace mnist

#endif // RLX_EXAMPLES_MNIST_DATASET_H
