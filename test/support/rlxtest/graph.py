# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds MIR graphs together with what they should compute.

Every node carries a function from the wide values of its operands to its own
wide value (float64 for floats), so that `reference` is an evaluation by NumPy
that shares nothing with the compiler.
"""
import json

import numpy as np

from . import dtypes


class Sym:
    """A dim that is known only when the program runs."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Sym) and other.number == self.number

    def __hash__(self):
        return hash(("Sym", self.number))

    def __repr__(self):
        return f"s{self.number}"


class Node:
    def __init__(self, number, op, operands, dtype, dims, compute, name):
        self.number, self.op, self.operands = number, op, operands
        self.dtype, self.dims, self.compute, self.name = dtype, tuple(dims), compute, name


class Graph:
    def __init__(self, name):
        self.name = name
        self.nodes = []
        self.outputs = []   # (node, tolerance)
        self.leaves = {}    # name -> node

    # Building

    def add(self, op, operands, dtype, dims, compute, name=None):
        node = Node(len(self.nodes), op, operands, dtype, dims, compute, name)
        self.nodes.append(node)
        return node

    def leaf(self, name, dims, dtype="F32", kind="Input"):
        node = self.add({kind: {"name": name}}, [], dtype, dims, None, name)
        self.leaves[name] = node
        return node

    def constant(self, array, dtype="F32"):
        return self.add({"Constant": {"data": list(np.ascontiguousarray(array).tobytes())}}, [],
                        dtype, array.shape, lambda: dtypes.widen(dtype, array))

    def output(self, node, tolerance):
        """The node must have a name; outputs are told apart by it."""
        assert node.name
        self.outputs.append((node, tolerance))
        return node

    # Writing

    def symbols(self, shapes):
        """The sizes of the symbols when leaves have the given shapes."""
        sizes = {}
        for name, node in self.leaves.items():
            for dim, size in zip(node.dims, shapes[name]):
                if isinstance(dim, Sym):
                    assert sizes.setdefault(dim, size) == size
        return sizes

    def to_json(self, params=(), sizes=None, hir=False):
        """`params`: leaves to write as weights. `sizes`: values for symbols, for
        a graph whose shapes are all static."""
        def dim(d):
            if isinstance(d, Sym):
                return {"Static": sizes[d]} if sizes is not None else {"Dynamic": d.number}
            return {"Static": d}

        def encode(node):
            op = node.op
            if node.name in params and isinstance(op, dict) and "Input" in op:
                op = {"Param": op["Input"]}
            if callable(op):
                op = op(sizes)
            leaf = isinstance(op, dict) and next(iter(op)) in ("Input", "Param", "Constant")
            if hir and not leaf:
                op = {"Mir": op}
            row = {"id": node.number, "op": op, "inputs": [o.number for o in node.operands],
                   "shape": {"dims": [dim(d) for d in node.dims], "dtype": node.dtype},
                   "name": node.name}
            if not hir:
                row["origin"] = None
            return row

        graph = {"name": self.name, "nodes": [encode(n) for n in self.nodes],
                 "outputs": [n.number for n, _ in self.outputs]}
        if hir:
            graph["fusion_policy"] = "Direct"
        return json.dumps(graph)

    # Evaluating

    def reference(self, feeds):
        """Wide values of the outputs by name; `feeds` holds arrays as stored."""
        values = {}
        with np.errstate(all="ignore"):
            for node in self.nodes:
                if node.compute is None:
                    value = dtypes.widen(node.dtype, feeds[node.name])
                else:
                    value = node.compute(*(values[o.number] for o in node.operands))
                values[node.number] = value
        return {node.name: values[node.number] for node, _ in self.outputs}


def broadcast(a, b):
    """NumPy's rule on dims that may be symbols; a symbol equals what it meets."""
    length = max(len(a), len(b))
    a = (1,) * (length - len(a)) + tuple(a)
    b = (1,) * (length - len(b)) + tuple(b)
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def matmul(graph, a, b, name=None):
    dims = broadcast(a.dims[:-2], b.dims[:-2]) + (a.dims[-2], b.dims[-1])
    return graph.add("MatMul", [a, b], a.dtype, dims, np.matmul, name)


def binary(graph, kind, compute, a, b, name=None):
    return graph.add({"Binary": kind}, [a, b], a.dtype, broadcast(a.dims, b.dims), compute, name)


def unary(graph, kind, compute, a, name=None):
    return graph.add({"Activation": kind}, [a], a.dtype, a.dims, compute, name)


def transpose(graph, a, perm, name=None):
    return graph.add({"Transpose": {"perm": list(perm)}}, [a], a.dtype,
                     [a.dims[p] for p in perm], lambda x: np.transpose(x, perm), name)
