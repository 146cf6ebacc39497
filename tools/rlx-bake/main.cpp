// SPDX-License-Identifier: MIT OR Apache-2.0
//===- main.cpp - rlx-bake: a graph and its weights into one file ---------===//

#include "Options.h"
#include "Output.h"
#include "RLX/Dialect/DiagnosticCollector.h"
#include "RLX/Import/Import.h"
#include "RLX/Import/WeightBindings.h"
#include "RLX/Support/Error.h"
#include "mlir/IR/MLIRContext.h"

using namespace rlx;

/// Reads what the command names: the graph into `context`, weights bound to it.
static llvm::Expected<ImportedGraph> import(const BakeCommand &command,
                                            mlir::MLIRContext &context,
                                            WeightBindings &bindings) {
  DiagnosticCollector diagnostics(&context);
  mlir::FailureOr<ImportedGraph> graph = importGraph(command.input, context);
  if (failed(graph))
    return diagnostics.takeError("the graph could not be read");
  std::vector<std::string> files = command.weights;
  if (files.empty() && graph->defaultWeights)
    files.push_back(*graph->defaultWeights);
  std::vector<std::shared_ptr<TensorSource>> sources;
  for (const std::string &file : files) {
    llvm::Expected<std::shared_ptr<TensorSource>> source =
        openTensorSource(file);
    if (!source)
      return source.takeError();
    sources.push_back(std::move(*source));
  }
  BindOptions options;
  options.isStrict = command.strict;
  if (sources.empty() && !command.strict)
    return std::move(*graph);
  llvm::Expected<BoundWeights> bound =
      bindWeights(*graph->module, sources, options);
  if (!bound)
    return bound.takeError();
  if (!command.quiet)
    bound->report.print(llvm::errs());
  bindings = std::move(bound->values);
  return std::move(*graph);
}

static llvm::Error run(BakeCommand &command) {
  mlir::DialectRegistry registry;
  registerAllRLXDialects(registry);
  mlir::MLIRContext context(registry);
  // Messages name nodes and places; the IR is no news to a user.
  context.printOpOnDiagnostic(false);
  Progress progress(!command.quiet);
  if (command.explain)
    if (llvm::Error error = printRemarks(context, progress))
      return error;
  command.options.progress = [&](llvm::StringRef step) { progress.show(step); };
  command.options.ownsWeights = true;

  progress.show("reading " + command.input);
  WeightBindings bindings;
  llvm::Expected<ImportedGraph> graph = import(command, context, bindings);
  if (!graph)
    return graph.takeError();
  if (command.compileTo < Phase::Codegen) {
    if (llvm::Error error = runPhases(*graph->module, bindings, command.options,
                                      command.compileTo))
      return error;
    progress.clear();
    return writeText(*graph->module, command.output);
  }

  llvm::Expected<BakeResult> result =
      bake(*graph->module, bindings, command.options);
  if (!result)
    return result.takeError();
  progress.show("writing " + command.output);
  if (command.compileTo == Phase::Codegen) {
    llvm::Expected<llvm::StringRef> code =
        result->artifact.getCode(result->report.targets.front());
    if (!code)
      return code.takeError();
    if (llvm::Error error = writeBytes(*code, command.output))
      return error;
  } else if (llvm::Error error = result->artifact.write(command.output)) {
    return error;
  }
  progress.clear();
  return finish(command, graph->source, result->report);
}

int main(int argc, char **argv) {
  int exitCode = 0;
  std::optional<BakeCommand> command = parseCommandLine(argc, argv, exitCode);
  if (!command)
    return exitCode;
  if (llvm::Error error = run(*command)) {
    printError(std::move(error));
    return 1;
  }
  return 0;
}
