# SPDX-License-Identifier: MIT OR Apache-2.0
"""Element types, their names in files, and bf16, which NumPy does not have.

A tensor is a NumPy array together with the name of its type; bf16 is held as
uint16 bit patterns, bool as bool.
"""
import numpy as np

NUMPY = {
    "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2"),
    "F64": np.dtype("<f8"), "I8": np.dtype("i1"), "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"), "I64": np.dtype("<i8"), "U8": np.dtype("u1"),
    "U32": np.dtype("<u4"), "Bool": np.dtype("?"),
}
FLOATS = ("F32", "F16", "BF16", "F64")
INTEGERS = ("I8", "I16", "I32", "I64", "U8", "U32")

# The numbers of the C interface (enum rlx_dtype).
CODES = {"F32": 0, "F16": 1, "BF16": 2, "F64": 3, "I8": 4, "I16": 5, "I32": 6,
         "I64": 7, "U8": 8, "U32": 9, "Bool": 10}


def narrow(dtype, values):
    """Rounds wide numbers to what `dtype` can hold, to nearest even."""
    if dtype == "BF16":
        # Only bits that f32 keeps may decide a tie, so go through f32 with the
        # last bit made sticky (round to odd).
        wide = np.asarray(values, np.float64)
        with np.errstate(over="ignore"):
            single = wide.astype(np.float32)
        bits = single.view(np.uint32)
        back = single.astype(np.float64)
        inexact = (back != wide) & np.isfinite(wide) & np.isfinite(back)
        towards_zero = np.where(np.abs(back) > np.abs(wide), bits - 1, bits)
        bits = np.where(inexact, towards_zero | 1, bits).astype(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(wide), 0x7FC0, rounded).astype(np.uint16)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(NUMPY[dtype])


def widen(dtype, array):
    """Floats as float64, everything else unchanged."""
    if dtype == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if dtype in FLOATS else array
