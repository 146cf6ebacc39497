// SPDX-License-Identifier: MIT OR Apache-2.0
#include "Output.h"
#include "RLX/Support/Error.h"
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

namespace {
/// Remarks as lines on stderr.
class RemarkPrinter final
    : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    llvm::errs() << "remark: " << remark.getMsg() << '\n';
  }
};
} // namespace

llvm::Error rlx::printRemarks(mlir::MLIRContext &context) {
  mlir::remark::RemarkCategories categories;
  categories.all = "weights";
  auto policy = std::make_unique<mlir::remark::RemarkEmittingPolicyAll>();
  if (failed(mlir::remark::enableOptimizationRemarks(
          context, std::make_unique<RemarkPrinter>(), std::move(policy),
          categories)))
    return makeError("remarks could not be enabled");
  return llvm::Error::success();
}

llvm::Error rlx::writeBytes(llvm::StringRef bytes, llvm::StringRef path) {
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << bytes;
    return llvm::Error::success();
  });
}

llvm::Error rlx::writeText(mlir::ModuleOp module, llvm::StringRef path) {
  mlir::OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64);
  flags.elideLargeResourceString(64);
  return llvm::writeToOutput(path.empty() ? "-" : path,
                             [&](llvm::raw_ostream &os) {
                               module->print(os, flags);
                               os << '\n';
                               return llvm::Error::success();
                             });
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
