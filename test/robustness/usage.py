# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command lines that are wrong: exit 2, a sentence, nothing written. Help: 0."""
import os
import subprocess

import numpy as np

from fixture import Model, no_crash, refused
from rlxtest import tools
from rlxtest.runner import case


@case("usage-bake", covers=("rlx-bake", "exit 2"))
def usage_bake(test):
    model = Model(test)
    out = ["-o", model.out]
    for what, arguments in (
            ("nothing", []), ("no output", [model.graph]), ("no input", out),
            ("an unknown flag", [model.graph, *out, "--frobnicate"]),
            ("an unknown profile", [model.graph, *out, "--profile", "fastest"]),
            ("an unknown phase", [model.graph, *out, "--compile-to", "nowhere"]),
            ("a flag without its value", [model.graph, "-o"]),
            ("two inputs", [model.graph, model.graph, *out]),
            ("an artifact to stdout", [model.graph, "-o", "-"])):
        refused(test, what, "rlx-bake", *arguments, code=2, out=model.out)
    refused(test, "an unknown target", "rlx-bake", model.graph, *out, "--target", "z80",
            words=["z80", "x86-64-v3"], code=2, out=model.out)
    for flag in ("--help", "-h", "--version"):
        result = tools.run(test.options, "rlx-bake", flag)
        no_crash(test, result, flag)
        test.equal((result.code, result.err), (0, ""), f"{flag}: exit code and stderr")
        test.check(result.out.strip() != "", f"{flag}: goes to stdout")


@case("usage-run", covers=("rlx-run", "exit 2"))
def usage_run(test):
    path = Model(test).bake()
    np.save(test.path("x.npy"), np.ones((2, 4), np.float32))
    given = [path, "--input", f"x=@{test.path('x.npy')}"]
    for what, arguments in (
            ("nothing", []), ("an unknown flag", [*given, "--frobnicate"]),
            ("an input without a name", [path, "--input", "=@x.npy"]),
            ("an input without a file", [path, "--input", "x"]),
            ("a repeat of 0", [*given, "--repeat", "0"]),
            ("a repeat below 0", [*given, "--repeat", "-1"]),
            ("a repeat that is no number", [*given, "--repeat", "many"]),
            ("threads below 0", [*given, "--threads", "-2"]),
            ("a tolerance that is no number", [*given, "--rtol", "small"]),
            ("an unknown device", [*given, "--device", "tpu"]),
            ("an unknown way to verify", [*given, "--verify", "some"])):
        refused(test, what, "rlx-run", *arguments, code=2)
    for flag in ("--help", "-h", "--version"):
        result = tools.run(test.options, "rlx-run", flag)
        no_crash(test, result, flag)
        test.equal((result.code, result.err), (0, ""), f"{flag}: exit code and stderr")
        test.check(result.out.strip() != "", f"{flag}: goes to stdout")


@case("usage-full-stdout", covers=("stdout",))
def full_stdout(test):
    """Text that cannot be written is an error, not a crash or a silent success."""
    model = Model(test)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([os.path.join(test.options.build_dir, "bin", "rlx-bake"),
                               model.graph, "--compile-to=import", "-o", "-"], stdout=full,
                              stderr=subprocess.PIPE, check=False)
    test.equal(done.returncode, 1, f"exit code; it said {done.stderr!r}")
    test.check(done.stderr.startswith(b"error:"), "it says so", repr(done.stderr))
