// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Where in the arena each intermediate buffer of a function lies.
#ifndef RLX_CODEGEN_CPU_ARENALAYOUT_H
#define RLX_CODEGEN_CPU_ARENALAYOUT_H

#include "Buffers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace rlx {

/// The arena: `staticBytes` of buffers whose sizes are known, then the slots
/// one after the other. All parts start at multiples of 64 bytes.
struct ArenaLayout {
  /// Memory for buffers of one symbolic size, whose lives don't overlap.
  struct Slot {
    /// Bytes of an element times all static dims.
    int64_t bytes = 0;
    /// The dynamic factors of the size, sorted.
    llvm::SmallVector<mlir::Value> factors;
  };
  struct Placement {
    mlir::memref::AllocOp alloc;
    /// Offset in the static part, if there is no slot.
    int64_t offset = 0;
    std::optional<unsigned> slot;
  };

  int64_t staticBytes = 0;
  llvm::SmallVector<Slot> slots;
  llvm::SmallVector<Placement> placements;

  /// Lays out all allocations of `func`. Fails, with a diagnostic, if one is
  /// not in its first block, escapes, or exceeds 2^63 bytes.
  static llvm::FailureOr<ArenaLayout> compute(mlir::func::FuncOp func);

  /// Size of a slot, rounded up to 64 bytes.
  llvm::FailureOr<mlir::Value> getSlotBytes(const Slot &slot,
                                            Rematerializer &remat,
                                            mlir::OpBuilder &builder,
                                            mlir::Location loc) const;
};

} // namespace rlx

#endif // RLX_CODEGEN_CPU_ARENALAYOUT_H
