#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Computes the coefficients in Polynomials.h (needs mpmath).

Each polynomial interpolates its function at the Chebyshev nodes of the interval,
which is within a small factor of the best one. Prints for each the coefficients,
constant term first, and the largest relative error that rounding them leaves in
the whole function, as a power of two.
"""
import mpmath as mp

mp.mp.prec = 400


def cheb_fit(g, lo, hi, degree):
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * degree + 2))
             for k in range(degree + 1)]
    rows = mp.matrix(degree + 1, degree + 1)
    for i, x in enumerate(nodes):
        for j in range(degree + 1):
            rows[i, j] = x ** j
    return list(mp.lu_solve(rows, mp.matrix([g(x) for x in nodes])))


def rounded(x, bits):
    if x == 0:
        return x
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mantissa * 2 ** bits), exponent - bits)


def horner(c, x):
    total = mp.mpf(0)
    for a in reversed(c):
        total = total * x + a
    return total


def report(name, g, lo, hi, degree, bits, whole, exact):
    """whole(p, x): the function that the polynomial's value p is part of."""
    c = [rounded(a, bits) for a in cheb_fit(g, lo, hi, degree)]
    worst = mp.mpf(0)
    for i in range(1001):
        x = mp.mpf(lo) + (mp.mpf(hi) - mp.mpf(lo)) * (i + mp.mpf("0.37")) / mp.mpf("1001.5")
        if exact(x) != 0:
            worst = max(worst, abs(whole(horner(c, x), x) / exact(x) - 1))
    digits = 9 if bits == 24 else 17
    print("// %s: degree %d on [%s, %s], relative error 2^%.1f" %
          (name, degree, mp.nstr(mp.mpf(lo), 6), mp.nstr(mp.mpf(hi), 6), mp.log(worst, 2)))
    print(",\n".join("    " + mp.nstr(a, digits, strip_zeros=False, min_fixed=0, max_fixed=0) for a in c))


def main():
    half = mp.log(2) / 2 * mp.mpf("1.003")
    report("kExpTail", lambda r: (mp.expm1(r) - r) / r ** 2, -half, half, 5, 24,
           lambda p, r: r + r * r * p, mp.expm1)
    root = mp.sqrt(2) - 1
    report("kLogTail", lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, mp.sqrt(mp.mpf(1) / 2) - 1,
           root, 8, 24, lambda p, f: f - f * f / 2 + f ** 3 * p, mp.log1p)
    report("kLog1pUnit (of s*s, s = x / (2 + x))",
           lambda u: (2 * mp.atanh(mp.sqrt(u)) / mp.sqrt(u) - 2) / u, 1e-30, mp.mpf(1) / 9, 4, 24,
           lambda p, u: 2 + u * p, lambda u: 2 * mp.atanh(mp.sqrt(u)) / mp.sqrt(u))
    report("kErfSmall (of x*x)", lambda u: mp.erf(mp.sqrt(u)) / mp.sqrt(u) - 1, 1e-30, mp.mpf("0.8836"),
           6, 24, lambda p, u: 1 + p, lambda u: mp.erf(mp.sqrt(u)) / mp.sqrt(u))
    report("kErfcLog", lambda z: mp.log(mp.erfc(z)), mp.mpf("0.94"), 4, 8, 24,
           lambda p, z: 1 - mp.exp(p), mp.erf)
    half_z = lambda u: mp.erf(mp.sqrt(u / 2)) / mp.sqrt(u) / 2
    report("kNormalCenter (of z*z)", half_z, 1e-30, mp.mpf("0.5625"), 4, 24,
           lambda p, u: 0.5 - mp.sqrt(u) * p, lambda u: 0.5 - mp.sqrt(u) * half_z(u))

    def scaled_tail(t):
        z = 4 * (1 + t) / (1 - t)
        return mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2)) / 2 * (z + 4)

    report("kNormalTail (of t = (z - 4) / (z + 4))", scaled_tail, -1, mp.mpf(11) / 19, 10, 24,
           lambda p, t: p, scaled_tail)
    quarter = mp.pi / 4 * mp.mpf("1.001")
    report("kSin (of r*r)", lambda u: (mp.sin(mp.sqrt(u)) / mp.sqrt(u) - 1) / u, 1e-30, quarter ** 2, 3, 53,
           lambda p, u: 1 + u * p, lambda u: mp.sin(mp.sqrt(u)) / mp.sqrt(u))
    report("kCos (of r*r)", lambda u: (mp.cos(mp.sqrt(u)) - 1) / u, 1e-30, quarter ** 2, 4, 53,
           lambda p, u: 1 + u * p, lambda u: mp.cos(mp.sqrt(u)))
    report("kAtan (of q*q)", lambda u: (mp.atan(mp.sqrt(u)) / mp.sqrt(u) - 1) / u, 1e-30,
           mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.001"), 7, 53,
           lambda p, u: 1 + u * p, lambda u: mp.atan(mp.sqrt(u)) / mp.sqrt(u))
    s = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    report("kLog2 (of s*s)", lambda u: 2 * mp.atanh(mp.sqrt(u)) / mp.sqrt(u) / mp.log(2), 1e-30, s * s, 6, 53,
           lambda p, u: p, lambda u: 2 * mp.atanh(mp.sqrt(u)) / mp.sqrt(u) / mp.log(2))
    report("kExp2", lambda r: mp.mpf(2) ** r, -0.5, 0.5, 8, 53, lambda p, r: p, lambda r: mp.mpf(2) ** r)


main()
