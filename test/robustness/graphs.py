# SPDX-License-Identifier: MIT OR Apache-2.0
"""Graph files: garbage, damage, wrong structure, absurd shapes."""
import copy
import json
import os

import numpy as np

from fixture import Model, refused, tolerated, write
from rlxtest import tools
from rlxtest.runner import case

IMPORT = "--compile-to=import"


def refuse_graph(test, what, data, words=(), name="bad.json"):
    path = write(test.path(name), data if isinstance(data, bytes) else data.encode())
    out = test.path("out.rlx")
    return refused(test, what, "rlx-bake", path, "-o", out, words=words, out=out)


@case("graph-garbage", covers=("JSON",))
def garbage(test):
    rng = np.random.default_rng(81)
    for what, data in (("empty", b""), ("spaces", b"  \n "), ("zeros", bytes(1000)),
                       ("noise", rng.bytes(4096)), ("text", b"hello world"), ("null", b"null"),
                       ("number", b"17"), ("array", b"[]"), ("object", b"{}"),
                       ("html", b"<html></html>"), ("bad utf-8", b'{"name":"\xff\xfe","nodes":[]}'),
                       ("two documents", b"{}{}"), ("comment", b'{"name":"a" /* b */}'),
                       ("bare NaN", b'{"name": NaN}'), ("elf", b"\x7fELF" + bytes(100)),
                       ("half a number", b'{"nodes":[1e'), ("lone surrogate", b'"\\ud800"'),
                       ("no nodes", b'{"name":"a","nodes":[],"outputs":[0]}')):
        refuse_graph(test, what, data)


@case("graph-deep", covers=("300,000 open brackets",))
def deep(test):
    many = 300_000
    for what, data in (("open brackets", "[" * many), ("open braces", '{"a":' * many),
                       ("nodes", '{"name":"a","nodes":' + "[" * many),
                       ("closed brackets", "[" * many + "]" * many),
                       ("in an op", '{"name":"a","nodes":[{"id":0,"op":' + '{"x":' * many),
                       ("in an unknown field", '{"zzz":' + "[" * many + "]" * many +
                        ',"name":"a","nodes":[],"outputs":[]}'),
                       ("dims", '{"name":"a","nodes":[{"id":0,"op":"MatMul","inputs":[],"shape":'
                        '{"dims":' + "[" * many)):
        refuse_graph(test, what, data)
        refuse_graph(test, f"{what}, as HIR", data, name="bad.hir.json")


@case("graph-cut", covers=("truncated",))
def cut(test):
    """Every prefix of a valid file is refused; there is no early end."""
    model = Model(test)
    for length in test.sample(sorted(set(np.linspace(1, len(model.text) - 1, 40).astype(int)))):
        refuse_graph(test, f"first {length} bytes", model.text[:length])


@case("graph-flipped", covers=("bit-flipped",))
def flipped(test):
    model = Model(test)
    rng = np.random.default_rng(82)
    data = bytearray(model.text.encode())
    out = test.path("out.rlx")
    for _ in test.sample(range(60)):
        at, bit = int(rng.integers(len(data))), int(rng.integers(8))
        damaged = bytearray(data)
        damaged[at] ^= 1 << bit
        path = write(test.path("bad.json"), bytes(damaged))
        tolerated(test, f"bit {bit} of byte {at}", "rlx-bake", path, IMPORT, "-o", out, out=out)


def paths_of(value, path=()):
    """All places of a JSON document."""
    yield path
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_of(item, path + (key,))


@case("graph-mutated", covers=("structure",))
def mutated(test):
    """Each kind of field once replaced by each kind of value, and once removed."""
    document = json.loads(Model(test).text)
    seen, variants, out = set(), [], test.path("out.rlx")
    for path in paths_of(document):
        # One node stands for all of its kind.
        shape = tuple("#" if isinstance(key, int) else key for key in path)
        op = document["nodes"][path[1]]["op"] if path[:1] == ("nodes",) and len(path) > 1 else ""
        kind = op if isinstance(op, str) else next(iter(op))
        if path and (shape, kind) not in seen:
            seen.add((shape, kind))
            variants += [(path, value)
                         for value in (None, -1, 1 << 70, 0.5, "zz", [], {}, [[]], ...)]
    for path, value in test.sample(variants):
        changed = copy.deepcopy(document)
        parent = changed
        for key in path[:-1]:
            parent = parent[key]
        if value is ...:
            del parent[path[-1]]
        else:
            parent[path[-1]] = value
        where = "/".join(map(str, path))
        file = write(test.path("bad.json"), json.dumps(changed).encode())
        tolerated(test, f"{where} = {'removed' if value is ... else value!r}", "rlx-bake", file,
                  IMPORT, "-o", out, out=out)


def node(number, op, inputs=(), dims=(2,), dtype="F32", name=None):
    return {"id": number, "op": op, "inputs": list(inputs),
            "shape": {"dims": [d if isinstance(d, dict) else {"Static": d} for d in dims],
                      "dtype": dtype}, "name": name, "origin": None}


def document(*nodes, outputs=None):
    return json.dumps({"name": "g", "nodes": list(nodes),
                       "outputs": [len(nodes) - 1] if outputs is None else outputs})


X = {"Input": {"name": "x"}}
RELU, ADD = {"Activation": "Relu"}, {"Binary": "Add"}


@case("graph-order", covers=("cyclic", "forward-referencing"))
def order(test):
    x = node(0, X)
    for what, text, words in (
            ("a node that reads itself", document(x, node(1, RELU, [1])), ["1"]),
            ("a node that reads a later one",
             document(x, node(1, RELU, [2]), node(2, RELU, [0])), ["2"]),
            ("a cycle of two", document(x, node(1, RELU, [2]), node(2, RELU, [1])), ["2"]),
            ("a cycle through the first node", document(node(0, RELU, [1]), node(1, RELU, [0])),
             []),
            ("a node that does not exist", document(x, node(1, RELU, [9])), ["9"]),
            ("a negative operand", document(x, node(1, RELU, [-1])), ["-1"]),
            ("an operand beyond 32 bits", document(x, node(1, RELU, [1 << 32])), []),
            ("an id twice", document(x, node(0, RELU, [0])), []),
            ("an id that skips", document(x, node(2, RELU, [0])), ["2"]),
            ("an output that does not exist", document(x, outputs=[5]), ["5"]),
            ("a negative output", document(x, outputs=[-2]), []),
            ("no operand", document(x, node(1, RELU)), ["0 inputs"]),
            ("too many operands", document(x, node(1, RELU, [0, 0])), ["2"]),
            ("one operand of two", document(x, node(1, ADD, [0])), ["1"]),
            ("two inputs of one name", document(x, node(1, X), node(2, ADD, [0, 1])), ["'x'"]),
            ("an unknown op", document(x, node(1, "Matmul", [0, 0])), ["Matmul", "MatMul"]),
            ("an op that is not supported yet",
             document(x, node(1, {"Softmax": {"axis": -1}}, [0])), ["Softmax"]),
            ("an unknown kind", document(x, node(1, {"Activation": "Rleu"}, [0])), ["Relu"]),
            ("an unknown dtype", document(node(0, X, dtype="F31")), ["F31"]),
            ("an unsupported dtype", document(node(0, X, dtype="C64"), node(1, RELU, [0],
                                                                           dtype="C64")), ["C64"]),
            ("a dtype that does not follow",
             document(x, node(1, RELU, [0], dtype="F64")), ["F64", "F32"]),
            ("an empty name", document(node(0, {"Input": {"name": ""}})), []),
            ("a symbol without an input", document(x, node(1, RELU, [0], [{"Dynamic": 3}])), [])):
        refuse_graph(test, what, text, words)


@case("graph-shapes", covers=("absurd shapes",))
def shapes(test):
    def unary_on(dims):
        return document(node(0, X, dims=dims), node(1, RELU, [0], dims))

    big = 1 << 62
    for what, text, words in (
            ("2^62 elements", unary_on([big]), []),
            ("2^63", unary_on([1 << 63]), []), ("2^64", unary_on([1 << 64]), []),
            ("10^400", unary_on([10**400]), []), ("a negative dim", unary_on([-3]), ["-3"]),
            ("a product that overflows", unary_on([1 << 32, 1 << 32]), []),
            ("a product that wraps to 0", unary_on([1 << 16] * 4), []),
            ("a zero beside large dims", unary_on([0, big, big]), []),
            ("a fraction", unary_on([2.5]), []), ("a string", document(
                node(0, X, dims=[{"Static": "2"}])), []),
            ("a dim of no kind", document(node(0, X, dims=[{"Stat": 2}])), ["Stat"]),
            ("a symbol beyond 32 bits", document(node(0, X, dims=[{"Dynamic": 1 << 40}])), []),
            ("a negative symbol", document(node(0, X, dims=[{"Dynamic": -1}])), []),
            ("a param with a symbol", document(node(0, {"Param": {"name": "w"}},
                                                    dims=[{"Dynamic": 0}])), []),
            ("a declared shape that does not follow",
             document(node(0, X, dims=[2, 3]), node(1, RELU, [0], [3, 2])), ["[2, 3]", "[3, 2]"]),
            ("operands that do not broadcast",
             document(node(0, X, dims=[2]), node(1, {"Input": {"name": "y"}}, dims=[3]),
                      node(2, ADD, [0, 1], [3])), ["[2]", "[3]"]),
            ("a product of inner dims that differ",
             document(node(0, X, dims=[2, 3]), node(1, {"Input": {"name": "y"}}, dims=[4, 5]),
                      node(2, "MatMul", [0, 1], [2, 5])), ["3", "4"]),
            ("a product of vectors",
             document(node(0, X, dims=[3]), node(1, "MatMul", [0, 0], [])), []),
            ("a permutation with a repeat",
             document(node(0, X, dims=[2, 3]), node(1, {"Transpose": {"perm": [0, 0]}}, [0],
                                                    [2, 2])), ["perm"]),
            ("a permutation of another rank",
             document(node(0, X, dims=[2, 3]), node(1, {"Transpose": {"perm": [0]}}, [0], [2])),
             ["perm"]),
            ("a permutation out of range",
             document(node(0, X, dims=[2, 3]), node(1, {"Transpose": {"perm": [0, 7]}}, [0],
                                                    [2, 2])), []),
            ("a reshape to another count",
             document(node(0, X, dims=[2, 3]), node(1, {"Reshape": {"new_shape": [7]}}, [0], [7])),
             ["6", "7"]),
            ("a reshape below zero",
             document(node(0, X, dims=[2, 3]), node(1, {"Reshape": {"new_shape": [-6]}}, [0],
                                                    [6])), []),
            ("an expand that shrinks",
             document(node(0, X, dims=[2, 3]), node(1, {"Expand": {"target_shape": [1, 3]}}, [0],
                                                    [1, 3])), []),
            ("a constant with too few bytes",
             document(node(0, {"Constant": {"data": [0, 0, 0]}}, dims=[1])), ["3", "4"]),
            ("a constant with a byte of 256",
             document(node(0, {"Constant": {"data": [0, 0, 0, 256]}}, dims=[1])), ["255"]),
            ("a constant of half a byte",
             document(node(0, {"Constant": {"data": [0, 0, 0, 0.5]}}, dims=[1])), []),
            ("a huge constant without data",
             document(node(0, {"Constant": {"data": []}}, dims=[1 << 40])), []),
            ("noise with an infinite scale",
             document(node(0, {"RngNormal": {"mean": 0, "scale": 1e300, "key": 0,
                                             "op_seed": None}}, dims=[2])), [])):
        refuse_graph(test, what, text, words)
    # Large ranks are unusual, not wrong; they may be refused but not crash.
    out = test.path("out.rlx")
    for rank in (33, 1000, 100_000):
        path = write(test.path("rank.json"), unary_on([1] * rank).encode())
        tolerated(test, f"rank {rank}", "rlx-bake", path, "-o", out, out=out)


@case("graph-files", covers=("bundle", "HIR"))
def files(test):
    model = Model(test)
    out = test.path("out.rlx")
    os.mkdir(test.path("empty"))
    for what, path, words in (
            ("a file that does not exist", test.path("nothing.json"), ["nothing.json"]),
            ("a folder without a graph", test.path("empty"), ["model.hir.json"]),
            ("a weight file as graph", model.weights_path, ["mlp.safetensors"]),
            ("a device", "/dev/null", ["/dev/null"])):
        refused(test, what, "rlx-bake", path, "-o", out, words=words, out=out)
    os.mkdir(test.path("bundle"))
    good = json.loads(model.text)
    for entry in good["nodes"]:
        entry.pop("origin")
        leaf = isinstance(entry["op"], dict) and next(iter(entry["op"])) in ("Input", "Param")
        if not leaf:
            entry["op"] = {"Mir": entry["op"]}
    hir_file = test.path("bundle/model.hir.json")

    def bundle(what, words=(), policy="Direct", **changes):
        text = {**good, "fusion_policy": policy, **changes}
        write(hir_file, json.dumps({k: v for k, v in text.items() if v is not None}).encode())
        refused(test, what, "rlx-bake", test.path("bundle"), "-o", out, words=words, out=out)

    linear = node(1, {"Linear": {"activation": None, "has_bias": False}}, [0, 0], [2, 2])
    linear.pop("origin")
    bundle("a bundle with an op of HIR", ["Linear"],
           nodes=[{**node(0, X, dims=[2, 2])}, linear], outputs=[1])
    bundle("a bundle without a policy", ["fusion_policy"], policy=None)
    bundle("a bundle with an unknown policy", ["Sideways"], policy="Sideways")
    write(hir_file, json.dumps({**good, "fusion_policy": "Direct"}).encode())
    write(test.path("bundle/weights.safetensors"), b"garbage")
    refused(test, "a bundle with a broken weight file", "rlx-bake", test.path("bundle"), "-o",
            out, words=["weights.safetensors"], out=out)
    os.remove(test.path("bundle/weights.safetensors"))
    result = tools.run(test.options, "rlx-bake", test.path("bundle"), IMPORT, "-o", "-")
    test.equal(result.code, 0, f"the bundle itself is right: {result}")
