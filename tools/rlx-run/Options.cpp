// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Options.h"
#include "Failure.h"
#include "RLX/Runtime/rlx_runtime.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <map>

using namespace rlx::run;

namespace {

constexpr const char *description =
    "Runs a program that rlx-bake made (.rlx).\n"
    "\n"
    "Examples:\n"
    "  rlx-run mlp.rlx --list\n"
    "      what it takes, gives and contains\n"
    "  rlx-run mlp.rlx --input x=@x.npy --output y=@y.npy\n"
    "      one forward, NumPy files in and out\n"
    "  rlx-run mlp.rlx --random-inputs --shape batch=8 --bench\n"
    "      time per forward for a batch of 8\n"
    "  rlx-run open.rlx --weights w.safetensors --input x=@x.npy --repeat 100\n"
    "          --stats stats.json\n"
    "      a program with open params: they are bound by name, what depends "
    "on\n"
    "      them alone is computed once\n"
    "  rlx-run mlp.rlx --input x=@x.npy --expect y=@reference.npy --rtol 1e-4\n"
    "      exit status 1 if an element differs by more";

constexpr const char *footer =
    "Environment: RLX_CPU_CLASS as --cpu-class; RLX_CODE_DIR, a folder to "
    "load\n"
    "native code from where anonymous executable memory is forbidden.\n"
    "Exit status: 0 success, 1 error, 2 wrong usage.\n"
    "A program contains native code: run only files from people you trust.";

NamedFile parseNamedFile(const std::string &option, const std::string &text) {
  size_t at = text.find("=@");
  if (text.size() > 1 && text[0] == '@')
    return {"", text.substr(1)};
  if (at == std::string::npos || at == 0 || at + 2 == text.size())
    throw WrongUsage(option + " '" + text +
                     "': expected name=@file, as in x=@x.npy");
  return {text.substr(0, at), text.substr(at + 2)};
}

ShapeOption parseShape(const std::string &text) {
  auto fail = [&] {
    throw WrongUsage("--shape '" + text +
                     "': expected name=sizes, as in x=1,128 or batch=8");
  };
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    fail();
  ShapeOption shape{text.substr(0, equals), {}};
  const char *at = text.c_str() + equals + 1;
  for (;;) {
    char *end;
    errno = 0;
    long long size = std::strtoll(at, &end, 10);
    if (end == at || *at == ' ' || errno || size < 0)
      fail();
    shape.dims.push_back(size);
    if (!*end)
      return shape;
    if (*end != ',')
      fail();
    at = end + 1;
  }
}

/// What CLI11 cannot say about single options.
void check(const Options &options) {
  for (double tolerance : {options.rtol, options.atol})
    if (!(tolerance >= 0))
      throw WrongUsage("--rtol and --atol take numbers from 0 on");
  bool runs = options.entry || !options.inputs.empty() ||
              options.randomInputs || !options.shapes.empty() ||
              !options.weights.empty() || !options.setParams.empty() ||
              !options.outputs.empty() || !options.expects.empty() ||
              options.repeat || options.bench || options.stats;
  if (options.list && runs)
    throw WrongUsage("--list runs nothing; leave out what is for running");
  if (options.repeat == 0)
    throw WrongUsage("--repeat: takes numbers from 1 on");
  if (!options.setParams.empty() && options.repeat == 1)
    throw WrongUsage("--set-param replaces a weight after the first forward, "
                     "so --repeat must be at least 2");
}

} // namespace

std::optional<int> rlx::run::parseOptions(int argc, char **argv,
                                          Options &options) {
  CLI::App app(description, "rlx-run");
  app.footer(footer);
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", std::string("rlx-run ") + rlx_version());

  std::vector<std::string> inputs, shapes, setParams, outputs, expects;
  auto repeatable = [&](const char *name, std::vector<std::string> &values,
                        const char *what, const char *form) {
    return app.add_option(name, values, what)
        ->type_name(form)
        ->allow_extra_args(false);
  };
  app.add_option("model", options.model, "The program to run")
      ->type_name("MODEL")
      ->required();
  app.add_flag("--list", options.list,
               "Describe the program on stdout instead of running it");
  app.add_option("--entry", options.entry,
                 "Entry to run (default: the only one, or 'main')")
      ->type_name("NAME");
  repeatable("--input", inputs, "Value of an input; repeat for each",
             "NAME=@X.npy");
  app.add_flag("--random-inputs", options.randomInputs,
               "Fill the other inputs: numbers from [-1, 1), integers 0 and 1");
  app.add_option("--seed", options.seed,
                 "Seed of --random-inputs and of random ops (default 0)")
      ->type_name("N");
  repeatable("--shape", shapes,
             "Sizes of a random input (x=1,128) or symbol (batch=8)",
             "NAME=SIZES");
  app.add_option("-w,--weights", options.weights,
                 "Values for params that the program left open; repeatable")
      ->type_name("F.safetensors")
      ->allow_extra_args(false);
  repeatable("--set-param", setParams,
             "Replace a param after the first forward", "NAME=@W.npy");
  repeatable("--output", outputs,
             "Where to write an output of the last forward ('-': stdout)",
             "NAME=@Y.npy");
  repeatable("--expect", expects,
             "Compare an output of the last forward with a file",
             "NAME=@Y.npy");
  app.add_option("--rtol", options.rtol,
                 "Allowed error relative to the expected value (default 1e-5)")
      ->type_name("R");
  app.add_option("--atol", options.atol,
                 "Allowed absolute error, added to it (default 1e-6)")
      ->type_name("A");
  app.add_option("--repeat", options.repeat,
                 "Number of forwards (default 1, with --set-param 2)")
      ->type_name("N")
      // Alone, CLI11 reads -1 as 2^64 - 1.
      ->check([](const std::string &text) {
        return text[0] == '-' ? "takes numbers from 1 on" : "";
      });
  app.add_flag("--bench", options.bench,
               "Report times; without --repeat for about a second");
  app.add_option("--stats", options.stats,
                 "Write statistics as JSON ('-': stdout)")
      ->type_name("S.json");
  app.add_option("--threads", options.threads,
                 "Threads (default 0: all CPUs); results do not depend on it")
      ->type_name("N")
      ->check(CLI::Range(int64_t(0), int64_t(4096)));
  app.add_flag("--pin", options.pin,
               "Bind each thread to a CPU; not for several processes at once");
  std::map<std::string, int32_t> modes = {{"none", RLX_VERIFY_NONE},
                                          {"touched", RLX_VERIFY_TOUCHED},
                                          {"all", RLX_VERIFY_ALL}};
  app.add_option("--verify", options.verify,
                 "Weights to compare with their hashes (default none; code and "
                 "tables always are)")
      ->type_name("none|touched|all")
      ->transform(CLI::CheckedTransformer(modes).description(""));
  app.add_option(
         "--cpu-class", options.cpuClass,
         "Run the code for this class, as x86-64-v3 (default: the best)")
      ->type_name("CLASS");

  try {
    app.parse(argc, argv);
    for (const std::string &text : inputs)
      options.inputs.push_back(parseNamedFile("--input", text));
    for (const std::string &text : setParams) {
      options.setParams.push_back(parseNamedFile("--set-param", text));
      if (options.setParams.back().name.empty())
        throw WrongUsage("--set-param '" + text +
                         "': expected name=@file, as in scale=@s.npy");
    }
    for (const std::string &text : outputs)
      options.outputs.push_back(parseNamedFile("--output", text));
    for (const std::string &text : expects)
      options.expects.push_back(parseNamedFile("--expect", text));
    for (const std::string &text : shapes)
      options.shapes.push_back(parseShape(text));
    check(options);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error); // --help and --version
    std::cerr << "error: " << error.what()
              << "\nrlx-run --help shows how it is used\n";
  } catch (const WrongUsage &error) {
    std::cerr << "error: " << error.what()
              << "\nrlx-run --help shows how it is used\n";
  }
  return 2;
}
