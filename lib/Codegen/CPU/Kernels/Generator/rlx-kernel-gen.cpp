// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates the tile-kernel library of one CPU class. Runs when RLX is built.
#include "Emitters.h"
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rlx::kernelgen;

namespace {

/// Functions that are linked together or not at all: one archive member.
struct Group {
  llvm::StringRef name;
  void (*emit)(KernelBuilder &);
};
constexpr Group groups[] = {
    {"gemm", emitGemm}, {"pack", emitPack}, {"unpack", emitUnpack}};

enum class Output { MLIR, LLVM, Assembly, Archive };

llvm::ExitOnError exitOnError("rlx-kernel-gen: error: ");

class Generator {
public:
  explicit Generator(const CpuClass &cpu) : cpu(cpu) {
    mlirContext.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                            func::FuncDialect, LLVM::LLVMDialect,
                            scf::SCFDialect, vector::VectorDialect>();
    registerBuiltinDialectTranslation(mlirContext);
    registerLLVMDialectTranslation(mlirContext);
    machine = exitOnError(createTargetMachine(cpu));
  }

  OwningOpRef<ModuleOp> emit(const Group &group) {
    OwningOpRef<ModuleOp> module(
        ModuleOp::create(UnknownLoc::get(&mlirContext), group.name));
    KernelBuilder builder(*module, cpu);
    group.emit(builder);
    if (failed(verify(*module)))
      exitOnError(llvm::createStringError(llvm::formatv(
          "emitted kernels of group '{0}' do not verify", group.name)));
    return module;
  }

  std::unique_ptr<llvm::Module> lower(const Group &group) {
    OwningOpRef<ModuleOp> module = emit(group);
    return exitOnError(lowerToLLVM(*module, cpu, *machine, llvmContext));
  }

  llvm::SmallVector<char, 0> code(const Group &group,
                                  llvm::CodeGenFileType type) {
    std::unique_ptr<llvm::Module> module = lower(group);
    return exitOnError(emitMachineCode(*module, *machine, type));
  }

private:
  const CpuClass &cpu;
  MLIRContext mlirContext{MLIRContext::Threading::DISABLED};
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

static const CpuClass &findCpuClass(llvm::StringRef name) {
  std::string known;
  for (const CpuClass &cpu : cpuClasses()) {
    if (cpu.name == name)
      return cpu;
    known += (known.empty() ? "" : ", ") + cpu.name.str();
  }
  exitOnError(llvm::createStringError(llvm::formatv(
      "--target is '{0}', there are kernels for {1}", name, known)));
  llvm_unreachable("exitOnError does not return");
}

/// An archive of one member per group and the given object files.
static void writeArchive(Generator &generator, llvm::ArrayRef<Group> selected,
                         llvm::ArrayRef<std::string> objects,
                         llvm::raw_ostream &stream) {
  std::vector<llvm::SmallVector<char, 0>> codes;
  std::vector<std::string> names;
  for (const Group &group : selected) {
    codes.push_back(generator.code(group, llvm::CodeGenFileType::ObjectFile));
    names.push_back((group.name + ".o").str());
  }
  std::vector<llvm::NewArchiveMember> members;
  for (auto [code, name] : llvm::zip(codes, names))
    members.emplace_back(
        llvm::MemoryBufferRef(llvm::StringRef(code.data(), code.size()), name));
  for (const std::string &object : objects) {
    members.push_back(exitOnError(
        llvm::NewArchiveMember::getFile(object, /*Deterministic=*/true)));
    members.back().MemberName = llvm::sys::path::filename(object);
  }
  exitOnError(llvm::writeArchiveToStream(
      stream, members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::OptionCategory category("rlx-kernel-gen options");
  llvm::cl::opt<std::string> target(
      "target", llvm::cl::desc("CPU class, x86-64-v3 or x86-64-v4"),
      llvm::cl::Required, llvm::cl::cat(category));
  llvm::cl::opt<Output> output(
      "emit", llvm::cl::desc("What to write"),
      llvm::cl::values(
          clEnumValN(Output::MLIR, "mlir", "the kernels as emitted"),
          clEnumValN(Output::LLVM, "llvm", "optimised LLVM IR"),
          clEnumValN(Output::Assembly, "asm", "assembly"),
          clEnumValN(Output::Archive, "archive", "a static archive")),
      llvm::cl::init(Output::Archive), llvm::cl::cat(category));
  llvm::cl::opt<std::string> only(
      "group", llvm::cl::desc("Only this group: gemm, pack or unpack"),
      llvm::cl::cat(category));
  llvm::cl::opt<std::string> path("o", llvm::cl::desc("Output file"),
                                  llvm::cl::init("-"), llvm::cl::cat(category));
  llvm::cl::list<std::string> objects(
      llvm::cl::Positional, llvm::cl::desc("<objects to put into the archive>"),
      llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "Generates the RLX tile kernels\n");

  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();

  llvm::SmallVector<Group> selected;
  for (const Group &group : groups)
    if (only.empty() || group.name == only.getValue())
      selected.push_back(group);
  if (selected.empty())
    exitOnError(llvm::createStringError(llvm::formatv(
        "--group is '{0}', the groups are gemm, pack and unpack", only)));

  Generator generator(findCpuClass(target));
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_None);
  if (error)
    exitOnError(llvm::createFileError(path, error));
  if (output == Output::Archive)
    writeArchive(generator, selected, objects, file.os());
  for (const Group &group : selected) {
    if (output == Output::MLIR)
      generator.emit(group)->print(file.os());
    if (output == Output::LLVM)
      generator.lower(group)->print(file.os(), nullptr);
    if (output == Output::Assembly) {
      auto text = generator.code(group, llvm::CodeGenFileType::AssemblyFile);
      file.os() << llvm::StringRef(text.data(), text.size());
    }
  }
  file.keep();
  return 0;
}
