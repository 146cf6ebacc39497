// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Executable.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace rlx;
using namespace rlx::test;

static int64_t getProduct(const std::vector<int64_t> &dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

Tensor::Tensor(std::vector<int64_t> dims)
    : dims(std::move(dims)), data(getProduct(this->dims)) {}

Tensor Tensor::random(std::vector<int64_t> dims, uint32_t seed) {
  Tensor tensor(std::move(dims));
  std::mt19937 generator(seed);
  for (float &value : tensor.data)
    value = (static_cast<int32_t>(generator() % 20001) - 10000) * 1e-4f;
  return tensor;
}

float &Tensor::at(std::initializer_list<int64_t> indices) {
  int64_t offset = 0;
  auto index = indices.begin();
  for (int64_t dim : dims)
    offset = offset * dim + *index++;
  return data[offset];
}

//===----------------------------------------------------------------------===//
// Executable
//===----------------------------------------------------------------------===//

Executable::~Executable() {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
}

std::unique_ptr<Executable> Executable::load(CompiledExecutable compiled) {
  std::unique_ptr<Executable> result(new Executable);
  result->compiled = std::move(compiled);
  const auto &bytes = result->compiled.bytes;
  result->descriptor = memfd_create("executable", MFD_CLOEXEC);
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count =
        write(result->descriptor, bytes.data() + done, bytes.size() - done);
    if (count <= 0) {
      ADD_FAILURE() << "cannot write " << bytes.size() << " bytes";
      return nullptr;
    }
    done += count;
  }
  std::string path = "/proc/self/fd/" + std::to_string(result->descriptor);
  result->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!result->handle) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  result->query = reinterpret_cast<rlx_abi_query>(
      dlsym(result->handle, RLX_ABI_QUERY_SYMBOL));
  if (!result->query) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  result->table = result->query(RLX_ABI_VERSION);
  if (!result->table) {
    ADD_FAILURE() << "the executable does not speak version "
                  << RLX_ABI_VERSION;
    return nullptr;
  }
  return result;
}

const rlx_abi_function *Executable::find(llvm::StringRef name) const {
  for (uint32_t i = 0; i < table->function_count; ++i)
    if (name == table->functions[i].name)
      return &table->functions[i];
  return nullptr;
}

namespace {

/// Runs tasks on as many threads as there are workers.
struct Pool {
  int workers;
  int regions = 0;

  static void run(void *context, rlx_abi_task task, void *taskContext,
                  int64_t count) {
    auto &pool = *static_cast<Pool *>(context);
    ++pool.regions;
    std::atomic<int64_t> next{0};
    auto work = [&](int64_t worker) {
      for (int64_t i = next++; i < count; i = next++)
        task(taskContext, i, worker);
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < pool.workers; ++i)
      threads.emplace_back(work, i);
    work(0);
    for (std::thread &thread : threads)
      thread.join();
  }
};

/// Memory that begins `skew` bytes behind a multiple of 64 and is followed by a
/// guard that must stay as it is.
class Memory {
public:
  Memory(size_t sizeBytes, size_t skew)
      : sizeBytes(sizeBytes), bytes(sizeBytes + skew + 192, kGuard) {
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    start = (64 - address % 64) % 64 + 64 + skew;
  }
  char *data() { return bytes.data() + start; }
  bool isGuardIntact() const {
    for (size_t i = 0; i < bytes.size(); ++i)
      if ((i < start || i >= start + sizeBytes) && bytes[i] != kGuard)
        return false;
    return true;
  }

private:
  static constexpr char kGuard = 0x5A;
  size_t sizeBytes, start;
  std::vector<char> bytes;
};

} // namespace

CallResult Executable::call(llvm::StringRef name, std::vector<Tensor> tensors,
                            std::vector<int64_t> symbols, int workers) const {
  CallResult result;
  const rlx_abi_function *function = find(name);
  if (!function) {
    ADD_FAILURE() << "no function " << name.str();
    return result;
  }
  EXPECT_EQ(function->symbol_count, symbols.size());
  EXPECT_EQ(function->input_count + function->weight_count, tensors.size());
  const ExecutableFunction *info = nullptr;
  for (const ExecutableFunction &candidate : compiled.functions)
    if (name == candidate.name)
      info = &candidate;

  std::vector<int64_t> dims(function->output_dim_count);
  result.status =
      function->plan(symbols.data(), workers, &result.arenaBytes, dims.data());
  if (result.status >= RLX_ABI_MESSAGE_BASE)
    result.message = table->messages[result.status - RLX_ABI_MESSAGE_BASE];
  if (result.status != RLX_ABI_OK)
    return result;

  // Ranks of outputs are not part of the ABI: with one output all dims are its.
  if (function->output_count == 1) {
    result.outputs.emplace_back(dims);
  } else {
    size_t rank = dims.size() / function->output_count;
    for (uint32_t i = 0; i < function->output_count; ++i)
      result.outputs.emplace_back(std::vector<int64_t>(
          dims.begin() + i * rank, dims.begin() + (i + 1) * rank));
  }
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<void *> buffers;
  auto fill = [&](const Tensor &tensor) {
    std::copy(tensor.data.begin(), tensor.data.end(),
              static_cast<float *>(buffers.back()));
  };
  auto add = [&](size_t count, size_t skew) {
    memory.push_back(std::make_unique<Memory>(count * sizeof(float), skew));
    buffers.push_back(memory.back()->data());
  };
  for (uint32_t i = 0; i < function->input_count; ++i) {
    add(tensors[i].data.size(), 4);
    fill(tensors[i]);
  }
  for (Tensor &output : result.outputs)
    add(output.data.size(), info && info->isPrepare ? 0 : 4);
  for (size_t i = function->input_count; i < tensors.size(); ++i) {
    // Rank 1 and large: packed.
    bool isPacked = tensors[i].dims.size() == 1 && tensors[i].size() > 256;
    add(tensors[i].data.size(), isPacked ? 0 : 4);
    fill(tensors[i]);
  }
  Memory arena(result.arenaBytes, 0);
  Pool pool{workers};
  rlx_abi_params params = {};
  params.struct_size = sizeof(params);
  params.buffers = buffers.data();
  params.symbols = symbols.data();
  params.arena = result.arenaBytes ? arena.data() : nullptr;
  params.arena_bytes = result.arenaBytes;
  params.workers = workers;
  params.parallel_context = &pool;
  params.parallel = Pool::run;
  params.rng_seed = 42;
  result.status = function->run(&params);
  result.regions = pool.regions;
  for (uint32_t i = 0; i < function->output_count; ++i) {
    auto &data = result.outputs[i].data;
    std::copy_n(static_cast<float *>(buffers[function->input_count + i]),
                data.size(), data.begin());
  }
  for (const auto &block : memory)
    EXPECT_TRUE(block->isGuardIntact()) << "wrote outside of a buffer";
  EXPECT_TRUE(arena.isGuardIntact()) << "wrote outside of the arena";
  return result;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Source::Source(llvm::StringRef text)
    : context(mlir::MLIRContext::Threading::DISABLED) {
  context.loadDialect<RLXDialect, mlir::func::FuncDialect>();
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module);
}

std::unique_ptr<Executable> test::compile(llvm::StringRef text,
                                          llvm::StringRef cpuClass) {
  Source source(text);
  CPUCodegenOptions options;
  options.cpuClass = cpuClass.str();
  llvm::Expected<CompiledExecutable> compiled =
      compileForCPU(source.getModule(), options);
  if (!compiled) {
    ADD_FAILURE() << llvm::toString(compiled.takeError());
    return nullptr;
  }
  return Executable::load(std::move(*compiled));
}

std::string test::getCompileError(llvm::StringRef text) {
  Source source(text);
  llvm::Expected<CompiledExecutable> compiled =
      compileForCPU(source.getModule(), {});
  return compiled ? "" : llvm::toString(compiled.takeError());
}

std::vector<std::string> test::getRunnableClasses() {
  std::vector<std::string> classes;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    classes.push_back("x86-64-v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
    classes.push_back("x86-64-v4");
  return classes;
}

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

Tensor test::multiply(const Tensor &a, const Tensor &b) {
  int64_t m = a.dims[0], k = a.dims[1], n = b.dims[1];
  Tensor c({m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += static_cast<double>(a.data[i * k + l]) * b.data[l * n + j];
      c.data[i * n + j] = static_cast<float>(sum);
    }
  return c;
}

Tensor test::transpose(const Tensor &a) {
  Tensor t({a.dims[1], a.dims[0]});
  for (int64_t i = 0; i < a.dims[0]; ++i)
    for (int64_t j = 0; j < a.dims[1]; ++j)
      t.data[j * a.dims[0] + i] = a.data[i * a.dims[1] + j];
  return t;
}

Tensor test::packPanels(const Tensor &a) {
  int64_t k = a.dims[0], n = a.dims[1];
  Tensor packed({k * n});
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j)
      packed.data[panelOffset(k, n, i, j)] = a.data[i * n + j];
  return packed;
}

double test::maxDifference(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(a.dims, b.dims);
  if (a.dims != b.dims)
    return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.data.size(); ++i) {
    double difference = std::fabs(static_cast<double>(a.data[i]) - b.data[i]);
    // A NaN is as wrong as can be.
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

bool test::isBitEqual(const Tensor &a, const Tensor &b) {
  if (a.dims != b.dims)
    return false;
  // Bits, so that equal NaNs are equal and zeros of two signs are not.
  return std::equal(
      a.data.begin(), a.data.end(), b.data.begin(),
      [](float x, float y) { return std::memcmp(&x, &y, sizeof(float)) == 0; });
}
