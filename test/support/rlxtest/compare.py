# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares what a program computed with a reference in float64."""
import numpy as np

from . import dtypes


class Tolerance:
    """|actual - expected| <= relative * |expected| + absolute, where `absolute`
    may also be an array. Both zero: the reference rounded to the type."""

    def __init__(self, relative=0.0, absolute=0.0):
        self.relative, self.absolute = relative, absolute

    def __repr__(self):
        absolute = self.absolute if np.ndim(self.absolute) == 0 else "bound"
        return f"rtol={self.relative:g} atol={absolute}"


EXACT = Tolerance()


def describe_difference(dtype, actual, expected, tolerance):
    """None if `actual` (as stored) is right, else a sentence that says where it
    is most wrong."""
    if actual.shape != expected.shape:
        return f"has shape {list(actual.shape)}, expected {list(expected.shape)}"
    if actual.size == 0:
        return None
    rounded = dtypes.widen(dtype, dtypes.narrow(dtype, expected))
    got = dtypes.widen(dtype, actual)
    if dtype not in dtypes.FLOATS:
        wrong, error = got != rounded, np.zeros(got.shape)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            exact = tolerance.relative == 0 and np.ndim(tolerance.absolute) == 0 \
                and tolerance.absolute == 0
            target = rounded if exact else np.where(np.isinf(rounded), rounded, expected)
            error = np.abs(got - target)
            allowed = 0 if exact else \
                tolerance.relative * np.abs(target) + tolerance.absolute
            same = (got == target) | (np.isnan(got) & np.isnan(target))
            wrong = ~(same | (np.isfinite(target) & (error <= allowed)))
    if not wrong.any():
        return None
    score = np.where(wrong, np.nan_to_num(error, nan=np.inf), -1)
    at = np.unravel_index(np.argmax(score), score.shape)
    return (f"{int(wrong.sum())} of {wrong.size} elements are off ({tolerance}); worst at "
            f"{[int(i) for i in at]}: got {got[at]!r}, expected {expected[at]!r}, "
            f"error {error[at]:.3g}")


def describe_bit_difference(a, b):
    """None if the bytes are equal, else where they first are not. NaN is one
    value: IEEE 754 leaves its sign and payload open, and so does LLVM."""
    if a.shape != b.shape:
        return f"shapes differ: {list(a.shape)} and {list(b.shape)}"
    if a.tobytes() == b.tobytes():
        return None
    width = a.dtype.itemsize
    rows = [np.frombuffer(np.ascontiguousarray(v).tobytes(), np.uint8).reshape(-1, width)
            for v in (a, b)]
    differ = (rows[0] != rows[1]).any(axis=1)
    if a.dtype.kind == "f":
        differ &= ~(np.isnan(a) & np.isnan(b)).reshape(-1)
    differing = np.flatnonzero(differ)
    if differing.size == 0:
        return None
    at = np.unravel_index(differing[0], a.shape)
    return (f"{differing.size} of {a.size} elements differ, first at {[int(i) for i in at]}: "
            f"{a[at]!r} and {b[at]!r}")
