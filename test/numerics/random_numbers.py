# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random ops: new numbers at every forward, never folded, never hoisted."""
import numpy as np

from differential import classes, feed, weights_of
from rlxtest import tools
from rlxtest.compare import EXACT, describe_bit_difference
from rlxtest.graph import Graph, Sym, binary
from rlxtest.runner import case
from rlxtest.runtime import Program

NORMAL = {"RngNormal": {"mean": 1.5, "scale": 0.5, "key": 7, "op_seed": 3}}
UNIFORM = {"RngUniform": {"low": -2.0, "high": 6.0, "key": 8, "op_seed": None}}
COUNT = 200_000


def random_only():
    graph = Graph("random")
    for name, op in (("normal", NORMAL), ("uniform", UNIFORM)):
        graph.output(graph.add(op, [], "F32", (COUNT,), None, name), EXACT)
    # The same attributes under another key.
    other = {"RngNormal": {**NORMAL["RngNormal"], "key": 9}}
    graph.output(graph.add(other, [], "F32", (COUNT,), None, "other"), EXACT)
    return graph.to_json()


@case("random-distribution", covers=("RngNormal", "RngUniform"))
def distribution(test):
    path = tools.bake(test, random_only()).path
    with Program(test.options, path) as program, program.session(seed=1) as session:
        first, second = session.run({}), session.run({})
        for name in ("normal", "uniform", "other"):
            test.check(np.mean(first[name] == second[name]) < 0.01,
                       f"{name}: a second forward gives other numbers")
        # Five standard errors of each statistic.
        error = 5 / np.sqrt(COUNT)
        normal, uniform = first["normal"].astype(np.float64), first["uniform"].astype(np.float64)
        test.check(abs(normal.mean() - 1.5) < 0.5 * error, "normal: mean", f"{normal.mean()}")
        test.check(abs(normal.std() - 0.5) < 0.5 * error, "normal: deviation", f"{normal.std()}")
        z = (normal - 1.5) / 0.5
        test.check(abs(np.mean(z**3)) < np.sqrt(15) * error, "normal: skew", f"{np.mean(z**3)}")
        test.check(abs(np.mean(z**4) - 3) < np.sqrt(96) * error, "normal: fourth moment",
                   f"{np.mean(z**4)}")
        test.check(np.isfinite(normal).all() and np.abs(z).max() < 7, "normal: finite")
        test.check(uniform.min() >= -2 and uniform.max() < 6, "uniform: within [low, high)",
                   f"[{uniform.min()}, {uniform.max()}]")
        counts, _ = np.histogram(uniform, 64, (-2, 6))
        chi = float(((counts - COUNT / 64) ** 2 / (COUNT / 64)).sum())
        test.check(20 < chi < 130, "uniform: chi-squared of 63 degrees of freedom", f"{chi}")
        test.check(abs(np.corrcoef(normal[:-1], normal[1:])[0, 1]) < error,
                   "normal: neighbours do not correlate")
        test.check(abs(np.corrcoef(normal, first["other"])[0, 1]) < error,
                   "normal: another key does not correlate")


@case("random-reproducible", covers=("RngNormal", "RngUniform", "seed"))
def reproducible(test):
    """A function of seed, forward and element: not of threads or CPU class."""
    path = tools.bake(test, random_only()).path
    expected = None
    for name in classes():
        for threads in (1, 2):
            with Program(test.options, path, name) as program, \
                    program.session(threads=threads, seed=5) as session:
                outputs = [session.run({}) for _ in range(3)]
                expected = expected or outputs
                for forward in range(3):
                    for key in outputs[forward]:
                        test.none(describe_bit_difference(outputs[forward][key],
                                                          expected[forward][key]),
                                  f"{name}, {threads} threads, forward {forward}, '{key}'")
    with Program(test.options, path) as program, program.session(seed=6) as session:
        test.check(np.mean(session.run({})["normal"] == expected[0]["normal"]) < 0.01,
                   "another seed gives other numbers")


def noisy():
    """x + w * noise: nothing here is weight-only but w itself."""
    graph = Graph("noisy")
    w = graph.leaf("w", (5, 17))
    noise = graph.add(UNIFORM, [], "F32", (5, 17), None)
    scaled = binary(graph, "Mul", np.multiply, w, noise)
    graph.output(binary(graph, "Add", np.add, graph.leaf("x", (5, 17)), scaled, "y"), EXACT)
    values = feed(graph, np.random.default_rng(51), None)
    return graph, values


@case("random-not-hoisted", covers=("RngUniform", "prepare_runs"))
def not_hoisted(test):
    graph, values = noisy()
    text = graph.to_json(params=("w",))
    for how, weights in (("bound", weights_of(graph, {"w": values["w"]})), ("open", None)):
        path = tools.bake(test, text, weights, name=how).path
        with Program(test.options, path) as program, program.session() as session:
            if weights is None:
                session.set_param("w", values["w"])
            outputs = [session.run({"x": values["x"]})["y"] for _ in range(4)]
            for a in range(4):
                for b in range(a):
                    test.check(np.mean(outputs[a] == outputs[b]) < 0.2,
                               f"weights {how}: forwards {b} and {a} differ")
            noise = (outputs[0].astype(np.float64) - values["x"]) / values["w"]
            test.check(noise.min() > -2.1 and noise.max() < 6.1, f"weights {how}: range of noise")
            test.equal(program.prepare_functions(), [], f"weights {how}: nothing to prepare")


@case("random-dynamic", covers=("RngNormal",))
def dynamic(test):
    """Noise of a dynamic shape."""
    n = Sym(0)
    graph = Graph("random-dynamic")
    x = graph.leaf("x", (n, 3))
    noise = graph.add(NORMAL, [], "F32", (n, 3), None)
    graph.output(binary(graph, "Sub", np.subtract, noise, x, "y"), EXACT)
    path = tools.bake(test, graph.to_json()).path
    with Program(test.options, path) as program, program.session() as session:
        for size in (1, 65, 0, 1025):
            y = session.run({"x": np.zeros((size, 3), np.float32)})["y"]
            test.equal(y.shape, (size, 3), f"shape of {size} rows")
            test.check(size == 0 or 0 < np.abs(y - 1.5).max() < 4, f"values of {size} rows")
