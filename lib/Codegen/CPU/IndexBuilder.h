// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Index arithmetic that reads like arithmetic.
#ifndef RLX_CODEGEN_CPU_INDEXBUILDER_H
#define RLX_CODEGEN_CPU_INDEXBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace rlx {

/// Emits arithmetic on sizes and positions, which are not negative.
class IndexBuilder {
public:
  IndexBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::AddIOp>(loc, lhs, rhs);
  }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::SubIOp>(loc, lhs, rhs);
  }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::MulIOp>(loc, lhs, rhs);
  }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::DivUIOp>(loc, lhs, rhs);
  }
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::RemUIOp>(loc, lhs, rhs);
  }
  mlir::Value min(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::MinSIOp>(loc, lhs, rhs);
  }
  mlir::Value max(mlir::Value lhs, mlir::Value rhs) {
    return builder.createOrFold<mlir::arith::MaxSIOp>(loc, lhs, rhs);
  }
  /// lhs / rhs, rounded up.
  mlir::Value ceilDiv(mlir::Value lhs, mlir::Value rhs) {
    return div(add(lhs, sub(rhs, constant(1))), rhs);
  }
  mlir::Value toI64(mlir::Value index) {
    return builder.createOrFold<mlir::arith::IndexCastOp>(
        loc, builder.getI64Type(), index);
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace rlx

#endif // RLX_CODEGEN_CPU_INDEXBUILDER_H
