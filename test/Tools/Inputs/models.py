# SPDX-License-Identifier: MIT OR Apache-2.0
"""models.py FOLDER NAME...: writes NAME.json, and NAME.safetensors where the model has weights."""
import json
import math
import os
import struct
import sys


def f32(*dims):
    return {"dims": [{"Dynamic": 0} if d is None else {"Static": d} for d in dims], "dtype": "F32"}


class Graph:
    def __init__(self, name):
        self.name, self.nodes, self.outputs, self.weights = name, [], [], {}

    def add(self, op, inputs, dims, name=None, output=False):
        node = {"id": len(self.nodes), "op": op, "inputs": inputs, "shape": f32(*dims),
                "name": name}
        self.nodes.append(node)
        if output:
            self.outputs.append(node["id"])
        return node["id"]

    def input(self, name, *dims):
        return self.add({"Input": {"name": name}}, [], dims)

    def param(self, name, *dims, values=None):
        if values is not None:
            self.weights[name] = (dims, values)
        return self.add({"Param": {"name": name}}, [], dims)

    def constant(self, values, *dims, name=None):
        data = list(struct.pack(f"<{len(values)}f", *values))
        return self.add({"Constant": {"data": data}}, [], dims, name)

    def write(self, stem):
        with open(stem + ".json", "w", encoding="utf-8") as file:
            json.dump({"name": self.name, "nodes": self.nodes, "outputs": self.outputs}, file)
        if self.weights:
            write_weights(stem + ".safetensors", self.weights)


def write_weights(path, weights):
    header, data = {}, b""
    for name, (dims, values) in weights.items():
        assert len(values) == math.prod(dims)
        begin = len(data)
        data += struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": list(dims), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def hoist():
    """x @ (w * scale), any number of rows."""
    graph = Graph("hoist")
    x = graph.input("x", None, 4)
    w = graph.param("w", 4, 3, values=[float(i) for i in range(12)])
    scale = graph.param("scale", 4, 3, values=[2.0] * 12)
    product = graph.add({"Binary": "Mul"}, [w, scale], [4, 3])
    graph.add("MatMul", [x, product], [None, 3], "y", output=True)
    return graph


def two_layers():
    """Layers as torch writes them: weights [out, in] that the graph transposes."""
    graph = Graph("two_layers")
    value = graph.input("x", None, 4)
    for name, inner, outer in (("fc1", 4, 8), ("fc2", 8, 2)):
        w = graph.param(name + ".weight", outer, inner,
                        values=[(i % 7 - 3) / 8 for i in range(outer * inner)])
        b = graph.param(name + ".bias", outer, values=[i / 4 for i in range(outer)])
        turned = graph.add({"Transpose": {"perm": [1, 0]}}, [w], [inner, outer])
        value = graph.add("MatMul", [value, turned], [None, outer])
        value = graph.add({"Binary": "Add"}, [value, b], [None, outer])
        value = graph.add({"Activation": "Relu"}, [value], [None, outer], name,
                          output=name == "fc2")
    return graph


def growing():
    """A row of three that becomes a thousand rows before exp."""
    graph = Graph("growing")
    x = graph.input("x", 1000, 3)
    w = graph.param("w", 3, values=[1.0, 2.0, 3.0])
    rows = graph.add({"Expand": {"target_shape": [1000, 3]}}, [w], [1000, 3])
    scale = graph.add({"Activation": "Exp"}, [rows], [1000, 3], "rows")
    graph.add({"Binary": "Mul"}, [x, scale], [1000, 3], "y", output=True)
    return graph


def constants():
    """Constants of the graph: two called alike, one called as a param, one without a name."""
    graph = Graph("constants")
    x = graph.input("x", 100)
    for values, name in (([1.0] * 99 + [2.0], "c"), ([10.0] * 99 + [20.0], "c"),
                         ([0.5] * 99 + [1.0], "w"), ([3.0] * 99 + [4.0], None)):
        c = graph.constant(values, 100, name=name)
        x = graph.add({"Binary": "Mul"}, [x, c], [100])
    w = graph.param("w", 100, values=[2.0] * 99 + [3.0])
    graph.add({"Binary": "Add"}, [x, w], [100], "y", output=True)
    return graph


def direct():
    """Outputs that are an input, a weight, a literal and a constant as they are."""
    graph = Graph("direct")
    x = graph.input("x", 2)
    w = graph.param("w", 3, values=[1.0, 2.0, 3.0])
    literal = graph.constant([5.0, 6.0], 2)
    table = graph.constant([7.0] * 99 + [8.0], 100, name="table")
    graph.outputs = [x, w, literal, table, x]
    return graph


def closed():
    """No input: everything depends on weights alone."""
    graph = Graph("closed")
    w = graph.param("w", 4, values=[1.0, 4.0, 9.0, 16.0])
    graph.add({"Activation": "Sqrt"}, [w], [4], "y", output=True)
    return graph


def empty():
    """Tensors of no elements: an input, a weight that a product sums over, a constant."""
    graph = Graph("")
    x = graph.input("x", 2, 0)
    w = graph.param("w", 0, 3, values=[])
    none = graph.constant([], 0, 3)
    graph.add("MatMul", [x, w], [2, 3], "zeros", output=True)
    graph.add({"Binary": "Add"}, [none, w], [0, 3], "nothing", output=True)
    return graph


def odd():
    """Names that quoting, paths and command lines could trip over."""
    graph = Graph("a/b \"c\"\n\u00e9")
    x = graph.input("in put=@", 2)
    w = graph.param("p/q \"r\"", 2, values=[1.0, 2.0])
    graph.add({"Binary": "Add"}, [x, w], [2], "out, \u00e9", output=True)
    return graph


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for model in sys.argv[2:]:
        globals()[model]().write(os.path.join(sys.argv[1], model))
