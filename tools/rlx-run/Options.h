// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLX_RUN_OPTIONS_H
#define RLX_TOOLS_RLX_RUN_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rlx::run {

/// A file that belongs to an input, output or weight: `name=@path`. The name is
/// empty for `@path`.
struct NamedFile {
  std::string name;
  std::string path;
};

/// Sizes for an input or one symbol: `x=1,128`, `batch=8`.
struct ShapeOption {
  std::string name;
  std::vector<int64_t> dims;
};

struct Options {
  std::string model;
  bool list = false;
  std::optional<std::string> entry;
  std::vector<NamedFile> inputs;
  bool randomInputs = false;
  uint64_t seed = 0;
  std::vector<ShapeOption> shapes;
  std::vector<std::string> weights;
  std::vector<NamedFile> setParams;
  std::vector<NamedFile> outputs;
  std::vector<NamedFile> expects;
  double rtol = 1e-5;
  double atol = 1e-6;
  std::optional<uint64_t> repeat;
  bool bench = false;
  std::optional<std::string> stats;
  int64_t threads = 0;
  bool pin = false;
  int32_t verify = 0;
  std::optional<std::string> cpuClass;
};

/// Reads the command line. Returns an exit status if the tool is done already:
/// after --help, or after wrong usage, which is reported on stderr.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace rlx::run

#endif // RLX_TOOLS_RLX_RUN_OPTIONS_H
