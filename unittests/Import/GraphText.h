// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Writes graphs as MIR Graph JSON, reads them and keeps what is said about
/// them.
#ifndef RLX_UNITTESTS_IMPORT_GRAPHTEXT_H
#define RLX_UNITTESTS_IMPORT_GRAPHTEXT_H

#include "RLX/Import/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"

#include "gmock/gmock.h"

#include <string>
#include <vector>

/// A graph under construction. A line of its text holds one node, the first is
/// line 2.
class GraphText {
public:
  /// Adds a node with the id of its position. `dims` are as in the text of a
  /// shape, with a number for a static dim and `?n` for symbol n: `2, ?0`.
  GraphText &node(llvm::StringRef op, llvm::StringRef inputs,
                  llvm::StringRef dims, llvm::StringRef dtype = "F32",
                  llvm::StringRef name = "") {
    std::string shape;
    llvm::SmallVector<llvm::StringRef> parts;
    dims.split(parts, ',', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts) {
      part = part.trim();
      bool isSymbol = part.consume_front("?");
      shape += (shape.empty() ? "" : ",") +
               std::string(isSymbol ? "{\"Dynamic\":" : "{\"Static\":") +
               part.str() + "}";
    }
    nodes.push_back("{\"id\":" + std::to_string(nodes.size()) +
                    ",\"op\":" + op.str() + ",\"inputs\":[" + inputs.str() +
                    "],\"shape\":{\"dims\":[" + shape + "],\"dtype\":\"" +
                    dtype.str() + "\"},\"name\":" +
                    (name.empty() ? "null" : "\"" + name.str() + "\"") + "}");
    return *this;
  }
  GraphText &input(llvm::StringRef name, llvm::StringRef dims,
                   llvm::StringRef dtype = "F32") {
    return node("{\"Input\":{\"name\":\"" + name.str() + "\"}}", "", dims,
                dtype);
  }
  GraphText &param(llvm::StringRef name, llvm::StringRef dims,
                   llvm::StringRef dtype = "F32") {
    return node("{\"Param\":{\"name\":\"" + name.str() + "\"}}", "", dims,
                dtype);
  }

  /// The text; without `outputs`, the last node is the output.
  std::string text(llvm::StringRef outputs = "") const {
    std::string last = std::to_string(nodes.size() - 1);
    return "{\"name\":\"g\",\"nodes\":[\n" + llvm::join(nodes, ",\n") +
           "],\n\"outputs\":[" + (outputs.empty() ? last : outputs.str()) +
           "]}";
  }

private:
  std::vector<std::string> nodes;
};

/// A context whose diagnostics are kept as text.
class GraphReaderTest : public testing::Test {
protected:
  GraphReaderTest()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          append(diagnostic);
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            append(note);
          return mlir::success();
        }) {}

  /// The printed module, or the diagnostics with their places.
  std::string read(llvm::StringRef text,
                   rlx::GraphFormat format = rlx::GraphFormat::Mir) {
    said.clear();
    auto module = rlx::importGraphText(text, "g.json", format, context);
    if (failed(module)) {
      EXPECT_FALSE(said.empty());
      return said;
    }
    EXPECT_EQ(said, "");
    std::string printed;
    llvm::raw_string_ostream os(printed);
    (*module)->print(os);
    return printed;
  }
  std::string read(const GraphText &graph) { return read(graph.text()); }

  void append(mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(said);
    if (auto place = llvm::dyn_cast<mlir::FileLineColLoc>(
            mlir::LocationAttr(diagnostic.getLocation())))
      os << place.getFilename().getValue() << ":" << place.getLine() << ":"
         << place.getColumn() << ": ";
    os << diagnostic.str() << "\n";
  }

  mlir::MLIRContext context;
  std::string said;
  mlir::ScopedDiagnosticHandler handler;
};

#endif // RLX_UNITTESTS_IMPORT_GRAPHTEXT_H
