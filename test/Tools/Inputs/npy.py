# SPDX-License-Identifier: MIT OR Apache-2.0
"""NumPy's file format without NumPy, for f32.

npy.py write FILE DIMxDIM VALUE...   one value fills the whole array
npy.py print FILE...                 shape and values, a line each
"""
import ast
import math
import struct
import sys


def write(path, dims, *values):
    shape = tuple(int(dim) for dim in dims.split("x") if dim)
    count = math.prod(shape)
    numbers = [float(value) for value in values]
    if len(numbers) == 1:
        numbers *= count
    assert len(numbers) == count, f"{len(numbers)} values for shape {shape}"
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}f", *numbers))


def show(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    count = math.prod(header["shape"])
    assert len(data) == 10 + length + 4 * count, len(data)
    print(list(header["shape"]), *(f"{v:g}" for v in struct.unpack_from(f"<{count}f", data, 10 + length)))


if sys.argv[1] == "write":
    write(*sys.argv[2:])
else:
    for name in sys.argv[2:]:
        show(name)
