// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLXBAKE_OPTIONS_H
#define RLX_TOOLS_RLXBAKE_OPTIONS_H

#include "RLX/Pipelines/Bake.h"
#include <optional>
#include <string>
#include <vector>

namespace rlx {

/// The command line of rlx-bake.
struct BakeCommand {
  std::string input;
  std::string output;
  std::vector<std::string> weights;
  std::string report;
  Phase compileTo = Phase::Artifact;
  bool strict = false;
  bool explain = false;
  bool quiet = false;
  BakeOptions options;
};

/// Parses the command line. Prints help or what is wrong with it and sets
/// `exitCode` (0 for help, 2 for wrong usage) when there is nothing to run.
std::optional<BakeCommand> parseCommandLine(int argc, char **argv,
                                            int &exitCode);

} // namespace rlx

#endif // RLX_TOOLS_RLXBAKE_OPTIONS_H
