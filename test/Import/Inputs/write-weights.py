# SPDX-License-Identifier: MIT OR Apache-2.0
"""write-weights.py OUT NAME=DIMxDIM...: a safetensors file of f32 tensors that count up."""
import json
import math
import struct
import sys

header, data = {}, b""
for argument in sys.argv[2:]:
    name, _, dims = argument.partition("=")
    shape = [int(dim) for dim in dims.split("x")]
    begin = len(data)
    data += struct.pack(f"<{math.prod(shape)}f", *range(math.prod(shape)))
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
