# SPDX-License-Identifier: MIT OR Apache-2.0
"""What rlx-run is given for a forward: arrays, names, weights."""
import os
import struct

import numpy as np

from fixture import Model, no_crash, refused, tolerated, write
from rlxtest import safetensors, tools
from rlxtest.runner import case


def npy(header, data=b"", version=b"\1\0", length=None):
    text = header.encode() + b"\n"
    size = len(text) if length is None else length
    return b"\x93NUMPY" + version + struct.pack("<H", size) + text + data


def header(descr="'<f4'", order="False", shape="(2, 4)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


@case("input-arrays", covers=(".npy", "garbage", "truncated"))
def arrays(test):
    model = Model(test)
    path = model.bake()
    good = test.path("x.npy")
    np.save(good, np.ones((2, 4), np.float32))
    with open(good, "rb") as file:
        data = file.read()
    result = tools.run(test.options, "rlx-run", path, "--input", f"x=@{good}")
    test.equal(result.code, 0, f"the right array: {result}")
    body = bytes(32)
    many = 300_000
    cases = [("empty", b""), ("the magic alone", b"\x93NUMPY"), ("text", b"1 2 3 4"),
             ("noise", np.random.default_rng(5).bytes(300)),
             ("a version of 9", npy(header(), body, b"\x09\0")),
             ("a header beyond the file", npy(header(), body, length=60000)),
             ("a header that is no dict", npy("[1, 2]", body)),
             ("open brackets", b"\x93NUMPY\2\0" + struct.pack("<I", many) + b"(" * many),
             ("no shape", npy("{'descr': '<f4', 'fortran_order': False}", body)),
             ("no type", npy("{'fortran_order': False, 'shape': (2, 4)}", body)),
             ("objects", npy(header("'|O'"), body)), ("big-endian", npy(header("'>f4'"), body)),
             ("a structured type", npy(header("[('a', '<f4')]"), body)),
             ("text elements", npy(header("'<U4'"), body)), ("type f5", npy(header("'<f5'"), body)),
             ("columns first", npy(header(order="True"), body)),
             ("a negative dim", npy(header(shape="(-2, 4)"), body)),
             ("a huge shape", npy(header(shape=f"({1 << 62}, 4)"), body)),
             ("a shape that overflows", npy(header(shape=f"({1 << 32}, {1 << 32})"), body)),
             ("a dim beyond 64 bits", npy(header(shape=f"({1 << 70},)"), body)),
             ("rank 1000", npy(header(shape="(" + "1," * 1000 + ")"), body[:4])),
             ("too few elements", npy(header(), body[:28])),
             ("too many bytes", npy(header(), body + b"1234"))]
    cases += [(f"first {length} bytes", data[:length]) for length in range(0, len(data), 9)]
    for what, content in cases:
        file = write(test.path("bad.npy"), content)
        refused(test, what, "rlx-run", path, "--input", f"x=@{file}", "--output",
                f"logits=@{test.path('y.npy')}", words=["bad.npy"])
    for what, content, words in (
            ("other dims", npy(header(shape="(4, 2)"), body), ["4", "2"]),
            ("another rank", npy(header(shape="(8,)"), body), ["1", "2"]),
            ("another type", npy(header("'<f8'"), body * 2), ["f64", "f32"]),
            ("integers", npy(header("'<i4'"), body), ["i32", "f32"])):
        file = write(test.path("bad.npy"), content)
        refused(test, what, "rlx-run", path, "--input", f"x=@{file}", words=["'x'", *words])
    rng = np.random.default_rng(6)
    for _ in test.sample(range(40)):
        damaged = bytearray(data)
        at, bit = int(rng.integers(128)), int(rng.integers(8))
        damaged[at] ^= 1 << bit
        file = write(test.path("bad.npy"), bytes(damaged))
        tolerated(test, f"bit {bit} of byte {at}", "rlx-run", path, "--input", f"x=@{file}")


@case("input-names", covers=("--input", "--output", "--set-param", "--expect", "--entry"))
def names(test):
    model = Model(test)
    path, opened = model.bake(), model.bake(weights=False, name="open.rlx")
    good, wide = test.path("x.npy"), test.path("wide.npy")
    np.save(good, np.ones((2, 4), np.float32))
    np.save(wide, np.ones((2, 5), np.float32))
    np.save(test.path("w1.npy"), model.weights["w1"][1])
    given = ["--input", f"x=@{good}"]
    for what, arguments, words in (
            ("no input", [], ["'x'"]),
            ("an unknown input", [*given, "--input", f"z=@{good}"], ["z", "'x'"]),
            ("an input twice", [*given, *given], ["x"]),
            ("an input of another shape", ["--input", f"x=@{wide}"], ["5", "4"]),
            ("an array that is not there", ["--input", f"x=@{test.path('no.npy')}"], ["no.npy"]),
            ("a folder as array", ["--input", f"x=@{test.dir}"], []),
            ("an unknown output", [*given, "--output", f"logit=@{test.path('y.npy')}"],
             ["'logit'", "logits"]),
            ("an unknown output to compare", [*given, "--expect", f"q=@{good}"], ["'q'"]),
            ("an output of another shape", [*given, "--expect", f"logits=@{wide}"], ["5"]),
            ("an output into a folder that is not there",
             [*given, "--output", f"logits=@{test.path('no/y.npy')}"], ["no"]),
            ("statistics into a folder that is not there",
             [*given, "--stats", test.path("no/s.json")], ["no"]),
            ("an unknown entry", [*given, "--entry", "mian"], ["'mian'", "main"]),
            ("a baked weight", [*given, "--set-param", f"w1=@{test.path('w1.npy')}"], ["'w1'"]),
            ("an unknown weight", [*given, "--set-param", f"w9=@{test.path('w1.npy')}"], ["'w9'"])):
        refused(test, what, "rlx-run", path, *arguments, words=words)
    result = refused(test, "a program without its weights", "rlx-run", opened, *given)
    for name in model.weights:
        test.check(f"'{name}'" in result.err, f"unset '{name}' is named", result.err)
    some = {n: v for n, v in model.weights.items() if n != "w2"}
    safetensors.write(test.path("some.safetensors"), some)
    result = refused(test, "a program without one of them", "rlx-run", opened, *given,
                     "--weights", test.path("some.safetensors"), words=["'w2'"])
    test.check("'w1'" not in result.err, "and no other is named", result.err)
    write(test.path("bad.safetensors"), b"garbage")
    refused(test, "a broken weight file", "rlx-run", opened, *given, "--weights",
            test.path("bad.safetensors"), words=["bad.safetensors"])
    safetensors.write(test.path("wide.safetensors"),
                      {**model.weights, "w1": ("F32", np.zeros((4, 9), np.float32))})
    refused(test, "a weight of another shape", "rlx-run", opened, *given, "--weights",
            test.path("wide.safetensors"), words=["w1", "9"])
    refused(test, "an unknown CPU class", "rlx-run", path, *given,
            env={"RLX_CPU_CLASS": "x86-64-v9"}, words=["x86-64-v9"])
    none = model.bake("--target", "none", name="portable.rlx")
    refused(test, "a program without code", "rlx-run", none, *given)
    other = model.bake("--target", "x86-64-v3", name="v3.rlx")
    refused(test, "a class that the program lacks", "rlx-run", other, *given,
            env={"RLX_CPU_CLASS": "x86-64-v4"}, words=["x86-64-v4", "x86-64-v3"])


@case("input-fuzzed-weights", covers=("rlx-run", "safetensors"))
def fuzzed_weights(test):
    """rlx-run has a safetensors reader of its own."""
    model = Model(test)
    opened = model.bake(weights=False, name="open.rlx")
    np.save(test.path("x.npy"), np.ones((2, 4), np.float32))
    given = ["rlx-run", opened, "--input", f"x=@{test.path('x.npy')}", "--weights",
             test.path("bad.safetensors")]
    data = safetensors.encode(model.weights)
    rng = np.random.default_rng(7)
    for length in test.sample(sorted(set(np.linspace(0, len(data) - 1, 40).astype(int)))):
        write(test.path("bad.safetensors"), data[:length])
        refused(test, f"first {length} bytes", *given, words=["bad.safetensors"])
    for _ in test.sample(range(80)):
        damaged = bytearray(data)
        at, bit = int(rng.integers(len(data))), int(rng.integers(8))
        damaged[at] ^= 1 << bit
        write(test.path("bad.safetensors"), bytes(damaged))
        tolerated(test, f"bit {bit} of byte {at}", *given)
    for many in (b"[", b'{"a":'):
        text = many * 300_000
        write(test.path("bad.safetensors"), struct.pack("<Q", len(text)) + text)
        refused(test, f"300,000 times {many.decode()}", *given, words=["bad.safetensors"])


@case("code-dir", covers=("RLX_CODE_DIR",))
def code_dir(test):
    """Where native code goes does not matter as long as it may go somewhere."""
    model = Model(test)
    path = model.bake()
    np.save(test.path("x.npy"), np.ones((2, 4), np.float32))
    for value in ("/nonexistent", test.dir, ""):
        before = sorted(os.listdir(test.dir))
        result = tools.run(test.options, "rlx-run", path, "--input", f"x=@{test.path('x.npy')}",
                           env={"RLX_CODE_DIR": value})
        no_crash(test, result, f"RLX_CODE_DIR={value}")
        test.equal(result.code, 0, f"RLX_CODE_DIR={value}: {result}")
        test.equal(sorted(os.listdir(test.dir)), before, f"RLX_CODE_DIR={value}: nothing is left")
