# SPDX-License-Identifier: MIT OR Apache-2.0
"""Matrix products, with what is fused behind them."""
import numpy as np

from differential import as_weights, check_close, classes, differential, feed, run_all
from rlxtest import tools
from rlxtest.compare import Tolerance
from rlxtest.graph import Graph, Sym, binary, matmul, transpose, unary
from rlxtest.runner import case
from rlxtest.runtime import Program


def tolerance(k):
    """Factors are below 1, and each of the k steps rounds a partial sum to 24
    bits; partial sums of random terms stay well below k/4."""
    return Tolerance(relative=1e-6, absolute=max(k, 1) * 2.0**-24)


UNIT = (-1.0, 1.0)
STATIC = [((1, 1), (1, 1)), ((3, 5), (5, 17)), ((17, 63), (63, 65)), ((129, 65), (65, 63)),
          ((5, 129), (129, 1)), ((1, 513), (513, 129)), ((65, 1025), (1025, 65)),
          ((63, 512), (512, 64)), ((2, 4), (4, 3)), ((0, 5), (5, 3)), ((3, 0), (0, 5)),
          ((3, 5), (5, 0)), ((2, 3, 5), (5, 7)), ((2, 3, 5), (2, 5, 7)),
          ((3, 1, 4, 5), (2, 5, 7)), ((4, 5), (3, 5, 2)), ((0, 3, 4), (4, 5)),
          ((2, 3, 1, 5, 6), (1, 2, 6, 3))]


@case("matmul-static", covers=("MatMul",))
def matmul_static(test):
    graph = Graph("matmul-static")
    for number, (a, b) in enumerate(STATIC):
        lhs, rhs = graph.leaf(f"a{number}", a), graph.leaf(f"b{number}", b)
        graph.output(matmul(graph, lhs, rhs, f"y{number}"), tolerance(a[-1]))
    ranges = {name: UNIT for name in graph.leaves}
    values = feed(graph, np.random.default_rng(21), None, ranges)
    differential(test, graph, [values])
    # Again with one side as a weight: what is left to run reads packed panels.
    with Program(test.options, tools.bake(test, graph.to_json()).path) as program:
        expected, _ = run_all(program, values)
    for side in "ab":
        graph.name = f"matmul-static-weight-{side}"
        as_weights(test, graph, values, expected, {n for n in graph.leaves if n[0] == side})


@case("matmul-dynamic", covers=("MatMul",))
def matmul_dynamic(test):
    n, k, m, batch = Sym(0), Sym(1), Sym(2), Sym(3)
    graph = Graph("matmul-dynamic")
    # k in the tolerance: the longest of the feeds below.
    for name, a, b, depth in (("rows", (n, 65), (65, 129), 65), ("all", (n, k), (k, m), 129),
                              ("batch", (batch, 3, 5), (batch, 5, 7), 5),
                              ("outer", (batch, 1, n, 5), (4, 5, m), 5),
                              ("shared", (batch, n, 17), (17, 63), 17)):
        lhs, rhs = graph.leaf(f"a_{name}", a), graph.leaf(f"b_{name}", b)
        graph.output(matmul(graph, lhs, rhs, f"y_{name}"), tolerance(depth))
    rng = np.random.default_rng(22)
    feeds = []
    for sizes in ((3, 5, 17, 2), (1, 1, 1, 1), (65, 129, 63, 3), (0, 5, 3, 2), (5, 0, 3, 1),
                  (17, 63, 0, 2), (129, 65, 65, 0)):
        size = dict(zip((n, k, m, batch), sizes))
        shapes = {name: tuple(size.get(d, d) for d in node.dims)
                  for name, node in graph.leaves.items()}
        feeds.append(feed(graph, rng, shapes, {name: UNIT for name in graph.leaves}))
    differential(test, graph, feeds)


@case("matmul-epilogue", covers=("MatMul", "Add", "Relu", "Gelu", "Transpose"))
def matmul_epilogue(test):
    """Bias, activation, residual, scales and transposes around products, batch
    dynamic, weights as weights."""
    from elementwise import UNARY, sigmoid
    n = Sym(0)
    graph = Graph("matmul-epilogue")
    x = graph.leaf("x", (n, 65))
    skip = graph.leaf("skip", (n, 63))
    relu, gelu = UNARY["Relu"][0], UNARY["Gelu"][0]
    weights, close = [], Tolerance(1e-5, 1e-5)

    def weight(name, *dims):
        weights.append(name)
        return graph.leaf(name, dims)

    def product(name, lhs=x, columns=63):
        return matmul(graph, lhs, weight(f"w_{name}", lhs.dims[-1], columns))

    for name, shape in (("row", (63,)), ("row2", (1, 63)), ("scalar", ()), ("one", (1,))):
        y = binary(graph, "Add", np.add, product(f"bias_{name}"), weight(f"b_{name}", *shape))
        graph.output(unary(graph, "Relu", relu, y, f"y_bias_{name}"), close)
    y = binary(graph, "Add", np.add, weight("b_left", 63), product("bias_left"))
    graph.output(unary(graph, "Gelu", gelu, y, "y_bias_left"), close)
    y = binary(graph, "Add", np.add, product("residual"), skip)
    graph.output(unary(graph, "Sigmoid", sigmoid, y, "y_residual"), close)
    # Two readers of one product: it may not be overwritten by either.
    y = product("twice")
    graph.output(unary(graph, "Relu", relu, y, "y_twice_relu"), close)
    graph.output(binary(graph, "Mul", np.multiply, y, weight("s_twice", 63), "y_twice_scaled"),
                 close)
    graph.output(binary(graph, "Sub", np.subtract, weight("b_sub", 63), product("sub"), "y_sub"),
                 close)
    # The product of a chain is the left operand of the next one.
    y = x
    for layer, columns in enumerate((129, 17, 5)):
        y = binary(graph, "Add", np.add, product(f"chain{layer}", y, columns),
                   weight(f"b_chain{layer}", columns))
        y = unary(graph, "Relu", relu, y, f"y_chain{layer}")
    graph.output(y, Tolerance(1e-4, 1e-4))
    w = transpose(graph, weight("w_transposed", 63, 65), (1, 0))
    graph.output(matmul(graph, x, w, "y_transposed"), close)
    w = binary(graph, "Mul", np.multiply, weight("w_scaled", 65, 63), weight("s_scaled", 63))
    graph.output(matmul(graph, x, w, "y_scaled"), close)
    # A weight on the left, a transposed activation, an activation on both sides.
    graph.output(matmul(graph, weight("w_left", 5, 65), transpose(graph, x, (1, 0)), "y_left"),
                 close)
    graph.output(matmul(graph, x, transpose(graph, x, (1, 0)), "y_gram"), close)
    ranges = {name: UNIT for name in graph.leaves}
    rng = np.random.default_rng(23)
    shared = feed(graph, rng, {name: tuple(1 if isinstance(d, Sym) else d for d in node.dims)
                               for name, node in graph.leaves.items()}, ranges)
    feeds = []
    for size in (17, 1, 3, 129, 0):
        values = dict(shared)
        values["x"] = rng.uniform(-1, 1, (size, 65)).astype(np.float32)
        values["skip"] = rng.uniform(-1, 1, (size, 63)).astype(np.float32)
        feeds.append(values)
    differential(test, graph, feeds, weights)
    dynamic_with_weights(test, graph, feeds, weights)


def dynamic_with_weights(test, graph, feeds, weights):
    """All batch sizes through one program whose weights are bound, and one whose
    weights are open and prepared once."""
    values = {n: (graph.leaves[n].dtype, feeds[0][n]) for n in weights}
    text = graph.to_json(params=weights)
    for how, bound in (("bound", values), ("open", None)):
        baked = tools.bake(test, text, bound, name=f"dynamic-{how}")
        for name in classes():
            with Program(test.options, baked.path, name) as program, \
                    program.session() as session:
                for weight in weights if how == "open" else ():
                    session.set_param(weight, feeds[0][weight])
                for batch in feeds:
                    outputs = session.run({n: v for n, v in batch.items() if n not in weights})
                    check_close(test, graph, outputs, batch,
                                f"weights {how}, batch {len(batch['x'])}, {name}")
                test.equal(session.statistics()["prepare_runs"], 1 if how == "open" else 0,
                           f"weights {how}, {name}: prepare runs")


@case("matmul-large", covers=("MatMul", "threads"))
def matmul_large(test):
    """Big enough that two threads really share the work, over three K blocks."""
    n = Sym(0)
    graph = Graph("matmul-large")
    x, w = graph.leaf("x", (n, 1100)), graph.leaf("w", (1100, 650))
    y = binary(graph, "Add", np.add, matmul(graph, x, w), graph.leaf("b", (650,)))
    graph.output(unary(graph, "Relu", lambda v: np.maximum(v, 0), y, "y"), tolerance(1100))
    rng = np.random.default_rng(24)
    ranges = {name: UNIT for name in graph.leaves}
    shared = feed(graph, rng, {"x": (1, 1100), "w": (1100, 650), "b": (650,)}, ranges)
    feeds = [{**shared, "x": rng.uniform(-1, 1, (size, 1100)).astype(np.float32)}
             for size in (200, 1, 16)]
    differential(test, graph, feeds, ["w", "b"])


@case("matmul-half", covers=("MatMul", "F16", "BF16"))
def matmul_half(test):
    """Half types are products of f32 sums, rounded once."""
    graph = Graph("matmul-half")
    for dtype, unit in (("F16", 2.0**-11), ("BF16", 2.0**-8)):
        for number, (a, b) in enumerate((((17, 63), (63, 65)), ((3, 5), (5, 1)))):
            lhs = graph.leaf(f"a_{dtype}_{number}", a, dtype)
            rhs = graph.leaf(f"b_{dtype}_{number}", b, dtype)
            graph.output(matmul(graph, lhs, rhs, f"y_{dtype}_{number}"),
                         Tolerance(unit * 1.01, a[-1] * 2.0**-24))
    ranges = {name: UNIT for name in graph.leaves}
    differential(test, graph, [feed(graph, np.random.default_rng(25), None, ranges)])
