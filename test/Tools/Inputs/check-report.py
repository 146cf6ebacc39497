# SPDX-License-Identifier: MIT OR Apache-2.0
"""check-report.py REPORT FIELD=JSON...: compares fields of a report; a.b.0 goes into values."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
faults = []
for argument in sys.argv[2:]:
    path, _, expected = argument.partition("=")
    value = report
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    if value != json.loads(expected):
        faults.append(f"{path} is {json.dumps(value)} instead of {expected}")
required = ("nodes_before nodes_after params_baked params_remaining skipped_zero_matmuls "
            "ternary_packed quant_packed constants_deduped weight_bytes raw_weight_bytes weights")
faults += [f"{name} is missing" for name in required.split() if name not in report]
for row in report["weights"]:
    fields = "name shape dtype encoding bytes raw_bytes lossless max_abs_error note"
    faults += [f"{name} of a weight is missing" for name in fields.split() if name not in row]
if sum(row["bytes"] for row in report["weights"]) != report["weight_bytes"]:
    faults.append("weight_bytes is not the sum of the rows")
sys.exit("\n".join(faults) or 0)
