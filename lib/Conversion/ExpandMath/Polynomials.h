// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Polynomials.h - Coefficients of the expansions -----------*- C++ -*-===//
//
// Constant term first; computed by fit.py beside this file, which also says
// how. The error is the largest relative one of the whole function,
// coefficients rounded to the precision they are used in, arithmetic exact.
//
//===----------------------------------------------------------------------===//

#ifndef RLX_LIB_CONVERSION_EXPANDMATH_POLYNOMIALS_H
#define RLX_LIB_CONVERSION_EXPANDMATH_POLYNOMIALS_H

namespace rlx {

// f32: exp(r) - 1 = r + r^2 p(r), |r| <= ln(2)/2; error 2^-29.1.
constexpr double kExpTail[] = {5.00000000e-1, 1.66666672e-1, 4.16664630e-2,
                               8.33331048e-3, 1.39339105e-3, 1.98912792e-4};

// f32: log(1 + f) = f - f^2/2 + f^3 p(f), 1/sqrt(2) <= 1 + f <= sqrt(2);
// error 2^-28.4.
constexpr double kLogTail[] = {3.33333313e-1,  -2.49999970e-1, 2.00007156e-1,
                               -1.66678026e-1, 1.42490581e-1,  -1.24256872e-1,
                               1.16854198e-1,  -1.14797339e-1, 6.97161183e-2};

// f32: 2 atanh(s) = 2 s + s^3 p(s^2), 0 <= s <= 1/3; error 2^-30.
constexpr double kAtanhTail[] = {6.66666687e-1, 3.99997056e-1, 2.85923570e-1,
                                 2.17065752e-1, 2.32243299e-1};

// f32: erf(x) = x + x p(x^2), |x| <= 0.94; error 2^-27.1.
constexpr double kErfSmall[] = {1.28379166e-1,  -3.76126319e-1, 1.12836808e-1,
                                -2.68585756e-2, 5.19896019e-3,  -8.11899838e-4,
                                8.26951145e-5};

// f32: erf(x) = 1 - exp(p(x)), 0.94 <= x <= 4; error 2^-25.6.
constexpr double kErfcLog[] = {3.21587693e-4,  -1.13024116,    -6.31809950e-1,
                               -1.10097416e-1, 2.64320206e-2,  -4.76372661e-3,
                               5.97738777e-4,  -4.61735908e-5, 1.64318851e-6};

// f32: P(Z > z) = 1/2 - z p(z^2) of the standard normal distribution,
// 0 <= z <= 0.75; error 2^-24.7.
constexpr double kNormalCenter[] = {3.98942292e-1, -6.64903000e-2,
                                    9.97236092e-3, -1.18131889e-3,
                                    1.02970516e-4};

// f32: P(Z > z) = exp(-z^2/2) p((z - 4) / (z + 4)) / (z + 4) of the standard
// normal distribution, 0 <= z <= 15; error 2^-25.5.
constexpr double kNormalTail[] = {
    7.55285144e-1, -6.07896686e-1, 3.87137353e-1,  -1.86521277e-1,
    6.03975318e-2, -7.54526816e-3, -3.48931737e-3, 1.64521928e-3,
    1.71054606e-4, -2.31798680e-4, -5.15565916e-5};

// f64: sin(r) = r (1 + r^2 p(r^2)), |r| <= pi/4; error 2^-35.6.
constexpr double kSin[] = {-1.6666666663832763e-1, 8.3333318659594147e-3,
                           -1.9840082012765537e-4, 2.7249314054698804e-6};

// f64: cos(r) = 1 + r^2 p(r^2), |r| <= pi/4; error 2^-41.6.
constexpr double kCos[] = {-4.9999999999963529e-1, 4.1666666637161585e-2,
                           -1.3888885068618752e-3, 2.4799855304504668e-5,
                           -2.7236503270855151e-7};

// f64: atan(q) = q (1 + q^2 p(q^2)), |q| <= tan(pi/8); error 2^-43.2.
constexpr double kAtan[] = {-3.3333333333265697e-1, 1.9999999949530611e-1,
                            -1.4285708076608974e-1, 1.1110818413358031e-1,
                            -9.0840781416635374e-2, 7.6045794868523031e-2,
                            -6.0262983947018789e-2, 3.2938757974709847e-2};

// f64: log2(m) = s p(s^2), s = (m - 1) / (m + 1), 1/sqrt(2) <= m <= sqrt(2);
// error 2^-52.1.
constexpr double kLog2[] = {2.8853900817779272,    9.6179669392433453e-1,
                            5.7707801724632857e-1, 4.1219840204827518e-1,
                            3.2061638813224547e-1, 2.6144424935229149e-1,
                            2.4291608539875351e-1};

// f64: 2^r, |r| <= 1/2; error 2^-39.8.
constexpr double kExp2[] = {
    1.0000000000000000,    6.9314718054593349e-1, 2.4022650695812989e-1,
    5.5504109412059327e-2, 9.6181291594025584e-3, 1.3333450568000645e-3,
    1.5403455852453838e-4, 1.5310079402249296e-5, 1.3255224878668817e-6};

} // namespace rlx

#endif // RLX_LIB_CONVERSION_EXPANDMATH_POLYNOMIALS_H
