// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Passes.td - Passes of the CPU code generator ------------*- tablegen -*-===//

#ifndef RLX_CODEGEN_CPU_PASSES_TD
#define RLX_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def WeightsToArgumentsPass : Pass<"rlx-weights-to-arguments", "::mlir::ModuleOp"> {
  let summary = "Turn named leaves into arguments of the functions that read them";
  let description = [{
    Each name that a function reads becomes one argument behind its inputs, in
    order of first use, with `rlx_cpu.weight` = the name. Values of constants are left
    behind: they reach the code as a pointer. Unnamed constants are part of the
    code and stay. Functions named by `rlx.prepare` get `rlx_cpu.prepare_function`,
    and the `rlx.prepare` ops go; other private functions go if nothing uses them.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def FormGemmsPass : Pass<"rlx-form-gemms", "::mlir::ModuleOp"> {
  let summary = "Turn products and packs into kernel ops on destinations";
  let description = [{
    `rlx.matmul` and `rlx.linear` become `rlx.gemm`; a rhs that is not packed yet is
    packed by `rlx.pack_panels` where it is used. Transposes of operands become
    part of the kernel op when the kernel can stride over them. f16 and bf16
    operands are widened. Packed weights become flat tensors of their elements.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"rlx-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Join chains of elementwise ops, unless work would be repeated";
  let description = [{
    A producer with one user joins it if each of its elements is read once: then no
    intermediate is stored and none computed twice. Where the user broadcasts, only
    producers that cost less than a read join it. Exact: outputs are bit-identical.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def FuseEpiloguesPass : Pass<"rlx-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Compute elementwise consumers of a product while it is in cache";
  let description = [{
    A `linalg.generic` that reads a product element by element and is its only
    user moves into the product's epilogue. Not if it reduces, permutes, uses
    `linalg.index`, or stores anything but f32. Exact: outputs are bit-identical.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def BindArgumentsPass : Pass<"rlx-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "Give functions the signature of an executable: buffers and symbols";
  let description = [{
    Arguments become buffers (inputs, outputs, weights) and one index for each
    symbol of `rlx.dims`; results are written to the output buffers, and what is
    returned is the dims of all outputs. The module gets `rlx_cpu.functions`, which
    describes each function for the loader.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def PlanArenaPass : Pass<"rlx-plan-arena", "::mlir::ModuleOp"> {
  let summary = "Place every intermediate buffer in one arena per function";
  let description = [{
    Buffers of static size share memory where their lives don't overlap; buffers
    of symbolic size share it with those of the same size. `<function>.plan`
    computes the arena's size and the output dims from the symbols; it returns a
    status if a size overflows or an assertion fails.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def OutlineTasksPass : Pass<"rlx-outline-tasks", "::mlir::ModuleOp"> {
  let summary = "Turn each kernel op into a task that workers can share";
  let description = [{
    Each op that touches memory becomes a function over a range of its outermost
    iterations; equal ones are shared. `<function>.run` starts them one after the
    other through the runtime's parallel callback, in one piece where the work
    isn't worth a parallel region. Tasks recompute what they need from the
    parameters of the call. The bits do not depend on the number of tasks.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def EmitExecutablePass : Pass<"rlx-emit-executable", "::mlir::ModuleOp"> {
  let summary = "Emit the table of functions and the query that returns it";
  let description = [{
    Runs on the LLVM dialect. `rlx_executable_query` is the one symbol that is
    visible outside; it returns the table for the version of the ABI it speaks.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let options = [Option<"cpuClass", "cpu-class", "std::string", [{"x86-64-v3"}],
                        "The CPU class that the code is for">];
}

#endif // RLX_CODEGEN_CPU_PASSES_TD
