// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ScalarMath.h - Elementary functions as arith ops ---------*- C++ -*-===//
//
// Each function appends straight-line arith ops (and math ops that are one
// instruction: fma, sqrt, floor, absf, copysign) that compute it for f32,
// scalar or vector. No calls, no branches, no tables in memory, no fast-math
// flags: a loop around them vectorises, and the bits depend on neither the
// vector width nor the CPU class. docs/Numerics.md has the measured error of
// each.
//
//===----------------------------------------------------------------------===//

#ifndef RLX_CONVERSION_EXPANDMATH_SCALARMATH_H
#define RLX_CONVERSION_EXPANDMATH_SCALARMATH_H

#include "RLX/Conversion/ExpandMath/Scalar.h"

namespace rlx {

// Exponentials and logarithms.
Scalar emitExp(Scalar x);
Scalar emitExp2(Scalar x);
Scalar emitExpm1(Scalar x);
Scalar emitLog(Scalar x);
Scalar emitLog2(Scalar x);
Scalar emitLog10(Scalar x);
Scalar emitLog1p(Scalar x);
Scalar emitTanh(Scalar x);
Scalar emitErf(Scalar x);

// Powers and remainders, with the special cases of C's Annex F.
Scalar emitPow(Scalar x, Scalar y);
Scalar emitRsqrt(Scalar x);
/// Exact: the remainder of x / y with the sign of x.
Scalar emitFmod(Scalar x, Scalar y);

// Trigonometry; arguments of any size are reduced exactly.
Scalar emitSin(Scalar x);
Scalar emitCos(Scalar x);
Scalar emitTan(Scalar x);
Scalar emitAtan(Scalar x);
Scalar emitAtan2(Scalar y, Scalar x);

// Activations. At +-inf they take their limits; NaN stays NaN; results below
// the smallest normal number are rounded once like any other.
Scalar emitElu(Scalar x);
Scalar emitGelu(Scalar x);
Scalar emitGeluApprox(Scalar x);
Scalar emitHardSigmoid(Scalar x);
Scalar emitHardSwish(Scalar x);
Scalar emitLogSigmoid(Scalar x);
Scalar emitMish(Scalar x);
Scalar emitSigmoid(Scalar x);
Scalar emitSilu(Scalar x);
Scalar emitSoftplus(Scalar x);
Scalar emitSoftsign(Scalar x);

} // namespace rlx

#endif // RLX_CONVERSION_EXPANDMATH_SCALARMATH_H
