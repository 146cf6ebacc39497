// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gemm-candidates.h"

#include "RLX/Codegen/CPU/Kernels/KernelModule.h"
#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <sys/mman.h>

#ifdef RLX_BENCH_DNNL
#include <dnnl.hpp>
#endif
#ifdef RLX_BENCH_OPENBLAS
#include <cblas.h>
#endif

using namespace rlx::bench;

Buffer::Buffer(size_t elements) {
  constexpr size_t hugePage = size_t(2) << 20;
  size_t bytes = (elements * sizeof(float) / hugePage + 1) * hugePage;
  memory = static_cast<float *>(std::aligned_alloc(hugePage, bytes));
  if (!memory)
    throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
}
Buffer::~Buffer() { std::free(memory); }

namespace {

class RlxCandidate : public GemmCandidate {
public:
  RlxCandidate(const rlx_kernel_table &kernels, GemmShape shape, float *a,
               float *b)
      : kernels(kernels), shape(shape), a(a), packed(shape.k * shape.n),
        c(shape.m * shape.n) {
    kernels.pack_f32(b, shape.n, 1, packed.data(), shape.k, shape.n, 0,
                     rlx::panelCount(shape.n));
  }
  void run() override {
    kernels.gemm_f32(a, shape.k, packed.data(), c.data(), shape.n, shape.m,
                     shape.n, shape.k, 0, rlx::panelCount(shape.n), nullptr,
                     nullptr);
  }
  const float *result() override { return c.data(); }

private:
  const rlx_kernel_table &kernels;
  GemmShape shape;
  float *a;
  Buffer packed, c;
};

class RlxImplementation : public GemmImplementation {
public:
  RlxImplementation(std::string cpuClass, const rlx_kernel_table &kernels)
      : cpuClass(std::move(cpuClass)), kernels(kernels) {}
  std::string name() const override { return "rlx"; }
  std::string version() const override { return cpuClass; }
  std::unique_ptr<GemmCandidate> bind(GemmShape shape, float *a,
                                      float *b) override {
    return std::make_unique<RlxCandidate>(kernels, shape, a, b);
  }

private:
  std::string cpuClass;
  const rlx_kernel_table &kernels;
};

#ifdef RLX_BENCH_DNNL
class DnnlCandidate : public GemmCandidate {
public:
  DnnlCandidate(GemmShape shape, float *a, float *b)
      : engine(dnnl::engine::kind::cpu, 0), stream(engine),
        c(shape.m * shape.n) {
    using Memory = dnnl::memory;
    using Tag = Memory::format_tag;
    constexpr auto f32 = Memory::data_type::f32;
    Memory::desc aType({shape.m, shape.k}, f32, Tag::ab);
    Memory::desc bType({shape.k, shape.n}, f32, Tag::any);
    Memory::desc cType({shape.m, shape.n}, f32, Tag::ab);
    dnnl::matmul::primitive_desc type(dnnl::matmul::desc(aType, bType, cType),
                                      engine);
    Memory plain({{shape.k, shape.n}, f32, Tag::ab}, engine, b);
    weights = std::make_unique<Buffer>(type.weights_desc().get_size() /
                                       sizeof(float));
    Memory reordered(type.weights_desc(), engine, weights->data());
    dnnl::reorder(plain, reordered).execute(stream, plain, reordered);
    stream.wait();
    product = dnnl::matmul(type);
    arguments = {{DNNL_ARG_SRC, Memory(aType, engine, a)},
                 {DNNL_ARG_WEIGHTS, reordered},
                 {DNNL_ARG_DST, Memory(cType, engine, c.data())}};
  }
  void run() override {
    product.execute(stream, arguments);
    stream.wait();
  }
  const float *result() override { return c.data(); }

private:
  dnnl::engine engine;
  dnnl::stream stream;
  Buffer c;
  std::unique_ptr<Buffer> weights;
  dnnl::matmul product;
  std::unordered_map<int, dnnl::memory> arguments;
};

class DnnlImplementation : public GemmImplementation {
public:
  std::string name() const override { return "oneDNN"; }
  std::string version() const override {
    const dnnl::version_t *version = dnnl::version();
    return std::to_string(version->major) + "." +
           std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }
  std::unique_ptr<GemmCandidate> bind(GemmShape shape, float *a,
                                      float *b) override {
    return std::make_unique<DnnlCandidate>(shape, a, b);
  }
};
#endif

#ifdef RLX_BENCH_OPENBLAS
class OpenBlasCandidate : public GemmCandidate {
public:
  OpenBlasCandidate(GemmShape shape, float *a, float *b)
      : shape(shape), a(a), b(b), c(shape.m * shape.n) {}
  void run() override {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, shape.m, shape.n,
                shape.k, 1.0f, a, shape.k, b, shape.n, 0.0f, c.data(), shape.n);
  }
  const float *result() override { return c.data(); }

private:
  GemmShape shape;
  float *a, *b;
  Buffer c;
};

class OpenBlasImplementation : public GemmImplementation {
public:
  OpenBlasImplementation() { openblas_set_num_threads(1); }
  std::string name() const override { return "OpenBLAS"; }
  std::string version() const override {
    return std::string(openblas_get_config()) + " " + openblas_get_corename();
  }
  std::unique_ptr<GemmCandidate> bind(GemmShape shape, float *a,
                                      float *b) override {
    return std::make_unique<OpenBlasCandidate>(shape, a, b);
  }
};
#endif

} // namespace

std::unique_ptr<GemmImplementation>
rlx::bench::makeRlx(const std::string &cpuClass, std::string &error) {
  bool v3 = cpuClass == "x86-64-v3";
  if (!v3 && cpuClass != "x86-64-v4") {
    error = "there are kernels for x86-64-v3 and x86-64-v4, not for '" +
            cpuClass + "'";
    return nullptr;
  }
  if (v3 ? !__builtin_cpu_supports("x86-64-v3")
         : !__builtin_cpu_supports("x86-64-v4")) {
    error = "this machine cannot run " + cpuClass + " code";
    return nullptr;
  }
  void *module = dlopen(v3 ? RLX_KERNELS_V3 : RLX_KERNELS_V4, RTLD_NOW);
  if (!module) {
    error = dlerror();
    return nullptr;
  }
  auto *table = static_cast<const rlx_kernel_table *>(
      dlsym(module, RLX_KERNEL_TABLE_SYMBOL));
  if (!table) {
    error = dlerror();
    return nullptr;
  }
  return std::make_unique<RlxImplementation>(cpuClass, *table);
}

std::vector<std::unique_ptr<GemmImplementation>> rlx::bench::makePeers() {
  std::vector<std::unique_ptr<GemmImplementation>> peers;
#ifdef RLX_BENCH_DNNL
  peers.push_back(std::make_unique<DnnlImplementation>());
#endif
#ifdef RLX_BENCH_OPENBLAS
  peers.push_back(std::make_unique<OpenBlasImplementation>());
#endif
  return peers;
}

std::vector<std::string> rlx::bench::missingPeers() {
  std::vector<std::string> missing;
#ifndef RLX_BENCH_DNNL
  missing.push_back("oneDNN (libdnnl-dev)");
#endif
#ifndef RLX_BENCH_OPENBLAS
  missing.push_back("OpenBLAS (libopenblas-dev)");
#endif
  return missing;
}
