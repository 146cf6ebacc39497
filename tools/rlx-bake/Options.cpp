// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Options.h"
#include "CLI/CLI.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace rlx;

namespace {

/// The text of an error, for CLI11's validators ("" means valid).
template <typename T> std::string textOf(llvm::Expected<T> value) {
  return value ? std::string() : llvm::toString(value.takeError());
}

/// CLI11 drops a flag that another one overrides only if it is told to; `fold`
/// and `no-fold` both write this, the last one wins, and unset means that the
/// profile decides.
void addSwitch(CLI::App &app, const std::string &name,
               std::optional<bool> &value, const std::string &help) {
  app.add_flag_function(
         "--" + name + ",!--no-" + name,
         [&value](std::int64_t count) { value = count > 0; }, help)
      ->take_last()
      ->group("Fine flags (override the profile, in any position)");
}

const char *const description =
    "rlx-bake: bakes a neural-network graph and its weights into one file.\n"
    "\n"
    "INPUT is a MIR graph (*.json), a HIR graph (model.hir.json, *.hir.json) "
    "or a\n"
    "bundle directory (model.hir.json with weights.safetensors beside it).\n"
    "Everything that depends only on weights is computed now if their values "
    "are\n"
    "known, once at load otherwise, and never per forward.";

const char *const examples =
    "Examples:\n"
    "  rlx-bake mlp.json -w mlp.safetensors -o mlp.rlx    graph and weights, "
    "default profile\n"
    "  rlx-bake bundle/ -o model.rlx --report r.json      a torch bundle, with "
    "a JSON report\n"
    "  rlx-bake mlp.json -o open.rlx                      weights stay open: "
    "bind them at load\n"
    "  rlx-bake mlp.json -w mlp.safetensors --compile-to=weights\n"
    "                                                     print the graph "
    "after the weight passes\n"
    "\n"
    "Profiles: merge (aliases none, raw): one file, same compute; fold "
    "(cleanup):\n"
    "weight-only work is done now; exact (lossless, default, compute): "
    "lossless\n"
    "rewrites by value, equal to fold in this release.\n"
    "Phases: import, weights, lowered (text), codegen (shared object), "
    "artifact.\n"
    "Exit status: 0 success, 1 an error, 2 wrong usage.";

} // namespace

std::optional<BakeCommand> rlx::parseCommandLine(int argc, char **argv,
                                                 int &exitCode) {
  BakeCommand command;
  std::string profile = "exact", compileTo = "artifact";
  std::optional<bool> fold, hoist;
  std::optional<std::uint64_t> threshold;
  std::vector<std::string> targets;

  CLI::App app(description, "rlx-bake");
  app.footer(examples);
  app.set_version_flag("--version", "rlx-bake " RLX_VERSION);
  app.get_formatter()->column_width(34);

  app.add_option("INPUT", command.input, "Graph, or bundle directory")
      ->required();
  app.add_option(
      "-o,--output", command.output,
      "File to write; it appears when it is complete ('-': text to stdout)");
  app.add_option("-w,--weights", command.weights,
                 "Weights: *.safetensors, or model.safetensors.index.json; may "
                 "be repeated")
      ->type_name("FILE");
  app.add_flag("--strict", command.strict,
               "A missing or an extra weight is an error");
  app.add_option("--opt,--profile", profile, "Profile: merge, fold or exact")
      ->type_name("PROFILE")
      ->capture_default_str()
      ->check(
          [](const std::string &name) { return textOf(parseProfile(name)); });
  app.add_option("--target", targets,
                 "CPU class to generate code for: x86-64-v3, x86-64-v4, native "
                 "or none; may be "
                 "repeated (default: both classes)")
      ->type_name("CLASS");
  app.add_option("--compile-to", compileTo,
                 "Stop after a phase and write what it made")
      ->type_name("PHASE")
      ->capture_default_str()
      ->check([](const std::string &name) { return textOf(parsePhase(name)); });
  app.add_option("--report", command.report, "Write a JSON report")
      ->type_name("FILE");
  app.add_flag("--explain", command.explain,
               "Say on stderr why each weight was folded, packed, hoisted or "
               "left alone");
  app.add_flag("-q,--quiet", command.quiet,
               "No summary and no progress on stderr");
  addSwitch(app, "fold", fold, "Do weight-only work of known weights now");
  addSwitch(app, "hoist", hoist,
            "Do the rest once at load (default: on, or "
            "RLX_CACHE_PARAM_INVARIANT=0|1)");
  app.add_option(
         "--fold-growth-threshold", threshold,
         "Bytes that one fold may add over what dies with it (default: 1 MiB)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->group("Fine flags (override the profile, in any position)");

  try {
    app.parse(argc, argv);
    command.compileTo = *parsePhase(compileTo);
    if (command.output.empty() && command.compileTo >= Phase::Codegen)
      throw CLI::RequiredError("--output (-o)");
    if (command.output == "-" && command.compileTo >= Phase::Codegen)
      throw CLI::ValidationError(
          "--output",
          "'" + compileTo + "' is not text; give a file instead of '-'");
  } catch (const CLI::ParseError &error) {
    exitCode = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }

  command.options = BakeOptions::fromProfile(*parseProfile(profile));
  if (fold)
    command.options.fold = *fold;
  if (hoist)
    command.options.hoist = *hoist;
  if (threshold)
    command.options.foldGrowthThreshold = *threshold;
  if (!targets.empty())
    command.options.targets = targets;
  return command;
}
