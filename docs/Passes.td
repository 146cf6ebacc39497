// SPDX-License-Identifier: MIT OR Apache-2.0
// All passes, for Passes.md: mlir-tblgen reads one file per page.
include "RLX/Codegen/CPU/Passes.td"
include "RLX/Conversion/Passes.td"
include "RLX/Transforms/Passes.td"
