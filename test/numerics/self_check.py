# SPDX-License-Identifier: MIT OR Apache-2.0
"""The comparison itself: a suite that accepts anything would pass as well."""
import numpy as np

from rlxtest import dtypes
from rlxtest.compare import EXACT, Tolerance, describe_bit_difference, describe_difference
from rlxtest.runner import case


@case("self-check", covers=("compare", "BF16"))
def self_check(test):
    expected = np.array([1.0, -2.0, np.inf, np.nan, 1e-3])
    good = expected.astype(np.float32)
    close = Tolerance(1e-6, 0)
    for tolerance in (EXACT, close):
        test.none(describe_difference("F32", good, expected, tolerance), f"equal, {tolerance}")
        for at, value in ((0, 1.00001), (1, 2.0), (2, 3e38), (2, -np.inf), (2, np.nan), (3, 0.0),
                          (0, np.nan), (4, np.inf)):
            bad = good.copy()
            bad[at] = value
            test.check(describe_difference("F32", bad, expected, tolerance),
                       f"{value} instead of {expected[at]} is found, {tolerance}")
    one_ulp = good.copy()
    one_ulp[0] = np.nextafter(np.float32(1), np.float32(2))
    test.check(describe_difference("F32", one_ulp, expected, EXACT), "EXACT finds one ulp")
    test.none(describe_difference("F32", one_ulp, expected, close), "a tolerance allows it")
    test.check(describe_difference("F32", good[:4], expected, close), "another shape is found")
    test.check(describe_difference("I32", np.array([1, 2], np.int32), np.array([1, 3]), EXACT),
               "another integer is found")
    test.check(describe_bit_difference(np.array([0.0], np.float32), np.array([-0.0], np.float32)),
               "another sign of zero is another bit")
    # Ties to even, values between two ties, overflow.
    pairs = {1.0: 0x3F80, 1.00390625: 0x3F80, 1.01171875: 0x3F82, 1.00390626: 0x3F81,
             3.4e38: 0x7F80, -0.0: 0x8000, 1 + 2.0**-8 + 2.0**-40: 0x3F81, np.inf: 0x7F80}
    for value, bits in pairs.items():
        test.equal(int(dtypes.narrow("BF16", np.array([value]))[0]), bits, f"{value!r} as bf16")
