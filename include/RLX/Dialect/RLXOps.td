// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXOps.td - All families of the rlx dialect -------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXOPS_TD
#define RLX_DIALECT_RLXOPS_TD

include "RLX/Dialect/RLXElementwiseOps.td"
include "RLX/Dialect/RLXKernelOps.td"
include "RLX/Dialect/RLXLeafOps.td"
include "RLX/Dialect/RLXLinearAlgebraOps.td"
include "RLX/Dialect/RLXRandomOps.td"
include "RLX/Dialect/RLXShapeOps.td"

#endif // RLX_DIALECT_RLXOPS_TD
