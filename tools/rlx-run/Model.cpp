// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Model.h"
#include "Failure.h"
#include "Files.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <sched.h>
#include <sys/resource.h>

using namespace rlx;
using namespace rlx::run;

namespace {

uint64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Binds the calling thread to the first CPU it may use; the session's workers
/// take the others.
void pinToFirstCpu() {
  cpu_set_t all, first;
  if (sched_getaffinity(0, sizeof all, &all) != 0)
    return;
  CPU_ZERO(&first);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &first);
      sched_setaffinity(0, sizeof first, &first);
      return;
    }
}

/// 1234567 ns as "1.235 ms".
std::string timeText(double ns) {
  const char *unit = "ns";
  for (const char *next : {"us", "ms", "s"}) {
    if (ns < 1000)
      break;
    ns /= 1000;
    unit = next;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", ns, unit);
  return text;
}

} // namespace

void rlx::run::require(rlx_status status) {
  if (status != RLX_OK)
    throw Failure(rlx_last_error());
}

Model::Model(const Options &options)
    : options(options), shapeUsed(options.shapes.size()) {
  rlx_open_options open = sized<rlx_open_options>();
  open.verify = options.verify;
  if (options.cpuClass)
    open.cpu_class = options.cpuClass->c_str();
  require(rlx_program_open(options.model.c_str(), &open, receive(program)));
}

void Model::forward() {
  uint64_t begin = nowNs();
  require(rlx_session_run(session.get(), entryIndex, inputViews.data(),
                          entry->input_count, outputViews.data(),
                          entry->output_count));
  timesNs.push_back(nowNs() - begin);
}

void Model::runAll() {
  uint64_t count = options.repeat.value_or(options.setParams.empty() ? 1 : 2);
  forward();
  if (!options.setParams.empty())
    replaceParams();
  for (uint64_t i = 1; i < count; ++i)
    forward();
  if (!options.bench || options.repeat)
    return;
  // About a second, but enough for a median and no more than is of use.
  uint64_t begin = nowNs();
  while (timesNs.size() < 10 ||
         (nowNs() - begin < 1'000'000'000 && timesNs.size() < 100'000))
    forward();
}

int Model::run() {
  require(rlx_program_find_entry(
      program.get(), options.entry ? options.entry->c_str() : nullptr,
      &entryIndex));
  entry = rlx_program_entry(program.get(), entryIndex);
  symbols.assign(entry->symbol_count, -1);
  // Names are checked before anything is computed.
  for (const NamedFile &file : options.outputs)
    outputNamed("--output", file);
  for (const NamedFile &file : options.expects)
    outputNamed("--expect", file);

  require(rlx_weights_default(program.get(), receive(weights)));
  rlx_session_options sessionOptions = sized<rlx_session_options>();
  sessionOptions.workers = options.threads;
  sessionOptions.seed = options.seed;
  sessionOptions.pin = options.pin;
  require(rlx_session_create(program.get(), nullptr, &sessionOptions,
                             receive(session)));
  if (options.pin)
    pinToFirstCpu();
  bindWeights();
  makeInputs();
  makeOutputs();
  runAll();

  bool equal = compare();
  for (const NamedFile &file : options.outputs)
    writeNpy(file.path, outputs[outputNamed("--output", file)]);
  if (options.stats)
    writeStats();
  if (options.bench)
    reportTimes();
  else if (options.outputs.empty() && options.expects.empty())
    summarise();
  return equal ? 0 : 1;
}

void Model::reportTimes() const {
  std::string who = "entry '" + std::string(entry->name) + "' on " +
                    rlx_session_target(session.get()) + ": ";
  std::string first =
      "the first forward took " + timeText(double(timesNs.front()));
  if (timesNs.size() == 1) {
    std::cerr << who << first << "\n";
    return;
  }
  // The first forward also prepares and touches memory for the first time.
  std::vector<uint64_t> sorted(timesNs.begin() + 1, timesNs.end());
  std::sort(sorted.begin(), sorted.end());
  auto quantile = [&](double q) {
    return timeText(double(sorted[size_t(q * double(sorted.size() - 1))]));
  };
  std::cerr << who << "median " << quantile(0.5) << ", best " << quantile(0)
            << ", 90% within " << quantile(0.9) << ", " << sorted.size()
            << " forwards after the first; " << first << "\n";
}

/// The outputs at a glance, for a run that writes none.
void Model::summarise() const {
  constexpr uint64_t shown = 8;
  for (uint32_t i = 0; i < entry->output_count; ++i) {
    const Array &output = outputs[i];
    std::cerr << entry->outputs[i].name << ": "
              << describe(output.dtype, output.dims);
    for (uint64_t e = 0; e < std::min(shown, output.elements()); ++e)
      std::cerr << (e ? ", " : " = ") << elementAsDouble(output, e);
    std::cerr << (output.elements() > shown ? ", ...\n" : "\n");
  }
}

/// Compares outputs with the files of --expect, as numpy.allclose with NaN
/// equal to NaN.
bool Model::compare() const {
  bool allEqual = true;
  for (const NamedFile &file : options.expects) {
    uint32_t index = outputNamed("--expect", file);
    const Array &actual = outputs[index];
    Array expected = readNpy(file.path);
    std::string who =
        "output '" + std::string(entry->outputs[index].name) + "'";
    if (expected.dims != actual.dims)
      throw Failure(who + " is " + describe(actual.dtype, actual.dims) + ", " +
                    file.path + " holds " +
                    describe(expected.dtype, expected.dims));
    double worst = 0;
    uint64_t differing = 0, first = 0;
    for (uint64_t i = 0; i < actual.elements(); ++i) {
      double got = elementAsDouble(actual, i);
      double want = elementAsDouble(expected, i);
      // Equal also covers infinities, whose difference is none.
      if (got == want || (std::isnan(got) && std::isnan(want)))
        continue;
      double error = std::fabs(got - want);
      worst = std::fmax(worst, std::isnan(error) ? INFINITY : error);
      // A finite error implies finite sides: no tolerance reaches infinity.
      if (std::isfinite(error) &&
          error <= options.atol + options.rtol * std::fabs(want))
        continue;
      first = differing++ ? first : i;
    }
    std::cerr << std::setprecision(9) << who << ": largest error " << worst
              << " against " << file.path << "\n";
    if (!differing)
      continue;
    allEqual = false;
    std::cerr << "error: " << who << ": " << differing << " of "
              << actual.elements() << " elements differ from " << file.path
              << " by more than " << options.atol << " + " << options.rtol
              << " * |expected|; the first is element " << first << ", "
              << elementAsDouble(actual, first) << " instead of "
              << elementAsDouble(expected, first) << "\n";
  }
  return allEqual;
}

void Model::writeStats() const {
  rlx_stats stats = sized<rlx_stats>();
  require(rlx_session_stats(session.get(), &stats));
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  json.Key("entry");
  json.String(entry->name);
  json.Key("target");
  json.String(rlx_session_target(session.get()));
  const std::pair<const char *, uint64_t> numbers[] = {
      {"threads", stats.workers},
      {"runs", stats.runs},
      {"prepare_runs", stats.prepare_runs},
      {"prepare_components_run", stats.prepare_components_run},
      {"weight_bytes_copied", stats.weight_bytes_copied},
      {"h2d_bytes_per_run", stats.h2d_bytes_per_run},
      {"load_ns", stats.load_ns},
      {"first_run_ns", stats.first_run_ns},
      {"last_run_ns", stats.last_run_ns},
      {"median_run_ns", stats.median_run_ns},
      {"arena_bytes", stats.arena_bytes},
      {"prepared_bytes", stats.prepared_bytes},
      {"file_bytes", rlx_program_size_bytes(program.get())},
      {"peak_rss_bytes", uint64_t(usage.ru_maxrss) * 1024}};
  for (const auto &[name, value] : numbers) {
    json.Key(name);
    json.Uint64(value);
  }
  json.EndObject();
  writeFile(*options.stats, [&](const WriteBytes &write) {
    write(buffer.GetString(), buffer.GetSize());
    write("\n", 1);
  });
}
