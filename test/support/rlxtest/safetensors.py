# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes safetensors files."""
import json
import struct

import numpy as np

NAMES = {"Bool": "BOOL"}


def encode(tensors):
    """`tensors` maps names to (dtype, array)."""
    header, offset, chunks = {}, 0, []
    for name, (dtype, array) in tensors.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": NAMES.get(dtype, dtype), "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
        chunks.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(chunks)


def write(path, tensors):
    with open(path, "wb") as file:
        file.write(encode(tensors))
