// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The IDX files in which MNIST and its successors are published.
#ifndef RLX_EXAMPLES_MNIST_IDX_H
#define RLX_EXAMPLES_MNIST_IDX_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mnist {

constexpr size_t imageRows = 28;
constexpr size_t imageColumns = 28;
constexpr size_t imagePixels = imageRows * imageColumns;
constexpr size_t classCount = 10;

/// Reads a file of 28x28 images, plain or gzipped: one byte per pixel, 0 is the
/// background. On failure returns false and says in `error` which file has
/// what.
bool readIdxImages(const std::string &path, std::vector<uint8_t> &pixels,
                   std::string &error);

/// Reads a file of labels in [0, 10), plain or gzipped.
bool readIdxLabels(const std::string &path, std::vector<uint8_t> &labels,
                   std::string &error);

} // namespace mnist

#endif // RLX_EXAMPLES_MNIST_IDX_H
