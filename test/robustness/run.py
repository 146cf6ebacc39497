#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gives the tools input that is wrong in every way we can think of.

Each time: the exit code and the message are right, nothing crashes, and nothing
is written. Needs NumPy and a finished build, with sanitizers or without.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

# Each module registers its cases.
# pylint: disable=unused-import,wrong-import-position
import artifacts
import forwards
import graphs
import outputs
import usage
import weight_files
from rlxtest import runner

if __name__ == "__main__":
    sys.exit(runner.main(__doc__.splitlines()[0], os.path.join(HERE, "..", "..")))
