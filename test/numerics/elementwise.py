# SPDX-License-Identifier: MIT OR Apache-2.0
"""Elementwise ops on floats."""
import math

import numpy as np

from differential import differential, draw, feed
from rlxtest import dtypes, tools
from rlxtest.compare import EXACT, Tolerance
from rlxtest.graph import Graph, Sym, binary, unary
from rlxtest.runner import case

# How f32 results may differ from float64. EXACT: the float64 result rounded
# once, which holds for what IEEE 754 rounds itself.
CLOSE = Tolerance(relative=1e-6, absolute=1e-6)
erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(x, 0)


def tanh_gelu(x):
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


# kind: (reference, low, high, tolerance)
UNARY = {
    "Gelu": (lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, -8, 8, CLOSE),
    "GeluApprox": (tanh_gelu, -8, 8, CLOSE),
    "Silu": (lambda x: x * sigmoid(x), -20, 20, CLOSE),
    "Relu": (lambda x: np.maximum(x, 0), -4, 4, EXACT),
    "Sigmoid": (sigmoid, -20, 20, CLOSE),
    "Tanh": (np.tanh, -10, 10, CLOSE),
    "Exp": (np.exp, -20, 20, CLOSE),
    "Log": (np.log, 1e-3, 50, CLOSE),
    "Sqrt": (np.sqrt, 0, 100, EXACT),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), 1e-3, 100, Tolerance(relative=2.4e-7)),
    "Neg": (np.negative, -4, 4, EXACT),
    "Abs": (np.abs, -4, 4, EXACT),
    "Sin": (np.sin, -30, 30, CLOSE),
    "Cos": (np.cos, -30, 30, CLOSE),
    "Tan": (np.tan, -1.5, 1.5, Tolerance(relative=3e-6, absolute=1e-6)),
    "Atan": (np.arctan, -20, 20, CLOSE),
    "Recip": (lambda x: 1 / x, 0.01, 50, EXACT),
    "Round": (np.rint, -9, 9, EXACT),
    "Floor": (np.floor, -9, 9, EXACT),
    "Ceil": (np.ceil, -9, 9, EXACT),
    "Sign": (np.sign, -4, 4, EXACT),
    "Softplus": (softplus, -20, 20, CLOSE),
    "Elu": (lambda x: np.where(x > 0, x, np.expm1(x)), -8, 8, CLOSE),
    "Erf": (erf, -5, 5, CLOSE),
    "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -6, 6, CLOSE),
    "HardSigmoid": (lambda x: np.clip(x / 6 + 0.5, 0, 1), -6, 6, CLOSE),
    "Mish": (lambda x: x * np.tanh(softplus(x)), -15, 15, Tolerance(2e-6, 2e-6)),
    "Softsign": (lambda x: x / (1 + np.abs(x)), -8, 8, CLOSE),
    "LogSigmoid": (lambda x: -softplus(-x), -20, 20, CLOSE),
}

# kind: (reference, range of lhs, range of rhs, tolerance)
BINARY = {
    "Add": (np.add, (-4, 4), (-4, 4), EXACT),
    "Sub": (np.subtract, (-4, 4), (-4, 4), EXACT),
    "Mul": (np.multiply, (-4, 4), (-4, 4), EXACT),
    "Div": (np.divide, (-4, 4), (0.1, 4), EXACT),
    "Max": (np.maximum, (-4, 4), (-4, 4), EXACT),
    "Min": (np.minimum, (-4, 4), (-4, 4), EXACT),
    "Pow": (np.power, (0.1, 5), (-4, 4), Tolerance(1e-5, 1e-6)),
    "Mod": (np.fmod, (-40, 40), (0.5, 4), EXACT),
    "Atan2": (np.arctan2, (-4, 4), (-4, 4), CLOSE),
}

SIZES = (1, 3, 5, 17, 63, 65, 129)
STATIC_SHAPES = [(), (1,), (3,), (63,), (129,), (0,), (5, 17), (1, 65), (0, 3), (3, 0, 2),
                 (3, 5, 17), (1, 1, 63), (2, 3, 5, 7), (1, 0, 3, 1), (2, 1, 3, 2, 5)]


def shape_text(shape):
    return "x".join(map(str, shape)) or "scalar"


@case("unary-dynamic", covers=UNARY)
def unary_dynamic(test):
    """One program, one dynamic dim, all sizes; the longest run uses threads."""
    graph = Graph("unary-dynamic")
    ranges = {}
    for kind, (reference, low, high, tolerance) in UNARY.items():
        leaf = graph.leaf(f"x_{kind}", [Sym(0)])
        ranges[leaf.name] = (low, high)
        graph.output(unary(graph, kind, reference, leaf, f"y_{kind}"), tolerance)
    rng = np.random.default_rng(1)
    feeds = [feed(graph, rng, {name: (size,) for name in graph.leaves}, ranges)
             for size in SIZES + (0, 50021)]
    differential(test, graph, feeds, static_feed=SIZES.index(65))


@case("unary-static", covers=UNARY)
def unary_static(test):
    """Every kind on a third of the static shapes, so that each shape meets many
    kinds."""
    graph = Graph("unary-static")
    ranges = {}
    for index, (kind, (reference, low, high, tolerance)) in enumerate(UNARY.items()):
        for shape in STATIC_SHAPES[index % 3::3]:
            leaf = graph.leaf(f"x_{kind}_{shape_text(shape)}", shape)
            ranges[leaf.name] = (low, high)
            graph.output(unary(graph, kind, reference, leaf, f"y_{kind}_{shape_text(shape)}"),
                         tolerance)
    values = feed(graph, np.random.default_rng(2), None, ranges)
    differential(test, graph, [values])


BROADCASTS = [((), ()), ((), (65,)), ((1,), (5,)), ((17,), ()), ((3, 1), (1, 17)),
              ((5, 63), (63,)), ((5, 63), (5, 1)), ((2, 3, 1, 5), (4, 5)), ((0, 3), (3,)),
              ((0,), (1,)), ((1, 3, 1, 2, 1), (2, 1, 5, 1, 7)), ((129,), (129,))]


@case("binary-static", covers=BINARY)
def binary_static(test):
    graph = Graph("binary-static")
    ranges = {}
    for index, (kind, (reference, left, right, tolerance)) in enumerate(BINARY.items()):
        for a, b in BROADCASTS[index % 2::2]:
            name = f"{kind}_{shape_text(a)}_{shape_text(b)}"
            lhs, rhs = graph.leaf(f"a_{name}", a), graph.leaf(f"b_{name}", b)
            ranges[lhs.name], ranges[rhs.name] = left, right
            graph.output(binary(graph, kind, reference, lhs, rhs, f"y_{name}"), tolerance)
    differential(test, graph, [feed(graph, np.random.default_rng(3), None, ranges)])


@case("binary-dynamic", covers=BINARY)
def binary_dynamic(test):
    """A symbol against itself, a static dim, and 1 in either operand."""
    n, m = Sym(0), Sym(1)
    pairs = [((n, m), (n, m)), ((n, 17), (17,)), ((n, 1), (1, m)), ((m,), (n, m)), ((), (n,)),
             ((n, 3, 1), (m,))]
    graph = Graph("binary-dynamic")
    ranges = {}
    for index, (kind, (reference, left, right, tolerance)) in enumerate(BINARY.items()):
        for number, (a, b) in enumerate(pairs):
            if (index + number) % 2:
                continue
            lhs = graph.leaf(f"a_{kind}_{number}", a)
            rhs = graph.leaf(f"b_{kind}_{number}", b)
            ranges[lhs.name], ranges[rhs.name] = left, right
            graph.output(binary(graph, kind, reference, lhs, rhs, f"y_{kind}_{number}"),
                         tolerance)
    rng = np.random.default_rng(4)

    def sized(first, second):
        return {name: tuple({n: first, m: second}.get(d, d) if isinstance(d, Sym) else d
                            for d in node.dims) for name, node in graph.leaves.items()}

    feeds = [feed(graph, rng, sized(*pair), ranges)
             for pair in ((3, 5), (1, 1), (5, 3), (65, 63), (17, 129), (0, 5), (4, 0), (257, 300))]
    differential(test, graph, feeds)


# Ops whose results at the edges follow from IEEE 754 or from their definition.
EDGE_UNARY = ("Relu", "Sqrt", "Neg", "Abs", "Recip", "Round", "Floor", "Ceil", "Sign", "Exp",
              "Log", "Tanh", "Sigmoid", "Erf", "Atan", "Sin", "Cos", "Softplus", "Elu", "Gelu",
              "Silu", "HardSwish", "HardSigmoid", "Softsign", "LogSigmoid", "Mish", "Rsqrt",
              "GeluApprox")
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-45,
                  -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38, 88.0, -88.0, 89.0, -104.0,
                  1e-30, 1e30, 8388609.0, -8388607.5, 16777216.0, 2147483648.0, -3e9],
                 np.float32)


def edge_values(kind):
    """Where rounding noise of the f32 formula is not the point, cut the range."""
    if kind in ("Sin", "Cos"):
        return EDGES[np.isnan(EDGES) | (np.abs(EDGES) < 100) | np.isinf(EDGES)]
    if kind in ("Silu", "Gelu", "GeluApprox", "Mish", "HardSwish"):
        # -inf * 0 is NaN by the formula, 0 by the limit: both are defensible.
        return EDGES[~np.isneginf(EDGES) & ~(np.abs(EDGES) > 1e20)]
    if kind == "Softsign":
        return EDGES[~np.isinf(EDGES)]
    return EDGES


@case("edges", covers=EDGE_UNARY + tuple(BINARY))
def edges(test):
    """Signed zeros, subnormals, infinities and NaN."""
    graph = Graph("edges")
    values = {}
    for kind in EDGE_UNARY:
        reference, _, _, tolerance = UNARY[kind]
        data = edge_values(kind)
        leaf = graph.leaf(f"x_{kind}", data.shape)
        values[leaf.name] = data
        if tolerance is not EXACT:
            tolerance = Tolerance(relative=3e-6, absolute=1e-6)
        graph.output(unary(graph, kind, reference, leaf, f"y_{kind}"), tolerance)
    column = np.ascontiguousarray(EDGES[:, None])
    for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Mod"):
        lhs, rhs = graph.leaf(f"a_{kind}", column.shape), graph.leaf(f"b_{kind}", EDGES.shape)
        values[lhs.name], values[rhs.name] = column, EDGES
        graph.output(binary(graph, kind, BINARY[kind][0], lhs, rhs, f"y_{kind}"), EXACT)
    powers = np.array([[-2, 3], [-2, 2], [-2, -1], [0, 0], [0, 3], [3, 0], [1, 50], [-1.5, 4],
                       [2, 10], [0.5, -3], [-8, 1 / 3], [np.inf, 2], [5, 1], [4, 0.5]],
                      np.float32)
    lhs, rhs = graph.leaf("a_Pow", (14,)), graph.leaf("b_Pow", (14,))
    values["a_Pow"], values["b_Pow"] = powers[:, 0].copy(), powers[:, 1].copy()
    graph.output(binary(graph, "Pow", np.power, lhs, rhs, "y_Pow"), Tolerance(1e-5, 1e-6))
    points = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [1, -1], [-1, -1], [-1, 1],
                       [1e-20, 1], [1, 1e-20], [3, -1e-20]], np.float32)
    lhs, rhs = graph.leaf("a_Atan2", (11,)), graph.leaf("b_Atan2", (11,))
    values["a_Atan2"], values["b_Atan2"] = points[:, 0].copy(), points[:, 1].copy()
    graph.output(binary(graph, "Atan2", np.arctan2, lhs, rhs, "y_Atan2"), CLOSE)
    differential(test, graph, [values])


# One rounding to the storage type after f32 arithmetic: half a unit in the last
# place, and a little because f32 has rounded before; near zero what f32 allows.
STORAGE = {"F16": Tolerance(2.0**-11 * 1.01, 1e-6), "BF16": Tolerance(2.0**-8 * 1.01, 1e-6)}


@case("half-storage", covers=("F16", "BF16"))
def half_storage(test):
    graph = Graph("half-storage")
    ranges = {}
    for dtype, tolerance in STORAGE.items():
        for kind in ("Relu", "Exp", "Tanh", "Sigmoid", "Gelu", "Sqrt", "Neg", "Abs"):
            reference, low, high, _ = UNARY[kind]
            leaf = graph.leaf(f"x_{dtype}_{kind}", (65,), dtype)
            # f16 ends at 65504.
            ranges[leaf.name] = (max(low, -10), min(high, 10))
            graph.output(unary(graph, kind, reference, leaf, f"y_{dtype}_{kind}"), tolerance)
        for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
            reference, left, right, _ = BINARY[kind]
            lhs = graph.leaf(f"a_{dtype}_{kind}", (5, 17), dtype)
            rhs = graph.leaf(f"b_{dtype}_{kind}", (17,), dtype)
            ranges[lhs.name], ranges[rhs.name] = left, right
            graph.output(binary(graph, kind, reference, lhs, rhs, f"y_{dtype}_{kind}"), tolerance)
    differential(test, graph, [feed(graph, np.random.default_rng(5), None, ranges)])


@case("double", covers=("F64",))
def double(test):
    """f64 is computed in f64, all of it rounded by the CPU itself."""
    graph = Graph("double")
    ranges = {}
    for kind in ("Relu", "Sqrt", "Neg", "Abs", "Floor", "Ceil", "Round", "Sign", "Recip",
                 "HardSigmoid", "HardSwish"):
        reference, low, high, tolerance = UNARY[kind]
        leaf = graph.leaf(f"x_{kind}", (63,), "F64")
        ranges[leaf.name] = (low, high)
        graph.output(unary(graph, kind, reference, leaf, f"y_{kind}"),
                     EXACT if tolerance is EXACT else Tolerance(1e-14, 1e-15))
    for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        reference, left, right, _ = BINARY[kind]
        lhs, rhs = graph.leaf(f"a_{kind}", (5, 17), "F64"), graph.leaf(f"b_{kind}", (17,), "F64")
        ranges[lhs.name], ranges[rhs.name] = left, right
        graph.output(binary(graph, kind, reference, lhs, rhs, f"y_{kind}"), EXACT)
    differential(test, graph, [feed(graph, np.random.default_rng(6), None, ranges)])


@case("double-refused", covers=("F64",))
def double_refused(test):
    """Functions without an f64 expansion are refused by name, not approximated."""
    for kind in ("Tanh", "Exp", "Erf", "Sin"):
        graph = Graph("double-refused")
        graph.output(unary(graph, kind, None, graph.leaf("x", (3,), "F64"), "y"), EXACT)
        source = test.path("refused.json")
        with open(source, "w") as file:
            file.write(graph.to_json())
        result = tools.run(test.options, "rlx-bake", source, "-o", test.path("refused.rlx"))
        test.equal(result.code, 1, f"{kind} on F64: {result}")
        test.check("f64" in result.err and "f32" in result.err, f"{kind}: names both types",
                   result.err)


@case("literal", covers=("Constant",))
def literal(test):
    """Constants written into the graph itself, of several types."""
    graph = Graph("literal")
    rng = np.random.default_rng(7)
    for dtype in ("F32", "F64", "I32", "I64", "U8"):
        leaf = graph.leaf(f"x_{dtype}", (3, 5), dtype)
        value = graph.constant(draw(rng, dtype, (5,)), dtype)
        graph.output(binary(graph, "Add", np.add, leaf, value, f"y_{dtype}"), EXACT)
    scalar = graph.constant(np.float32(0.5).reshape(()))
    graph.output(binary(graph, "Mul", np.multiply, graph.leaves["x_F32"], scalar, "scaled"), EXACT)
    assert dtypes.NUMPY["U8"].itemsize == 1
    differential(test, graph, [feed(graph, rng, None)])
