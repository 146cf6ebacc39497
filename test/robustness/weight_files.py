# SPDX-License-Identifier: MIT OR Apache-2.0
"""Weight files: damage, and weights that do not fit the graph."""
import json
import struct

import numpy as np

from fixture import Model, no_crash, refused, tolerated, write
from rlxtest import safetensors, tools
from rlxtest.runner import case

IMPORT = "--compile-to=import"


def refuse_weights(test, model, what, data, words=("bad.safetensors",)):
    path = write(test.path("bad.safetensors"), data)
    return refused(test, what, "rlx-bake", model.graph, "-w", path, "-o", model.out, words=words,
                   out=model.out)


def with_header(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


@case("weights-garbage", covers=("safetensors", "300,000 open brackets"))
def garbage(test):
    model = Model(test)
    rng = np.random.default_rng(91)
    entry = {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}
    twelve = bytes(12)
    many = 300_000

    def one(**changes):
        return with_header({"b1": {**entry, **changes}}, twelve)

    for what, data in (
            ("empty", b""), ("zeros", bytes(64)), ("noise", rng.bytes(4096)), ("short", b"\1\0\0"),
            ("a length beyond the file", struct.pack("<Q", 1000) + b"{}"),
            ("a length of 2^64 - 1", struct.pack("<Q", (1 << 64) - 1) + b"{}"),
            ("a length of 2^63", struct.pack("<Q", 1 << 63) + b"{}"),
            ("a header that is no JSON", with_header(b"hello")),
            ("a header that is an array", with_header(b"[]")),
            ("open brackets", with_header(b"[" * many)),
            ("open braces", with_header(b'{"a":' * many)),
            ("brackets in a shape", with_header(b'{"b1":{"dtype":"F32","shape":' + b"[" * many)),
            ("a tensor that is a number", with_header({"b1": 5})),
            ("no dtype", with_header({"b1": {"shape": [3], "data_offsets": [0, 12]}}, twelve)),
            ("no shape", with_header({"b1": {"dtype": "F32", "data_offsets": [0, 12]}}, twelve)),
            ("no offsets", with_header({"b1": {"dtype": "F32", "shape": [3]}}, twelve)),
            ("an unknown dtype", one(dtype="F31")), ("a number as dtype", one(dtype=5)),
            ("a shape of 2^62", one(shape=[1 << 62])), ("a shape of 2^70", one(shape=[1 << 70])),
            ("a shape that overflows", one(shape=[1 << 32, 1 << 32, 3])),
            ("a negative dim", one(shape=[-3])), ("a fractional dim", one(shape=[3.5])),
            ("a dim as text", one(shape=["3"])), ("a shape of other size", one(shape=[4])),
            ("one offset", one(data_offsets=[0])), ("three offsets", one(data_offsets=[0, 12, 24])),
            ("offsets backwards", one(data_offsets=[12, 0])),
            ("offsets beyond the file", one(data_offsets=[0, 120], shape=[30])),
            ("offsets beyond 64 bits", one(data_offsets=[0, 1 << 66])),
            ("negative offsets", one(data_offsets=[-12, 0])),
            ("overlapping tensors",
             with_header({"b1": entry, "b2": {**entry, "data_offsets": [4, 16]}}, bytes(16))),
            ("a hole", with_header({"b1": entry, "b2": {**entry, "data_offsets": [16, 28]}},
                                   bytes(28))),
            ("bytes of no tensor", with_header({"b1": entry}, bytes(40))),
            ("a name twice",
             with_header(b'{"b1":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},'
                         b'"b1":{"dtype":"F32","shape":[3],"data_offsets":[12,24]}}',
                         bytes(24)))):
        refuse_weights(test, model, what, data)
    for what, name, data, word in (
            ("an unknown extension", "bad.bin", bytes(10), "bad.bin"),
            ("a checkpoint of torch", "bad.pt", b"PK\3\4", "bad.pt"),
            ("an index that is no JSON", "bad.safetensors.index.json", b"{", "bad."),
            ("an index of open brackets", "bad.safetensors.index.json", b"[" * many, "bad."),
            ("an index without its shard", "bad.safetensors.index.json",
             b'{"weight_map":{"b1":"gone.safetensors"}}', "gone.safetensors"),
            ("an index that climbs out", "bad.safetensors.index.json",
             b'{"weight_map":{"b1":"../../etc/passwd"}}', "../../etc/passwd")):
        path = write(test.path(name), data)
        refused(test, what, "rlx-bake", model.graph, "-w", path, "-o", model.out, words=[word],
                out=model.out)
    refused(test, "a file that does not exist", "rlx-bake", model.graph, "-w",
            test.path("none.safetensors"), "-o", model.out, words=["none.safetensors"],
            out=model.out)
    refused(test, "a folder without weights", "rlx-bake", model.graph, "-w", "/proc/self/task",
            "-o", model.out, words=["/proc/self/task"], out=model.out)


@case("weights-cut", covers=("truncated", "safetensors"))
def cut(test):
    model = Model(test)
    data = safetensors.encode(model.weights)
    for length in test.sample(sorted(set(np.linspace(1, len(data) - 1, 30).astype(int)))):
        refuse_weights(test, model, f"first {length} bytes", data[:length])
    refuse_weights(test, model, "a byte too many", data + b"\0")


@case("weights-flipped", covers=("bit-flipped", "safetensors"))
def flipped(test):
    """In the header: any bit of the length, and a sample of the rest."""
    model = Model(test)
    rng = np.random.default_rng(92)
    data = safetensors.encode(model.weights)
    header = 8 + struct.unpack("<Q", data[:8])[0]
    places = [(at, bit) for at in range(8) for bit in (0, 5, 7)] + \
        [(int(rng.integers(8, header)), int(rng.integers(8))) for _ in range(50)]
    for at, bit in test.sample(places):
        damaged = bytearray(data)
        damaged[at] ^= 1 << bit
        path = write(test.path("bad.safetensors"), bytes(damaged))
        tolerated(test, f"bit {bit} of byte {at}", "rlx-bake", model.graph, "-w", path, IMPORT,
                  "-o", model.out, out=model.out)


@case("weights-wrong", covers=("missing", "extra", "none matched", "--strict", "near-miss"))
def wrong(test):
    model = Model(test)

    def bake(weights, *flags):
        safetensors.write(test.path("some.safetensors"), weights)
        return ["rlx-bake", model.graph, "-w", test.path("some.safetensors"), "-o", model.out,
                *flags]

    def accepted(what, arguments, words):
        result = tools.run(test.options, *arguments)
        no_crash(test, result, what)
        test.equal(result.code, 0, f"{what}: exit code of {result}")
        for word in words:
            test.check(word in result.err, f"{what}: says {word!r}", result.err)

    good = model.weights
    missing = {n: v for n, v in good.items() if n != "b1"}
    accepted("a missing weight", bake(missing), ["b1"])
    refused(test, "a missing weight, strictly", *bake(missing, "--strict"), words=["b1"],
            out=model.out)
    extra = {**good, "unused.weight": good["b1"]}
    accepted("an extra weight", bake(extra), ["unused.weight"])
    accepted("an extra weight, strictly", bake(extra, "--strict"), ["unused.weight"])
    accepted("all weights, strictly", bake(good, "--strict"), [])
    refused(test, "no weight matches", *bake({"q": good["b1"]}), words=["some.safetensors"],
            out=model.out)
    refused(test, "no weight at all", *bake({}), out=model.out)
    near = {**missing, "bias1": good["b1"], "w_1": good["w1"]}
    near.pop("w1")
    accepted("a name that is nearly right", bake(near), ["w_1", "w1"])
    for what, name, value, words in (
            ("another shape", "w1", ("F32", np.zeros((3, 4), np.float32)), ["3", "4", "w1"]),
            ("another rank", "b1", ("F32", np.zeros((1, 3), np.float32)), ["b1", "1"]),
            ("another size", "b1", ("F32", np.zeros(5, np.float32)), ["b1", "5", "3"]),
            ("another dtype", "b1", ("F64", np.zeros(3)), ["b1"]),
            ("an integer dtype", "w2", ("I32", np.zeros((3, 2), np.int32)), ["w2"])):
        result = refused(test, what, *bake({**good, name: value}), words=words, out=model.out)
        if "dtype" in what:
            test.check(value[0] in result.err.upper() and "F32" in result.err.upper(),
                       f"{what}: names both types", result.err)
    refused(test, "the same weight from two files", "rlx-bake", model.graph, "-w",
            model.weights_path, "-w", test.path("some.safetensors"), "-o", model.out,
            out=model.out)
