# SPDX-License-Identifier: MIT OR Apache-2.0
"""A model that is all right, and what is expected when something is not."""
import os
import re

import numpy as np

from rlxtest import safetensors, tools
from rlxtest.compare import EXACT
from rlxtest.graph import Graph, binary, matmul, unary

CRASH = re.compile(
    r"Stack dump|PLEASE submit|Assertion|LLVM ERROR|UNREACHABLE|AddressSanitizer|LeakSanitizer|"
    r"runtime error:|terminate called|Segmentation|core dumped|Traceback|#\d+ +0x|std::|"
    r"\.cpp:\d+|\bmlir::|\bllvm::|unrealized_conversion_cast|see current operation")
# A message is for a person; a dump of the input is not one.
MAX_MESSAGE = 6000
OLD = b"an older file that must stay as it is"


def mlp():
    """relu(x w1 + b1) w2 with weights called w1, b1 and w2."""
    graph = Graph("tiny_mlp")
    x = graph.leaf("x", (2, 4))
    y = binary(graph, "Add", np.add, matmul(graph, x, graph.leaf("w1", (4, 3))),
               graph.leaf("b1", (3,)))
    y = unary(graph, "Relu", lambda v: np.maximum(v, 0), y)
    graph.output(matmul(graph, y, graph.leaf("w2", (3, 2)), "logits"), EXACT)
    rng = np.random.default_rng(71)
    weights = {name: ("F32", rng.uniform(-1, 1, graph.leaves[name].dims).astype(np.float32))
               for name in ("w1", "b1", "w2")}
    return graph.to_json(params=weights), weights


class Model:
    """The files of the model in the folder of a test."""

    def __init__(self, test):
        self.test = test
        self.text, self.weights = mlp()
        self.graph, self.weights_path = test.path("mlp.json"), test.path("mlp.safetensors")
        write(self.graph, self.text.encode())
        safetensors.write(self.weights_path, self.weights)
        self.out = test.path("out.rlx")

    def bake(self, *flags, weights=True, name="good.rlx"):
        path = self.test.path(name)
        arguments = ["--weights", self.weights_path] if weights else []
        tools.bake_file(self.test.options, self.graph, path, *arguments, *flags)
        return path


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def snapshot(folder):
    """Names, sizes and contents of all files below a folder."""
    state = {}
    for root, folders, files in os.walk(folder):
        for name in folders:
            state[os.path.join(root, name)] = None
        for name in files:
            path = os.path.join(root, name)
            if not os.path.isfile(path):
                state[path] = os.lstat(path).st_mode
                continue
            with open(path, "rb") as file:
                state[path] = hash(file.read())
    return state


def difference(before, after):
    return [f"{'new' if p not in before else 'gone' if p not in after else 'changed'}: "
            f"{os.path.basename(p)}"
            for p in sorted(before.keys() | after.keys()) if before.get(p, 0) != after.get(p, 0)]


def no_crash(test, result, what):
    ok = test.check(result.code >= 0 and not CRASH.search(result.err + result.out),
                    f"{what}: crashes or shows internals", str(result))
    return ok and test.check(len(result.err) < MAX_MESSAGE, f"{what}: message too long",
                             f"{len(result.err)} bytes")


def check_refused(test, result, what, words=(), code=1):
    """`words`: texts that the message must contain."""
    if not no_crash(test, result, what):
        return
    test.equal(result.code, code, f"{what}: exit code of {result}")
    if code == 1:
        # Warnings, such as names that match nothing, may come before it.
        test.check(re.search("^error: ", result.err, re.MULTILINE),
                   f"{what}: stderr has a line that starts with 'error:'", result.err[:300])
    else:
        test.check(result.err.strip() != "", f"{what}: says something")
    for word in words:
        test.check(word in result.err, f"{what}: says {word!r}", result.err[:600])


def refused(test, what, tool, *arguments, words=(), code=1, env=None, out=None, **kwargs):
    """Runs a tool that must refuse and leave everything as it was. `out`: where
    it would write; an older file is put there first."""
    if out is not None:
        write(out, OLD)
    before = snapshot(test.dir)
    result = tools.run(test.options, tool, *arguments, env=env, **kwargs)
    check_refused(test, result, what, words, code)
    changes = difference(before, snapshot(test.dir))
    test.check(not changes, f"{what}: nothing is written", ", ".join(changes))
    return result


def tolerated(test, what, tool, *arguments, out=None, env=None):
    """Damage that may or may not matter: success, or a refusal like any other."""
    before = snapshot(test.dir)
    result = tools.run(test.options, tool, *arguments, env=env)
    if result.code == 0:
        no_crash(test, result, what)
        if out is not None and os.path.exists(out):
            os.remove(out)
        return
    check_refused(test, result, what)
    changes = difference(before, snapshot(test.dir))
    test.check(not changes, f"{what}: nothing is written", ", ".join(changes))
