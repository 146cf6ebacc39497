// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Evaluator.cpp - Constants computed by the model's own code ---------===//
//
// Functions to fold are compiled by the code generator of the model, loaded by
// the runtime of the model and run on buffers that become the constants.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"
#include "RLX/Artifact/Manifest.h"
#include "RLX/Codegen/CPU/Compile.h"
#include "RLX/Codegen/CPU/Passes.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Pipelines/Phases.h"
#include "RLX/Runtime/Abi.h"
#include "RLX/Runtime/Handles.h"
#include "RLX/Support/Error.h"
#include "RuntimeStatus.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace rlx;

namespace {

/// How a buffer looks to the runtime: packed weights are runs of bytes.
struct BufferType {
  artifact::DType dtype;
  std::vector<int64_t> dims;
};

/// Functions of one module in one program.
class CompiledFunctions final : public CompiledConstants {
public:
  static llvm::Expected<std::unique_ptr<CompiledConstants>>
  create(ModuleOp module);

  llvm::Error run(StringRef function, ArrayRef<ArrayRef<char>> arguments,
                  ArrayRef<MutableArrayRef<char>> results) override;

private:
  llvm::Error load(ModuleOp module);

  artifact::Manifest manifest;
  std::unique_ptr<llvm::MemoryBuffer> code;
  ProgramHandle program;
  SessionHandle session;
};

class CompiledEvaluator final : public ConstantEvaluator {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registerCPUCodegenInterfaces(registry);
  }
  llvm::Expected<std::unique_ptr<CompiledConstants>>
  compile(OwningOpRef<ModuleOp> module) override {
    return CompiledFunctions::create(*module);
  }
};

} // namespace

static llvm::Expected<artifact::Value> makeValue(const Twine &name, Type type) {
  artifact::Value value;
  value.name = name.str();
  if (auto packed = dyn_cast<PackedType>(type)) {
    value.dtype = *getDType(packed.getElementType());
    value.dims.push_back(artifact::Dim::fixed(
        packed.getSizeInBytes() / artifact::dtypeSizeBytes(value.dtype)));
    return value;
  }
  auto tensor = cast<RankedTensorType>(type);
  std::optional<artifact::DType> dtype = getDType(tensor.getElementType());
  if (!dtype) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return makeError("values of type {0} can't be computed at bake", text);
  }
  value.dtype = *dtype;
  for (int64_t dim : tensor.getShape())
    value.dims.push_back(artifact::Dim::fixed(dim));
  return value;
}

llvm::Expected<std::unique_ptr<CompiledConstants>>
CompiledFunctions::create(ModuleOp module) {
  auto functions = std::make_unique<CompiledFunctions>();
  if (llvm::Error error = functions->load(module))
    return std::move(error);
  return functions;
}

llvm::Error CompiledFunctions::load(ModuleOp module) {
  StringRef cpuClass = rlx_host_cpu_class();
  CPUCodegenOptions options;
  options.cpuClass = cpuClass.str();
  if (cpuClass == "none")
    return makeError("folding runs generated code, and this machine's CPU is "
                     "below x86-64-v3; "
                     "bake on another machine or with --no-fold");
  llvm::Expected<CompiledExecutable> compiled = compileForCPU(module, options);
  if (!compiled)
    return compiled.takeError();

  manifest.producer = "rlx const-fold";
  manifest.name = "fold";
  for (const ExecutableFunction &function : compiled->functions) {
    auto func = module.lookupSymbol<func::FuncOp>(function.name);
    artifact::Entry entry;
    entry.name = function.name;
    auto add = [](std::vector<artifact::Value> &values, StringRef prefix,
                  TypeRange types) -> llvm::Error {
      for (auto [index, type] : llvm::enumerate(types)) {
        llvm::Expected<artifact::Value> value =
            makeValue(prefix + Twine(index), type);
        if (!value)
          return value.takeError();
        values.push_back(std::move(*value));
      }
      return llvm::Error::success();
    };
    if (llvm::Error error = add(entry.inputs, "in", func.getArgumentTypes()))
      return error;
    if (llvm::Error error = add(entry.outputs, "out", func.getResultTypes()))
      return error;
    manifest.entries.push_back(std::move(entry));
  }
  artifact::Segment segment;
  segment.kind = artifact::SegmentKind::Executable;
  segment.sizeBytes = compiled->bytes.size();
  manifest.segments.push_back(segment);
  manifest.executables.push_back({options.cpuClass, 0, RLX_ABI_VERSION});

  std::vector<uint8_t> encoded = artifact::encodeManifest(manifest);
  code = copyAligned(compiled->bytes);
  rlx_bytes bytes = {code->getBufferStart(), code->getBufferSize()};
  if (llvm::Error error = check(
          rlx_program_open_segments(encoded.data(), encoded.size(), &bytes, 1,
                                    nullptr, receive(program))))
    return error;
  return check(
      rlx_session_create(program.get(), nullptr, nullptr, receive(session)));
}

llvm::Error CompiledFunctions::run(StringRef function,
                                   ArrayRef<ArrayRef<char>> arguments,
                                   ArrayRef<MutableArrayRef<char>> results) {
  uint32_t index;
  if (llvm::Error error = check(rlx_program_find_entry(
          program.get(), function.str().c_str(), &index)))
    return error;
  const artifact::Entry &entry = manifest.entries[index];
  std::vector<std::vector<int64_t>> dims;
  dims.reserve(entry.inputs.size() + entry.outputs.size());
  auto makeTensor = [&](const artifact::Value &value, const char *data) {
    std::vector<int64_t> &sizes = dims.emplace_back();
    for (const artifact::Dim &dim : value.dims)
      sizes.push_back(dim.size);
    return rlx_tensor{const_cast<char *>(data), sizes.data(),
                      int32_t(sizes.size()), int32_t(value.dtype)};
  };
  std::vector<rlx_tensor> inputs, outputs;
  for (auto [value, bytes] : llvm::zip_equal(entry.inputs, arguments))
    inputs.push_back(makeTensor(value, bytes.data()));
  for (auto [value, bytes] : llvm::zip_equal(entry.outputs, results))
    outputs.push_back(makeTensor(value, bytes.data()));
  return check(rlx_session_run(session.get(), index, inputs.data(),
                               inputs.size(), outputs.data(), outputs.size()));
}

std::shared_ptr<ConstantEvaluator> rlx::createCompiledEvaluator() {
  return std::make_shared<CompiledEvaluator>();
}
