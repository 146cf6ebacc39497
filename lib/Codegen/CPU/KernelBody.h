// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Functions that do the work of one op on buffers, over a range of it.
#ifndef RLX_CODEGEN_CPU_KERNELBODY_H
#define RLX_CODEGEN_CPU_KERNELBODY_H

#include "Buffers.h"

#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace rlx {

/// A function that does units [begin, end) of the work of an op. Its arguments:
/// one pointer per buffer, the scalars, begin and end.
struct Kernel {
  mlir::func::FuncOp function;
  /// What it is called with, as values of the function it comes from.
  llvm::SmallVector<mlir::Value> buffers, scalars;
  /// How much work there is and into how many tasks it is worth dividing.
  mlir::Value units, count;
  /// Tasks begin at multiples of this many units; 0 divides the work evenly.
  int64_t chunkMultiple = 0;
};

/// The operands of `op` and what its regions use from outside.
llvm::SmallVector<mlir::Value> getUsedValues(mlir::Operation *op);

/// Builds the function of a kernel: makes values of another function available
/// inside. Scalars and pointers become arguments; views, globals and constants
/// are made again.
class KernelBody {
public:
  /// The function can use `values` and what they are views of. It is put behind
  /// the function of `op`. `extraTypes`: its arguments behind buffers and
  /// scalars.
  KernelBody(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values,
             mlir::TypeRange extraTypes);

  /// `value` in the function.
  mlir::Value get(mlir::Value value);
  /// Pointer to the first element of `buffer`, which has identity layout.
  mlir::Value getPointer(mlir::Value buffer);
  /// All dims of `buffer` in the function.
  llvm::SmallVector<mlir::Value> getSizes(mlir::Value buffer);
  mlir::BlockArgument getExtra(unsigned i);

  mlir::func::FuncOp getFunction() const { return function; }
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::IRMapping &getMapping() { return mapping; }
  llvm::ArrayRef<mlir::Value> getBuffers() const {
    return buffers.getArrayRef();
  }
  llvm::ArrayRef<mlir::Value> getScalars() const {
    return scalars.getArrayRef();
  }

private:
  void capture(mlir::Value value);

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SetVector<mlir::Value> buffers, scalars;
  /// Dims of each captured buffer.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpFoldResult>> sizes;
  mlir::IRMapping mapping;
  mlir::func::FuncOp function;
};

/// A buffer of `type` (identity layout) at `pointer`; `sizes` has all dims.
mlir::Value buildBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value pointer, mlir::MemRefType type,
                        mlir::ValueRange sizes);

/// Into how many tasks work of `nanoseconds` (f64, one worker) is divided.
mlir::Value getTaskCount(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value nanoseconds, mlir::Value workers,
                         mlir::Value units);
/// `factor` times the product of `sizes`, as f64: cannot overflow.
mlir::Value getCost(mlir::OpBuilder &builder, mlir::Location loc, double factor,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Private functions by what they do, so that equal ones are kept once.
class FunctionPool {
public:
  /// Names `func` after `prefix`, or erases it if there is an equal one
  /// already. Returns the one to call.
  mlir::func::FuncOp intern(mlir::func::FuncOp func, llvm::StringRef prefix);

private:
  llvm::DenseMap<llvm::hash_code, llvm::SmallVector<mlir::func::FuncOp, 1>>
      functions;
  llvm::StringMap<unsigned> counts;
};

/// The kernels by op. `workers` is the number of workers in the op's function.
llvm::FailureOr<Kernel> emitLoopKernel(mlir::linalg::LinalgOp op,
                                       mlir::Value workers, FunctionPool &pool);
llvm::FailureOr<Kernel> emitGemmKernel(GemmOp op, mlir::Value workers,
                                       FunctionPool &pool);
llvm::FailureOr<Kernel> emitPackKernel(PackPanelsOp op, mlir::Value workers,
                                       FunctionPool &pool);

} // namespace rlx

#endif // RLX_CODEGEN_CPU_KERNELBODY_H
