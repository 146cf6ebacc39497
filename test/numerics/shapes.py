# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reshape, expand and transpose: every bit is kept, whatever the type."""
import itertools

import numpy as np

from differential import differential, feed
from rlxtest import dtypes
from rlxtest.compare import EXACT
from rlxtest.graph import Graph, Sym, binary, transpose, unary
from rlxtest.runner import case


def reshape(graph, x, dims, name=None):
    """`dims` may have symbols and one -1, which the op infers."""
    def op(sizes):
        return {"Reshape": {"new_shape": [-1 if isinstance(d, Sym) else d for d in dims]}}

    def compute(value):
        return value.reshape([-1 if isinstance(d, Sym) else d for d in dims])

    return graph.add(op, [x], x.dtype, dims, compute, name)


def expand(graph, x, dims, name=None):
    return graph.add({"Expand": {"target_shape": list(dims)}}, [x], x.dtype, dims,
                     lambda value: np.broadcast_to(value, dims), name)


@case("transpose", covers=("Transpose",))
def transposes(test):
    """All permutations of ragged shapes up to rank 4, one of rank 5, empty ones."""
    graph = Graph("transpose")
    for shape in ((5,), (3, 17), (129, 65), (3, 5, 7), (2, 3, 5, 4), (0, 3), (3, 0, 5)):
        leaf = graph.leaf("x_" + "x".join(map(str, shape)), shape)
        for perm in itertools.permutations(range(len(shape))):
            graph.output(transpose(graph, leaf, perm, f"{leaf.name}_{''.join(map(str, perm))}"),
                         EXACT)
    leaf = graph.leaf("x_rank5", (2, 3, 1, 5, 4))
    graph.output(transpose(graph, leaf, (4, 2, 0, 3, 1), "y_rank5"), EXACT)
    for dtype in dtypes.NUMPY:
        leaf = graph.leaf(f"x_{dtype}", (17, 5), dtype)
        graph.output(transpose(graph, leaf, (1, 0), f"y_{dtype}"), EXACT)
    differential(test, graph, [feed(graph, np.random.default_rng(31), None)])


@case("reshape", covers=("Reshape",))
def reshapes(test):
    graph = Graph("reshape")
    for number, (source, target) in enumerate((
            ((), (1,)), ((1,), ()), ((6,), (2, 3)), ((2, 3), (6,)), ((2, 3, 5), (5, 6)),
            ((3, 1, 5), (3, 5)), ((3, 5), (1, 3, 1, 5, 1)), ((0, 3), (0,)), ((0,), (3, 0, 2)),
            ((4, 6), (2, 2, 2, 3)), ((65, 129), (129, 65)))):
        leaf = graph.leaf(f"x{number}", source)
        graph.output(reshape(graph, leaf, target, f"y{number}"), EXACT)
    for dtype in dtypes.NUMPY:
        leaf = graph.leaf(f"x_{dtype}", (4, 6), dtype)
        graph.output(reshape(graph, leaf, (3, 8), f"y_{dtype}"), EXACT)
    # A view of something computed, and something computed from a view.
    leaf = graph.leaf("z", (5, 12))
    moved = reshape(graph, transpose(graph, leaf, (1, 0)), (3, 20))
    graph.output(unary(graph, "Neg", np.negative, moved, "y_moved"), EXACT)
    differential(test, graph, [feed(graph, np.random.default_rng(32), None)])


@case("reshape-dynamic", covers=("Reshape", "Transpose"))
def reshape_dynamic(test):
    n = Sym(0)
    graph = Graph("reshape-dynamic")
    image = graph.leaf("image", (n, 4, 6))
    flat = reshape(graph, image, (n, 24), "flat")
    graph.output(flat, EXACT)
    graph.output(reshape(graph, flat, (n, 2, 3, 4), "split"), EXACT)
    graph.output(transpose(graph, image, (2, 0, 1), "moved"), EXACT)
    bias = graph.leaf("bias", (24,))
    graph.output(binary(graph, "Add", np.add, flat, bias, "sum"), EXACT)
    rng = np.random.default_rng(33)
    differential(test, graph, [feed(graph, rng, {"image": (size, 4, 6), "bias": (24,)})
                               for size in (3, 1, 17, 0, 129)])


@case("expand", covers=("Expand",))
def expands(test):
    graph = Graph("expand")
    for number, (source, target) in enumerate((
            ((), (5,)), ((), (3, 17)), ((1,), (65,)), ((17,), (3, 17)), ((3, 1), (3, 129)),
            ((1, 1), (5, 7)), ((2, 1, 4, 1), (2, 3, 4, 5)), ((1,), (0,)), ((3, 1), (3, 0)),
            ((5,), (1, 2, 1, 3, 5)))):
        leaf = graph.leaf(f"x{number}", source)
        graph.output(expand(graph, leaf, target, f"y{number}"), EXACT)
    for dtype in dtypes.NUMPY:
        leaf = graph.leaf(f"x_{dtype}", (5, 1), dtype)
        graph.output(expand(graph, leaf, (2, 5, 3), f"y_{dtype}"), EXACT)
    differential(test, graph, [feed(graph, np.random.default_rng(34), None)])


@case("pass-through", covers=("Input", "Param"))
def pass_through(test):
    """Outputs that are inputs, weights, or the same node under the same name."""
    graph = Graph("pass-through")
    graph.output(graph.leaf("x", (3, 5)), EXACT)
    graph.output(graph.leaf("w", (17,)), EXACT)
    graph.output(unary(graph, "Neg", np.negative, graph.leaves["x"], "y"), EXACT)
    differential(test, graph, [feed(graph, np.random.default_rng(35), None)], weights=["w"])
