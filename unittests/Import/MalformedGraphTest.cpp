// SPDX-License-Identifier: MIT OR Apache-2.0
// Every way in which a graph can be wrong has its message, with the node's id,
// name and place.
#include "GraphText.h"

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class MalformedGraph : public GraphReaderTest {
protected:
  /// The diagnostics about `x` of the given dims followed by one node.
  std::string readNode(llvm::StringRef op, llvm::StringRef inputs,
                       llvm::StringRef dims, llvm::StringRef dtype = "F32") {
    GraphText graph;
    graph.input("x", "?0, 4").input("y", "4, 3").input("i", "4", "I32");
    graph.node(op, inputs, dims, dtype, "n");
    return read(graph);
  }

  /// The diagnostics about a graph of one input with `from` replaced by `to` in
  /// its text.
  std::string readEdited(llvm::StringRef from, llvm::StringRef to) {
    std::string text = GraphText().input("x", "2, 3").text();
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from.str();
    return read(text.replace(at, from.size(), to.str()));
  }
};

} // namespace

TEST_F(MalformedGraph, TopLevel) {
  EXPECT_THAT(read("[]"), StartsWith("g.json:1:1: graph is an array"));
  EXPECT_THAT(read("{}"),
              HasSubstr("graph has no \"name\", expected a string"));
  EXPECT_THAT(readEdited("\"name\":\"g\"", "\"name\":3"),
              HasSubstr("g.json:1:9: graph has a number as \"name\""));
  EXPECT_THAT(readEdited("\"nodes\"", "\"nodez\""),
              HasSubstr("graph has no \"nodes\", expected an array"));
  EXPECT_THAT(readEdited("\"outputs\"", "\"output\""),
              HasSubstr("graph has no \"outputs\""));
  EXPECT_THAT(readEdited("[0]", "[]"), HasSubstr("graph has no outputs"));
  EXPECT_THAT(readEdited("[0]", "[1]"),
              HasSubstr("g.json:3:12: output 0 is node 1, graph has 1 nodes"));
  EXPECT_THAT(readEdited("[0]", "[-1]"), HasSubstr("output 0 is no id"));
  EXPECT_THAT(readEdited("[0]", "[\"x\"]"), HasSubstr("output 0 is no id"));
}

TEST_F(MalformedGraph, Ids) {
  EXPECT_THAT(readEdited("\"id\":0", "\"id\":1"),
              HasSubstr("g.json:2:7: node at position 0 has id 1, expected 0"));
  EXPECT_THAT(readEdited("\"id\":0", "\"id\":0.0"), HasSubstr("has id 0.0"));
  EXPECT_THAT(readEdited("\"id\":0", "\"id\":-0.5e1"), HasSubstr("-0.5e1"));
  EXPECT_THAT(readEdited("\"id\":0", "\"id\":null"), HasSubstr("has null as"));
  EXPECT_THAT(readEdited("\"id\":0,", ""), HasSubstr("has no \"id\""));
  EXPECT_THAT(readEdited("\"id\":0", "\"id\":4294967296"),
              HasSubstr("has id 4294967296, expected 0"));
}

TEST_F(MalformedGraph, NodeFields) {
  EXPECT_THAT(readEdited("\"name\":null", "\"name\":[]"),
              HasSubstr("has an array as \"name\", expected a string or null"));
  EXPECT_THAT(readEdited("\"name\":null", "\"name\":\"a\\u0000\""),
              HasSubstr("g.json:2:115: name 'a\\x00' has a zero byte"));
  EXPECT_THAT(readEdited("\"inputs\":[],", ""),
              HasSubstr("node 0 has no \"inputs\""));
  EXPECT_THAT(readEdited("\"shape\":{", "\"shap\":{"),
              HasSubstr("node 0 has no \"shape\""));
  EXPECT_THAT(readEdited("\"op\"", "\"oq\""), HasSubstr("has no \"op\""));
  EXPECT_THAT(readEdited("\"inputs\":[]", "\"inputs\":[true]"),
              HasSubstr("input 0 is a truth value, expected the id of a node"));
  EXPECT_THAT(readEdited("{\"Input\":{\"name\":\"x\"}}", "[]"),
              HasSubstr("\"op\" is an array"));
  EXPECT_THAT(readEdited("{\"Input\":{\"name\":\"x\"}}", "\"Input\""),
              HasSubstr("Input has no attributes, expected \"name\""));
  EXPECT_THAT(readEdited("{\"Input\":{\"name\":\"x\"}}", "{\"Input\":{}}"),
              HasSubstr("Input has no \"name\", expected a string"));
  EXPECT_THAT(readEdited("\"name\":\"x\"", "\"name\":\"\""),
              HasSubstr("expected one that is not empty"));
  EXPECT_THAT(readEdited("\"name\":\"x\"", "\"name\":\"a\\u0000b\""),
              HasSubstr("'a\\x00b'"));
}

TEST_F(MalformedGraph, Shapes) {
  EXPECT_THAT(readEdited("{\"Static\":2}", "2"),
              HasSubstr("dim 0 is neither {\"Static\": size}"));
  EXPECT_THAT(readEdited("\"Static\":2", "\"Static\":-2"),
              HasSubstr("dim 0 is -2, expected a size below 2^63"));
  EXPECT_THAT(readEdited("\"Static\":2", "\"Static\":9223372036854775808"),
              HasSubstr("dim 0 is 9223372036854775808"));
  EXPECT_THAT(readEdited("\"Static\":2", "\"Dynamic\":4294967296"),
              HasSubstr("expected a symbol id below 2^32"));
  EXPECT_THAT(readEdited("\"Static\":2", "\"Static\":2.5"), HasSubstr("2.5"));
  EXPECT_THAT(readEdited("F32", "F33"),
              HasSubstr("dtype 'F33' is not known, did you mean 'F32'?"));
  EXPECT_THAT(readEdited("F32", "f32"), HasSubstr("did you mean 'F32'?"));
  EXPECT_THAT(readEdited("F32", "C64"), HasSubstr("C64 is not yet supported"));
  EXPECT_THAT(readEdited("F32", "F8_E4M3"), HasSubstr("is not known"));
  std::string seventeen = "1";
  for (int i = 1; i < 17; ++i)
    seventeen += ",1";
  EXPECT_THAT(read(GraphText().input("x", seventeen)),
              HasSubstr("has 17 dims, at most 16 are read"));
}

// Products that overflow 64 bits once or exactly to zero, with symbols, and
// behind a zero.
TEST_F(MalformedGraph, AbsurdSizes) {
  for (const char *dims :
       {"9223372036854775807", "4611686018427387904", "4294967296, 4294967296",
        "35184372088833", "?0, 9223372036854775807, 2",
        "0, 9223372036854775807, 9223372036854775807",
        "0, 1099511627776, 1099511627776"})
    EXPECT_THAT(read(GraphText().input("x", dims)),
                HasSubstr("takes more than 2^47 bytes"))
        << dims;
  EXPECT_THAT(read(GraphText().param("w", "1099511627776, 1099511627776")),
              HasSubstr("takes more than 2^47 bytes"));
}

TEST_F(MalformedGraph, OrderOfNodes) {
  GraphText graph;
  graph.input("x", "2");
  graph.node("{\"Activation\":\"Exp\"}", "2", "2", "F32", "early");
  graph.node("{\"Activation\":\"Exp\"}", "1", "2", "F32", "late");
  EXPECT_THAT(read(graph),
              AllOf(HasSubstr("g.json:3:1: node 1 'early': input 0 is node 2 "
                              "'late', which comes later"),
                    HasSubstr("g.json:4:1: node 2 'late' is here")));
  EXPECT_THAT(readNode("\"StopGradient\"", "3", "2"),
              HasSubstr("node 3 'n': input 0 is the node itself"));
  EXPECT_THAT(readNode("\"StopGradient\"", "4", "2"),
              HasSubstr("input 0 is node 4, graph has 4 nodes"));
  EXPECT_THAT(readNode("\"StopGradient\"", "4294967296", "2"),
              HasSubstr("input 0 is 4294967296, expected the id of a node"));
}

TEST_F(MalformedGraph, NamesThatComeTwice) {
  EXPECT_THAT(read(GraphText().input("x", "2").input("x", "2")),
              AllOf(HasSubstr("node 1: Input has the name 'x' of node 0"),
                    HasSubstr("g.json:2:1: node 0 is here")));
  EXPECT_THAT(read(GraphText().param("w", "2").param("w", "2")),
              HasSubstr("node 1: Param has the name 'w' of node 0"));
  GraphText graph;
  graph.input("x", "2").node("{\"Activation\":\"Exp\"}", "0", "2", "F32",
                             "out1");
  EXPECT_THAT(read(graph.text("1,0")),
              HasSubstr("output 1 would be called 'out1'"));
}

// All operators that are missing are named at once.
TEST_F(MalformedGraph, OperatorsNotYetSupported) {
  GraphText graph;
  graph.input("x", "2");
  graph.node("{\"Softmax\":{\"axis\":-1}}", "0", "2", "F32", "probs");
  graph.node("\"Where\"", "0,0,0", "2");
  graph.node("{\"Softmax\":{\"axis\":-1}}", "1", "2");
  EXPECT_EQ(read(graph),
            "g.json:3:14: graph has operators that are not yet supported: "
            "Softmax (node 1 'probs', node 3), Where (node 2)\n");
  for (int i = 0; i < 10; ++i)
    graph.node("\"Fma\"", "0,0,0", "2");
  EXPECT_THAT(read(graph), HasSubstr("node 11 and 2 more)"));
}

TEST_F(MalformedGraph, UnknownOperators) {
  EXPECT_THAT(readNode("\"Matmul\"", "0,1", "?0, 3"),
              HasSubstr("node 3 'n': operator 'Matmul' is not known, did you "
                        "mean 'MatMul'?"));
  EXPECT_THAT(readNode("{\"Activation\":\"Rleu\"}", "0", "?0, 4"),
              HasSubstr("Activation of kind 'Rleu' is not known, did you mean "
                        "'Relu'?"));
  EXPECT_THAT(readNode("{\"Binary\":\"Plus\"}", "0,0", "?0, 4"),
              HasSubstr("Binary of kind 'Plus' is not known"));
  EXPECT_THAT(readNode("{\"Mir\":\"MatMul\"}", "0,1", "?0, 3"),
              HasSubstr("'Mir' is not known; it belongs to HIR models, which "
                        "have a \"fusion_policy\""));
  EXPECT_THAT(readNode("\"Activation\"", "0", "?0, 4"),
              HasSubstr("Activation has no kind"));
}

TEST_F(MalformedGraph, HirModels) {
  auto hir = [&](llvm::StringRef op, llvm::StringRef policy) {
    std::string text = GraphText().input("x", "2").node(op, "0", "2").text();
    text.back() = ',';
    return read(text + policy.str() + "}", rlx::GraphFormat::Hir);
  };
  llvm::StringRef direct = "\"fusion_policy\":\"Direct\"";
  EXPECT_THAT(hir("{\"Mir\":{\"Activation\":\"Exp\"}}", "\"a\":0"),
              HasSubstr("HIR model has no \"fusion_policy\""));
  EXPECT_THAT(
      hir("{\"Mir\":{\"Activation\":\"Exp\"}}", "\"fusion_policy\":\"direct\""),
      HasSubstr("\"fusion_policy\" is 'direct', expected \"Fusable\""));
  EXPECT_THAT(
      hir("{\"Linear\":{\"activation\":null,\"has_bias\":false}}", direct),
      HasSubstr("not yet supported: Linear (node 1)"));
  EXPECT_THAT(hir("{\"Mir\":\"Softmax\"}", direct),
              HasSubstr("not yet supported: Softmax (node 1)"));
  EXPECT_THAT(hir("\"Mir\"", direct), HasSubstr("Mir has no operator"));
  EXPECT_THAT(hir("{\"Mir\":[]}", direct), HasSubstr("\"op\" is an array"));
  EXPECT_THAT(hir("{\"Activation\":\"Exp\"}", direct),
              HasSubstr("'Activation' is not known; in an HIR model it is "
                        "written {\"Mir\": ...}"));
  EXPECT_THAT(hir("{\"Linaer\":{}}", direct),
              HasSubstr("did you mean 'Linear'?"));
}

TEST_F(MalformedGraph, NumberOfInputs) {
  EXPECT_THAT(readNode("\"MatMul\"", "0", "?0, 3"),
              HasSubstr("node 3 'n': MatMul has 1 inputs, expected 2"));
  EXPECT_THAT(readNode("{\"Activation\":\"Exp\"}", "0,0", "?0, 4"),
              HasSubstr("Activation has 2 inputs, expected 1"));
  EXPECT_THAT(readNode("{\"Param\":{\"name\":\"w\"}}", "0", "4"),
              HasSubstr("Param has 1 inputs, expected 0"));
  EXPECT_THAT(readNode("{\"Input\":{\"name\":\"z\"}}", "0", "4"),
              HasSubstr("Input has 1 inputs, expected 0"));
  EXPECT_THAT(
      readNode("{\"RngUniform\":{\"low\":0,\"high\":1,\"key\":0}}", "0", "4"),
      HasSubstr("RngUniform with an input is not yet supported"));
}

TEST_F(MalformedGraph, DeclaredShapesAndTypes) {
  EXPECT_THAT(
      readNode("\"MatMul\"", "0,1", "?0, 4"),
      HasSubstr("g.json:5:46: node 3 'n': declares shape [batch, 4] but "
                "its inputs make it [batch, 3]"));
  EXPECT_THAT(readNode("\"MatMul\"", "0,1", "?1, 3"),
              HasSubstr("symbol 'seq', which no input carries"));
  EXPECT_THAT(
      readNode("\"MatMul\"", "0,1", "3"),
      HasSubstr("declares shape [3] but its inputs make it [batch, 3]"));
  EXPECT_THAT(readNode("{\"Activation\":\"Exp\"}", "0", "?0, 4", "F16"),
              HasSubstr("declares F16 but its input node 0 is F32"));
  EXPECT_THAT(readNode("{\"Binary\":\"Add\"}", "0,2", "?0, 4"),
              HasSubstr("declares F32 but its input node 2 is I32"));
  EXPECT_THAT(readNode("{\"Activation\":\"Exp\"}", "2", "4", "I32"),
              HasSubstr("Exp takes floats, not I32"));
  EXPECT_THAT(readNode("{\"Binary\":\"Shl\"}", "0,0", "?0, 4"),
              HasSubstr("Shl takes integers, not F32"));
  EXPECT_THAT(read(GraphText()
                       .input("u", "4", "U8")
                       .node("{\"Activation\":\"Neg\"}", "0", "4", "U8")),
              HasSubstr("Neg takes floats and signed integers, not U8"));
  EXPECT_THAT(read(GraphText()
                       .input("t", "4", "Bool")
                       .node("{\"Binary\":\"Add\"}", "0,0", "4", "Bool")),
              HasSubstr("Add takes numbers, not BOOL"));
  EXPECT_THAT(readNode("{\"Binary\":\"BitAnd\"}", "0,0", "?0, 4"),
              HasSubstr("BitAnd takes integers and truth values, not F32"));
  EXPECT_THAT(readNode("{\"Cast\":{\"to\":\"F16\"}}", "0", "?0, 4"),
              HasSubstr("casts to 'F16' but declares F32"));
  EXPECT_THAT(readNode("{\"Cast\":{\"to\":\"F33\"}}", "0", "?0, 4"),
              HasSubstr("casts to 'F33' but declares F32"));
}

TEST_F(MalformedGraph, ProductsAndBroadcasts) {
  EXPECT_THAT(
      readNode("\"MatMul\"", "1,1", "4, 3"),
      HasSubstr("inputs node 1 [4, 3] and node 1 [4, 3] do not multiply: "
                "lhs has 3 columns, rhs has 4 rows"));
  EXPECT_THAT(readNode("{\"Binary\":\"Add\"}", "0,1", "?0, 4"),
              HasSubstr("node 0 [batch, 4] and node 1 [4, 3] do not broadcast: "
                        "dim 0"));
  GraphText graph;
  graph.input("x", "?0, 4").input("y", "?1, 4").input("v", "4");
  graph.node("{\"Binary\":\"Add\"}", "0,1", "?0, 4");
  EXPECT_THAT(read(graph), HasSubstr("node 0 [batch, 4] and node 1 [seq, 4]"));
  GraphText vector;
  vector.input("x", "4").input("y", "4, 3").node("\"MatMul\"", "0,1", "3");
  EXPECT_THAT(read(vector), HasSubstr("need rank 2 or more each"));
  GraphText batched;
  batched.input("x", "2, 4, 4").input("y", "3, 4, 4");
  batched.node("\"MatMul\"", "0,1", "2, 4, 4");
  EXPECT_THAT(read(batched), HasSubstr("batch dim 0 of the result"));
}

TEST_F(MalformedGraph, MovementOfData) {
  auto reshape = [&](llvm::StringRef shape, llvm::StringRef dims) {
    return readNode(("{\"Reshape\":{\"new_shape\":" + shape + "}}").str(), "0",
                    dims);
  };
  EXPECT_THAT(reshape("[-1]", "?0, 4"),
              HasSubstr("\"new_shape\" has 1 entries but the declared shape "
                        "[batch, 4] has 2 dims"));
  EXPECT_THAT(reshape("[-1,5]", "?0, 4"),
              HasSubstr("has 5 as entry 1, the declared shape [batch, 4] asks "
                        "for 4 or -1"));
  EXPECT_THAT(reshape("[0,4]", "?0, 4"), HasSubstr("asks for -1"));
  EXPECT_THAT(reshape("[-1,\"4\"]", "?0, 4"), HasSubstr("has a string as"));
  EXPECT_THAT(
      reshape("[-1,5]", "?0, 5"),
      HasSubstr("has 4*batch elements but shape [batch, 5] has 5*batch"));
  EXPECT_THAT(reshape("[-1,5]", "?9, 5"),
              HasSubstr("which is no multiple of 5, so that symbol 's9'"));
  EXPECT_THAT(reshape("[-1,-1]", "?8, ?9"),
              HasSubstr("dims 0 and 1 are symbols that no input carries"));
  EXPECT_THAT(reshape("[-1,0]", "?9, 0"), HasSubstr("symbol 's9'"));
  EXPECT_THAT(reshape("null", "?0, 4"), HasSubstr("has null as \"new_shape\""));

  EXPECT_THAT(readNode("{\"Expand\":{\"target_shape\":[-1,8]}}", "0", "?0, 8"),
              HasSubstr("node 0 [batch, 4] does not expand to [batch, 8]"));
  EXPECT_THAT(readNode("{\"Expand\":{\"target_shape\":[4]}}", "0", "4"),
              HasSubstr("does not expand to [4]"));
  EXPECT_THAT(
      readNode("{\"Expand\":{\"target_shape\":[-1,-1,4]}}", "0", "?9, ?0, 4"),
      HasSubstr("symbol 's9' as dim 0, which no input carries"));

  for (const char *perm : {"[0]", "[0,0]", "[0,2]", "[0,-1]", "[0,1,2]",
                           "[0,1.0]", "[0,\"1\"]", "[]"})
    EXPECT_THAT(
        readNode(std::string("{\"Transpose\":{\"perm\":") + perm + "}}", "0",
                 "?0, 4"),
        HasSubstr("is no permutation of the 2 dims of its input node 0"))
        << perm;
  EXPECT_THAT(readNode("{\"Transpose\":{\"perm\":[1,0]}}", "0", "?0, 4"),
              HasSubstr("its inputs make it [4, batch]"));
}

TEST_F(MalformedGraph, Constants) {
  auto constant = [&](llvm::StringRef data, llvm::StringRef dims,
                      llvm::StringRef dtype = "F32") {
    return readNode(("{\"Constant\":{\"data\":" + data + "}}").str(), "", dims,
                    dtype);
  };
  EXPECT_THAT(constant("[0,0,128]", "1"),
              HasSubstr("Constant has 3 bytes, shape [1] of F32 needs 4"));
  EXPECT_THAT(constant("[]", "1"), HasSubstr("Constant has 0 bytes"));
  for (const char *data : {"[0,0,128,256]", "[0,0,128,-1]", "[0,0,128,1.5]",
                           "[0,0,128,null]", "[[0],0,128,63]"})
    EXPECT_THAT(constant(data, "1"), HasSubstr("not all integers 0 to 255"))
        << data;
  EXPECT_THAT(constant("\"AAAA\"", "1"), HasSubstr("has a string as \"data\""));
  EXPECT_THAT(constant("[2]", "1", "Bool"), HasSubstr("a byte above 1"));
  EXPECT_THAT(constant("[0]", "?0"),
              HasSubstr("symbol 'batch' as dim 0, weights have sizes only"));
  EXPECT_THAT(constant("[]", "281474976710656"), HasSubstr("2^47"));
}

TEST_F(MalformedGraph, RandomNumbers) {
  auto random = [&](llvm::StringRef fields, llvm::StringRef dims = "4",
                    llvm::StringRef dtype = "F32") {
    return readNode(("{\"RngNormal\":{" + fields + "}}").str(), "", dims,
                    dtype);
  };
  EXPECT_THAT(random("\"scale\":1,\"key\":0"), HasSubstr("has no \"mean\""));
  EXPECT_THAT(random("\"mean\":null,\"scale\":1,\"key\":0"),
              HasSubstr("has null as \"mean\", expected a number"));
  EXPECT_THAT(random("\"mean\":1e39,\"scale\":1,\"key\":0"),
              HasSubstr("has 1e39 as \"mean\", which is beyond F32"));
  EXPECT_THAT(random("\"mean\":0,\"scale\":1,\"key\":1.5"),
              HasSubstr("has 1.5 as \"key\", expected an integer of 64 bits"));
  EXPECT_THAT(random("\"mean\":0,\"scale\":1,\"key\":18446744073709551616"),
              HasSubstr("expected an integer of 64 bits"));
  EXPECT_THAT(random("\"mean\":0,\"scale\":1,\"key\":0,\"op_seed\":\"a\""),
              HasSubstr("has a string as \"op_seed\""));
  EXPECT_THAT(random("\"mean\":0,\"scale\":1,\"key\":0", "?9"),
              HasSubstr("symbol 's9' as dim 0, which no input carries"));
  EXPECT_THAT(random("\"mean\":0,\"scale\":1,\"key\":0", "4", "I32"),
              HasSubstr("RngNormal takes floats"));
}

// Cut anywhere, a graph is refused with a message.
TEST_F(MalformedGraph, EveryTruncation) {
  GraphText graph;
  graph.input("x", "?0, 4").param("w", "4, 3");
  graph.node("\"MatMul\"", "0,1", "?0, 3", "F32", "y");
  std::string text = graph.text();
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_THAT(read(text.substr(0, length)), StartsWith("g.json:")) << length;
}

// Any byte may be wrong: the reader answers with a module or a message.
TEST_F(MalformedGraph, EveryFlippedBit) {
  GraphText graph;
  graph.input("x", "?0, 4").param("w", "4, 3");
  graph.node("\"MatMul\"", "0,1", "?0, 3", "F32", "y");
  std::string text = graph.text();
  for (size_t at = 0; at < text.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] ^= 1 << bit;
      EXPECT_FALSE(read(flipped).empty());
    }
}
