# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs one graph in every way that must give the same bits, and compares the
result with NumPy in float64."""
import numpy as np

from rlxtest import dtypes, tools
from rlxtest.compare import describe_bit_difference, describe_difference
from rlxtest.runtime import CPU_CLASSES, Program, host_supports


def classes():
    """The CPU classes this machine can run, best first."""
    return [c for c in CPU_CLASSES if host_supports(c)]


def feed(graph, rng, shapes, ranges=None):
    """Random values for all leaves, as stored."""
    values = {}
    for name, node in graph.leaves.items():
        shape = shapes[name] if isinstance(shapes, dict) else node.dims
        low, high = (ranges or {}).get(name, (-4.0, 4.0))
        values[name] = draw(rng, node.dtype, shape, low, high)
    return values


def draw(rng, dtype, shape, low=-4.0, high=4.0):
    if dtype == "Bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in dtypes.INTEGERS:
        info = np.iinfo(dtypes.NUMPY[dtype])
        # The ends of the range are where wrap-around shows.
        full = rng.integers(info.min, info.max, shape, dtype=info.dtype, endpoint=True)
        small = rng.integers(max(info.min, -9), 10, shape).astype(info.dtype)
        ends = np.where(rng.integers(0, 2, shape) == 0, info.min, info.max).astype(info.dtype)
        return np.choose(rng.choice(3, shape, p=(0.4, 0.5, 0.1)), (full, small, ends))
    return dtypes.narrow(dtype, rng.uniform(low, high, shape))


def weights_of(graph, values):
    return {name: (graph.leaves[name].dtype, value) for name, value in values.items()}


def run_all(program, inputs, params=None, threads=1, fence=False):
    with program.session(threads=threads) as session:
        for name, value in (params or {}).items():
            session.set_param(name, value)
        return session.run(inputs, fence), session.statistics()


def check_same(test, actual, expected, what):
    for name, array in expected.items():
        test.none(describe_bit_difference(actual[name], array), f"{what}, output '{name}'")


def check_close(test, graph, actual, values, what):
    expected = graph.reference(values)
    for node, tolerance in graph.outputs:
        test.none(describe_difference(node.dtype, actual[node.name], expected[node.name],
                                      tolerance), f"{what}, output '{node.name}'")


def differential(test, graph, feeds, weights=None, static_feed=0):
    """`feeds`: one dict of arrays per set of sizes, all through one program.

    `weights`: leaves that are weights in the second half, by default all. There
    the graph has the static shapes of feeds[static_feed]. Same bits are expected
    of: both CPU classes, one and two threads, weights bound at bake (folded),
    left open and hoisted, and left open with --no-hoist.
    """
    base = tools.bake(test, graph.to_json(), name=f"{graph.name}-run")
    best = classes()[0]
    first = {}
    with Program(test.options, base.path, best) as program:
        for number, values in enumerate(feeds):
            sizes = {n: list(v.shape) for n, v in values.items()}
            what = f"{graph.name} {sizes}" if len(feeds) > 1 else graph.name
            outputs, _ = run_all(program, values)
            check_close(test, graph, outputs, values, what)
            first[number] = outputs
            check_same(test, run_all(program, values, threads=2, fence=True)[0], outputs,
                       f"{what}: 2 threads on fenced buffers and 1")
    for other in classes()[1:]:
        with Program(test.options, base.path, other) as program:
            for number, values in enumerate(feeds):
                check_same(test, run_all(program, values, fence=True)[0], first[number],
                           f"{graph.name}: {other} and {best}, feed {number}")
    as_weights(test, graph, feeds[static_feed], first[static_feed],
               set(graph.leaves) if weights is None else set(weights))


def as_weights(test, graph, values, expected, weights):
    """The three ways in which weights may come must give the bits `expected`."""
    sizes = graph.symbols({n: v.shape for n, v in values.items()})
    text = graph.to_json(params=weights, sizes=sizes)
    params = {n: v for n, v in values.items() if n in weights}
    inputs = {n: v for n, v in values.items() if n not in weights}

    bound = tools.bake(test, text, weights_of(graph, params), name=f"{graph.name}-bound")
    test.equal(bound.report["params_remaining"], [], f"{graph.name}: params left after binding")
    with Program(test.options, bound.path) as program:
        outputs, statistics = run_all(program, inputs)
        check_same(test, outputs, expected, f"{graph.name}: folded and run")
        test.equal(statistics["prepare_runs"], 0, f"{graph.name}: prepare runs after folding")

    hoisted = tools.bake(test, text, name=f"{graph.name}-open")
    with Program(test.options, hoisted.path) as program:
        outputs, _ = run_all(program, inputs, params)
        check_same(test, outputs, expected, f"{graph.name}: hoisted and run")

    plain = tools.bake(test, text, flags=["--no-hoist"], name=f"{graph.name}-no-hoist")
    with Program(test.options, plain.path) as program:
        outputs, statistics = run_all(program, inputs, params)
        check_same(test, outputs, expected, f"{graph.name}: --no-hoist and run")
        test.equal(statistics["prepare_runs"], 0, f"{graph.name}: prepare runs with --no-hoist")
