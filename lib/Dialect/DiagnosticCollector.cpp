// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Dialect/DiagnosticCollector.h"
#include "RLX/Support/Error.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace rlx;

/// The user's words for a place: `mlp.json:3:5: node 'fc1': `, not MLIR's
/// syntax.
static void printLocation(llvm::raw_ostream &os, Location location) {
  std::string node, place;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && node.empty())
      node = quoteName(name.getName());
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file || !place.empty())
      return WalkResult::advance();
    place = file.getFilename().str();
    // Bytecode has no lines.
    if (file.getLine())
      place +=
          (":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::advance();
  });
  if (!place.empty())
    os << place << ": ";
  if (!node.empty())
    os << "node " << node << ": ";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        llvm::raw_string_ostream os(text);
        if (!text.empty())
          os << '\n';
        printLocation(os, diagnostic.getLocation());
        os << diagnostic.str();
        for (Diagnostic &note : diagnostic.getNotes()) {
          std::string message = note.str();
          // The op as MLIR prints it tells a user nothing.
          if (StringRef(message).starts_with("see current operation"))
            continue;
          os << "\nnote: ";
          printLocation(os, note.getLocation());
          os << message;
        }
        return success();
      }) {}

llvm::Error DiagnosticCollector::takeError(StringRef fallback) {
  if (text.empty())
    return makeError("{0}", fallback);
  return makeError("{0}", std::exchange(text, {}));
}
