// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Trains a small network, builds its graph in the rlx dialect and bakes graph
// and weights into one file: how a host compiler or a training program embeds
// RLX. run.cpp is the other half.

#include "Mlp.h"

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "RLX/Pipelines/Bake.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>

using namespace mnist;
using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// Builds `logits = relu(image * w1 + b1) * w2 + b2` for any batch size. The
/// weights are params: which values they have is said when baking.
class GraphBuilder {
public:
  explicit GraphBuilder(MLIRContext *context) : builder(context) {}

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(location());
    (*module)->setAttr(rlx::kNameAttr, builder.getStringAttr("mnist"));
    builder.setInsertionPointToEnd(module->getBody());
    auto imageType = tensor({ShapedType::kDynamic, imagePixels});
    auto logitsType = tensor({ShapedType::kDynamic, classCount});
    auto function = func::FuncOp::create(
        builder, location(), "main",
        builder.getFunctionType({imageType}, {logitsType}));
    function.setArgAttrs(0, describe("image", imagePixels));
    function.setResultAttrs(0, describe("logits", classCount));
    builder.setInsertionPointToEnd(function.addEntryBlock());

    Value hidden = layer(function.getArgument(0), "w1", "b1", hiddenCount);
    hidden = rlx::ReluOp::create(builder, location(), hidden);
    Value logits = layer(hidden, "w2", "b2", classCount);
    func::ReturnOp::create(builder, location(), logits);
    return module;
  }

private:
  Location location() { return builder.getUnknownLoc(); }

  RankedTensorType tensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }

  /// The name of an input or output and its dims: `[@batch, columns]`.
  DictionaryAttr describe(StringRef name, int64_t columns) {
    auto batch = FlatSymbolRefAttr::get(builder.getContext(), "batch");
    Attribute dims[] = {batch, builder.getI64IntegerAttr(columns)};
    NamedAttribute attributes[] = {
        builder.getNamedAttr(rlx::kNameAttr, builder.getStringAttr(name)),
        builder.getNamedAttr(rlx::kDimsAttr, builder.getArrayAttr(dims))};
    return builder.getDictionaryAttr(attributes);
  }

  /// input * weight + bias
  Value layer(Value input, StringRef weight, StringRef bias, int64_t columns) {
    auto inputType = cast<RankedTensorType>(input.getType());
    Value w = rlx::ParamOp::create(builder, location(),
                                   tensor({inputType.getDimSize(1), columns}),
                                   weight);
    Value b =
        rlx::ParamOp::create(builder, location(), tensor({columns}), bias);
    Value product = rlx::MatmulOp::create(
        builder, location(), tensor({inputType.getDimSize(0), columns}), input,
        w);
    return rlx::AddOp::create(builder, location(), product, b);
  }

  OpBuilder builder;
};

} // namespace

/// A value for a param that refers to `values`, which must outlive the bake.
static ElementsAttr refer(MLIRContext *context, StringRef name,
                          ArrayRef<int64_t> shape,
                          const std::vector<float> &values) {
  auto type = RankedTensorType::get(shape, Float32Type::get(context));
  return DenseResourceElementsAttr::get(
      type, name,
      UnmanagedAsmResourceBlob::allocateInferAlign(ArrayRef(values)));
}

static llvm::Expected<rlx::BakeResult> bakeMlp(MLIRContext &context,
                                               const Mlp &mlp) {
  context.loadDialect<rlx::RLXDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> graph = GraphBuilder(&context).build();
  rlx::WeightBindings bindings;
  bindings["w1"] = refer(&context, "w1", {imagePixels, hiddenCount}, mlp.w1);
  bindings["b1"] = refer(&context, "b1", {hiddenCount}, mlp.b1);
  bindings["w2"] = refer(&context, "w2", {hiddenCount, classCount}, mlp.w2);
  bindings["b2"] = refer(&context, "b2", {classCount}, mlp.b2);
  auto options = rlx::BakeOptions::fromProfile(rlx::Profile::Exact);
  return rlx::bake(*graph, bindings, options);
}

static void printShare(const char *what, size_t correct, size_t count) {
  llvm::outs() << what << " accuracy: " << correct << " of " << count << " ("
               << llvm::format("%.2f", 100.0 * double(correct) / double(count))
               << " %)\n";
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

int main(int argc, char **) {
  if (argc > 1) {
    llvm::errs() << "usage: train_bake\n"
                    "RLX_MNIST_DIR names a folder of IDX files, RLX_BAKE_OUT "
                    "the file to write\n";
    return 2;
  }
  std::string error;
  std::optional<Dataset> data = loadDataset(Part::TrainAndTest, error);
  if (!data)
    return fail(error);
  llvm::outs() << "data: " << data->source << ", " << data->train.size()
               << " training and " << data->test.size() << " test images\n";

  auto start = std::chrono::steady_clock::now();
  constexpr int epochs = 8;
  Mlp mlp = train(data->train, epochs, [](int epoch, double loss) {
    llvm::outs() << "epoch " << epoch << " of " << epochs << ": loss "
                 << llvm::format("%.4f", loss) << "\n";
  });
  llvm::outs() << "trained in " << llvm::format("%.1f", secondsSince(start))
               << " s\n";
  printShare("training", countCorrect(mlp, data->train), data->train.size());
  printShare("test", countCorrect(mlp, data->test), data->test.size());

  start = std::chrono::steady_clock::now();
  MLIRContext context;
  llvm::Expected<rlx::BakeResult> baked = bakeMlp(context, mlp);
  if (!baked)
    return fail(llvm::toString(baked.takeError()));
  const char *chosen = std::getenv("RLX_BAKE_OUT");
  const std::string out = chosen && *chosen ? chosen : RLX_MNIST_DEFAULT_OUT;
  if (llvm::Error failed = baked->artifact.write(out))
    return fail(llvm::toString(std::move(failed)));
  uint64_t fileBytes = 0;
  if (std::error_code code = llvm::sys::fs::file_size(out, fileBytes))
    return fail(out + ": " + code.message());
  llvm::outs() << "baked in " << llvm::format("%.2f", secondsSince(start))
               << " s: " << out << ", weights " << baked->report.weightBytes
               << " of " << baked->report.rawWeightBytes << " bytes, file "
               << fileBytes << " bytes\n";
  return 0;
}
