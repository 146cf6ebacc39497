// SPDX-License-Identifier: MIT OR Apache-2.0
//===- OutlineTasks.cpp - Kernel ops become tasks -------------------------===//

#include "CallParams.h"
#include "IndexBuilder.h"
#include "KernelBody.h"

#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Runtime/Abi.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <cstddef>

namespace rlx {
#define GEN_PASS_DEF_OUTLINETASKSPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

constexpr llvm::StringLiteral kStartTasks = "rlx.start_tasks";

namespace {

/// Outlines the kernels of one function.
class Outliner {
public:
  Outliner(func::FuncOp func, FunctionPool &pool, func::FuncOp startTasks)
      : func(func), pool(pool), startTasks(startTasks), arguments(func) {}

  LogicalResult run();

private:
  FailureOr<Kernel> emitKernel(Operation *op);
  FailureOr<func::FuncOp> emitTask(const Kernel &kernel, unsigned number);
  LogicalResult emitRun(ArrayRef<std::pair<Kernel, func::FuncOp>> tasks);

  func::FuncOp func;
  FunctionPool &pool;
  func::FuncOp startTasks;
  BoundArguments arguments;
};

} // namespace

/// Copies are loops like others.
static void replaceCopies(func::FuncOp func) {
  func.walk([](memref::CopyOp copy) {
    if (copy.getSource() != copy.getTarget()) {
      OpBuilder builder(copy);
      linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    }
    copy.erase();
  });
}

FailureOr<Kernel> Outliner::emitKernel(Operation *op) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return emitGemmKernel(gemm, arguments.workers, pool);
  if (auto pack = dyn_cast<PackPanelsOp>(op))
    return emitPackKernel(pack, arguments.workers, pool);
  return emitLoopKernel(cast<linalg::LinalgOp>(op), arguments.workers, pool);
}

/// Emits `void task(params, index, worker)`.
FailureOr<func::FuncOp> Outliner::emitTask(const Kernel &kernel,
                                           unsigned number) {
  Location loc = func.getLoc();
  OpBuilder builder(func);
  Type ptr = LLVM::LLVMPointerType::get(func.getContext());
  Type i64 = builder.getI64Type(), index = builder.getIndexType();
  auto task = func::FuncOp::create(
      builder, loc, (func.getName() + ".task" + Twine(number)).str(),
      builder.getFunctionType({ptr, i64, i64}, {}));
  task.setPrivate();
  Block *block = task.addEntryBlock();
  builder.setInsertionPointToStart(block);
  IndexBuilder b(builder, loc);
  CallParams params(builder, loc, func, block->getArgument(0));

  SmallVector<Value> operands;
  auto add = [&](FailureOr<Value> value) {
    if (succeeded(value))
      operands.push_back(*value);
    return success(succeeded(value));
  };
  for (Value buffer : kernel.buffers)
    if (failed(add(params.getBuffer(buffer))))
      return failure();
  for (Value scalar : kernel.scalars)
    if (failed(add(params.getScalar(scalar))))
      return failure();
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, index, value);
  };
  FailureOr<Value> units = params.getScalar(kernel.units);
  FailureOr<Value> count = params.getScalar(kernel.count);
  if (failed(units) || failed(count))
    return failure();
  Value number0 = toIndex(block->getArgument(1));
  if (kernel.chunkMultiple == 0) {
    Value next = b.add(number0, b.constant(1));
    operands.push_back(b.div(b.mul(number0, *units), *count));
    operands.push_back(b.div(b.mul(next, *units), *count));
  } else {
    Value multiple = b.constant(kernel.chunkMultiple);
    Value chunk =
        b.mul(b.ceilDiv(b.ceilDiv(*units, *count), multiple), multiple);
    Value begin = b.min(b.mul(number0, chunk), *units);
    operands.push_back(begin);
    operands.push_back(b.min(b.add(begin, chunk), *units));
  }
  func::CallOp::create(builder, loc, kernel.function, operands);
  func::ReturnOp::create(builder, loc);
  return task;
}

/// Address of a function.
static Value getAddress(OpBuilder &builder, Location loc, func::FuncOp func) {
  Value constant = func::ConstantOp::create(
      builder, loc, func.getFunctionType(), func.getName());
  return UnrealizedConversionCastOp::create(
             builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
             constant)
      .getResult(0);
}

/// Emits `int32_t run(params)`.
LogicalResult
Outliner::emitRun(ArrayRef<std::pair<Kernel, func::FuncOp>> tasks) {
  Location loc = func.getLoc();
  OpBuilder builder(func);
  Type ptr = LLVM::LLVMPointerType::get(func.getContext());
  auto run = func::FuncOp::create(
      builder, loc, (func.getName() + ".run").str(),
      builder.getFunctionType({ptr}, {builder.getI32Type()}));
  run.setPrivate();
  Block *block = run.addEntryBlock();
  builder.setInsertionPointToStart(block);
  IndexBuilder b(builder, loc);
  CallParams params(builder, loc, func, block->getArgument(0));
  for (const auto &[kernel, task] : tasks) {
    FailureOr<Value> count = params.getScalar(kernel.count);
    if (failed(count))
      return failure();
    func::CallOp::create(builder, loc, startTasks,
                         ValueRange{block->getArgument(0),
                                    getAddress(builder, loc, task),
                                    b.toI64(*count)});
  }
  Value status =
      arith::ConstantIntOp::create(builder, loc, RLX_ABI_OK, /*width=*/32);
  func::ReturnOp::create(builder, loc, status);
  return success();
}

LogicalResult Outliner::run() {
  replaceCopies(func);
  SmallVector<std::pair<Kernel, func::FuncOp>> tasks;
  for (Operation &op : llvm::make_early_inc_range(func.front())) {
    if (isa<linalg::LinalgOp, GemmOp, PackPanelsOp>(op)) {
      FailureOr<Kernel> kernel = emitKernel(&op);
      if (failed(kernel))
        return failure();
      FailureOr<func::FuncOp> task = emitTask(*kernel, tasks.size());
      if (failed(task))
        return failure();
      tasks.push_back({*kernel, *task});
      continue;
    }
    bool movesNothing = isMemoryEffectFree(&op) ||
                        isa<ViewLikeOpInterface>(op) ||
                        op.hasTrait<OpTrait::IsTerminator>();
    if (!movesNothing)
      return op.emitError("'")
             << op.getName() << "' has no form as a task of CPU code";
  }
  if (failed(emitRun(tasks)))
    return failure();
  func.erase();
  return success();
}

/// Emits a function (params, task, count) that runs all tasks: by a plain call
/// if there is one, through the parallel callback if there are more.
static func::FuncOp emitStartTasks(ModuleOp module) {
  Location loc = module.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type ptr = LLVM::LLVMPointerType::get(module.getContext());
  Type i64 = builder.getI64Type();
  auto start = func::FuncOp::create(
      builder, loc, kStartTasks, builder.getFunctionType({ptr, ptr, i64}, {}));
  start.setPrivate();
  Block *block = start.addEntryBlock();
  builder.setInsertionPointToStart(block);
  Value params = block->getArgument(0), task = block->getArgument(1),
        count = block->getArgument(2);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  };
  auto loadField = [&](size_t offset) -> Value {
    Value address = LLVM::GEPOp::create(
        builder, loc, ptr, builder.getI8Type(), params,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    return LLVM::LoadOp::create(builder, loc, ptr, address);
  };
  auto callPointer = [&](ArrayRef<Type> types, ValueRange operands) {
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(module.getContext()), types);
    LLVM::CallOp::create(builder, loc, type, operands);
  };
  Value several = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                        count, constant(1));
  auto branch =
      scf::IfOp::create(builder, loc, several, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value context = loadField(offsetof(rlx_abi_params, parallel_context));
  Value parallel = loadField(offsetof(rlx_abi_params, parallel));
  callPointer({ptr, ptr, ptr, i64}, {parallel, context, task, params, count});
  builder.setInsertionPointToStart(branch.elseBlock());
  callPointer({ptr, i64, i64}, {task, params, constant(0), constant(0)});
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, loc);
  return start;
}

namespace {
struct OutlineTasksPass : rlx::impl::OutlineTasksPassBase<OutlineTasksPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions;
    for (auto func : module.getOps<func::FuncOp>())
      if (BoundArguments(func).arena)
        functions.push_back(func);
    func::FuncOp startTasks = emitStartTasks(module);
    FunctionPool pool;
    for (func::FuncOp func : functions)
      if (failed(Outliner(func, pool, startTasks).run()))
        return signalPassFailure();
  }
};
} // namespace
