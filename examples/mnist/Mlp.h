// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// The network 784 -> 64 -> 10 and its training by stochastic gradient descent.
#ifndef RLX_EXAMPLES_MNIST_MLP_H
#define RLX_EXAMPLES_MNIST_MLP_H

#include "Dataset.h"

#include <functional>

namespace mnist {

constexpr size_t hiddenCount = 64;

/// logits = relu(x * w1 + b1) * w2 + b2; matrices are row-major.
struct Mlp {
  std::vector<float> w1; ///< 784x64
  std::vector<float> b1; ///< 64
  std::vector<float> w2; ///< 64x10
  std::vector<float> b2; ///< 10
};

/// Trains from a fixed seed: the same images give the same network. `progress`
/// hears the number of the epoch, from 1, and its mean loss.
Mlp train(const Split &images, int epochs,
          const std::function<void(int, double)> &progress);

/// The 10 logits of one image of 784 numbers. Sums over k in order by FMA, as
/// RLX promises of its matrix products, so a baked file gives the same bits.
void computeLogits(const Mlp &mlp, const float *image, float *logits);

/// The class with the largest logit, the first of equals.
size_t classOf(const float *logits);

/// How many images are classified as labelled.
size_t countCorrect(const Mlp &mlp, const Split &images);

} // namespace mnist

#endif // RLX_EXAMPLES_MNIST_MLP_H
