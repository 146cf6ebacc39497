// SPDX-License-Identifier: MIT OR Apache-2.0
//===- EmitExecutable.cpp - The table that a loader asks for --------------===//

#include "FunctionInfo.h"
#include "Names.h"

#include "RLX/Codegen/CPU/Kernels/KernelArchive.h"
#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Runtime/Abi.h"
#include "RLX/Support/Error.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

namespace rlx {
#define GEN_PASS_DEF_EMITEXECUTABLEPASS
#include "RLX/Codegen/CPU/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

/// Emits constants with the layout of RLX/Runtime/Abi.h.
class TableEmitter {
public:
  explicit TableEmitter(ModuleOp module)
      : module(module), loc(module.getLoc()),
        builder(OpBuilder::atBlockEnd(module.getBody())),
        ptr(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  void emit(ArrayRef<ExecutableFunction> functions, StringRef cpuClass);

private:
  Value i32Constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i32, value);
  }
  Value i64Constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i64, value);
  }
  Value null() { return LLVM::ZeroOp::create(builder, loc, ptr); }
  Value address(StringRef symbol) {
    return LLVM::AddressOfOp::create(builder, loc, ptr, symbol);
  }
  Value string(StringRef text);
  Value structOf(ArrayRef<Value> fields);
  Value arrayOf(Type type, ArrayRef<Value> elements);
  void global(StringRef name, Type type, function_ref<Value()> value);

  ModuleOp module;
  Location loc;
  OpBuilder builder;
  Type ptr, i32, i64;
  unsigned strings = 0;
};

} // namespace

/// Emits a constant global; what `value` emits becomes its initializer.
void TableEmitter::global(StringRef name, Type type,
                          function_ref<Value()> value) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto op = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                   LLVM::Linkage::Internal, name, Attribute(),
                                   /*alignment=*/8);
  builder.createBlock(&op.getInitializerRegion());
  LLVM::ReturnOp::create(builder, loc, value());
}

Value TableEmitter::string(StringRef text) {
  std::string name = ("rlx.string" + Twine(strings++)).str();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    std::string terminated = text.str();
    terminated.push_back('\0');
    Type type =
        LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, name,
                           builder.getStringAttr(terminated));
  }
  return address(name);
}

Value TableEmitter::structOf(ArrayRef<Value> fields) {
  SmallVector<Type> types(ValueRange(fields).getTypes());
  Type type = LLVM::LLVMStructType::getLiteral(module.getContext(), types);
  Value result = LLVM::UndefOp::create(builder, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    result = LLVM::InsertValueOp::create(builder, loc, result, field, i);
  return result;
}

Value TableEmitter::arrayOf(Type type, ArrayRef<Value> elements) {
  Value result = LLVM::UndefOp::create(builder, loc, type);
  for (auto [i, element] : llvm::enumerate(elements))
    result = LLVM::InsertValueOp::create(builder, loc, result, element, i);
  return result;
}

void TableEmitter::emit(ArrayRef<ExecutableFunction> functions,
                        StringRef cpuClass) {
  MLIRContext *context = module.getContext();
  auto structType = [&](ArrayRef<Type> types) {
    return LLVM::LLVMStructType::getLiteral(context, types);
  };
  Type functionType =
      structType({ptr, i32, i32, i32, i32, i32, i32, i32, i32, ptr, ptr, i64});
  Type functionsType = LLVM::LLVMArrayType::get(functionType, functions.size());
  global("rlx.functions", functionsType, [&] {
    SmallVector<Value> entries;
    for (const ExecutableFunction &function : functions) {
      uint32_t kind = function.isPrepare ? RLX_ABI_PREPARE : RLX_ABI_ENTRY;
      entries.push_back(
          structOf({string(function.name), i32Constant(kind), i32Constant(0),
                    i32Constant(function.inputs.size()),
                    i32Constant(function.outputs.size()),
                    i32Constant(function.weights.size()),
                    i32Constant(function.symbols.size()),
                    i32Constant(function.outputDimCount), i32Constant(0),
                    address(function.name + ".plan"),
                    address(function.name + ".run"), i64Constant(0)}));
    }
    return arrayOf(functionsType, entries);
  });

  auto messages = module->getAttrOfType<ArrayAttr>(kMessagesAttr);
  size_t messageCount = messages ? messages.size() : 0;
  if (messageCount != 0) {
    Type messagesType = LLVM::LLVMArrayType::get(ptr, messageCount);
    global("rlx.messages", messagesType, [&] {
      SmallVector<Value> texts;
      for (StringAttr message : messages.getAsRange<StringAttr>())
        texts.push_back(string(message));
      return arrayOf(messagesType, texts);
    });
  }

  Type tableType =
      structType({i32, i32, i32, i32, ptr, ptr, ptr, i64, i64, i64});
  global("rlx.executable", tableType, [&] {
    return structOf(
        {i32Constant(sizeof(rlx_abi_executable)), i32Constant(RLX_ABI_VERSION),
         i32Constant(sizeof(rlx_abi_function)), i32Constant(functions.size()),
         functions.empty() ? null() : address("rlx.functions"),
         string(cpuClass), messageCount ? address("rlx.messages") : null(),
         i64Constant(messageCount), i64Constant(0), i64Constant(0)});
  });

  auto query =
      LLVM::LLVMFuncOp::create(builder, loc, RLX_ABI_QUERY_SYMBOL,
                               LLVM::LLVMFunctionType::get(ptr, {i32}));
  Block *block = query.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  Value known =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                           block->getArgument(0), i32Constant(RLX_ABI_VERSION));
  Value table = LLVM::SelectOp::create(builder, loc, known,
                                       address("rlx.executable"), null());
  LLVM::ReturnOp::create(builder, loc, table);
}

namespace {
struct EmitExecutablePass
    : rlx::impl::EmitExecutablePassBase<EmitExecutablePass> {
  using EmitExecutablePassBase::EmitExecutablePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::is_contained(kernelCpuClasses(), cpuClass)) {
      module.emitError("no CPU class is called ")
          << quoteName(cpuClass)
          << ", known: " << llvm::join(kernelCpuClasses(), ", ");
      return signalPassFailure();
    }
    // Everything is private but the query; what has no body is in the library
    // of kernels.
    for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
      if (!func.isExternal())
        func.setLinkage(LLVM::Linkage::Internal);
      else
        func.setVisibility_(LLVM::Visibility::Hidden);
    }
    TableEmitter(module).emit(getFunctions(module), cpuClass);
  }
};
} // namespace
