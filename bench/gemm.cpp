// SPDX-License-Identifier: MIT OR Apache-2.0
// Prepacked f32 matrix products, RLX against peers. Absolute times of a shared
// machine move by half from one second to the next, ratios do not: the
// candidates take turns, and what counts is the ratio within a round.
#include "gemm-candidates.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <time.h>
#include <unistd.h>

using namespace rlx::bench;

namespace {

struct Options {
  std::vector<int64_t> rows{1, 16, 128};
  std::vector<int64_t> sizes{768, 1024, 4096};
  int rounds = 21;
  int placements = 3;
  double roundSeconds = 0.004;
  std::string cpuClass =
      __builtin_cpu_supports("x86-64-v4") ? "x86-64-v4" : "x86-64-v3";
  std::string jsonPath;
};

/// Times of a peer divided by those of RLX: above one, RLX is faster.
struct Ratio {
  double low, median, high; ///< quartiles
};

struct PeerResult {
  std::string peer;
  double medianSeconds;
  Ratio ratio;
};

struct ShapeResult {
  GemmShape shape;
  double rlxSeconds;
  std::vector<PeerResult> peers;
};

constexpr const char *usage =
    R"(usage: rlx-bench-gemm [options]
  --m LIST         rows of A, default 1,16,128
  --nk LIST        sizes N = K, default 768,1024,4096
  --rounds N       rounds per shape, default 21
  --placements N   spread over this many allocations, default 3: weights about
                   as large as a cache run up to 20 % faster or slower by the
                   physical pages they get
  --round-ms MS    time per candidate and round, default 4
  --cpu-class C    x86-64-v3 or x86-64-v4, default the best of this machine
  --json FILE      also write the results there
)";

} // namespace

/// CPU time of this thread: every candidate runs on it alone, so time given to
/// other processes does not count.
static double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

static double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) +
                                    0.5)];
}

static double secondsPerRun(GemmCandidate &candidate, int runs) {
  double begin = threadSeconds();
  for (int run = 0; run < runs; ++run)
    candidate.run();
  return (threadSeconds() - begin) / runs;
}

static void checkResult(const std::string &name, GemmShape shape,
                        const float *expected, const float *got) {
  // Terms are in [-1, 1]: the sums of two correct orders differ by far less.
  double tolerance = 1e-5 * static_cast<double>(shape.k);
  for (int64_t i = 0; i < shape.m * shape.n; ++i)
    if (!(std::fabs(expected[i] - got[i]) <= tolerance)) {
      std::fprintf(stderr,
                   "error: %s gives %g where rlx gives %g (m=%ld n=%ld "
                   "k=%ld, element %ld)\n",
                   name.c_str(), got[i], expected[i], shape.m, shape.n, shape.k,
                   i);
      std::exit(1);
    }
}

namespace {

/// The candidates on one set of allocations.
struct Placement {
  std::vector<std::unique_ptr<GemmCandidate>> candidates; ///< RLX first.
  std::vector<int> runs; ///< Per round, so that each takes as long.
};

} // namespace

static Placement
place(GemmShape shape, Buffer &a, Buffer &b, GemmImplementation &rlx,
      const std::vector<std::unique_ptr<GemmImplementation>> &peers,
      const Options &options) {
  Placement placement;
  placement.candidates.push_back(rlx.bind(shape, a.data(), b.data()));
  for (auto &peer : peers)
    placement.candidates.push_back(peer->bind(shape, a.data(), b.data()));
  for (size_t i = 0; i < placement.candidates.size(); ++i) {
    GemmCandidate &candidate = *placement.candidates[i];
    secondsPerRun(candidate, 1);
    if (i > 0)
      checkResult(peers[i - 1]->name(), shape,
                  placement.candidates[0]->result(), candidate.result());
    placement.runs.push_back(std::max(
        1,
        static_cast<int>(options.roundSeconds / secondsPerRun(candidate, 2))));
  }
  return placement;
}

static ShapeResult
measure(GemmShape shape, GemmImplementation &rlx,
        const std::vector<std::unique_ptr<GemmImplementation>> &peers,
        const Options &options) {
  Buffer a(shape.m * shape.k), b(shape.k * shape.n);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::generate_n(a.data(), shape.m * shape.k,
                  [&] { return values(generator); });
  std::generate_n(b.data(), shape.k * shape.n,
                  [&] { return values(generator); });

  // All placements stay, so that no two share pages.
  std::vector<Placement> placements;
  std::vector<std::vector<double>> times(peers.size() + 1);
  for (int round = 0; round < options.rounds; ++round) {
    int current = round * options.placements / options.rounds;
    if (static_cast<int>(placements.size()) <= current)
      placements.push_back(place(shape, a, b, rlx, peers, options));
    Placement &placement = placements.back();
    for (size_t turn = 0; turn < times.size(); ++turn) {
      // Each round starts with another candidate: none always follows the same.
      size_t i = (turn + round) % times.size();
      times[i].push_back(
          secondsPerRun(*placement.candidates[i], placement.runs[i]));
    }
  }

  ShapeResult result{shape, quantile(times[0], 0.5), {}};
  for (size_t i = 1; i < times.size(); ++i) {
    std::vector<double> ratios;
    for (int round = 0; round < options.rounds; ++round)
      ratios.push_back(times[i][round] / times[0][round]);
    result.peers.push_back({peers[i - 1]->name(),
                            quantile(times[i], 0.5),
                            {quantile(ratios, 0.25), quantile(ratios, 0.5),
                             quantile(ratios, 0.75)}});
  }
  return result;
}

static std::string cpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

static double geometricMean(const std::vector<ShapeResult> &results,
                            size_t peer) {
  double sum = 0;
  for (const ShapeResult &result : results)
    sum += std::log(result.peers[peer].ratio.median);
  return std::exp(sum / static_cast<double>(results.size()));
}

static void print(const ShapeResult &result) {
  GemmShape s = result.shape;
  double flops = 2.0 * static_cast<double>(s.m * s.n * s.k);
  std::printf("%5ld %5ld %5ld  %10.1f us %6.1f GF/s", s.m, s.n, s.k,
              result.rlxSeconds * 1e6, flops / result.rlxSeconds * 1e-9);
  for (const PeerResult &peer : result.peers)
    std::printf("   %s %10.1f us  x%.2f [%.2f, %.2f]", peer.peer.c_str(),
                peer.medianSeconds * 1e6, peer.ratio.median, peer.ratio.low,
                peer.ratio.high);
  std::printf("\n");
  std::fflush(stdout);
}

static bool
writeJson(const Options &options, const std::vector<ShapeResult> &results,
          const std::vector<std::unique_ptr<GemmImplementation>> &peers) {
  std::ofstream file(options.jsonPath);
  file << "{\"benchmark\": \"gemm\", \"cpu\": \"" << cpuModel()
       << "\", \"cpu_class\": \"" << options.cpuClass
       << "\", \"rounds\": " << options.rounds << ", \"peers\": [";
  for (size_t i = 0; i < peers.size(); ++i)
    file << (i ? ", " : "") << "{\"name\": \"" << peers[i]->name()
         << "\", \"version\": \"" << peers[i]->version()
         << "\", \"geomean_ratio\": " << geometricMean(results, i) << "}";
  file << "], \"shapes\": [";
  for (size_t i = 0; i < results.size(); ++i) {
    const ShapeResult &result = results[i];
    file << (i ? ",\n" : "\n") << "  {\"m\": " << result.shape.m
         << ", \"n\": " << result.shape.n << ", \"k\": " << result.shape.k
         << ", \"rlx_ns\": " << result.rlxSeconds * 1e9 << ", \"peers\": [";
    for (size_t j = 0; j < result.peers.size(); ++j) {
      const PeerResult &peer = result.peers[j];
      file << (j ? ", " : "") << "{\"name\": \"" << peer.peer
           << "\", \"median_ns\": " << peer.medianSeconds * 1e9
           << ", \"ratio_median\": " << peer.ratio.median
           << ", \"ratio_low\": " << peer.ratio.low
           << ", \"ratio_high\": " << peer.ratio.high << "}";
    }
    file << "]}";
  }
  file << "\n]}\n";
  file.close();
  return file.good();
}

static std::vector<int64_t> parseList(const char *text) {
  std::vector<int64_t> values;
  for (const char *rest = text; *rest;) {
    char *end;
    long value = std::strtol(rest, &end, 10);
    if (end == rest || value < 1 || (*end && *end != ',')) {
      std::fprintf(stderr, "error: '%s' is not a list of positive numbers\n",
                   text);
      std::exit(2);
    }
    values.push_back(value);
    rest = *end ? end + 1 : end;
  }
  return values;
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--help") {
      std::fputs(usage, stdout);
      std::exit(0);
    }
    if (i + 1 == argc) {
      std::fprintf(stderr, "error: %s needs a value\n%s", flag.c_str(), usage);
      std::exit(2);
    }
    const char *value = argv[++i];
    if (flag == "--m")
      options.rows = parseList(value);
    else if (flag == "--nk")
      options.sizes = parseList(value);
    else if (flag == "--rounds")
      options.rounds = static_cast<int>(parseList(value).at(0));
    else if (flag == "--placements")
      options.placements = static_cast<int>(parseList(value).at(0));
    else if (flag == "--round-ms")
      options.roundSeconds = static_cast<double>(parseList(value).at(0)) * 1e-3;
    else if (flag == "--cpu-class")
      options.cpuClass = value;
    else if (flag == "--json")
      options.jsonPath = value;
    else {
      std::fprintf(stderr, "error: unknown option %s\n%s", flag.c_str(), usage);
      std::exit(2);
    }
  }
  return options;
}

/// The peers read these variables before main(): one OpenMP thread, and the
/// instructions of the class that RLX uses.
static void restartWithPeerSettings(const Options &options, char **argv) {
  constexpr const char *marker = "RLX_BENCH_RESTARTED";
  if (std::getenv(marker))
    return;
  setenv(marker, "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("DNNL_MAX_CPU_ISA");
  if (options.cpuClass == "x86-64-v3") {
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
  }
  execv("/proc/self/exe", argv);
  std::perror("error: cannot restart with the settings of the peers");
  std::exit(1);
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  restartWithPeerSettings(options, argv);
  std::string error;
  std::unique_ptr<GemmImplementation> rlx = makeRlx(options.cpuClass, error);
  if (!rlx) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 1;
  }
  auto peers = makePeers();

  std::printf("%s; rlx %s", cpuModel().c_str(), rlx->version().c_str());
  for (auto &peer : peers)
    std::printf("; %s %s", peer->name().c_str(), peer->version().c_str());
  for (const std::string &missing : missingPeers())
    std::printf("; built without %s", missing.c_str());
  std::printf("\none thread, %d rounds, x = peer time / rlx time within a "
              "round: median [quartiles]\n    m     n     k\n",
              options.rounds);

  std::vector<ShapeResult> results;
  for (int64_t rows : options.rows)
    for (int64_t size : options.sizes) {
      results.push_back(measure({rows, size, size}, *rlx, peers, options));
      print(results.back());
    }
  for (size_t i = 0; i < peers.size(); ++i)
    std::printf("geometric mean vs %s: x%.3f over %zu shapes\n",
                peers[i]->name().c_str(), geometricMean(results, i),
                results.size());
  if (!options.jsonPath.empty() && !writeJson(options, results, peers)) {
    std::fprintf(stderr, "error: %s: cannot write\n", options.jsonPath.c_str());
    return 1;
  }
  return 0;
}
