// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Mlp.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mnist;

/// out += in * weights, for a vector of `rows` numbers and a row-major matrix.
template <size_t columns>
static void accumulate(const float *in, size_t rows, const float *weights,
                       float *out) {
  for (size_t k = 0; k != rows; ++k) {
    // Most pixels are background; adding 0 * w would not change a sum.
    if (in[k] == 0.0f)
      continue;
    for (size_t n = 0; n != columns; ++n)
      out[n] = std::fma(in[k], weights[k * columns + n], out[n]);
  }
}

static void computeHidden(const Mlp &mlp, const float *image, float *hidden) {
  std::fill_n(hidden, hiddenCount, 0.0f);
  accumulate<hiddenCount>(image, imagePixels, mlp.w1.data(), hidden);
  for (size_t n = 0; n != hiddenCount; ++n)
    hidden[n] = std::max(hidden[n] + mlp.b1[n], 0.0f);
}

static void computeOutputs(const Mlp &mlp, const float *hidden, float *logits) {
  std::fill_n(logits, classCount, 0.0f);
  accumulate<classCount>(hidden, hiddenCount, mlp.w2.data(), logits);
  for (size_t n = 0; n != classCount; ++n)
    logits[n] += mlp.b2[n];
}

void mnist::computeLogits(const Mlp &mlp, const float *image, float *logits) {
  float hidden[hiddenCount];
  computeHidden(mlp, image, hidden);
  computeOutputs(mlp, hidden, logits);
}

size_t mnist::classOf(const float *logits) {
  return size_t(std::max_element(logits, logits + classCount) - logits);
}

/// Turns logits into probabilities and returns -log of the labelled one.
static double softmax(float *logits, size_t label) {
  const float largest = *std::max_element(logits, logits + classCount);
  float sum = 0.0f;
  for (size_t n = 0; n != classCount; ++n) {
    logits[n] = std::exp(logits[n] - largest);
    sum += logits[n];
  }
  for (size_t n = 0; n != classCount; ++n)
    logits[n] /= sum;
  return -std::log(std::max(logits[label], 1e-20f));
}

/// One step down the gradient of the cross-entropy of one image; returns it.
static double step(Mlp &mlp, const float *image, size_t label, float rate) {
  float hidden[hiddenCount], delta[classCount];
  computeHidden(mlp, image, hidden);
  computeOutputs(mlp, hidden, delta);
  const double loss = softmax(delta, label);
  delta[label] -= 1.0f;

  float hiddenDelta[hiddenCount];
  for (size_t k = 0; k != hiddenCount; ++k) {
    float sum = 0.0f;
    for (size_t n = 0; n != classCount; ++n)
      sum = std::fma(delta[n], mlp.w2[k * classCount + n], sum);
    hiddenDelta[k] = hidden[k] > 0.0f ? -rate * sum : 0.0f;
    for (size_t n = 0; n != classCount; ++n)
      mlp.w2[k * classCount + n] -= rate * hidden[k] * delta[n];
  }
  for (size_t n = 0; n != classCount; ++n)
    mlp.b2[n] -= rate * delta[n];
  for (size_t n = 0; n != hiddenCount; ++n)
    mlp.b1[n] += hiddenDelta[n];
  for (size_t k = 0; k != imagePixels; ++k) {
    if (image[k] == 0.0f)
      continue;
    float *row = &mlp.w1[k * hiddenCount];
    for (size_t n = 0; n != hiddenCount; ++n)
      row[n] = std::fma(image[k], hiddenDelta[n], row[n]);
  }
  return loss;
}

/// Uniform in [-bound, bound).
static std::vector<float> randomWeights(size_t count, float bound,
                                        std::mt19937 &random) {
  std::vector<float> weights(count);
  for (float &weight : weights)
    weight = (float(random() >> 8) / float(1 << 23) - 1.0f) * bound;
  return weights;
}

Mlp mnist::train(const Split &images, int epochs,
                 const std::function<void(int, double)> &progress) {
  std::mt19937 random(1);
  Mlp mlp;
  // He, Zhang, Ren and Sun 2015, section 2.2: variance 2 / fan-in before ReLU.
  mlp.w1 = randomWeights(imagePixels * hiddenCount,
                         std::sqrt(6.0f / imagePixels), random);
  mlp.b1.assign(hiddenCount, 0.0f);
  mlp.w2 = randomWeights(hiddenCount * classCount,
                         std::sqrt(6.0f / hiddenCount), random);
  mlp.b2.assign(classCount, 0.0f);

  std::vector<size_t> order(images.size());
  for (size_t i = 0; i != order.size(); ++i)
    order[i] = i;
  std::vector<float> image(imagePixels);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    // By hand: what std::shuffle draws differs between standard libraries.
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
    const float rate = 0.01f * float(epochs - epoch + 1) / float(epochs);
    double loss = 0.0;
    for (size_t i : order) {
      normalise(images.image(i), image.data());
      loss += step(mlp, image.data(), images.labels[i], rate);
    }
    progress(epoch, loss / double(images.size()));
  }
  return mlp;
}

size_t mnist::countCorrect(const Mlp &mlp, const Split &images) {
  size_t correct = 0;
  float image[imagePixels], logits[classCount];
  for (size_t i = 0; i != images.size(); ++i) {
    normalise(images.image(i), image);
    computeLogits(mlp, image, logits);
    correct += classOf(logits) == images.labels[i];
  }
  return correct;
}
