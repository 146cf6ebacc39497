# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random graphs: what no list of cases thinks of, above all in fusion."""
import math

import numpy as np

from differential import differential
from elementwise import UNARY
from rlxtest.compare import Tolerance
from rlxtest.graph import Graph, Sym, binary, matmul, transpose, unary
from rlxtest.runner import case
from shapes import reshape

# Every op below keeps values within [-1, 1] or brings them back there, and has a
# slope of at most 4, so the error of a path of 25 of them stays far below this.
TOLERANCE = Tolerance(relative=1e-4, absolute=1e-4)
SMOOTH = ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Sin", "Erf", "Softsign", "HardSigmoid")
PAIRS = {"Max": np.maximum, "Min": np.minimum, "Mul": np.multiply}


def random_graph(seed, dynamic):
    rng = np.random.default_rng(seed)
    graph = Graph(f"random-{seed}")
    sizes = (1, 3, 5, 17)
    batch = Sym(0) if dynamic else int(rng.choice(sizes))
    live = [graph.leaf("x0", (batch, int(rng.choice(sizes)))),
            graph.leaf("x1", (batch, int(rng.choice(sizes))))]
    weights = []

    def weight(*dims):
        name = f"w{len(weights)}"
        weights.append(name)
        return graph.leaf(name, dims)

    def bounded(node):
        return unary(graph, "Tanh", np.tanh, node)

    def small(node, k):
        scale = graph.constant(np.float32(1 / math.sqrt(k)).reshape(()))
        return binary(graph, "Mul", np.multiply, node, scale)

    for _ in range(25):
        x = live[rng.integers(len(live))]
        pick = rng.random()
        if pick < 0.3:
            kind = str(rng.choice(SMOOTH))
            y = unary(graph, kind, UNARY[kind][0], x)
        elif pick < 0.45:
            y = bounded(binary(graph, "Add", np.add, x, weight(x.dims[-1])
                               if not isinstance(x.dims[-1], Sym) else x))
        elif pick < 0.6:
            partners = [v for v in live if v.dims == x.dims]
            kind = str(rng.choice(list(PAIRS)))
            y = binary(graph, kind, PAIRS[kind], x, partners[rng.integers(len(partners))])
        elif pick < 0.8 and not isinstance(x.dims[-1], Sym):
            w = weight(x.dims[-1], int(rng.choice(sizes)))
            if rng.random() < 0.4:
                w = transpose(graph, weight(w.dims[1], w.dims[0]), (1, 0))
            if rng.random() < 0.3:
                w = binary(graph, "Mul", np.multiply, w, weight(w.dims[1]))
            y = bounded(small(matmul(graph, x, w), x.dims[-1]))
        elif pick < 0.9 and len(x.dims) == 2:
            y = transpose(graph, x, (1, 0))
        else:
            y = reshape(graph, x, x.dims[:1] + (1,) + x.dims[1:]) if len(x.dims) == 2 else \
                reshape(graph, x, x.dims[:1] + x.dims[2:])
        live.append(y)
    read = {o.number for node in graph.nodes for o in node.operands}
    for node in graph.nodes:
        if node.number not in read or rng.random() < 0.1:
            node.name = node.name or f"y{node.number}"
            graph.output(node, TOLERANCE)
    return graph, weights, rng


def check(test, seed, dynamic):
    graph, weights, rng = random_graph(seed, dynamic)
    shared = {n: rng.uniform(-1, 1, graph.leaves[n].dims).astype(np.float32) for n in weights}
    feeds = []
    for size in (3, 1, 17, 0) if dynamic else (None,):
        values = dict(shared)
        for name in ("x0", "x1"):
            shape = [size if isinstance(d, Sym) else d for d in graph.leaves[name].dims]
            values[name] = rng.uniform(-1, 1, shape).astype(np.float32)
        feeds.append(values)
    differential(test, graph, feeds, weights)


for seed in range(8):
    case(f"random-graph-{seed}", covers=("fuzz",))(
        lambda test, seed=seed: check(test, seed, dynamic=seed % 2 == 0))
