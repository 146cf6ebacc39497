// SPDX-License-Identifier: MIT OR Apache-2.0
// What graphs become. Faulty ones are in MalformedGraphTest.cpp.
#include "GraphText.h"
#include "TestFiles.h"

#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace rlx;
using testing::HasSubstr;

namespace {

class MirGraph : public GraphReaderTest {};

/// y = relu(x w + b), named as in the file.
GraphText perceptron() {
  GraphText graph;
  graph.input("x", "?0, 4").param("w", "4, 3").param("b", "3");
  graph.node("\"MatMul\"", "0,1", "?0, 3", "F32", "xw");
  graph.node("{\"Binary\":\"Add\"}", "3,2", "?0, 3");
  graph.node("{\"Activation\":\"Relu\"}", "4", "?0, 3", "F32", "y");
  return graph;
}

} // namespace

TEST_F(MirGraph, BecomesAFunctionOfNamedTensors) {
  std::string ir = read(perceptron());
  EXPECT_THAT(ir, HasSubstr("module attributes {rlx.name = \"g\"}"));
  EXPECT_THAT(ir, HasSubstr("func.func @main(%arg0: tensor<?x4xf32> "
                            "{rlx.dims = [@batch, 4], rlx.name = \"x\"}) -> "
                            "(tensor<?x3xf32> {rlx.dims = [@batch, 3], "
                            "rlx.name = \"y\"})"));
  EXPECT_THAT(ir, HasSubstr("rlx.param \"w\" : tensor<4x3xf32>"));
  EXPECT_THAT(ir, HasSubstr("rlx.matmul %arg0, %w : (tensor<?x4xf32>, "
                            "tensor<4x3xf32>) -> tensor<?x3xf32>"));
  EXPECT_THAT(ir, HasSubstr("rlx.add"));
  EXPECT_THAT(ir, HasSubstr("rlx.relu"));
}

TEST_F(MirGraph, KeepsNamesAndPlacesAsLocations) {
  auto module = importGraphText(perceptron().text(), "g.json",
                                rlx::GraphFormat::Mir, context);
  ASSERT_TRUE(succeeded(module));
  MatmulOp matmul;
  (*module)->walk([&](MatmulOp op) { matmul = op; });
  auto name = llvm::dyn_cast<mlir::NameLoc>(matmul.getLoc());
  ASSERT_TRUE(name);
  EXPECT_EQ(name.getName(), "xw");
  auto place = llvm::dyn_cast<mlir::FileLineColLoc>(name.getChildLoc());
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getFilename(), "g.json");
  EXPECT_EQ(place.getLine(), 5u);
}

// Outputs are called after their node, else by position; a node that is an
// output twice too.
TEST_F(MirGraph, NamesOutputs) {
  GraphText graph;
  graph.input("x", "2");
  graph.node("{\"Activation\":\"Exp\"}", "0", "2", "F32", "e");
  graph.node("{\"Activation\":\"Neg\"}", "0", "2");
  std::string ir = read(graph.text("1,2,1,0"));
  for (const char *name : {"\"e\"", "\"out1\"", "\"out2\"", "\"out3\""})
    EXPECT_THAT(ir, HasSubstr(std::string("rlx.name = ") + name));
  EXPECT_THAT(ir, HasSubstr("return %0, %1, %0, %arg0"));
}

TEST_F(MirGraph, ReadsEveryActivation) {
  const char *kinds[] = {
      "Gelu",  "GeluApprox", "Silu",        "Relu",     "Sigmoid",   "Tanh",
      "Exp",   "Log",        "Sqrt",        "Rsqrt",    "Neg",       "Abs",
      "Sin",   "Cos",        "Tan",         "Atan",     "Recip",     "Round",
      "Floor", "Ceil",       "Sign",        "Softplus", "Elu",       "Erf",
      "Mish",  "HardSwish",  "HardSigmoid", "Softsign", "LogSigmoid"};
  EXPECT_EQ(std::size(kinds), 29u);
  for (llvm::StringRef kind : kinds) {
    GraphText graph;
    graph.input("x", "?0, 3")
        .node(("{\"Activation\":\"" + kind + "\"}").str(), "0", "?0, 3");
    // GeluApprox is rlx.gelu_approx.
    std::string mnemonic;
    for (char c : kind) {
      if (llvm::isUpper(c) && !mnemonic.empty())
        mnemonic += '_';
      mnemonic += llvm::toLower(c);
    }
    EXPECT_THAT(read(graph),
                HasSubstr("rlx." + mnemonic + " %arg0 : tensor<?x3xf32>"));
  }
}

TEST_F(MirGraph, ReadsEveryBinary) {
  std::pair<const char *, const char *> kinds[] = {
      {"Add", "add"},        {"Sub", "sub"},      {"Mul", "mul"},
      {"Div", "div"},        {"Max", "max"},      {"Min", "min"},
      {"Pow", "pow"},        {"Mod", "mod"},      {"Atan2", "atan2"},
      {"BitAnd", "bit_and"}, {"BitOr", "bit_or"}, {"BitXor", "bit_xor"},
      {"Shl", "shl"},        {"Shr", "shr"}};
  for (auto [kind, mnemonic] : kinds) {
    llvm::StringRef name = mnemonic;
    bool isOnBits = name.starts_with("bit") || name.starts_with("sh");
    const char *dtype = isOnBits ? "I32" : "F32";
    GraphText graph;
    graph.input("x", "?0, 3", dtype).input("y", "3", dtype);
    graph.node(std::string("{\"Binary\":\"") + kind + "\"}", "0,1", "?0, 3",
               dtype);
    EXPECT_THAT(
        read(graph),
        HasSubstr(("rlx." + name + " %arg0, %arg1 : tensor<?x3x").str()));
  }
}

TEST_F(MirGraph, ReadsCastsAndIgnoresStopGradient) {
  GraphText graph;
  graph.input("x", "2");
  graph.node("\"StopGradient\"", "0", "2");
  graph.node("{\"Cast\":{\"to\":\"F16\"}}", "1", "2", "F16");
  std::string ir = read(graph);
  EXPECT_THAT(ir, HasSubstr("rlx.cast %arg0 : tensor<2xf32> to tensor<2xf16>"));
}

// Small constants are readable attributes, larger ones resources; both keep
// their names.
TEST_F(MirGraph, ReadsConstants) {
  GraphText graph;
  graph.node("{\"Constant\":{\"data\":[0,0,128,63,0,0,0,192]}}", "", "2", "F32",
             "pair");
  std::string zeros = "0";
  for (int i = 1; i < 4000; ++i)
    zeros += ",0";
  graph.node("{\"Constant\":{\"data\":[" + zeros + "]}}", "", "1000", "F32",
             "large");
  graph.node("{\"Constant\":{\"data\":[1,0]}}", "", "2", "Bool");
  std::string ir = read(graph.text("0,1,2"));
  EXPECT_THAT(ir, HasSubstr("rlx.constant \"pair\" dense<[1.000000e+00, "
                            "-2.000000e+00]> : tensor<2xf32>"));
  EXPECT_THAT(ir, HasSubstr("rlx.constant \"large\" dense_resource<large> : "
                            "tensor<1000xf32>"));
  EXPECT_THAT(ir, HasSubstr("rlx.constant dense<[true, false]>"));
}

TEST_F(MirGraph, ReadsEmptyTensors) {
  GraphText graph;
  graph.node("{\"Constant\":{\"data\":[]}}", "", "0, 4");
  graph.node("{\"Constant\":{\"data\":[]}}", "", "0", "Bool");
  graph.node("{\"Reshape\":{\"new_shape\":[4,0]}}", "0", "4, 0");
  std::string ir = read(graph.text("1,2"));
  EXPECT_THAT(ir, HasSubstr("rlx.constant dense<> : tensor<0x4xf32>"));
  EXPECT_THAT(ir, HasSubstr("rlx.constant dense<> : tensor<0xi1>"));
}

TEST_F(MirGraph, ReadsMovementOfData) {
  GraphText graph;
  graph.input("x", "?0, 2, 3");
  graph.node("{\"Transpose\":{\"perm\":[0,2,1]}}", "0", "?0, 3, 2");
  graph.node("{\"Reshape\":{\"new_shape\":[-1,6]}}", "1", "?0, 6");
  graph.node("{\"Reshape\":{\"new_shape\":[-1,1,6]}}", "2", "?0, 1, 6");
  graph.node("{\"Expand\":{\"target_shape\":[-1,5,6]}}", "3", "?0, 5, 6");
  std::string ir = read(graph);
  EXPECT_THAT(ir, HasSubstr("rlx.transpose %arg0 [0, 2, 1]"));
  EXPECT_THAT(ir, HasSubstr("to [@batch, 6]"));
  EXPECT_THAT(ir, HasSubstr("to [@batch, 5, 6]"));
}

// A reshape may bring in one symbol; it is what the element count makes it,
// there and later.
TEST_F(MirGraph, DefinesASymbolByElementCount) {
  GraphText graph;
  graph.input("x", "?0, ?1, 8").param("w", "8, 4");
  graph.node("{\"Reshape\":{\"new_shape\":[-1,8]}}", "0", "?2, 8");
  graph.node("\"MatMul\"", "2,1", "?2, 4");
  graph.node("{\"Reshape\":{\"new_shape\":[-1,-1,4]}}", "3", "?0, ?1, 4");
  std::string ir = read(graph);
  EXPECT_THAT(ir, HasSubstr("to [@rows, 8]"));
  EXPECT_THAT(ir, HasSubstr("to [@batch, @seq, 4]"));

  // The same symbol again has to be the same product.
  graph.node("{\"Reshape\":{\"new_shape\":[-1]}}", "4", "?2");
  EXPECT_THAT(read(graph), HasSubstr("has 4*batch*seq elements but shape "
                                     "[rows] has batch*seq"));
}

// Any 32 bits are a symbol's id.
TEST_F(MirGraph, ReadsEverySymbolId) {
  GraphText graph;
  graph.input("x", "?4294967295, ?4294967294, ?0");
  graph.node("{\"Activation\":\"Exp\"}", "0", "?4294967295, ?4294967294, ?0");
  EXPECT_THAT(read(graph),
              HasSubstr("rlx.dims = [@s4294967295, @s4294967294, @batch]"));
}

TEST_F(MirGraph, ReadsRandomNumbers) {
  GraphText graph;
  graph.input("x", "?0, 4");
  auto normal = [&](const char *seed) {
    graph.node(std::string("{\"RngNormal\":{\"mean\":0.5,\"scale\":2,\"key\":"
                           "18446744073709551615,\"op_seed\":") +
                   seed + "}}",
               "", "?0, 4");
  };
  normal("null");
  normal("7");
  graph.node("{\"RngUniform\":{\"low\":-1,\"high\":1.0,\"key\":3}}", "", "4");
  std::string ir = read(graph.text("1,2,3"));
  EXPECT_THAT(ir, HasSubstr("rlx.rng_normal mean 5.000000e-01"));
  EXPECT_THAT(ir, HasSubstr("scale 2.000000e+00"));
  EXPECT_THAT(ir, HasSubstr("key -1 shape [@batch, 4]"));
  EXPECT_THAT(ir, HasSubstr("rlx.rng_uniform low -1.000000e+00"));
  // A seed of its own makes it a different draw.
  size_t first = ir.find("key -1");
  EXPECT_EQ(ir.find("key -1", first + 1), std::string::npos);
}

TEST_F(MirGraph, ReadsHirModels) {
  std::string hir = R"({"name":"tiny","nodes":[
{"id":0,"op":{"Input":{"name":"x"}},"inputs":[],"shape":{"dims":[{"Static":2},{"Static":4}],"dtype":"F32"}},
{"id":1,"op":{"Param":{"name":"fc1.weight"}},"inputs":[],"shape":{"dims":[{"Static":3},{"Static":4}],"dtype":"F32"},"name":null},
{"id":2,"op":{"Mir":{"Transpose":{"perm":[1,0]}}},"inputs":[1],"shape":{"dims":[{"Static":4},{"Static":3}],"dtype":"F32"},"name":null},
{"id":3,"op":{"Mir":"MatMul"},"inputs":[0,2],"shape":{"dims":[{"Static":2},{"Static":3}],"dtype":"F32"},"name":"y"}],
"outputs":[3],"fusion_policy":"Direct"})";
  std::string ir = read(hir, rlx::GraphFormat::Hir);
  EXPECT_THAT(ir, HasSubstr("rlx.param \"fc1.weight\""));
  EXPECT_THAT(ir, HasSubstr("rlx.transpose"));
  EXPECT_THAT(ir, HasSubstr("rlx.matmul"));
}

// Fields that nobody knows are left alone, as by the writers of such files.
TEST_F(MirGraph, IgnoresUnknownFields) {
  std::string text = perceptron().text();
  text.insert(text.find("\"name\""), "\"version\":[1,{\"a\":null}],");
  text.insert(text.find("\"id\":3"), "\"origin\":{\"hir\":1},");
  EXPECT_THAT(read(text), HasSubstr("rlx.relu"));
}

namespace {

/// Detection of formats, with files.
class GraphFile : public GraphReaderTest {
protected:
  /// The source string, or the diagnostics.
  std::string open(llvm::StringRef path) {
    said.clear();
    auto graph = importGraph(path, context);
    if (failed(graph))
      return said;
    weights = graph->defaultWeights.value_or("none");
    llvm::StringRef source = graph->source;
    auto [kind, rest] = source.split(':');
    EXPECT_EQ(rest, path);
    return kind.str();
  }

  TestDirectory files;
  std::string weights;
};

/// A graph that both schemas read, but for the key that HIR wants.
std::string leaf(bool isHir, llvm::StringRef name = "g") {
  return ("{\"name\":\"" + name +
          "\",\"nodes\":[{\"id\":0,\"op\":{\"Input\":{\"name\":\"x\"}},"
          "\"inputs\":[],\"shape\":{\"dims\":[],\"dtype\":\"F32\"}}],"
          "\"outputs\":[0]" +
          (isHir ? ",\"fusion_policy\":\"Direct\"}" : "}"))
      .str();
}

} // namespace

TEST_F(GraphFile, TellsFormatsApart) {
  EXPECT_EQ(open(files.write("a.json", leaf(false))), "mir");
  EXPECT_EQ(open(files.write("b.json", leaf(true))), "hir");
  EXPECT_EQ(open(files.write("c.hir.json", leaf(true))), "hir");
  // The key is looked for, not its text.
  EXPECT_EQ(open(files.write("d.json", leaf(false, "\\\"fusion_policy\\\""))),
            "mir");
  EXPECT_THAT(open(files.write("e.hir.json", leaf(false))),
              HasSubstr("HIR model has no \"fusion_policy\""));
}

TEST_F(GraphFile, ReadsBundleDirectories) {
  EXPECT_THAT(open(files.path("")), HasSubstr("has no model.hir.json"));
  files.write("model.hir.json", leaf(true));
  EXPECT_EQ(open(files.path("")), "bundle");
  EXPECT_EQ(weights, "none");
  std::string file = files.write("weights.safetensors", "");
  EXPECT_EQ(open(files.path("")), "bundle");
  EXPECT_EQ(weights, file);
}

TEST_F(GraphFile, NamesBothSchemasWhereItIsNeither) {
  for (const char *text : {"[]", "{}", "{\"weights\":[]}"})
    EXPECT_THAT(open(files.write("a.json", text)),
                HasSubstr("a.json: is neither MIR Graph JSON, which has "
                          "\"nodes\", nor an HIR model"));
}

TEST_F(GraphFile, RefusesWhatIsNoFile) {
  EXPECT_THAT(open(files.path("none")), HasSubstr("none: No such file"));
  EXPECT_THAT(open("/dev/null"), HasSubstr("/dev/null: is not a regular file"));
  EXPECT_THAT(open(files.write("a.json", "{\"name\":\n ?}")),
              HasSubstr("a.json:2:2: expected a JSON value"));
}
