# SPDX-License-Identifier: MIT OR Apache-2.0
"""rlx-run as a user types it: arrays in and out, comparisons, statistics."""
import json

import numpy as np

from differential import check_close, classes, weights_of
from rlxtest import tools
from rlxtest.compare import Tolerance, describe_bit_difference
from rlxtest.graph import Graph, Sym, binary, matmul, unary
from rlxtest.runner import case
from rlxtest.runtime import Program

REPORT_KEYS = ("nodes_before nodes_after params_baked params_remaining skipped_zero_matmuls "
               "ternary_packed quant_packed constants_deduped weight_bytes raw_weight_bytes "
               "weights").split()
WEIGHT_KEYS = "name shape dtype encoding bytes raw_bytes lossless max_abs_error note".split()
STATS_KEYS = ("runs prepare_runs prepare_components_run weight_bytes_copied h2d_bytes_per_run "
              "load_ns first_run_ns median_run_ns arena_bytes peak_rss_bytes").split()


def classifier():
    """tanh(x w + b) for any batch, with an output of another type beside it."""
    graph = Graph("classifier")
    x = graph.leaf("x", (Sym(0), 17))
    y = binary(graph, "Add", np.add, matmul(graph, x, graph.leaf("w", (17, 5))),
               graph.leaf("b", (5,)))
    graph.output(unary(graph, "Tanh", np.tanh, y, "y"), Tolerance(1e-5, 1e-6))
    graph.output(graph.add({"Cast": {"to": "F64"}}, [x], "F64", x.dims, lambda v: v, "wide"),
                 Tolerance())
    rng = np.random.default_rng(101)
    values = {"x": rng.uniform(-1, 1, (3, 17)), "w": rng.uniform(-1, 1, (17, 5)),
              "b": rng.uniform(-1, 1, 5)}
    return graph, {name: value.astype(np.float32) for name, value in values.items()}


@case("command-line", covers=("rlx-run", "--expect", "--stats", "--report"))
def command_line(test):
    graph, values = classifier()
    weights = {n: values[n] for n in ("w", "b")}
    baked = tools.bake(test, graph.to_json(params=weights), weights_of(graph, weights))
    for key in REPORT_KEYS:
        test.check(key in baked.report, f"the report has '{key}'")
    for row in baked.report["weights"]:
        for key in WEIGHT_KEYS:
            test.check(key in row, f"weight '{row.get('name')}' of the report has '{key}'")
    test.equal(baked.report["params_baked"], 2, "params_baked")
    test.equal(baked.report["raw_weight_bytes"], (17 * 5 + 5) * 4, "raw_weight_bytes")

    np.save(test.path("x.npy"), values["x"])
    command = [baked.path, "--input", f"x=@{test.path('x.npy')}"]
    outputs = {}
    for name in classes():
        result = tools.run(test.options, "rlx-run", *command,
                           *(f"--output={n}=@{test.path(n + '.npy')}" for n in ("y", "wide")),
                           "--stats", test.path("stats.json"), "--repeat", "5",
                           env={"RLX_CPU_CLASS": name})
        if not test.equal(result.code, 0, f"rlx-run for {name}: {result}"):
            return
        got = {n: np.load(test.path(f"{n}.npy")) for n in ("y", "wide")}
        check_close(test, graph, got, values, name)
        outputs[name] = got
    with Program(test.options, baked.path) as program, program.session() as session:
        library = session.run({"x": values["x"]})
    for name, got in outputs.items():
        for key in got:
            test.none(describe_bit_difference(got[key], library[key]), f"{name} '{key}'")
    with open(test.path("stats.json")) as file:
        statistics = json.load(file)
    for key in STATS_KEYS:
        test.check(isinstance(statistics.get(key), int), f"the statistics have '{key}'")
    test.equal(statistics["runs"], 5, "runs")

    np.save(test.path("near.npy"), library["y"] + np.float32(1e-4))
    for tolerance, code in (("1e-3", 0), ("1e-5", 1)):
        result = tools.run(test.options, "rlx-run", *command, "--expect",
                           f"y=@{test.path('near.npy')}", "--rtol", "0", "--atol", tolerance)
        test.equal(result.code, code, f"--expect with atol {tolerance}: {result}")
    test.check("\nerror: output 'y'" in result.err, "a failed comparison names the output",
               result.err)
    np.save(test.path("nan.npy"), np.full((3, 5), np.nan, np.float32))
    result = tools.run(test.options, "rlx-run", *command, "--expect", f"y=@{test.path('nan.npy')}",
                       "--rtol", "1", "--atol", "1e30")
    test.equal(result.code, 1, f"NaN is not close to a number: {result}")


@case("command-line-random", covers=("--random-inputs", "--seed", "--shape", "--threads"))
def random_inputs(test):
    """A seed stands for the same inputs, whatever the threads."""
    graph, values = classifier()
    weights = {n: values[n] for n in ("w", "b")}
    path = tools.bake(test, graph.to_json(params=weights), weights_of(graph, weights)).path

    def forward(*flags):
        out = test.path("y.npy")
        result = tools.run(test.options, "rlx-run", path, "--random-inputs",
                           "--output", f"y=@{out}", *flags)
        test.equal(result.code, 0, f"rlx-run {flags}: {result}")
        return np.load(out)

    first = forward("--seed", "7", "--shape", "batch=8")
    test.equal(first.shape, (8, 5), "--shape batch=8")
    test.equal(forward("--seed", "7", "--shape", "x=8,17").shape, (8, 5), "--shape x=8,17")
    test.none(describe_bit_difference(forward("--seed", "7", "--shape", "batch=8", "--threads",
                                              "2"), first), "the same seed, two threads")
    test.check(not np.array_equal(forward("--seed", "8", "--shape", "batch=8"), first),
               "another seed gives other inputs")
    for flags in (("--shape", "x=8,16"), ("--shape", "batch=-1"), ("--shape", "rows=3")):
        result = tools.run(test.options, "rlx-run", path, "--random-inputs", *flags)
        test.check(result.code in (1, 2) and result.err.strip(), f"refuses {flags}", str(result))
    result = tools.run(test.options, "rlx-run", path, "--random-inputs", "--shape", "batch=8",
                       "--bench")
    test.equal(result.code, 0, f"--bench: {result}")
    test.check("ns" in result.out + result.err or "us" in result.out + result.err or
               "ms" in result.out + result.err, "--bench prints times", str(result))
