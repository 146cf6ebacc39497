# SPDX-License-Identifier: MIT OR Apache-2.0
"""Places that cannot be written to, and interruptions: an older file stays, and
nothing half-written is left."""
import os
import resource
import signal
import subprocess
import time

import numpy as np

from fixture import OLD, Model, check_refused, difference, refused, snapshot, write
from rlxtest import safetensors, tools
from rlxtest.graph import Graph, matmul
from rlxtest.compare import EXACT
from rlxtest.runner import case


@case("output-places", covers=("unwritable", "directory"))
def places(test):
    model = Model(test)
    os.mkdir(test.path("folder"))
    os.mkdir(test.path("full-folder"))
    write(test.path("full-folder/file"), b"x")
    os.symlink(test.path("nowhere/out.rlx"), test.path("dangling.rlx"))
    for what, out, words in (
            ("a folder that does not exist", test.path("none/out.rlx"), ["none"]),
            ("a file as folder", test.path("mlp.json/out.rlx"), ["mlp.json"]),
            ("a folder as output", test.path("folder"), ["folder"]),
            ("a full folder as output", test.path("full-folder"), ["full-folder"]),
            ("a device as output", "/dev/null", ["/dev/null"]),
            ("a place in /proc", "/proc/out.rlx", ["/proc"]),
            ("a name that is too long", test.path("x" * 300 + ".rlx"), [])):
        refused(test, what, "rlx-bake", model.graph, "-w", model.weights_path, "-o", out,
                words=words)
        # The file is complete by then; only the report is missing.
        before = set(os.listdir(test.dir)) | {"out.rlx"}
        result = tools.run(test.options, "rlx-bake", model.graph, "-w", model.weights_path, "-o",
                           model.out, "--report", out)
        if out != "/dev/null":
            check_refused(test, result, f"{what}, as report", words)
        test.equal(set(os.listdir(test.dir)) | {"out.rlx"}, before, f"{what}, as report: files")
    test.check(os.stat("/dev/null").st_rdev != 0, "/dev/null is still a device")


@case("output-read-only", covers=("unwritable", "read-only"))
def read_only(test):
    """As root permissions do not count, so also try without root's powers."""
    model = Model(test)
    locked = test.path("locked")
    os.mkdir(locked)
    write(os.path.join(locked, "out.rlx"), OLD)
    os.chmod(locked, 0o555)
    if os.geteuid() == 0:
        # The build may lie where only root can look; then there is nothing to try.
        os.chmod(test.dir, 0o755)
        probe = subprocess.run([os.path.join(test.options.build_dir, "bin", "rlx-bake"),
                                "--version"], preexec_fn=lambda: os.setuid(65534), check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if probe.returncode != 0:
            test.note("not tried: user 65534 cannot run the build")
            return
        refused(test, "a read-only folder", "rlx-bake", model.graph, "-w", model.weights_path,
                "-o", os.path.join(locked, "out.rlx"), words=["locked"],
                preexec_fn=lambda: os.setuid(65534))
    else:
        refused(test, "a read-only folder", "rlx-bake", model.graph, "-w", model.weights_path,
                "-o", os.path.join(locked, "out.rlx"), words=["locked"])
    os.chmod(locked, 0o755)


def mount(kind, target, options):
    return subprocess.run(["mount", "-t", kind, "-o", options, kind, target], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def larger_model(test, layers):
    """A command that writes 16 MiB of weights per layer."""
    graph = Graph("larger")
    y = graph.leaf("x", (1, 2048))
    for layer in range(layers):
        y = matmul(graph, y, graph.leaf(f"w{layer}", (2048, 2048)), f"y{layer}")
    graph.output(y, EXACT)
    ones = np.ones((2048, 2048), np.float32)
    weights = {f"w{layer}": ("F32", ones) for layer in range(layers)}
    write(test.path("larger.json"), graph.to_json(params=weights).encode())
    safetensors.write(test.path("larger.safetensors"), weights)
    return ["rlx-bake", test.path("larger.json"), "-w", test.path("larger.safetensors"), "-o",
            test.path("out.rlx"), "--quiet"]


@case("output-disk-full", covers=("disk full",))
def disk_full(test):
    """Files may not grow beyond a limit, which fails as a full disk does; where
    we may mount one, also a disk that really is full."""
    command = larger_model(test, layers=1)
    out = test.path("out.rlx")

    def limit(size):
        def apply():
            # Without the signal, writing beyond the limit is an error.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return apply

    test.equal(tools.run(test.options, *command).code, 0, "without a limit")
    size = os.path.getsize(out)
    # Below that not even code that folds constants finds room.
    for limited in (1 << 20, size // 2, size - 1):
        refused(test, f"a file of at most {limited} bytes", *command, words=["out.rlx"],
                out=out, preexec_fn=limit(limited))
    for limited in (0, 64):
        refused(test, f"a file of at most {limited} bytes", *command, out=out,
                preexec_fn=limit(limited))
    small = test.path("small")
    os.mkdir(small)
    if os.geteuid() != 0 or not mount("tmpfs", small, "size=8k"):
        test.note("no tmpfs could be mounted: the size limit of files stood in for a full disk")
        return
    try:
        out = os.path.join(small, "out.rlx")
        arguments = [out if a == test.path("out.rlx") else a for a in command]
        refused(test, "a full disk", *arguments, words=["out.rlx"], out=out)
        mount("tmpfs", small, "remount,ro")
        before = snapshot(test.dir)
        result = tools.run(test.options, *arguments)
        check_refused(test, result, "a read-only file system", ["out.rlx"])
        test.equal(difference(before, snapshot(test.dir)), [], "a read-only file system")
    finally:
        subprocess.run(["umount", small], check=False)


@case("output-interrupted", covers=("kill",), alone=True)
def interrupted(test):
    """Whenever the bake dies, the name holds the old bytes or the complete new
    file. After signals that can be caught nothing else is left either."""
    command = larger_model(test, layers=4)
    command[0] = os.path.join(test.options.build_dir, "bin", command[0])
    out = test.path("out.rlx")
    start = time.monotonic()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    duration = time.monotonic() - start
    with open(out, "rb") as file:
        complete = file.read()
    died = 0
    for number, kind in ((signal.SIGKILL, "SIGKILL"), (signal.SIGTERM, "SIGTERM"),
                         (signal.SIGINT, "SIGINT")):
        for step in test.sample(range(12)):
            write(out, OLD)
            before = set(os.listdir(test.dir))
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(duration * (step + 0.5) / 12)
            process.send_signal(number)
            died += process.wait() != 0
            with open(out, "rb") as file:
                content = file.read()
            test.check(content in (OLD, complete), f"{kind}, {step}/12 through",
                       f"{len(content)} bytes that are neither the old nor the new file")
            left = set(os.listdir(test.dir)) - before
            if number != signal.SIGKILL:
                test.check(not left, f"{kind}, {step}/12 through: nothing is left", str(left))
            for name in left:
                test.check(name.endswith(".tmp"), f"{kind}: what is left looks temporary", name)
                os.remove(test.path(name))
    test.check(died > 0, "bakes were interrupted", f"{died} of them")
