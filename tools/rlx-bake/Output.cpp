// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Output.h"
#include "RLX/Support/Error.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Remark/RemarkStreamer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace rlx;

Progress::Progress(bool enabled)
    : enabled(enabled && llvm::sys::Process::StandardErrIsDisplayed()) {}

void Progress::show(const llvm::Twine &step) {
  if (!enabled)
    return;
  clear();
  llvm::errs() << "rlx-bake: " << step << " ...";
  shown = true;
}

void Progress::clear() {
  if (shown)
    llvm::errs() << "\r\033[K";
  shown = false;
}

/// What an op is for the user: its node's name, else its place in the graph.
static std::string describe(mlir::Location loc) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc))
    return quoteName(name.getName());
  auto place = mlir::dyn_cast<mlir::FileLineColLoc>(loc);
  return place ? llvm::formatv("{0}:{1}:{2}", place.getFilename().getValue(),
                               place.getLine(), place.getColumn())
                     .str()
               : "the graph";
}

namespace {
/// Remarks as lines on stderr: `remark: ConstFold: 'fc1': text (Ops 2)`.
class RemarkPrinter final
    : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkPrinter(Progress &progress) : progress(progress) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    llvm::SmallVector<std::string> texts, numbers;
    for (const auto &arg : remark.getArgs()) {
      bool isText =
          arg.key == "Remark" || arg.key == "Reason" || arg.key == "Suggestion";
      if (isText)
        texts.push_back(arg.val);
      else
        numbers.push_back(arg.key + " " + arg.val);
    }
    progress.clear();
    llvm::raw_ostream &os = llvm::errs();
    os << "remark: " << remark.getRemarkName() << ": "
       << describe(remark.getLocation()) << ": " << llvm::join(texts, "; ");
    if (!numbers.empty())
      os << " (" << llvm::join(numbers, ", ") << ')';
    os << '\n';
  }

private:
  Progress &progress;
};
} // namespace

llvm::Error rlx::printRemarks(mlir::MLIRContext &context, Progress &progress) {
  // `all` only adds to kinds that are asked for.
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = "weights";
  auto policy = std::make_unique<mlir::remark::RemarkEmittingPolicyAll>();
  if (failed(mlir::remark::enableOptimizationRemarks(
          context, std::make_unique<RemarkPrinter>(progress), std::move(policy),
          categories)))
    return makeError("remarks could not be enabled");
  return llvm::Error::success();
}

/// Writes a file that appears when it is complete, or stdout for `-`.
static llvm::Error
writeOutput(llvm::StringRef path,
            llvm::function_ref<void(llvm::raw_ostream &)> print) {
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    print(os);
    return llvm::Error::success();
  });
  if (error)
    return makeError("{0}: cannot write: {1}", path,
                     llvm::toString(std::move(error)));
  if (path != "-")
    return error;
  // A stream that goes away with an error ends the process without a message.
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  return code ? makeError("standard output: cannot write: {0}", code.message())
              : llvm::Error::success();
}

llvm::Error rlx::writeBytes(llvm::StringRef bytes, llvm::StringRef path) {
  return writeOutput(path, [&](llvm::raw_ostream &os) { os << bytes; });
}

llvm::Error rlx::writeText(mlir::ModuleOp module, llvm::StringRef path) {
  mlir::OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64);
  flags.elideLargeResourceString(64);
  return writeOutput(path.empty() ? "-" : path,
                     [&](llvm::raw_ostream &os) { module->print(os, flags); });
}

static std::string plural(uint64_t count, llvm::StringRef what) {
  return llvm::formatv("{0} {1}{2}", count, what, count == 1 ? "" : "s").str();
}

static void printSummary(const BakeCommand &command, llvm::StringRef source,
                         const BakeReport &report) {
  llvm::raw_ostream &os = llvm::errs();
  os << source << " -> " << command.output << " (profile " << report.profile
     << ")\n";
  os << llvm::formatv("  graph    {0} nodes -> {1}", report.nodesBefore,
                      report.nodesAfter);
  if (report.prepareComponents)
    os << llvm::formatv(", {0} more run once at load in {1}",
                        report.nodesPrepared,
                        plural(report.prepareComponents, "component"));
  os << llvm::formatv("\n  weights  {0} baked, {1} bytes -> {2} bytes\n",
                      report.paramsBaked.size(), report.rawWeightBytes,
                      report.weightBytes);
  if (!report.paramsRemaining.empty())
    os << "  open     " << llvm::join(report.paramsRemaining, ", ") << '\n';
  os << "  file     " << report.fileBytes << " bytes, "
     << (report.targets.empty()
             ? "no code"
             : "code for " + llvm::join(report.targets, ", "))
     << '\n';
}

llvm::Error rlx::finish(const BakeCommand &command, llvm::StringRef source,
                        BakeReport &report) {
  if (std::error_code error =
          llvm::sys::fs::file_size(command.output, report.fileBytes))
    return llvm::createFileError(command.output, error);
  if (!command.quiet)
    printSummary(command, source, report);
  if (command.report.empty())
    return llvm::Error::success();
  return writeBytes(llvm::formatv("{0:2}\n", report.toJSON()).str(),
                    command.report);
}

void rlx::printError(llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [](const llvm::ErrorInfoBase &info) {
    llvm::errs() << "error: " << info.message() << '\n';
  });
}
