# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calls and graphs at the edge of what is allowed."""
import json

import numpy as np

from differential import check_close, differential, feed, run_all
from hoist import refusal
from rlxtest import tools
from rlxtest.compare import EXACT
from rlxtest.graph import Graph, Sym, binary, transpose, unary
from rlxtest.runner import case
from rlxtest.runtime import Program
from shapes import reshape


@case("call-symbols", covers=("Dynamic",))
def symbols(test):
    """One symbol has one size per call; a symbol is told from a broadcast."""
    n, m = Sym(0), Sym(1)
    graph = Graph("call-symbols")
    x, y = graph.leaf("x", (n, m)), graph.leaf("y", (n, 3))
    graph.output(unary(graph, "Neg", np.negative, x, "a"), EXACT)
    graph.output(unary(graph, "Abs", np.abs, y, "b"), EXACT)
    graph.output(binary(graph, "Add", np.add, x, graph.leaf("z", (m,)), "c"), EXACT)
    path = tools.bake(test, graph.to_json()).path

    def arrays(x_shape, y_shape, z_shape):
        return {"x": np.ones(x_shape, np.float32), "y": np.ones(y_shape, np.float32),
                "z": np.ones(z_shape, np.float32)}

    with Program(test.options, path) as program, program.session() as session:
        for shapes in (((2, 5), (2, 3), (5,)), ((1, 1), (1, 3), (1,)), ((0, 4), (0, 3), (4,))):
            values = arrays(*shapes)
            check_close(test, graph, session.run(values), values, f"{shapes}")
        for shapes, words in ((((2, 5), (4, 3), (5,)), ("'y'", "2", "4")),
                              (((2, 5), (2, 3), (1,)), ("'z'", "5", "1")),
                              (((2, 5), (2, 4), (5,)), ("'y'", "3", "4")),
                              (((5,), (2, 3), (5,)), ("'x'", "1", "2"))):
            failure = refusal(lambda shapes=shapes: session.run(arrays(*shapes)))
            test.equal(failure.status, "shape", f"{shapes}: {failure}")
            for word in words:
                test.check(word in failure.message, f"{shapes}: says {word}", failure.message)
        test.equal(session.dims_for({"x": (9, 7), "y": (9, 3), "z": (7,)}),
                   [(9, 7), (9, 3), (9, 7)], "dims without data")
        for rows, columns in ((1 << 40, 1 << 40), (1 << 62, 2), (-1, 3)):
            failure = refusal(lambda: session.dims_for({"x": (rows, columns), "y": (rows, 3),
                                                        "z": (columns,)}))
            test.check(failure.status in ("shape", "execution"),
                       f"{rows} x {columns} is refused, not wrapped: {failure}")


@case("call-derived-symbols", covers=("Reshape", "Dynamic"))
def derived(test):
    """A reshape may define a symbol that no input carries."""
    n, flat = Sym(0), Sym(7)
    graph = Graph("call-derived")
    x = graph.leaf("x", (n, 4, 6))
    rows = graph.add({"Reshape": {"new_shape": [-1, 6]}}, [x], "F32", (flat, 6),
                     lambda value: value.reshape(-1, 6), "rows")
    graph.output(rows, EXACT)
    graph.output(transpose(graph, rows, (1, 0), "columns"), EXACT)
    graph.output(binary(graph, "Mul", np.multiply, rows, graph.leaf("w", (6,)), "scaled"), EXACT)
    graph.output(reshape(graph, unary(graph, "Neg", np.negative, rows), (n, 4, 6), "back"), EXACT)
    path = tools.bake(test, graph.to_json(params=("w",))).path
    rng = np.random.default_rng(111)
    with Program(test.options, path) as program, program.session() as session:
        w = rng.uniform(-1, 1, 6).astype(np.float32)
        session.set_param("w", w)
        for size in (3, 1, 17, 0):
            values = {"x": rng.uniform(-1, 1, (size, 4, 6)).astype(np.float32), "w": w}
            check_close(test, graph, session.run({"x": values["x"]}, fence=True), values,
                        f"{size} images")


@case("call-unused", covers=("Input", "Param", "StopGradient", "Cast"))
def unused(test):
    """Nodes that do nothing: inputs and weights nobody reads, identities, casts to
    the same type. Inputs keep their place, weights vanish."""
    graph = Graph("call-unused")
    graph.leaf("dead", (3,))
    x = graph.leaf("x", (5, 17))
    graph.leaf("dead_weight", (63,))
    y = graph.add("StopGradient", [x], "F32", x.dims, lambda v: v)
    y = graph.add({"Cast": {"to": "F32"}}, [y], "F32", x.dims, lambda v: v)
    y = transpose(graph, transpose(graph, y, (1, 0)), (1, 0))
    y = unary(graph, "Neg", np.negative, unary(graph, "Neg", np.negative, y))
    graph.output(reshape(graph, reshape(graph, y, (85,)), (5, 17), "y"), EXACT)
    values = feed(graph, np.random.default_rng(112), None)
    differential(test, graph, [values], weights=["x"])
    weight = {"dead_weight": ("F32", values.pop("dead_weight"))}
    for how, weights in (("bound", weight), ("open", None)):
        baked = tools.bake(test, graph.to_json(params=weight), weights, name=how)
        test.equal(baked.report["params_remaining"], [], f"{how}: params_remaining")
        with Program(test.options, baked.path) as program:
            test.equal([name for name, _, _ in program.inputs], ["dead", "x"], f"{how}: inputs")
            outputs, _ = run_all(program, values)
            test.check(np.array_equal(outputs["y"], values["x"]), f"{how}: the output")


@case("call-output-twice", covers=("outputs",))
def output_twice(test):
    """The same node as two outputs: two buffers, both written."""
    graph = Graph("call-twice")
    x = graph.leaf("x", (3, 5))
    graph.output(unary(graph, "Neg", np.negative, x, "y"), EXACT)
    document = json.loads(graph.to_json())
    document["outputs"] = [1, 1, 0]
    path = tools.bake(test, json.dumps(document)).path
    values = {"x": np.arange(15, dtype=np.float32).reshape(3, 5)}
    with Program(test.options, path) as program, program.session() as session:
        test.equal([name for name, _, _ in program.outputs], ["y", "out1", "x"], "names")
        outputs = session.run(values)
        for name, expected in (("y", -values["x"]), ("out1", -values["x"]), ("x", values["x"])):
            test.check(np.array_equal(outputs[name], expected), f"output '{name}'",
                       str(outputs[name]))
