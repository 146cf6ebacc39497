// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Pipelines/Bake.h"

using namespace rlx;

static llvm::json::Array toArray(const std::vector<std::string> &names) {
  return llvm::json::Array(names);
}

static llvm::json::Value toJSON(const WeightReport &weight) {
  llvm::json::Array shape;
  for (int64_t dim : weight.shape)
    shape.push_back(dim);
  return llvm::json::Object{{"name", weight.name},
                            {"shape", std::move(shape)},
                            {"dtype", weight.dtype},
                            {"encoding", weight.encoding},
                            {"layout", weight.layout},
                            {"bytes", int64_t(weight.bytes)},
                            {"raw_bytes", int64_t(weight.rawBytes)},
                            // Every encoding of this release keeps the bits.
                            {"lossless", true},
                            {"max_abs_error", 0.0},
                            {"origin", toArray(weight.origin)},
                            {"note", weight.note}};
}

llvm::json::Value BakeReport::toJSON() const {
  llvm::json::Array rows;
  for (const WeightReport &weight : weights)
    rows.push_back(::toJSON(weight));
  return llvm::json::Object{{"graph", graph},
                            {"profile", profile},
                            {"nodes_before", int64_t(nodesBefore)},
                            {"nodes_after", int64_t(nodesAfter)},
                            {"nodes_prepared", int64_t(nodesPrepared)},
                            {"params_baked", int64_t(paramsBaked.size())},
                            {"params_baked_names", toArray(paramsBaked)},
                            {"params_remaining", toArray(paramsRemaining)},
                            {"prepare_components", int64_t(prepareComponents)},
                            {"prepare_functions", int64_t(prepareFunctions)},
                            {"folded_constants", int64_t(foldedConstants)},
                            {"skipped_zero_matmuls", 0},
                            {"ternary_packed", 0},
                            {"quant_packed", 0},
                            {"constants_deduped", 0},
                            {"weight_bytes", int64_t(weightBytes)},
                            {"raw_weight_bytes", int64_t(rawWeightBytes)},
                            {"file_bytes", int64_t(fileBytes)},
                            {"targets", toArray(targets)},
                            {"weights", std::move(rows)}};
}
