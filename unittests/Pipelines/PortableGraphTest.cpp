// SPDX-License-Identifier: MIT OR Apache-2.0
//===- PortableGraphTest.cpp - Graphs out of baked files ------------------===//

#include "PortableGraph.h"
#include "../Runtime/TemporaryFolder.h"
#include "ArtifactBuilder.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Import/ElementsAttrs.h"
#include "RLX/Pipelines/Session.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Bytecode/Encoding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;
using namespace rlx;
using rlx::test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A dense weight, one that is folded with it, a small one, an empty one that
/// is an output, literals, and two open params that a prepare function reads.
constexpr char kGraph[] = R"mlir(
module attributes {rlx.name = "tiny"} {
  func.func @main(%x: tensor<?x16xf32> {rlx.dims = [@batch, 16], rlx.name = "x"})
      -> (tensor<?x8xf32> {rlx.dims = [@batch, 8], rlx.name = "y"}, tensor<0x4xf32>) {
    %w = rlx.param "w" : tensor<8x16xf32>
    %gain = rlx.param "gain" : tensor<8x16xf32>
    %bias = rlx.param "bias" : tensor<8xf32>
    %a = rlx.param "open.a" : tensor<8x8xf32>
    %b = rlx.param "open.b" : tensor<8x8xf32>
    %empty = rlx.param "empty" : tensor<0x4xf32>
    %half = rlx.constant dense<0.5> : tensor<f32>
    %0 = rlx.mul %w, %gain : tensor<8x16xf32>, tensor<8x16xf32>
    %1 = rlx.linear %x, %0 bias(%bias : tensor<8xf32>)
        : (tensor<?x16xf32>, tensor<8x16xf32>) -> tensor<?x8xf32>
    %2 = rlx.mul %1, %half : tensor<?x8xf32>, tensor<f32> loc("halved"("secret/model.json":3:5))
    %3 = rlx.add %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
    %4 = rlx.matmul %2, %3 : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %4, %empty : tensor<?x8xf32>, tensor<0x4xf32>
  }
})mlir";

/// The text without values, which are compared on their own, and the keys that
/// a context gave them.
std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().elideLargeResourceString(1));
  return std::regex_replace(text, std::regex("dense_resource<[^>]*>"),
                            "dense_resource");
}

template <typename T> std::string takeMessage(llvm::Expected<T> result) {
  EXPECT_FALSE(bool(result));
  return result ? "" : llvm::toString(result.takeError());
}

class PortableGraphTest : public testing::Test {
protected:
  PortableGraphTest() {
    DialectRegistry registry;
    registerAllRLXDialects(registry);
    for (MLIRContext *each : {&context, &other}) {
      each->appendDialectRegistry(registry);
      each->loadDialect<RLXDialect, func::FuncDialect, arith::ArithDialect>();
    }
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  ElementsAttr value(StringRef name, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    std::vector<float> numbers(type.getNumElements());
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = float(int(i * 7 % 31) - 15) / float(name.size());
    return copyElements(type,
                        {reinterpret_cast<const char *>(numbers.data()),
                         numbers.size() * sizeof(float)},
                        name);
  }

  WeightBindings bindings() {
    WeightBindings values;
    values["w"] = value("w", {8, 16});
    values["gain"] = value("gain", {8, 16});
    values["bias"] = value("bias", {8});
    values["empty"] = value("empty", {0, 4});
    return values;
  }

  /// Bakes `module`, which is left as the file has it, into `folder`.
  std::string bakeFile(ModuleOp module, const BakeOptions &options) {
    llvm::Expected<BakeResult> result = bake(module, bindings(), options);
    std::string path = folder.path + "/m.rlx";
    if (!result) {
      ADD_FAILURE() << llvm::toString(result.takeError());
      return path;
    }
    llvm::Error error = result->artifact.write(path);
    EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
    return path;
  }

  static BakeOptions withoutCode(Profile profile = Profile::Exact) {
    BakeOptions options = BakeOptions::fromProfile(profile);
    options.targets = {"none"};
    return options;
  }

  OwningOpRef<ModuleOp> readGraph(const std::string &path) {
    llvm::Expected<Artifact> artifact = Artifact::read(path);
    if (!artifact) {
      ADD_FAILURE() << llvm::toString(artifact.takeError());
      return nullptr;
    }
    llvm::Expected<OwningOpRef<ModuleOp>> graph = artifact->getGraph(other);
    if (!graph) {
      ADD_FAILURE() << llvm::toString(graph.takeError());
      return nullptr;
    }
    return std::move(*graph);
  }

  std::string writeBytecode(StringRef text) {
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*parse(text), stream)));
    return bytes;
  }

  /// Why an artifact with `bytes` as its portable graph and a weight "w" of two
  /// floats has none.
  std::string refuse(const std::string &bytes) {
    auto content = std::make_unique<Artifact::Content>();
    artifact::Tensor tensor;
    tensor.name = "w";
    tensor.shape = {2};
    tensor.sizeBytes = 8;
    content->desc.manifest.tensors.push_back(tensor);
    content->addBuffer(artifact::SegmentKind::Weights,
                       copyAligned({0, 0, 0, 0, 0, 0, 0, 0}));
    content->addBuffer(artifact::SegmentKind::Graph,
                       copyAligned({bytes.data(), bytes.size()}));
    content->desc.manifest.graphSegment = 1;
    return takeMessage(Artifact(std::move(content)).getGraph(other));
  }

  /// What @main makes of an input of three rows, with the open params set.
  std::vector<float> run(ModuleOp module, const WeightBindings &values) {
    CompileOptions options;
    options.paramBindings = values;
    options.workers = 1;
    llvm::Expected<CompiledGraph> compiled = compile(module, options);
    if (!compiled) {
      ADD_FAILURE() << llvm::toString(compiled.takeError());
      return {};
    }
    std::vector<float> x(3 * 16), open(8 * 8), y(3 * 8);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i % 11) / 3 - 1;
    for (size_t i = 0; i < open.size(); ++i)
      open[i] = float(i % 5) / 7;
    int64_t xDims[] = {3, 16}, openDims[] = {8, 8}, yDims[] = {3, 8},
            emptyDims[] = {0, 4};
    rlx_tensor openTensor = {open.data(), openDims, 2, RLX_F32};
    for (const char *name : {"open.a", "open.b"})
      if (llvm::Error error = compiled->setParam(name, openTensor))
        ADD_FAILURE() << llvm::toString(std::move(error));
    float none;
    if (llvm::Error error = compiled->run(
            {{x.data(), xDims, 2, RLX_F32}},
            {{y.data(), yDims, 2, RLX_F32}, {&none, emptyDims, 2, RLX_F32}}))
      ADD_FAILURE() << llvm::toString(std::move(error));
    return y;
  }

  MLIRContext context, other;
  TemporaryFolder folder;
};

} // namespace

// What comes out of a file is what was baked, whatever the profile leaves of
// the graph; the bytes of weights are those of the mapping, which outlives the
// artifact.
TEST_F(PortableGraphTest, ComesBackAsItWasBaked) {
  for (Profile profile : {Profile::Exact, Profile::Merge}) {
    OwningOpRef<ModuleOp> module = parse(kGraph);
    std::string path = bakeFile(*module, withoutCode(profile));
    OwningOpRef<ModuleOp> graph = readGraph(path);
    ASSERT_TRUE(graph);
    EXPECT_EQ(print(*graph), print(*module));

    llvm::StringMap<ConstantOp> baked;
    module->walk([&](ConstantOp op) { baked[op.getWeightName()] = op; });
    unsigned mapped = 0;
    graph->walk([&](ConstantOp op) {
      ASSERT_TRUE(baked.contains(op.getWeightName()));
      EXPECT_EQ(WeightBytes::read(op.getValue())->get(),
                WeightBytes::read(baked[op.getWeightName()].getValue())->get());
      mapped += isa<DenseResourceElementsAttr>(op.getValue());
    });
    EXPECT_GT(mapped, 0u);
  }
}

// No value is copied on the way.
TEST_F(PortableGraphTest, ValuesStayInTheFile) {
  OwningOpRef<ModuleOp> module = parse(kGraph);
  llvm::Expected<Artifact> artifact =
      Artifact::read(bakeFile(*module, withoutCode(Profile::Merge)));
  ASSERT_TRUE(bool(artifact));
  llvm::Expected<OwningOpRef<ModuleOp>> graph = artifact->getGraph(other);
  ASSERT_TRUE(bool(graph));
  std::vector<StringRef> mapped;
  (*graph)->walk([&](ConstantOp op) {
    auto value = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!value)
      return;
    mapped.push_back(op.getWeightName());
    const auto &content = artifact->getContent();
    EXPECT_TRUE(llvm::any_of(
        content.desc.data, [&](const artifact::SegmentData &segment) {
          return reinterpret_cast<const char *>(segment.bytes.data()) ==
                 value.getRawHandle().getBlob()->getData().data();
        }));
  });
  llvm::sort(mapped);
  EXPECT_THAT(mapped, ElementsAre("gain", "w"));
}

// A graph out of a file computes the bits that the model computed.
TEST_F(PortableGraphTest, ComputesTheSameBits) {
  OwningOpRef<ModuleOp> model = parse(kGraph);
  std::vector<float> expected = run(*model, bindings());
  for (Profile profile : {Profile::Exact, Profile::Merge}) {
    OwningOpRef<ModuleOp> module = parse(kGraph);
    OwningOpRef<ModuleOp> graph =
        readGraph(bakeFile(*module, withoutCode(profile)));
    ASSERT_TRUE(graph);
    EXPECT_EQ(run(*graph, {}), expected);
  }
}

// A node keeps its name and loses the place where the user wrote it.
TEST_F(PortableGraphTest, LocationsAreNames) {
  OwningOpRef<ModuleOp> module = parse(kGraph);
  std::string path = bakeFile(*module, withoutCode());
  EXPECT_THAT(folder.read("m.rlx"),
              AllOf(HasSubstr("halved"), Not(HasSubstr("secret"))));
  OwningOpRef<ModuleOp> graph = readGraph(path);
  ASSERT_TRUE(graph);
  unsigned named = 0;
  graph->walk([&](Operation *op) {
    if (isa<MulOp>(op)) {
      EXPECT_EQ(op->getLoc(), NameLoc::get(StringAttr::get(&other, "halved")));
      ++named;
      return;
    }
    EXPECT_TRUE(isa<UnknownLoc>(op->getLoc()))
        << op->getName().getStringRef().str();
  });
  EXPECT_EQ(named, 1u);
}

// Neither the context's history nor the folder leaves a trace in the bytes.
TEST_F(PortableGraphTest, EqualGraphsGiveEqualBytes) {
  std::string bytes[2];
  for (std::string &each : bytes) {
    OwningOpRef<ModuleOp> module = parse(kGraph);
    bakeFile(*module, withoutCode());
    each = folder.read("m.rlx");
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

// The hash is compared before the parser sees a byte.
TEST_F(PortableGraphTest, DamageIsNoticed) {
  OwningOpRef<ModuleOp> module = parse(kGraph);
  std::string path = bakeFile(*module, withoutCode());
  std::string bytes = folder.read("m.rlx");
  size_t at = bytes.find("halved");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'H';
  llvm::Expected<Artifact> artifact =
      Artifact::read(folder.write("damaged.rlx", bytes));
  ASSERT_TRUE(bool(artifact));
  EXPECT_THAT(takeMessage(artifact->getGraph(other)),
              HasSubstr("damaged.rlx: the portable graph does not have the "
                        "SHA-256 that the manifest states; the file is "
                        "damaged"));
}

TEST_F(PortableGraphTest, OnlyWhatFilesMayHaveIsRead) {
  EXPECT_THAT(
      takeMessage(
          Artifact(std::make_unique<Artifact::Content>()).getGraph(other)),
      HasSubstr("the file has no portable graph; bake the model again"));
  EXPECT_THAT(refuse("module {}"),
              HasSubstr("the portable graph is no MLIR bytecode"));
  EXPECT_THAT(refuse(writeBytecode("func.func @main() {\n"
                                   "  %0 = arith.constant 1 : i32\n"
                                   "  return\n"
                                   "}")),
              HasSubstr("the portable graph can't have op arith.constant"));
  EXPECT_THAT(
      refuse(writeBytecode("module attributes {test.mode = "
                           "#arith.fastmath<fast>} {}")),
      HasSubstr("the portable graph can't have attribute #arith.fastmath"));
  EXPECT_THAT(refuse(writeBytecode("func.func @main() {\n"
                                   "  rlx.param \"w\" : tensor<3xf32>\n"
                                   "  return\n"
                                   "}")),
              HasSubstr("weight 'w' has a type in the portable graph that "
                        "differs from the weight table"));
}

// A graph of a later release is refused by the number of its dialect.
TEST_F(PortableGraphTest, NewerDialectsAreNamed) {
  std::string bytes = writeBytecode("func.func @main() {\n"
                                    "  rlx.param \"w\" : tensor<2xf32>\n"
                                    "  return\n"
                                    "}");
  // A section of one byte, the number 1; 42 takes one byte too.
  const std::string version = {char(bytecode::Section::kDialectVersions), 3, 3};
  size_t at = bytes.find(version);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 2] = 42 << 1 | 1;
  EXPECT_THAT(
      refuse(bytes),
      HasSubstr("portable graph: the graph is written in version 42 of "
                "the rlx dialect, this release of RLX reads version 1"));
}

// What could not be read is not written.
TEST_F(PortableGraphTest, ForeignOpsAreNotWritten) {
  OwningOpRef<ModuleOp> module = parse("func.func @main() {\n"
                                       "  %0 = arith.constant 1 : i32\n"
                                       "  return\n"
                                       "}");
  Artifact::Content content;
  EXPECT_THAT(llvm::toString(addPortableGraph(*module, content)),
              HasSubstr("the portable graph can't have op arith.constant: only "
                        "the dialects builtin, func and rlx are in files"));
  EXPECT_TRUE(content.desc.data.empty());
}
