# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs rlx-bake and rlx-run."""
import json
import os
import subprocess

from . import safetensors

TIMEOUT_S = 300


class Result:
    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err

    def __str__(self):
        return f"{' '.join(self.command)}\nexit {self.code}\n{self.err[-2000:]}"


class ToolError(Exception):
    pass


def run(options, tool, *arguments, env=None, timeout=TIMEOUT_S, **kwargs):
    """Never raises for an exit code; `Result.code` is negative for a signal."""
    command = [os.path.join(options.build_dir, "bin", tool), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, check=False,
                          env={**os.environ, **(env or {})}, **kwargs)
    return Result(command, done.returncode, done.stdout.decode(errors="replace"),
                  done.stderr.decode(errors="replace"))


def bake_file(options, source, out, *flags, env=None):
    """Bakes or raises with what the tool said."""
    result = run(options, "rlx-bake", source, "-o", out, *flags, env=env)
    if result.code != 0:
        raise ToolError(str(result))
    return result


class Baked:
    def __init__(self, path, report):
        self.path, self.report = path, report


def bake(test, text, weights=None, flags=(), name="model", env=None):
    """Bakes a graph given as JSON text with `weights` {name: (dtype, array)}."""
    source = test.path(f"{name}.json")
    with open(source, "w") as file:
        file.write(text)
    arguments = list(flags)
    if weights is not None:
        file = test.path(f"{name}.safetensors")
        safetensors.write(file, weights)
        arguments += ["--weights", file]
    out, report = test.path(f"{name}.rlx"), test.path(f"{name}.report.json")
    bake_file(test.options, source, out, "--report", report, *arguments, env=env)
    with open(report) as file:
        return Baked(out, json.load(file))
