# SPDX-License-Identifier: MIT OR Apache-2.0
"""A bundle as torch import writes it: its transposes vanish."""
import json
import os

import numpy as np

from differential import check_close, feed, run_all, weights_of
from rlxtest import safetensors, tools
from rlxtest.compare import Tolerance, describe_bit_difference
from rlxtest.graph import Graph, binary, matmul, transpose, unary
from rlxtest.runner import case
from rlxtest.runtime import Program
from shapes import reshape

LAYERS = (784, 130, 64, 10)


def torch_mlp():
    """nn.Linear is a Param [out, in], a Transpose, a MatMul and an Add, with
    reshapes to and from rank 2 around them."""
    graph = Graph("torch_mlp")
    y = graph.leaf("input", (2, 3, LAYERS[0]))
    for number, (columns, rows) in enumerate(zip(LAYERS, LAYERS[1:]), 1):
        flat = reshape(graph, y, (6, columns))
        weight = graph.leaf(f"fc{number}.weight", (rows, columns))
        y = matmul(graph, flat, transpose(graph, weight, (1, 0)))
        y = binary(graph, "Add", np.add, y, graph.leaf(f"fc{number}.bias", (rows,)))
        y = reshape(graph, y, (2, 3, rows), "logits" if rows == LAYERS[-1] else None)
        if rows != LAYERS[-1]:
            y = unary(graph, "Relu", lambda v: np.maximum(v, 0), y)
    graph.output(y, Tolerance(0, 1e-5))
    ranges = {name: (-0.1, 0.1) for name in graph.leaves}
    ranges["input"] = (0, 1)
    return graph, feed(graph, np.random.default_rng(61), None, ranges)


@case("torch-bundle", covers=("HIR", "Transpose", "weight_bytes"))
def torch_bundle(test):
    graph, values = torch_mlp()
    weights = {n: v for n, v in values.items() if n != "input"}
    folder = test.path("bundle")
    os.mkdir(folder)
    with open(os.path.join(folder, "model.hir.json"), "w") as file:
        file.write(graph.to_json(params=weights, hir=True))
    with open(os.path.join(folder, "meta.json"), "w") as file:
        file.write("{}")
    safetensors.write(os.path.join(folder, "weights.safetensors"), weights_of(graph, weights))

    text = tools.run(test.options, "rlx-bake", folder, "--compile-to=weights", "-o", "-")
    test.equal(text.code, 0, f"--compile-to=weights: {text}")
    test.check("rlx.matmul" in text.out or "rlx.linear" in text.out,
               "the text has products", text.out[:500])
    test.check("rlx.transpose" not in text.out, "no transpose is left", text.out[:500])
    test.check("rlx.param" not in text.out, "no param is left", text.out[:500])

    reports, outputs = {}, {}
    for profile in ("merge", "fold", "exact"):
        out = test.path(f"{profile}.rlx")
        tools.bake_file(test.options, folder, out, "--profile", profile, "--report",
                        test.path("report.json"))
        with open(test.path("report.json")) as file:
            reports[profile] = json.load(file)
        with Program(test.options, out) as program:
            outputs[profile], _ = run_all(program, {"input": values["input"]})
    raw = sum(v.nbytes for v in weights.values())
    test.note(f"weight_bytes: merge {reports['merge']['weight_bytes']}, exact "
              f"{reports['exact']['weight_bytes']}, raw {raw}")
    test.check(reports["exact"]["weight_bytes"] <= reports["merge"]["weight_bytes"],
               "weight_bytes are not more than merged")
    test.equal(reports["exact"]["raw_weight_bytes"], raw, "raw_weight_bytes")
    test.equal(reports["exact"]["params_remaining"], [], "params_remaining")
    test.check(reports["exact"]["nodes_after"] < reports["exact"]["nodes_before"],
               "fewer nodes than before")
    rows = {row["name"] for row in reports["exact"]["weights"]}
    test.check(len(rows) >= len(weights), "the weight table has a row per weight", str(rows))

    # Without the folder's weights: hoisted.
    open_path = test.path("open.rlx")
    tools.bake_file(test.options, os.path.join(folder, "model.hir.json"), open_path)
    with Program(test.options, open_path) as program:
        hoisted, statistics = run_all(program, {"input": values["input"]}, weights)
        test.equal(statistics["prepare_runs"], 1, "prepare_runs of the open bundle")
    check_close(test, graph, hoisted, values, "hoisted")
    for profile in outputs:
        check_close(test, graph, outputs[profile], values, profile)
        test.none(describe_bit_difference(outputs[profile]["logits"], hoisted["logits"]),
                  f"{profile} and hoisted")
