#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bakes graphs, runs them and compares the numbers with NumPy in float64.

Needs NumPy and a finished build; `--help` shows how to pick cases.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

# Each module registers its cases.
# pylint: disable=unused-import,wrong-import-position
import artifact
import bundle
import calls
import command_line
import elementwise
import hoist
import integers
import products
import random_graphs
import random_numbers
import self_check
import shapes
from rlxtest import runner

if __name__ == "__main__":
    sys.exit(runner.main(__doc__.splitlines()[0], os.path.join(HERE, "..", "..")))
