# SPDX-License-Identifier: MIT OR Apache-2.0
"""Properties of the baked file: same input same bytes, and a file of 1 GiB that
opens at once."""
import contextlib
import os
import shutil
import statistics
import sys
import time
import traceback

import numpy as np

from bundle import torch_mlp
from differential import weights_of
from rlxtest import tools
from rlxtest.compare import EXACT
from rlxtest.graph import Graph, matmul
from rlxtest.runner import Skip, case
from rlxtest.runtime import Program, library

OPEN_LIMIT_S = 0.010
NEEDED_BYTES = 4 << 30


@case("deterministic", covers=("cmp",))
def deterministic(test):
    """Another folder, other flags for the report, another process: same bytes."""
    graph, values = torch_mlp()
    weights = weights_of(graph, {n: v for n, v in values.items() if n != "input"})
    text = graph.to_json(params=weights)
    files = []
    for name, bound, flags in (("a", weights, []), ("b", weights, ["--quiet"]),
                               ("open-a", None, []), ("open-b", None, [])):
        folder = test.path(name)
        os.mkdir(folder)
        baked = tools.bake(test, text, bound, flags, name=f"{name}/{'model'}")
        with open(baked.path, "rb") as file:
            files.append(file.read())
    for first, second, what in ((0, 1, "bound"), (2, 3, "open")):
        test.check(files[first] == files[second], f"{what}: two bakes give the same bytes",
                   first_difference(files[first], files[second]))
    for data, what in ((files[0], "bound"), (files[2], "open")):
        test.check(os.fsencode(test.dir) not in data, f"{what}: no path in the file")


def first_difference(a, b):
    length = min(len(a), len(b))
    at = next((i for i in range(length) if a[i] != b[i]), length)
    return f"sizes {len(a)} and {len(b)}, first difference at byte {at}"


def process_memory():
    """Resident bytes of this process, by kind."""
    sizes = {"RssAnon": 0, "RssFile": 0}
    with open("/proc/self/status") as file:
        for line in file:
            key = line.split(":")[0]
            if key in sizes:
                sizes[key] = int(line.split()[1]) << 10
    return sizes


def mapping_memory(path):
    """Sums of the fields of /proc/self/smaps over the mappings of a file."""
    sums, inside = {}, False
    with open("/proc/self/smaps") as file:
        for line in file:
            first = line.split(maxsplit=1)[0]
            if not first.endswith(":"):
                inside = line.rstrip().endswith(path)
            elif inside and line.rstrip().endswith("kB"):
                sums[first[:-1]] = sums.get(first[:-1], 0) + (int(line.split()[1]) << 10)
    return sums


def in_child(function):
    """Runs `function(send, wait)` in a fork; returns the pipe ends to talk to it."""
    up_read, up_write = os.pipe()
    down_read, down_write = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            function(lambda value: os.write(up_write, (repr(value) + "\n").encode()),
                     lambda: os.read(down_read, 1))
            code = 0
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)  # pylint: disable=protected-access
    os.close(up_write)
    os.close(down_read)
    return process, os.fdopen(up_read), down_write


def ask(child):
    line = child[1].readline()
    if not line:
        raise RuntimeError("the child process died")
    return eval(line)  # pylint: disable=eval-used


def end(child):
    with contextlib.suppress(BrokenPipeError):
        os.write(child[2], b"x")
    os.close(child[2])
    child[1].close()
    return os.waitstatus_to_exitcode(os.waitpid(child[0], 0)[1])


def make_gigabyte(test):
    """16 layers of 4096x4096: 1 GiB of weights. The values are small integers, so
    that a product of 16 of them stays finite."""
    graph = Graph("gigabyte")
    y = graph.leaf("x", (1, 4096))
    for layer in range(16):
        y = matmul(graph, y, graph.leaf(f"w{layer}", (4096, 4096)),
                   "y" if layer == 15 else None)
    graph.output(y, EXACT)
    base = np.eye(4096, dtype=np.float32)
    weights = {f"w{layer}": ("F32", np.roll(base, layer + 1, axis=1)) for layer in range(16)}
    start = time.monotonic()
    baked = tools.bake(test, graph.to_json(params=weights), weights)
    test.note(f"baking 1 GiB took {time.monotonic() - start:.1f} s")
    os.remove(test.path("model.safetensors"))
    return baked.path


@case("gigabyte", covers=("mmap", "Pss", "open"), alone=True)
def gigabyte(test):
    if shutil.disk_usage(test.dir).free < NEEDED_BYTES:
        raise Skip(f"needs 4 GiB of disk in {test.dir}")
    path = make_gigabyte(test)
    size = os.path.getsize(path)
    test.check(1 << 30 <= size < (1 << 30) + (4 << 20), "size of the file", f"{size} bytes")

    def open_only(send, _):
        # The library and its own memory first, so that the rest is the program's.
        library(test.options)
        times = []
        for _ in range(5):
            before = process_memory()
            start = time.monotonic()
            program = Program(test.options, path)
            times.append(time.monotonic() - start)
            after = process_memory()
            if len(times) < 5:
                program.__exit__()
        send((statistics.median(times), {k: after[k] - before[k] for k in after},
              mapping_memory(path)))

    child = in_child(open_only)
    median, grown, mapped = ask(child)
    end(child)
    test.note(f"opening 1 GiB: {median * 1e3:.2f} ms (median of 5), resident "
              f"{mapped.get('Rss', 0) >> 10} KiB of the file")
    test.check(median < OPEN_LIMIT_S, "opens in under 10 ms", f"{median * 1e3:.2f} ms")
    test.check(mapped.get("Size", 0) >= size - (1 << 20), "the file is mapped", str(mapped))
    test.check(mapped.get("Rss", 0) < 16 << 20, "no weights are read", str(mapped))
    test.check(max(grown.values()) < 16 << 20, "resident memory hardly grows", str(grown))

    def forward(send, wait):
        with Program(test.options, path) as program, program.session() as session:
            x = np.arange(4096, dtype=np.float32)[None]
            before = process_memory()["RssAnon"]
            y = session.run({"x": x})["y"]
            grown = process_memory()["RssAnon"] - before
            send(bool(np.array_equal(y, np.roll(x, 16 * 17 // 2, axis=1))))
            wait()  # until the other one has run as well
            send((mapping_memory(path), grown, session.statistics()["weight_bytes_copied"]))
            wait()

    children = [in_child(forward) for _ in range(2)]
    for number, child in enumerate(children):
        test.check(ask(child), f"process {number}: the result is right")
    for child in children:
        os.write(child[2], b"x")
    for number, child in enumerate(children):
        mapped, grown, copied = ask(child)
        test.note(f"process {number}: Rss {mapped['Rss'] >> 20} MiB, Pss {mapped['Pss'] >> 20} "
                  f"MiB of the file, {grown >> 10} KiB of its own for a forward")
        test.check(mapped["Rss"] > 0.95 * size, f"process {number} has touched all weights")
        test.check(mapped["Pss"] < 0.6 * size, f"process {number} shares its pages", str(mapped))
        test.check(mapped["Private_Dirty"] == 0, f"process {number} has no page of its own",
                   str(mapped))
        test.check(grown < 64 << 20, f"process {number}: the forward copies no weights")
        test.equal(copied, 0, f"process {number}: weight_bytes_copied")
    for number, child in enumerate(children):
        test.equal(end(child), 0, f"process {number}: exit")
