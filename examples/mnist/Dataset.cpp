// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Dataset.h"

#include <cstdlib>
#include <filesystem>
#include <random>

using namespace mnist;
namespace fs = std::filesystem;

/// The file itself or its gzipped form; empty if neither is there.
static std::string findFile(const fs::path &folder, const char *name) {
  std::error_code ignored;
  for (const char *suffix : {"", ".gz"}) {
    fs::path path = folder / (std::string(name) + suffix);
    if (fs::is_regular_file(path, ignored))
      return path.string();
  }
  return {};
}

static bool holdsDataset(const fs::path &folder) {
  for (const char *name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    if (findFile(folder, name).empty())
      return false;
  return true;
}

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// `folder` itself or the place below it where torchvision puts the files.
static std::optional<fs::path> findBelow(const fs::path &folder) {
  if (holdsDataset(folder))
    return folder;
  for (const char *below : {"raw", "MNIST/raw", "FashionMNIST/raw"})
    if (holdsDataset(folder / below))
      return folder / below;
  return std::nullopt;
}

static std::optional<fs::path> findInUsualPlaces() {
  std::vector<fs::path> roots = {"data"};
  const std::string home = environment("HOME");
  std::string cache = environment("XDG_CACHE_HOME");
  if (cache.empty() && !home.empty())
    cache = home + "/.cache";
  if (!cache.empty()) {
    roots.push_back(fs::path(cache) / "torchvision");
    roots.push_back(fs::path(cache) / "torch");
  }
  if (!home.empty())
    roots.push_back(fs::path(home) / "data");
  roots.push_back("/usr/share/datasets/fashion-mnist");
  for (const fs::path &root : roots)
    if (std::optional<fs::path> folder = findBelow(root))
      return folder;
  return std::nullopt;
}

static bool loadSplit(const fs::path &folder, const std::string &prefix,
                      Split &split, std::string &error) {
  const std::string images =
      findFile(folder, (prefix + "-images-idx3-ubyte").c_str());
  const std::string labels =
      findFile(folder, (prefix + "-labels-idx1-ubyte").c_str());
  if (!readIdxImages(images, split.pixels, error) ||
      !readIdxLabels(labels, split.labels, error))
    return false;
  const size_t imageCount = split.pixels.size() / imagePixels;
  if (imageCount != split.size()) {
    error = images + ": has " + std::to_string(imageCount) + " images, but " +
            labels + " has " + std::to_string(split.size()) + " labels";
    return false;
  }
  if (split.size() == 0) {
    error = images + ": has no images";
    return false;
  }
  return true;
}

std::optional<Dataset> mnist::loadDataset(Part part, std::string &error) {
  const std::string chosen = environment("RLX_MNIST_DIR");
  std::optional<fs::path> folder =
      chosen.empty() ? findInUsualPlaces() : findBelow(chosen);
  if (!folder && !chosen.empty()) {
    error = "RLX_MNIST_DIR=" + chosen +
            ": needs train-images-idx3-ubyte, train-labels-idx1-ubyte, "
            "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or .gz";
    return std::nullopt;
  }
  if (!folder) {
    Dataset dataset = syntheticDataset();
    if (part == Part::Test)
      dataset.train = Split();
    return dataset;
  }
  Dataset dataset;
  dataset.source = folder->string();
  if ((part == Part::TrainAndTest &&
       !loadSplit(*folder, "train", dataset.train, error)) ||
      !loadSplit(*folder, "t10k", dataset.test, error))
    return std::nullopt;
  return dataset;
}

static Split stripes(size_t count, std::mt19937 &random) {
  Split split;
  split.pixels.resize(count * imagePixels);
  split.labels.resize(count);
  for (size_t i = 0; i != count; ++i) {
    const size_t label = random() % classCount;
    split.labels[i] = uint8_t(label);
    for (size_t row = 0; row != imageRows; ++row)
      for (size_t column = 0; column != imageColumns; ++column) {
        const bool isBright = row % classCount == label;
        split.pixels[i * imagePixels + row * imageColumns + column] =
            uint8_t(random() % 160 + (isBright ? 96 : 0));
      }
  }
  return split;
}

Dataset mnist::syntheticDataset() {
  std::mt19937 random(20);
  Dataset dataset;
  dataset.source = "synthetic stripes (no IDX files found; RLX_MNIST_DIR names "
                   "a folder of them)";
  dataset.train = stripes(8192, random);
  dataset.test = stripes(2048, random);
  return dataset;
}

void mnist::normalise(const uint8_t *image, float *out) {
  for (size_t i = 0; i != imagePixels; ++i)
    out[i] = float(image[i]) / 255.0f;
}
