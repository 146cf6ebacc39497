// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/WeightBindings.h"

#include "GraphText.h"
#include "TestFiles.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace rlx;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class WeightBindingsTest : public GraphReaderTest {
protected:
  /// A graph whose parameters are `w` [4, 3], `b` [3] and `model.scale` [64,
  /// 2].
  WeightBindingsTest() {
    GraphText graph;
    graph.param("w", "4, 3").param("b", "3").param("model.scale", "64, 2");
    auto read = importGraphText(graph.text("0,1,2"), "g.json", GraphFormat::Mir,
                                context);
    EXPECT_TRUE(succeeded(read));
    module = std::move(*read);
  }

  /// A source with the given tensors, each `name:dtype:shape`, whose bytes
  /// count up from zero. `shift` bytes of an own tensor come first.
  std::shared_ptr<TensorSource> source(llvm::ArrayRef<llvm::StringRef> tensors,
                                       unsigned shift = 0) {
    std::string header = "{", data;
    auto add = [&](llvm::StringRef name, llvm::StringRef dtype,
                   llvm::StringRef shape, size_t size) {
      header += (header.size() > 1 ? ",\"" : "\"") + name.str() +
                "\":{\"dtype\":\"" + dtype.str() +
                "\",\"shape\":" + shape.str() + ",\"data_offsets\":[" +
                std::to_string(data.size()) + "," +
                std::to_string(data.size() + size) + "]}";
      for (size_t i = 0; i < size; ++i)
        data += char(i);
    };
    if (shift > 0)
      add("shift", "U8", "[" + std::to_string(shift) + "]", shift);
    for (llvm::StringRef tensor : tensors) {
      auto [name, rest] = tensor.split(':');
      auto [dtype, shape] = rest.split(':');
      size_t count = 1;
      llvm::SmallVector<llvm::StringRef> dims;
      shape.trim("[]").split(dims, ',', -1, false);
      for (llvm::StringRef dim : dims)
        count *= std::stoul(dim.str());
      add(name, dtype, shape, count * sizeBytes(*parseElementKind(dtype)));
    }
    header += "}";
    // Writers pad the header so that the data begins at a multiple of 8.
    header.append(8 - header.size() % 8, ' ');
    return llvm::cantFail(openTensorSource(files.write(
        std::to_string(++count) + ".safetensors", safetensors(header, data))));
  }

  std::string errorOf(llvm::ArrayRef<std::shared_ptr<TensorSource>> sources,
                      bool isStrict = false) {
    BindOptions options;
    options.isStrict = isStrict;
    auto bindings = bindWeights(*module, sources, options);
    return bindings ? "no error" : llvm::toString(bindings.takeError());
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  TestDirectory files;
  int count = 0;
};

} // namespace

TEST_F(WeightBindingsTest, BindsByName) {
  auto bindings = llvm::cantFail(
      bindWeights(*module, {source({"w:F32:[4,3]", "b:F32:[3]"}),
                            source({"model.scale:F32:[64,2]"})}));
  EXPECT_THAT(bindings.report.matched, ElementsAre("w", "b", "model.scale"));
  EXPECT_TRUE(bindings.report.missing.empty());
  EXPECT_TRUE(bindings.report.extra.empty());
  EXPECT_EQ(bindings.report.copiedTensors, 0u);
  EXPECT_EQ(bindings.values.lookup("b").getType(),
            mlir::RankedTensorType::get({3}, mlir::Float32Type::get(&context)));
  auto scale = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(
      bindings.values.lookup("model.scale"));
  ASSERT_TRUE(scale);
  llvm::ArrayRef<char> bytes = scale.getRawHandle().getBlob()->getData();
  EXPECT_EQ(bytes.size(), 512u);
  EXPECT_EQ(bytes[5], 5);
}

// Large values are the file's bytes; they stay after all other owners of the
// source are gone.
TEST_F(WeightBindingsTest, RefersToTheFile) {
  auto weights = source({"model.scale:F32:[64,2]"});
  const char *mapped = weights->find("model.scale")->data.data();
  std::weak_ptr<TensorSource> alive = weights;
  auto bindings = llvm::cantFail(bindWeights(*module, {weights}));
  weights.reset();
  EXPECT_FALSE(alive.expired());
  auto scale = llvm::cast<mlir::DenseResourceElementsAttr>(
      bindings.values.lookup("model.scale"));
  EXPECT_EQ(scale.getRawHandle().getBlob()->getData().data(), mapped);
  EXPECT_FALSE(scale.getRawHandle().getBlob()->isMutable());
}

TEST_F(WeightBindingsTest, CopiesWhatIsNotAligned) {
  auto bindings = llvm::cantFail(
      bindWeights(*module, {source({"model.scale:F32:[64,2]"}, /*shift=*/3)}));
  EXPECT_EQ(bindings.report.copiedTensors, 1u);
  EXPECT_EQ(bindings.report.copiedBytes, 512u);
  auto scale = llvm::cast<mlir::DenseResourceElementsAttr>(
      bindings.values.lookup("model.scale"));
  llvm::ArrayRef<char> bytes = scale.getRawHandle().getBlob()->getData();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 64, 0u);
  EXPECT_EQ(bytes[5], 5);
}

TEST_F(WeightBindingsTest, ListsMissingAndExtra) {
  auto bindings = llvm::cantFail(bindWeights(
      *module, {source({"w:F32:[4,3]", "scale:F32:[64,2]", "zz:U8:[1]"})}));
  ASSERT_EQ(bindings.report.missing.size(), 2u);
  EXPECT_EQ(bindings.report.missing[0].name, "b");
  EXPECT_EQ(bindings.report.missing[0].nearest, "");
  EXPECT_EQ(bindings.report.missing[1].nearest, "scale");
  std::string text;
  llvm::raw_string_ostream os(text);
  bindings.report.print(os);
  EXPECT_EQ(text,
            "parameters without a tensor, left open: 'b', 'model.scale' (did "
            "you mean 'scale'?)\n"
            "tensors without a parameter, not used: 'scale' (did you mean "
            "'model.scale'?), 'zz'\n");
}

TEST_F(WeightBindingsTest, NamesBothSidesOfAConflict) {
  auto weights = source({"w:F32:[3,4]", "b:F16:[3]", "model.scale:F32:[128]"});
  std::string path = weights->path().str();
  EXPECT_EQ(errorOf({weights}),
            "parameter 'w' is tensor<4x3xf32> but " + path +
                " has F32 [3, 4]; its dims are in another order, is it "
                "transposed?\n"
                "parameter 'b' is tensor<3xf32> but " +
                path +
                " has F16 [3]\n"
                "parameter 'model.scale' is tensor<64x2xf32> but " +
                path + " has F32 [128]; the number of elements is the same");
}

TEST_F(WeightBindingsTest, RefusesATensorInTwoFiles) {
  auto one = source({"w:F32:[4,3]"}), two = source({"w:F32:[4,3]"});
  EXPECT_EQ(errorOf({one, two}), "tensor 'w' is in " + one->path().str() +
                                     " and in " + two->path().str());
}

TEST_F(WeightBindingsTest, RefusesFilesOfAnotherModel) {
  EXPECT_THAT(errorOf({source({"x:F32:[1]", "scale:F32:[64,2]"})}),
              HasSubstr("none of 2 tensors is one of the graph's 3 parameters; "
                        "the graph has 'model.scale', the file 'scale'"));
  EXPECT_THAT(errorOf({source({})}), HasSubstr("none of 0 tensors"));
  EXPECT_EQ(errorOf({}), "no error");
}

TEST_F(WeightBindingsTest, MayInsistOnAll) {
  EXPECT_EQ(errorOf({source({"w:F32:[4,3]"})}, /*isStrict=*/true),
            "parameters without a tensor (strict): 'b', 'model.scale'");
  EXPECT_EQ(
      errorOf({source({"w:F32:[4,3]", "b:F32:[3]", "model.scale:F32:[64,2]"})},
              /*isStrict=*/true),
      "no error");
}
