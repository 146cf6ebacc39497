// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_KERNELBUILDER_H
#define RLX_LIB_CODEGEN_CPU_KERNELS_GENERATOR_KERNELBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace rlx::kernelgen {

/// What the emitters need to know about a CPU class.
struct CpuClass {
  llvm::StringRef name; ///< LLVM's name of the CPU, `x86-64-v3` or `x86-64-v4`.
  int64_t lanes;        ///< f32 elements of one vector register.
  /// Tile of C that stays in registers. rows * vectors accumulators, `vectors`
  /// rows of B and one broadcast of A must fit the register file.
  int64_t tileRows, tileVectors;

  int64_t tileColumns() const { return tileVectors * lanes; }
  int64_t vectorBits() const { return lanes * 32; }
};

/// The classes RLX generates kernels for.
llvm::ArrayRef<CpuClass> cpuClasses();

/// An OpBuilder that writes address arithmetic as expressions: i64 values,
/// untyped pointers, offsets in f32 elements, vectors of `cpu.lanes` f32.
class KernelBuilder {
public:
  KernelBuilder(mlir::ModuleOp module, const CpuClass &cpu);

  const CpuClass &cpu;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type i64Type, ptrType, f32Type;
  mlir::VectorType vectorType;

  mlir::Value i64(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  /// Quotient of non-negative values, rounded down or up.
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDiv(mlir::Value lhs, int64_t rhs);
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value less(mlir::Value lhs, mlir::Value rhs);
  mlir::Value lessEqual(mlir::Value lhs, mlir::Value rhs);
  mlir::Value equal(mlir::Value lhs, mlir::Value rhs);
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs);
  mlir::Value logicalOr(mlir::Value lhs, mlir::Value rhs);
  mlir::Value notNull(mlir::Value pointer);
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue,
                     mlir::Value ifFalse);

  /// `pointer + elements` in f32 elements.
  mlir::Value offset(mlir::Value pointer, mlir::Value elements);
  mlir::Value offset(mlir::Value pointer, int64_t elements);

  mlir::Value zeroVector();
  mlir::Value loadScalar(mlir::Value pointer);
  void storeScalar(mlir::Value value, mlir::Value pointer);
  mlir::Value broadcast(mlir::Value scalar);
  mlir::Value fma(mlir::Value lhs, mlir::Value rhs, mlir::Value accumulator);
  /// The first `active` (an i64, at most the lane count is looked at) lanes.
  mlir::Value firstLanes(mlir::Value active);
  /// Loads and stores with the alignment of one element. A null mask means all
  /// lanes; lanes outside the mask are zero and their memory is not touched.
  mlir::Value load(mlir::Value pointer, mlir::Value mask = {});
  void store(mlir::Value vector, mlir::Value pointer, mlir::Value mask = {});
  mlir::Value shuffle(mlir::Value lhs, mlir::Value rhs,
                      llvm::ArrayRef<int64_t> mask);
  /// Read prefetch; locality 3 is the innermost cache, 2 the next.
  void prefetch(mlir::Value pointer, int64_t locality);

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value, mlir::ValueRange)>;
  /// `for (i = begin; i < end; i += step)` with loop-carried values.
  mlir::ValueRange forLoop(mlir::Value begin, mlir::Value end, int64_t step,
                           mlir::ValueRange inits, LoopBody body);
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> thenBody,
              llvm::function_ref<void()> elseBody = nullptr);
  /// Either branch gives values of the given types.
  mlir::ValueRange
  ifElse(mlir::Value condition, mlir::TypeRange types,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> thenBody,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> elseBody);
  /// Runs `body(case)` for the case equal to `value`; nothing if none is.
  void switchOver(mlir::Value value, llvm::ArrayRef<int64_t> cases,
                  llvm::function_ref<void(int64_t)> body);

  /// Starts a function without results, exported or internal to the object,
  /// and moves the insertion point into it. Internal ones are never inlined:
  /// the register allocation of a tile must not depend on its caller.
  mlir::func::FuncOp beginFunction(llvm::StringRef name,
                                   mlir::TypeRange arguments, bool exported);
  void endFunction();
  void call(mlir::func::FuncOp callee, mlir::ValueRange arguments);
  void callPointer(mlir::Value callee, mlir::ValueRange arguments);

private:
  mlir::ModuleOp module;
};

} // namespace rlx::kernelgen

#endif
