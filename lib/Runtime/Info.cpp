// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Info.h"

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

const rlx_value_info *ProgramInfo::addValues(const std::vector<Value> &sources,
                                             const Entry &entry) {
  std::vector<rlx_value_info> &infos = values.emplace_back();
  for (const Value &value : sources) {
    std::vector<int64_t> &sizes = dims.emplace_back();
    std::vector<const char *> &symbols = names.emplace_back();
    for (const Dim &dim : value.dims) {
      sizes.push_back(dim.isDynamic() ? -1 : dim.size);
      symbols.push_back(dim.isDynamic() ? entry.symbols[dim.symbol].c_str()
                                        : nullptr);
    }
    rlx_value_info info = {};
    info.name = value.name.c_str();
    info.dims = sizes.data();
    info.symbols = symbols.data();
    info.rank = static_cast<int32_t>(sizes.size());
    info.dtype = static_cast<int32_t>(value.dtype);
    infos.push_back(info);
  }
  return infos.data();
}

ProgramInfo::ProgramInfo(const OpenedArtifact &opened) {
  const Manifest &manifest = opened.manifest;
  for (const Entry &entry : manifest.entries) {
    rlx_entry_info info = {};
    info.name = entry.name.c_str();
    info.inputs = addValues(entry.inputs, entry);
    info.outputs = addValues(entry.outputs, entry);
    std::vector<const char *> &symbols = names.emplace_back();
    for (const std::string &symbol : entry.symbols)
      symbols.push_back(symbol.c_str());
    info.symbols = symbols.data();
    info.weights = entry.tensors.data();
    info.input_count = static_cast<uint32_t>(entry.inputs.size());
    info.output_count = static_cast<uint32_t>(entry.outputs.size());
    info.symbol_count = static_cast<uint32_t>(entry.symbols.size());
    info.weight_count = static_cast<uint32_t>(entry.tensors.size());
    entries.push_back(info);
  }
  for (const Tensor &tensor : manifest.tensors) {
    rlx_weight_info info = {};
    info.name = tensor.name.c_str();
    info.encoding = tensor.encoding.c_str();
    info.layout = tensor.layout.c_str();
    info.origin = tensor.origin.c_str();
    info.note = tensor.note.c_str();
    info.dims = tensor.shape.data();
    if (tensor.state == TensorState::Constant)
      info.data =
          opened.source->segment(tensor.segment).data + tensor.segmentOffset;
    info.size_bytes = tensor.sizeBytes;
    info.rank = static_cast<int32_t>(tensor.shape.size());
    info.dtype = static_cast<int32_t>(tensor.dtype);
    info.state = static_cast<int32_t>(tensor.state);
    info.instance = tensor.instance;
    weights.push_back(info);
  }
  for (const Prepare &prepare : manifest.prepares)
    prepares.push_back({prepare.function.c_str(), prepare.inputs.data(),
                        prepare.outputs.data(),
                        static_cast<uint32_t>(prepare.inputs.size()),
                        static_cast<uint32_t>(prepare.outputs.size())});
}
