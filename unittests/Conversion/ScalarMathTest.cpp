// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ScalarMathTest.cpp - Accuracy of the elementary functions ----------===//
//
// Runs each expansion on bit patterns from all of f32 and compares it with
// libm's in f64, whose error is 2^-29 ulp of f32. RLX_TEST_SAMPLES sets how
// many random patterns (2^26 for docs/Numerics.md).
//
//===----------------------------------------------------------------------===//

#include "RLX/Conversion/ExpandMath/ScalarMath.h"
#include "Compiled.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace rlx;
using namespace rlx::test;

namespace {

struct Unary {
  const char *name;
  Scalar (*emit)(Scalar);
  double (*reference)(double);
  double maxUlp;
};

struct Binary {
  const char *name;
  Scalar (*emit)(Scalar, Scalar);
  double (*reference)(double, double);
  double maxUlp;
};

double logOnePlusExp(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

const Unary kUnary[] = {
    {"atan", emitAtan, std::atan, 0.6},
    {"cos", emitCos, std::cos, 0.6},
    {"elu", emitElu, [](double x) { return x > 0 ? x : std::expm1(x); }, 1},
    {"erf", emitErf, std::erf, 1.5},
    {"exp", emitExp, std::exp, 1},
    {"exp2", emitExp2, std::exp2, 0.6},
    {"expm1", emitExpm1, std::expm1, 1.5},
    {"gelu", emitGelu,
     [](double x) {
       return x == -INFINITY ? -0.0 : 0.5 * x * std::erfc(-x * M_SQRT1_2);
     },
     5.1},
    {"gelu_approx", emitGeluApprox,
     [](double x) {
       double u = x * (1 + 0.044715 * x * x) * std::sqrt(2 / M_PI);
       return x == -INFINITY ? -0.0 : x / (1 + std::exp(-2 * u));
     },
     3.5},
    {"hard_sigmoid", emitHardSigmoid,
     [](double x) { return x < -3  ? 0.0
                           : x > 3 ? 1.0
                                   : (x + 3) / 6; }, 1.5},
    {"hard_swish", emitHardSwish,
     [](double x) { return x < -3  ? -0.0
                           : x > 3 ? x
                                   : x * ((x + 3) / 6); },
     2.5},
    {"log", emitLog, std::log, 1},
    {"log10", emitLog10, std::log10, 0.6},
    {"log1p", emitLog1p, std::log1p, 0.6},
    {"log2", emitLog2, std::log2, 0.6},
    {"log_sigmoid", emitLogSigmoid,
     [](double x) { return 0.0 - logOnePlusExp(-x); }, 3},
    {"mish", emitMish,
     [](double x) {
       return x == -INFINITY ? -0.0 : x * std::tanh(logOnePlusExp(x));
     },
     4.6},
    {"rsqrt", emitRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5},
    {"sigmoid", emitSigmoid,
     [](double x) {
       return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
     },
     2.5},
    {"silu", emitSilu,
     [](double x) { return x == -INFINITY ? -0.0 : x / (1 + std::exp(-x)); },
     3.5},
    {"sin", emitSin, std::sin, 0.6},
    {"softplus", emitSoftplus, logOnePlusExp, 3},
    {"softsign", emitSoftsign,
     [](double x) {
       return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::fabs(x));
     },
     1.5},
    {"tan", emitTan, std::tan, 0.6},
    {"tanh", emitTanh, std::tanh, 2.6},
};

const Binary kBinary[] = {
    {"atan2", emitAtan2, std::atan2, 0.6},
    {"fmod", emitFmod, std::fmod, 0},
    {"pow", emitPow, std::pow, 0.6},
};

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Values where functions change their mind.
std::vector<float> specials() {
  std::vector<float> values;
  for (float magnitude : {0.0f,        0x1p-149f,  0x1p-140f,  0x1.fffffcp-127f,
                          0x1p-126f,   1e-20f,     1e-7f,      0.25f,
                          0.5f,        0.7853982f, 0.94f,      1.0f,
                          1.5f,        1.5707964f, 2.0f,       2.5f,
                          3.0f,        3.1415927f, 4.0f,       13.0f,
                          14.5f,       16.0f,      87.3f,      88.7f,
                          88.8f,       89.5f,      103.9f,     104.5f,
                          119.0f,      121.0f,     127.0f,     128.0f,
                          1e4f,        8388607.5f, 8388609.0f, 16777217.0f,
                          33554434.0f, 1e20f,      0x1.8p127f, 0x1.fffffep127f,
                          INFINITY,    NAN}) {
    for (float sign : {1.0f, -1.0f}) {
      values.push_back(sign * magnitude);
      values.push_back(sign * std::nextafterf(magnitude, 0));
      values.push_back(sign * std::nextafterf(magnitude, INFINITY));
    }
  }
  return values;
}

size_t sampleCount() {
  const char *text = std::getenv("RLX_TEST_SAMPLES");
  return text ? std::strtoull(text, nullptr, 0) : size_t(1) << 18;
}

/// Random bit patterns, uniform over all of f32, half of them from the range of
/// exponents where most functions happen.
std::vector<float> randomFloats(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = random();
    if (i % 2)
      bits = (bits & 0x807fffff) | ((100 + random() % 36) << 23);
    values[i] = fromBits(bits);
  }
  return values;
}

/// |actual - expected| in units of the last place of f32 at `expected`.
double ulpError(float actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) && std::isnan(expected) ? 0 : INFINITY;
  float rounded = static_cast<float>(expected);
  if (std::isinf(actual) || std::isinf(rounded))
    return actual == rounded ? 0 : INFINITY;
  if (actual == 0 && expected == 0)
    return std::signbit(actual) == std::signbit(expected) ? 0 : INFINITY;
  int exponent;
  std::frexp(expected, &exponent);
  double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(actual - expected) / ulp;
}

class ScalarMathTest : public ::testing::Test {
protected:
  ScalarMathTest() {
    DialectRegistry registry;
    registerForCompiling(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Adds `void name(f32 *in..., f32 *out, index count)` that loops over
  /// `emit`.
  template <typename Emit>
  void addLoop(ModuleOp module, StringRef name, unsigned inputs, Emit emit) {
    auto builder = ImplicitLocOpBuilder::atBlockEnd(UnknownLoc::get(&context),
                                                    module.getBody());
    auto buffer = MemRefType::get({ShapedType::kDynamic}, builder.getF32Type());
    SmallVector<Type> types(inputs + 1, buffer);
    auto func = func::FuncOp::create(builder, "run_" + name.str(),
                                     builder.getFunctionType(types, {}));
    func->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
    Block *entry = func.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    Value one = arith::ConstantIndexOp::create(builder, 1);
    Value count = memref::DimOp::create(builder, entry->getArgument(0), zero);
    auto loop = scf::ForOp::create(builder, zero, count, one);
    func::ReturnOp::create(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Scalar> operands;
    for (unsigned i = 0; i < inputs; ++i)
      operands.emplace_back(
          builder, memref::LoadOp::create(builder, entry->getArgument(i),
                                          loop.getInductionVar()));
    memref::StoreOp::create(builder, Value(emit(operands)),
                            entry->getArgument(inputs), loop.getInductionVar());
  }

  OwningOpRef<ModuleOp> buildAll() {
    OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context)));
    for (const Unary &function : kUnary)
      addLoop(*module, function.name, 1,
              [&](ArrayRef<Scalar> x) { return function.emit(x[0]); });
    for (const Binary &function : kBinary)
      addLoop(*module, function.name, 2,
              [&](ArrayRef<Scalar> x) { return function.emit(x[0], x[1]); });
    return module;
  }

  MLIRContext context;
};

struct Buffer {
  float *allocated, *aligned;
  int64_t offset, size, stride;
  explicit Buffer(std::vector<float> &values)
      : allocated(values.data()), aligned(values.data()), offset(0),
        size(values.size()), stride(1) {}
};

std::vector<float> call(const Compiled &code, const char *name,
                        std::vector<std::vector<float>> inputs) {
  std::vector<float> output(inputs[0].size());
  Buffer out(output), first(inputs[0]), last(inputs.back());
  void *address = code.lookup(std::string("_mlir_ciface_run_") + name);
  if (inputs.size() == 1)
    reinterpret_cast<void (*)(Buffer *, Buffer *)>(address)(&first, &out);
  else
    reinterpret_cast<void (*)(Buffer *, Buffer *, Buffer *)>(address)(
        &first, &last, &out);
  return output;
}

std::vector<std::vector<float>> unaryInputs() {
  std::vector<float> x = randomFloats(1, sampleCount());
  std::vector<float> more = specials();
  x.insert(x.end(), more.begin(), more.end());
  return {x};
}

/// Every pair of specials, random pairs, and pairs near where powers are
/// finite.
std::vector<std::vector<float>> binaryInputs() {
  std::vector<float> x = randomFloats(2, sampleCount());
  std::vector<float> y = randomFloats(3, sampleCount());
  for (float a : specials())
    for (float b : specials()) {
      x.push_back(a);
      y.push_back(b);
    }
  return {x, y};
}

template <typename Function, typename Reference>
void checkAccuracy(const Compiled &code, const Function &function,
                   const std::vector<std::vector<float>> &inputs,
                   Reference reference) {
  std::vector<float> actual = call(code, function.name, inputs);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    double error = ulpError(actual[i], reference(i));
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  ::testing::Test::RecordProperty(function.name, std::to_string(worst));
  if (std::getenv("RLX_TEST_PRINT_ULP"))
    std::printf("%-12s %.3f ulp at %a (%a)\n", function.name, worst,
                inputs[0][where], inputs.back()[where]);
  EXPECT_LE(worst, function.maxUlp)
      << function.name << "(" << inputs[0][where] << ", "
      << inputs.back()[where] << ") is " << actual[where] << ", should be "
      << reference(where);
}

TEST_F(ScalarMathTest, WithinStatedUlp) {
  OwningOpRef<ModuleOp> module = buildAll();
  const char *cpuClass = canRun("x86-64-v4") ? "x86-64-v4" : "x86-64-v3";
  auto code = Compiled::create(*module, cpuClass);
  ASSERT_TRUE(code);
  EXPECT_TRUE(code->externals().empty()) << "calls " << code->externals()[0];

  auto x = unaryInputs();
  for (const Unary &function : kUnary)
    checkAccuracy(*code, function, x,
                  [&](size_t i) { return function.reference(x[0][i]); });
  auto xy = binaryInputs();
  for (const Binary &function : kBinary)
    checkAccuracy(*code, function, xy, [&](size_t i) {
      return function.reference(xy[0][i], xy[1][i]);
    });
}

// The same function as v3, as v4 and without vectors: equal bits, NaN aside,
// whose payload is the CPU's choice.
TEST_F(ScalarMathTest, BitsDependOnNeitherClassNorVectorWidth) {
  OwningOpRef<ModuleOp> module = buildAll();
  auto scalar = Compiled::create(*module, "x86-64-v3", /*vectorize=*/false);
  ASSERT_TRUE(scalar);
  for (const char *cpuClass : {"x86-64-v3", "x86-64-v4"}) {
    if (!canRun(cpuClass))
      GTEST_SKIP() << "this machine can't run " << cpuClass;
    auto vector = Compiled::create(*module, cpuClass);
    ASSERT_TRUE(vector);
    auto compare = [&](const char *name, auto inputs) {
      std::vector<float> expected = call(*scalar, name, inputs);
      std::vector<float> actual = call(*vector, name, inputs);
      size_t differing = 0;
      for (size_t i = 0; i < actual.size(); ++i)
        differing += toBits(actual[i]) != toBits(expected[i]) &&
                     !(std::isnan(actual[i]) && std::isnan(expected[i]));
      EXPECT_EQ(differing, 0u) << name << " as " << cpuClass;
    };
    for (const Unary &function : kUnary)
      compare(function.name, unaryInputs());
    for (const Binary &function : kBinary)
      compare(function.name, binaryInputs());
  }
}

} // namespace
