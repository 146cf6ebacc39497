// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Options.h"
#include "CLI/CLI.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace rlx;

namespace {

const char *const fineFlags =
    "Fine flags (override the profile, in any position)";

/// The text of an error, for CLI11's validators ("" means valid).
template <typename T> std::string textOf(llvm::Expected<T> value) {
  return value ? std::string() : llvm::toString(value.takeError());
}

/// CLI11's help without the `{false}` that it writes after `--no-fold`.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_option_name(const CLI::Option *option,
                               bool isPositional) const override {
    std::string name = CLI::Formatter::make_option_name(option, isPositional);
    size_t at = name.find("{false}");
    return at == std::string::npos ? name : name.erase(at, 7);
  }
};

/// CLI11 drops a flag that another one overrides only if it is told to; `fold`
/// and `no-fold` both write this, the last one wins, and unset means that the
/// profile decides.
void addSwitch(CLI::App &app, const std::string &name,
               std::optional<bool> &value, const std::string &help) {
  app.add_flag_function(
         "--" + name + ",!--no-" + name,
         [&value](std::int64_t count) { value = count > 0; }, help)
      ->take_last()
      ->group(fineFlags);
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

/// What `--target` asks for; both classes if it does not, of which phases for
/// one class take the first.
void applyTargets(BakeCommand &command,
                  const std::vector<std::string> &targets) {
  bool needsOne = command.compileTo == Phase::Lowered ||
                  command.compileTo == Phase::Codegen;
  if (!targets.empty()) {
    llvm::Expected<std::vector<std::string>> classes = resolveTargets(targets);
    if (!classes)
      throw CLI::ValidationError("--target",
                                 llvm::toString(classes.takeError()));
    command.options.targets = std::move(*classes);
    if (needsOne && command.options.targets.size() != 1)
      throw CLI::ValidationError(
          "--target", "the phases lowered and codegen are for one CPU class, " +
                          std::to_string(command.options.targets.size()) +
                          " are given");
  }
  if (needsOne)
    command.options.targets.resize(1);
}

/// What CLI11 cannot say about single options.
void check(const BakeCommand &command) {
  bool writesText = command.compileTo < Phase::Codegen;
  if (!writesText && command.output.empty())
    throw CLI::RequiredError("--output (-o)");
  if (!writesText && command.output == "-")
    throw CLI::ValidationError(
        "--output", "only the phases import, weights and lowered are text; "
                    "give a file instead of '-'");
  if (writesText && !command.report.empty())
    throw CLI::ValidationError(
        "--report", "is about code or a file; leave it out with --compile-to "
                    "import, weights or lowered");
  const char *hoist = std::getenv("RLX_CACHE_PARAM_INVARIANT");
  if (hoist && llvm::StringRef(hoist) != "0" && llvm::StringRef(hoist) != "1")
    throw CLI::ValidationError("RLX_CACHE_PARAM_INVARIANT",
                               "takes 0 or 1, not '" + std::string(hoist) +
                                   "'");
}

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
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(34);

  app.add_option("INPUT", command.input, "Graph, or bundle directory")
      ->required();
  app.add_option(
      "-o,--output", command.output,
      "File to write; it appears when it is complete ('-': text to stdout)");
  app.add_option("-w,--weights", command.weights,
                 "Weights: *.safetensors, or model.safetensors.index.json; may "
                 "be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--strict", command.strict,
               "A param without a weight is an error");
  app.add_option("--opt,--profile", profile, "Profile: merge, fold or exact")
      ->type_name("PROFILE")
      ->capture_default_str()
      ->check(
          [](const std::string &name) { return textOf(parseProfile(name)); });
  app.add_option("--target", targets,
                 "CPU class to generate code for: x86-64-v3, x86-64-v4, native "
                 "or none; may be "
                 "repeated (default: both classes)")
      ->type_name("CLASS")
      ->allow_extra_args(false);
  app.add_option(
         "--compile-to", compileTo,
         "Stop after a phase and write what it made; lowered and codegen "
         "are for one class (default: x86-64-v3)")
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
         "Bytes, as 4096 or 64KB, that one fold may add over what dies with it "
         "(default: 1MB)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check([](const std::string &bytes) {
        bool fits = bytes.size() < 19 && bytes[0] != '-';
        return fits ? "" : "takes 0 to 10^18 - 1 bytes";
      })
      ->group(fineFlags);

  try {
    app.parse(argc, argv);
    command.compileTo = *parsePhase(compileTo);
    command.options = BakeOptions::fromProfile(*parseProfile(profile));
    applyTargets(command, targets);
    check(command);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) { // --help and --version
      exitCode = app.exit(error);
    } else {
      llvm::errs() << "error: " << error.what()
                   << "\nrlx-bake --help shows how it is used\n";
      exitCode = 2;
    }
    return std::nullopt;
  }

  if (fold)
    command.options.fold = *fold;
  if (hoist)
    command.options.hoist = *hoist;
  if (threshold)
    command.options.foldGrowthThreshold = *threshold;
  return command;
}
