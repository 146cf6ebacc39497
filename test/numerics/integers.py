# SPDX-License-Identifier: MIT OR Apache-2.0
"""Elementwise ops on integers and truth values, and conversions."""
import numpy as np

from differential import differential, draw, feed
from rlxtest import dtypes
from rlxtest.compare import EXACT
from rlxtest.graph import Graph, Sym, binary, unary
from rlxtest.runner import case


def truncating_divide(x, y):
    """Towards zero; x / 0 is 0; the smallest number / -1 wraps to itself."""
    if x.dtype.kind == "u":
        return np.where(y == 0, 0, x // np.where(y == 0, 1, y)).astype(x.dtype)
    wide_x, wide_y = x.astype(object), np.where(y == 0, 1, y).astype(object)
    quotient = np.abs(wide_x) // np.abs(wide_y) * np.sign(wide_x) * np.sign(wide_y)
    return wrap(np.where(y == 0, 0, quotient), x.dtype)


def remainder(x, y):
    """With the sign of x; x mod 0 is 0."""
    safe = np.where(y == 0, 1, y)
    product = truncating_divide(x, safe).astype(object) * safe.astype(object)
    return wrap(np.where(y == 0, 0, x.astype(object) - product), x.dtype)


def wrap(values, dtype):
    bits = dtype.itemsize * 8
    low = np.asarray(values, object) & ((1 << bits) - 1)
    return np.asarray(low, np.uint64).astype(dtype)


def shift_left(x, y):
    bits = x.dtype.itemsize * 8
    inside = (y.astype(np.int64) >= 0) & (y.astype(np.int64) < bits)
    return np.where(inside, x << np.where(inside, y, 0).astype(x.dtype), 0).astype(x.dtype)


def shift_right(x, y):
    bits = x.dtype.itemsize * 8
    inside = (y.astype(np.int64) >= 0) & (y.astype(np.int64) < bits)
    sign = np.where(x < 0, -1, 0) if x.dtype.kind == "i" else np.zeros(x.shape)
    return np.where(inside, x >> np.where(inside, y, 0).astype(x.dtype), sign).astype(x.dtype)


BINARY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": truncating_divide,
    "Max": np.maximum, "Min": np.minimum, "Mod": remainder, "BitAnd": np.bitwise_and,
    "BitOr": np.bitwise_or, "BitXor": np.bitwise_xor, "Shl": shift_left, "Shr": shift_right,
}
UNARY = {
    "Abs": lambda x: np.where(x < 0, -x, x) if x.dtype.kind == "i" else x,
    "Neg": np.negative, "Sign": np.sign, "Relu": lambda x: np.maximum(x, 0),
}


@case("integer-binary", covers=tuple(BINARY) + dtypes.INTEGERS + ("Bool",))
def integer_binary(test):
    """All kinds on all types, with the ends of the ranges, 0 as a divisor and
    shifts by too much."""
    graph = Graph("integer-binary")
    for dtype in dtypes.INTEGERS:
        lhs = graph.leaf(f"a_{dtype}", (5, 129), dtype)
        rhs = graph.leaf(f"b_{dtype}", (129,), dtype)
        for kind, compute in BINARY.items():
            graph.output(binary(graph, kind, compute, lhs, rhs, f"{kind}_{dtype}"), EXACT)
    lhs, rhs = graph.leaf("a_Bool", (5, 17), "Bool"), graph.leaf("b_Bool", (17,), "Bool")
    for kind in ("BitAnd", "BitOr", "BitXor"):
        graph.output(binary(graph, kind, BINARY[kind], lhs, rhs, f"{kind}_Bool"), EXACT)
    values = feed(graph, np.random.default_rng(11), None)
    for dtype in dtypes.INTEGERS:
        info = np.iinfo(dtypes.NUMPY[dtype])
        values[f"a_{dtype}"][:2, :6] = info.min
        values[f"a_{dtype}"][2, :6] = info.max
        row = [0, 1, info.max, info.min, dtypes.NUMPY[dtype].itemsize * 8,
               dtypes.NUMPY[dtype].itemsize * 8 - 1]
        # -1, where there is one: the quotient of the smallest number overflows.
        values[f"b_{dtype}"][:7] = np.array(row + [0], np.int64).astype(info.dtype) \
            if info.min == 0 else np.array(row + [-1], np.int64).astype(info.dtype)
        values[f"a_{dtype}"][:2, 6] = info.min
    differential(test, graph, [values])


@case("integer-unary", covers=UNARY)
def integer_unary(test):
    n = Sym(0)
    graph = Graph("integer-unary")
    for dtype in (d for d in dtypes.INTEGERS if d.startswith("I")):
        leaf = graph.leaf(f"x_{dtype}", (n,), dtype)
        for kind, compute in UNARY.items():
            graph.output(unary(graph, kind, compute, leaf, f"{kind}_{dtype}"), EXACT)
    rng = np.random.default_rng(12)
    feeds = [feed(graph, rng, {name: (size,) for name in graph.leaves})
             for size in (65, 1, 0, 17, 4099)]
    differential(test, graph, feeds)


ALL = tuple(dtypes.NUMPY)


def convert(source, target):
    def compute(x):
        if target == "Bool":
            return x != 0
        if target in dtypes.FLOATS:
            # Rounding happens in the comparison. From 64 bits it is one step.
            return dtypes.widen(target, dtypes.narrow(target, x))
        dtype = dtypes.NUMPY[target]
        if source in dtypes.FLOATS:
            info = np.iinfo(dtype)
            whole = np.trunc(np.nan_to_num(x, nan=0.0, posinf=2.0**70, neginf=-2.0**70))
            high = whole >= 2.0 ** (info.bits - (info.min < 0))
            low = whole <= float(info.min)
            inside = np.where(high | low, 0, whole).astype(np.int64).astype(dtype)
            return np.where(high, info.max, np.where(low, info.min, inside)).astype(dtype)
        return x.astype(dtype)
    return compute


CAST_FLOATS = np.array([0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -1.9, 127, 128, -128, -129, 255, 256,
                        32767, 32768, 65504, 65520, 70000, 1e-8, 5.96e-8, 3e9, -3e9, 2147483520,
                        2147483648, -2147483648, 4294967040, 4294967296, 9.2e18, 1e19, -1e19,
                        3.4e38, np.inf, -np.inf, np.nan, 1.00390625, 1.01171875, 0.1, 1e-40,
                        2049, 2051, 16777217], np.float64)


@case("cast", covers=ALL)
def cast(test):
    """Every type to every other: floats round to even, to integers they truncate
    and saturate, integers wrap."""
    graph = Graph("cast")
    rng = np.random.default_rng(13)
    values = {}
    for source in ALL:
        leaf = graph.leaf(f"x_{source}", (129,), source)
        data = draw(rng, source, (129,), -300, 300)
        if source in dtypes.FLOATS:
            data[:CAST_FLOATS.size] = dtypes.narrow(source, CAST_FLOATS)
        values[leaf.name] = data
        for target in ALL:
            if target == source:
                continue
            graph.output(graph.add({"Cast": {"to": target}}, [leaf], target, leaf.dims,
                                   convert(source, target), f"{source}_to_{target}"), EXACT)
    differential(test, graph, [values])
