# SPDX-License-Identifier: MIT OR Apache-2.0
"""Work that depends only on weights is done once."""
import json
import threading

import numpy as np

from differential import check_close, feed, weights_of
from rlxtest import safetensors, tools
from rlxtest.compare import Tolerance, describe_bit_difference
from rlxtest.graph import Graph, Sym, binary, matmul, unary
from rlxtest.runner import case
from rlxtest.runtime import Program, RuntimeFailure

CLOSE = Tolerance(1e-6, 1e-6)


def example(batch=2):
    """x[2,4] @ (w[4,3] * scale[4,3])"""
    graph = Graph("hoist-example")
    x, w = graph.leaf("x", (batch, 4)), graph.leaf("w", (4, 3))
    scaled = binary(graph, "Mul", np.multiply, w, graph.leaf("scale", (4, 3)))
    graph.output(matmul(graph, x, scaled, "y"), CLOSE)
    values = feed(graph, np.random.default_rng(41), {"x": (2, 4), "w": (4, 3), "scale": (4, 3)},
                  {name: (-1, 1) for name in graph.leaves})
    return graph, values


def two_layers():
    """Two layers whose weight-only parts have nothing in common."""
    graph = Graph("two-layers")
    y = graph.leaf("x", (2, 4))
    for layer in range(2):
        scaled = binary(graph, "Mul", np.multiply, graph.leaf(f"w{layer}", (4, 4)),
                        graph.leaf(f"scale{layer}", (4, 4)))
        y = unary(graph, "Relu", lambda v: np.maximum(v, 0),
                  matmul(graph, y, scaled), f"y{layer}")
    graph.output(y, Tolerance(1e-5, 1e-5))
    values = feed(graph, np.random.default_rng(42), None)
    return graph, values, [n for n in values if n != "x"]


def set_all(session, values, names):
    for name in names:
        session.set_param(name, values[name])


@case("hoist-example", covers=("prepare_runs", "set_param"))
def hoist_example(test):
    graph, values = example()
    program_path = tools.bake(test, graph.to_json(params=("w", "scale"))).path
    inputs = {"x": values["x"]}
    with Program(test.options, program_path) as program, program.session() as session:
        set_all(session, values, ("w", "scale"))
        copied = session.statistics()["weight_bytes_copied"]
        first = session.run(inputs)
        check_close(test, graph, first, values, "first forward")
        for _ in range(99):
            test.none(describe_bit_difference(session.run(inputs)["y"], first["y"]),
                      "a later forward")
        statistics = session.statistics()
        test.equal(statistics["runs"], 100, "runs")
        test.equal(statistics["prepare_runs"], 1, "prepare_runs after 100 forwards")
        test.equal(statistics["weight_bytes_copied"] - copied, 0,
                   "weight_bytes_copied by 100 forwards")
        changed = {**values, "scale": values["scale"] * 2 + 1}
        session.set_param("scale", changed["scale"])
        outputs = session.run(inputs)
        check_close(test, graph, outputs, changed, "after set_param")
        test.check(not np.array_equal(outputs["y"], first["y"]),
                   "set_param changes the output")
        session.run(inputs)
        test.equal(session.statistics()["prepare_runs"], 2, "prepare_runs after set_param")


@case("hoist-components", covers=("prepare_components_run", "set_param"))
def hoist_components(test):
    """set_param computes anew what reads the weight and nothing else."""
    graph, values, names = two_layers()
    path = tools.bake(test, graph.to_json(params=names)).path
    inputs = {"x": values["x"]}
    with Program(test.options, path) as program, program.session() as session:
        functions = program.prepare_functions()
        test.equal(len(functions), 2, "prepare instances")
        test.equal(len(set(functions)), 1, "functions of two layers with the same structure")
        set_all(session, values, names)
        session.run(inputs)
        test.equal(session.statistics()["prepare_components_run"], 2, "after the first forward")
        for number, name in enumerate(("scale1", "w0", "scale1")):
            values = {**values, name: values[name] * np.float32(1.5)}
            session.set_param(name, values[name])
            check_close(test, graph, session.run(inputs), values, f"after set_param({name})")
            test.equal(session.statistics()["prepare_components_run"], 3 + number,
                       f"prepare_components_run after set_param({name})")


@case("hoist-command-line", covers=("rlx-run", "weight_bytes_copied", "--repeat", "--stats"))
def hoist_command_line(test):
    """The same through rlx-run: weights come from a mapped file, so nothing is
    copied at all."""
    graph, values = example()
    path = tools.bake(test, graph.to_json(params=("w", "scale"))).path
    for name in values:
        np.save(test.path(f"{name}.npy"), values[name])
    expected = graph.reference(values)["y"].astype(np.float32)
    np.save(test.path("expected.npy"), expected)
    safetensors.write(test.path("w.safetensors"),
                      weights_of(graph, {n: values[n] for n in ("w", "scale")}))
    common = [path, "--weights", test.path("w.safetensors"),
              "--input", f"x=@{test.path('x.npy')}", "--output", f"y=@{test.path('y.npy')}",
              "--stats", test.path("stats.json"), "--repeat", "100"]
    expect = ["--expect", f"y=@{test.path('expected.npy')}", "--rtol", "1e-5", "--atol", "1e-6"]
    result = tools.run(test.options, "rlx-run", *common, *expect)
    test.equal(result.code, 0, f"rlx-run: {result}")
    with open(test.path("stats.json")) as file:
        statistics = json.load(file)
    test.equal(statistics["runs"], 100, "runs")
    test.equal(statistics["prepare_runs"], 1, "prepare_runs")
    test.equal(statistics["weight_bytes_copied"], 0, "weight_bytes_copied")
    test.equal(statistics["h2d_bytes_per_run"], 0, "h2d_bytes_per_run")
    before = np.load(test.path("y.npy"))
    np.save(test.path("scale2.npy"), values["scale"] * 3)
    result = tools.run(test.options, "rlx-run", *common, "--set-param",
                       f"scale=@{test.path('scale2.npy')}")
    test.equal(result.code, 0, f"rlx-run --set-param: {result}")
    after = np.load(test.path("y.npy"))
    test.check(not np.array_equal(before, after), "--set-param changes the last output")
    with open(test.path("stats.json")) as file:
        test.equal(json.load(file)["prepare_runs"], 2, "prepare_runs with --set-param")
    wrong = tools.run(test.options, "rlx-run", *common, *expect, "--set-param",
                      f"scale=@{test.path('scale2.npy')}")
    test.equal(wrong.code, 1, f"--expect fails when the output differs: {wrong}")


@case("hoist-nothing-left", covers=("param_bindings",))
def hoist_nothing_left(test):
    """With values at bake there is nothing to hoist, hoisting asked for or not."""
    graph, values = example()
    weights = weights_of(graph, {n: values[n] for n in ("w", "scale")})
    first = None
    for flag in ("--hoist", "--no-hoist"):
        baked = tools.bake(test, graph.to_json(params=("w", "scale")), weights, [flag])
        test.equal(baked.report["params_remaining"], [], f"params left with {flag}")
        test.equal(baked.report["params_baked"], 2, f"params_baked with {flag}")
        with Program(test.options, baked.path) as program, program.session() as session:
            test.equal(program.prepare_functions(), [], f"prepare instances with {flag}")
            outputs = session.run({"x": values["x"]})
            check_close(test, graph, outputs, values, flag)
            first = first or outputs
            test.none(describe_bit_difference(outputs["y"], first["y"]), f"bits with {flag}")
            test.equal(session.statistics()["prepare_runs"], 0, f"prepare_runs with {flag}")


@case("hoist-dynamic", covers=("prepare_runs",))
def hoist_dynamic(test):
    """Two batch sizes through one program: prepared once."""
    graph, values = example(batch=Sym(0))
    path = tools.bake(test, graph.to_json(params=("w", "scale"))).path
    with Program(test.options, path) as program, program.session() as session:
        set_all(session, values, ("w", "scale"))
        for size in (2, 5, 2, 0, 129):
            batch = {**values, "x": np.linspace(-1, 1, size * 4, dtype=np.float32)
                     .reshape(size, 4)}
            check_close(test, graph, session.run({"x": batch["x"]}), batch, f"batch {size}")
        test.equal(session.statistics()["prepare_runs"], 1, "prepare_runs")


@case("hoist-switch", covers=("RLX_CACHE_PARAM_INVARIANT", "--no-hoist"))
def hoist_switch(test):
    """The environment variable sets the default, a flag wins; bits never change."""
    graph, values = example()
    text = graph.to_json(params=("w", "scale"))
    first = None
    for variable, flags, prepares in (("1", [], 1), ("0", [], 0), ("0", ["--hoist"], 1),
                                      ("1", ["--no-hoist"], 0)):
        what = f"RLX_CACHE_PARAM_INVARIANT={variable} {' '.join(flags)}"
        path = tools.bake(test, text, flags=flags,
                          env={"RLX_CACHE_PARAM_INVARIANT": variable}).path
        with Program(test.options, path) as program, program.session() as session:
            set_all(session, values, ("w", "scale"))
            outputs = session.run({"x": values["x"]})
            session.run({"x": values["x"]})
            first = first or outputs
            test.none(describe_bit_difference(outputs["y"], first["y"]), f"bits with {what}")
            test.equal(session.statistics()["prepare_runs"], prepares, f"prepare_runs, {what}")


@case("hoist-race", covers=("threads", "prepare_runs"))
def hoist_race(test):
    """Two threads that meet at the first forward prepare once."""
    graph = Graph("race")
    x = graph.leaf("x", (4, 300))
    w = unary(graph, "Tanh", np.tanh, graph.leaf("w", (300, 300)))
    graph.output(matmul(graph, x, w, "y"), Tolerance(1e-5, 1e-5))
    values = feed(graph, np.random.default_rng(43), None, {"x": (-1, 1), "w": (-1, 1)})
    path = tools.bake(test, graph.to_json(params=("w",))).path
    with Program(test.options, path) as program:
        for attempt in range(30):
            with program.session() as one, one.sibling() as two:
                one.set_param("w", values["w"])
                barrier, results = threading.Barrier(2), {}

                def forward(session, number):
                    barrier.wait()
                    results[number] = session.run({"x": values["x"]})["y"]

                threads = [threading.Thread(target=forward, args=pair)
                           for pair in ((one, 1), (two, 2))]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                if not test.equal(sorted(results), [1, 2], "both threads finished"):
                    return
                test.none(describe_bit_difference(results[1], results[2]),
                          f"attempt {attempt}: both threads see the same")
                test.equal(one.statistics()["prepare_runs"], 1, f"attempt {attempt}: prepare_runs")
        check_close(test, graph, {"y": results[1]}, values, "the result")


def refusal(action):
    try:
        action()
    except RuntimeFailure as failure:
        return failure
    return RuntimeFailure("none", "the call succeeded")


@case("hoist-refusals", covers=("set_param", "unset"))
def hoist_refusals(test):
    graph, values, names = two_layers()
    baked_names = ["w0", "scale0"]
    path = tools.bake(test, graph.to_json(params=names),
                      weights_of(graph, {n: values[n] for n in baked_names})).path
    with Program(test.options, path) as program, program.session() as session:
        failure = refusal(lambda: session.run({"x": values["x"]}))
        test.check(failure.status == "param_unset" or "unset" in failure.status
                   or "no value" in failure.message, f"a forward without params: {failure}")
        for name in ("w1", "scale1"):
            test.check(f"'{name}'" in failure.message, f"unset '{name}' is named: {failure}")
        for name in baked_names:
            failure = refusal(lambda name=name: session.set_param(name, values[name]))
            test.check(failure.status == "baked" and f"'{name}'" in failure.message,
                       f"set_param on baked '{name}': {failure}")
        failure = refusal(lambda: session.set_param("scale", values["scale1"]))
        test.check("'scale'" in failure.message and "scale1" in failure.message,
                   f"an unknown name suggests a near one: {failure}")
        failure = refusal(lambda: session.set_param("w1", values["w1"][:3]))
        test.check(failure.status == "shape" and "w1" in failure.message
                   and "3" in failure.message and "4" in failure.message,
                   f"a wrong shape names both: {failure}")
        failure = refusal(lambda: session.set_param("w1", values["w1"].astype(np.float64)))
        test.check(failure.status == "shape" and "f64" in failure.message
                   and "f32" in failure.message, f"a wrong dtype names both: {failure}")
        # A refused call leaves everything as it was.
        set_all(session, values, ("w1", "scale1"))
        check_close(test, graph, session.run({"x": values["x"]}), values, "after the refusals")
        failure = refusal(lambda: session.run({"x": values["x"][:, :3]}))
        test.check(failure.status == "shape" and "'x'" in failure.message,
                   f"an input of a wrong shape is named: {failure}")
