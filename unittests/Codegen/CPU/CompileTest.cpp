// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Executable.h"

#include "RLX/Codegen/CPU/Passes.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Object/ELFObjectFile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace rlx;
using namespace rlx::test;

namespace {

constexpr char kChain[] = R"mlir(
func.func @main(%x: tensor<?x8xf32> {rlx.name = "x", rlx.dims = [@n, 8]},
                %y: tensor<?x8xf32> {rlx.name = "y", rlx.dims = [@n, 8]})
    -> (tensor<?x8xf32> {rlx.name = "z", rlx.dims = [@n, 8]}) {
  %w = rlx.param "w" : tensor<8x8xf32>
  %v = rlx.constant "v" dense<0.5> : tensor<8x8xf32>
  %0 = rlx.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = rlx.matmul %0, %v : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %2 = rlx.matmul %1, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %3 = rlx.add %2, %y : tensor<?x8xf32>, tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
)mlir";

// The table says what the compiler says: names, counts, symbols, versions.
TEST(Compile, Table) {
  std::unique_ptr<Executable> executable = compile(kChain, "x86-64-v4");
  ASSERT_TRUE(executable);
  const rlx_abi_executable &table = executable->getTable();
  EXPECT_EQ(table.struct_size, sizeof(rlx_abi_executable));
  EXPECT_EQ(table.abi_version, RLX_ABI_VERSION);
  EXPECT_EQ(table.function_size, sizeof(rlx_abi_function));
  EXPECT_STREQ(table.target, "x86-64-v4");
  ASSERT_EQ(table.function_count, 1u);
  const rlx_abi_function &main = table.functions[0];
  EXPECT_STREQ(main.name, "main");
  EXPECT_EQ(main.kind, static_cast<uint32_t>(RLX_ABI_ENTRY));
  EXPECT_EQ(main.input_count, 2u);
  EXPECT_EQ(main.output_count, 1u);
  EXPECT_EQ(main.weight_count, 2u);
  EXPECT_EQ(main.symbol_count, 1u);
  EXPECT_EQ(main.output_dim_count, 2u);
  EXPECT_EQ(executable->getQuery()(RLX_ABI_VERSION + 1), nullptr);

  const std::vector<ExecutableFunction> &functions =
      executable->getCompiled().functions;
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_THAT(functions[0].inputs, testing::ElementsAre("x", "y"));
  EXPECT_THAT(functions[0].outputs, testing::ElementsAre("z"));
  EXPECT_THAT(functions[0].weights, testing::ElementsAre("w", "v"));
  EXPECT_THAT(functions[0].symbols, testing::ElementsAre("n"));
}

// Equal modules give equal bytes; one symbol is visible, none is missing, and
// no path of the machine is inside.
TEST(Compile, SharedObject) {
  auto getBytes = [] {
    Source source(kChain);
    llvm::Expected<CompiledExecutable> compiled =
        compileForCPU(source.getModule(), {});
    EXPECT_TRUE(static_cast<bool>(compiled));
    return std::string(compiled->bytes.begin(), compiled->bytes.end());
  };
  std::string bytes = getBytes();
  EXPECT_EQ(bytes, getBytes());
  EXPECT_EQ(bytes.find("/proc/"), std::string::npos);
  EXPECT_EQ(bytes.find("/tmp/"), std::string::npos);

  auto object = llvm::object::ELFObjectFile<llvm::object::ELF64LE>::create(
      llvm::MemoryBufferRef(bytes, "executable"));
  ASSERT_TRUE(static_cast<bool>(object));
  std::vector<std::string> symbols;
  for (const llvm::object::ELFSymbolRef &symbol :
       object->getDynamicSymbolIterators())
    symbols.push_back(llvm::cantFail(symbol.getName()).str());
  EXPECT_THAT(symbols, testing::ElementsAre(RLX_ABI_QUERY_SYMBOL));
  EXPECT_EQ(object->symbols().begin(), object->symbols().end());
}

// The caller's module is as it was.
TEST(Compile, KeepsModule) {
  Source source(kChain);
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << source.getModule();
    return text;
  };
  std::string before = print();
  EXPECT_TRUE(static_cast<bool>(compileForCPU(source.getModule(), {})));
  EXPECT_EQ(before, print());
}

// Inside of a pass neither dialects nor interfaces can be added to a context:
// what is registered for such callers is all that compiling takes.
TEST(Compile, AddsNothingToAPreparedContext) {
  DialectRegistry registry;
  registerCPUCodegenInterfaces(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kChain, &context);
  ASSERT_TRUE(module);
  size_t loaded = context.getLoadedDialects().size();
  DialectRegistry before;
  context.getDialectRegistry().appendTo(before);
  EXPECT_TRUE(static_cast<bool>(compileForCPU(*module, {})));
  EXPECT_EQ(context.getLoadedDialects().size(), loaded);
  EXPECT_TRUE(context.getDialectRegistry().isSubsetOf(before));
}

// The plan reuses memory: of three products in a row only two are ever alive.
TEST(Compile, PlanReusesArena) {
  std::unique_ptr<Executable> executable = compile(kChain);
  ASSERT_TRUE(executable);
  const rlx_abi_function *main = executable->find("main");
  auto getBytes = [&](int64_t n) {
    uint64_t bytes = 0;
    int64_t dims[2];
    EXPECT_EQ(main->plan(&n, 1, &bytes, dims), RLX_ABI_OK);
    EXPECT_EQ(dims[0], n);
    EXPECT_EQ(dims[1], 8);
    return bytes;
  };
  // Slots of n x 8 floats; the last product goes to the output.
  EXPECT_EQ(getBytes(2000) - getBytes(1000), 2u * 1000 * 8 * 4);
}

// A size that no machine has is a status, not an address.
TEST(Compile, PlanOverflow) {
  std::unique_ptr<Executable> executable = compile(kChain);
  ASSERT_TRUE(executable);
  const rlx_abi_function *main = executable->find("main");
  uint64_t bytes = 0;
  int64_t dims[2];
  for (int64_t n : {INT64_MAX, INT64_MAX / 32, INT64_MAX / 64 + 1})
    EXPECT_EQ(main->plan(&n, 1, &bytes, dims), RLX_ABI_ERR_OVERFLOW) << n;
  int64_t fits = int64_t(1) << 50;
  EXPECT_EQ(main->plan(&fits, 1, &bytes, dims), RLX_ABI_OK);
}

// Dims that don't fit the graph are a status with a text.
TEST(Compile, PlanChecksDims) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @main(%x: tensor<?xf32> {rlx.dims = [@n]}, %y: tensor<?xf32> {rlx.dims = [@m]})
    -> (tensor<?xf32> {rlx.dims = [@n]}) {
  %0 = rlx.add %x, %y : tensor<?xf32>, tensor<?xf32>
  return %0 : tensor<?xf32>
}
)mlir");
  ASSERT_TRUE(executable);
  Tensor three = Tensor::random({3}, 1), four = Tensor::random({4}, 2);
  EXPECT_EQ(executable->call("main", {three, three}, {3, 3}).status,
            RLX_ABI_OK);
  CallResult result = executable->call("main", {three, four}, {3, 4});
  EXPECT_GE(result.status, static_cast<int32_t>(RLX_ABI_MESSAGE_BASE));
  EXPECT_THAT(result.message, testing::HasSubstr("rlx.add"));
}

// Entries of one module are functions of one table, in program order; each has
// its own weights and symbols.
TEST(Compile, SeveralEntries) {
  std::unique_ptr<Executable> executable = compile(R"mlir(
func.func @prefill(%x: tensor<?x16xf32> {rlx.dims = [@t, 16]})
    -> (tensor<?x16xf32> {rlx.dims = [@t, 16]}) {
  %w = rlx.param "w" : tensor<16x16xf32>
  %v = rlx.param "v" : tensor<16x16xf32>
  %0 = rlx.matmul %x, %w : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %1 = rlx.matmul %0, %v : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}
func.func @decode(%x: tensor<1x16xf32>) -> tensor<1x16xf32> {
  %v = rlx.param "v" : tensor<16x16xf32>
  %0 = rlx.matmul %x, %v : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}
)mlir");
  ASSERT_TRUE(executable);
  const std::vector<ExecutableFunction> &functions =
      executable->getCompiled().functions;
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].name, "prefill");
  EXPECT_THAT(functions[0].weights, testing::ElementsAre("w", "v"));
  EXPECT_EQ(functions[1].name, "decode");
  EXPECT_THAT(functions[1].weights, testing::ElementsAre("v"));
  EXPECT_THAT(functions[1].symbols, testing::IsEmpty());

  Tensor x = Tensor::random({3, 16}, 1), w = Tensor::random({16, 16}, 2),
         v = Tensor::random({16, 16}, 3), row = Tensor::random({1, 16}, 4);
  CallResult prefill = executable->call("prefill", {x, w, v}, {3}, 2);
  EXPECT_LT(maxDifference(prefill.outputs.at(0), multiply(multiply(x, w), v)),
            1e-5);
  CallResult decode = executable->call("decode", {row, v});
  EXPECT_LT(maxDifference(decode.outputs.at(0), multiply(row, v)), 1e-5);
}

// What cannot be compiled is an error with the reason.
TEST(Compile, Refuses) {
  std::string error = getCompileError(R"mlir(
func.func @main(%x: tensor<2x3xf64>, %y: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %0 = rlx.matmul %x, %y : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}
)mlir");
  EXPECT_THAT(error, testing::StartsWith("cannot generate CPU code: "));
  EXPECT_THAT(error, testing::HasSubstr("the CPU kernels take f32"));
  EXPECT_THAT(error, testing::Not(testing::HasSubstr("see current operation")));
  EXPECT_THAT(getCompileError(R"mlir(
func.func @main(%x: tensor<?xf32> {rlx.name = "x"}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
)mlir"),
              testing::HasSubstr("has no rlx.dims"));
  Source source(kChain);
  CPUCodegenOptions options;
  options.cpuClass = "z80";
  EXPECT_THAT(
      llvm::toString(compileForCPU(source.getModule(), options).takeError()),
      testing::HasSubstr("unknown CPU class 'z80', known: x86-64-v3"));
}

} // namespace
