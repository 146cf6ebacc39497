# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads assembly and fails if a loop with FMAs touches the stack.

usage: find_spills.py MINIMUM < code.s
MINIMUM is the least number of such loops, so that a change of syntax is no success.
"""
import re
import sys

LABEL = re.compile(r"(\.?\w+):")
JUMP = re.compile(r"\s+j\w+\s+(\.LBB\w+)")


def loops(lines):
    """(function, lines of the loop) for each jump back to a label."""
    function, labels = None, {}
    for index, line in enumerate(lines):
        label = LABEL.match(line)
        if label and label[1].startswith(".LBB"):
            labels[label[1]] = index
        elif label and not label[1].startswith("."):
            function, labels = label[1], {}
        jump = JUMP.match(line)
        if jump and jump[1] in labels:
            yield function, lines[labels[jump[1]]:index + 1]


def main():
    inner = [(function, body) for function, body in loops(sys.stdin.read().splitlines())
             if any("vfmadd" in line for line in body)]
    spills = [(function, line.strip()) for function, body in inner for line in body
              if "%rsp" in line]
    for function, line in spills:
        print(f"{function}: {line}")
    print(f"{len(inner)} loops with FMAs, {len(spills)} stack accesses in them")
    return 1 if spills or len(inner) < int(sys.argv[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
