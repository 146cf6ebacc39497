# SPDX-License-Identifier: MIT OR Apache-2.0
"""coverage.py OPS_PAGE TEST...: fails if no test mentions an op that the page describes."""
import re
import sys

with open(sys.argv[1]) as page:
    ops = set(re.findall(r"^#+ `(rlx\.\w+)`", page.read(), re.MULTILINE))
tested = set()
for path in sys.argv[2:]:
    with open(path) as test:
        tested.update(re.findall(r"CHECK.*?: .*?(rlx\.\w+)", test.read()))
missing = sorted(ops - tested)
if not ops or missing:
    sys.exit(f"{len(ops)} ops, not tested: {' '.join(missing)}")
