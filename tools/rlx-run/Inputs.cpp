// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where inputs, outputs and params of a model come from.

#include "Failure.h"
#include "Model.h"

#include <cstring>
#include <iostream>
#include <map>

using namespace rlx;
using namespace rlx::run;

namespace {

/// Steele, Lea and Flood's generator: good enough, and the same everywhere.
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// From [-1, 1).
  double symmetric() { return double(next() >> 11) * 0x1p-52 - 1; }

private:
  uint64_t state;
};

template <typename T> void fill(const Array &array, SplitMix &random) {
  auto *values = static_cast<T *>(array.data);
  for (uint64_t i = 0; i < array.elements(); ++i)
    values[i] = static_cast<T>(std::is_floating_point_v<T>
                                   ? random.symmetric()
                                   : double(random.next() >> 63));
}

void releaseOwner(void *owner) {
  delete static_cast<std::shared_ptr<void> *>(owner);
}

/// Sets a param from an array without copying it, if its alignment allows.
rlx_status setParam(rlx_weights *weights, const std::string &name,
                    const Array &array) {
  uint64_t alignment = std::min<uint64_t>(rlx_dtype_size(array.dtype), 8);
  rlx_tensor view = array.view();
  if (reinterpret_cast<uintptr_t>(array.data) % alignment)
    return rlx_weights_set_param(weights, name.c_str(), &view);
  rlx_param param = {name.c_str(), view, releaseOwner,
                     new std::shared_ptr<void>(array.owner)};
  return rlx_weights_set_params(weights, &param, 1, RLX_BORROW);
}

} // namespace

/// Binds params from the files of --weights. Tensors that no param is called
/// after are left alone, as files often hold a whole training state.
void Model::bindWeights() {
  std::map<std::string, bool> open;
  for (uint32_t i = 0; i < rlx_program_weight_count(program.get()); ++i) {
    const rlx_weight_info *weight = rlx_program_weight(program.get(), i);
    if (weight->state == RLX_WEIGHT_PARAM)
      open[weight->name] = false;
  }
  for (const std::string &path : options.weights) {
    std::vector<NamedArray> tensors = readSafetensors(path);
    size_t matched = 0;
    std::string others;
    for (const NamedArray &tensor : tensors) {
      auto param = open.find(tensor.name);
      if (param == open.end()) {
        others += (others.empty() ? "'" : ", '") + tensor.name + "'";
        continue;
      }
      if (param->second)
        throw Failure(path + ": param '" + tensor.name +
                      "' has a value from another file already");
      if (setParam(weights.get(), tensor.name, tensor.array) != RLX_OK)
        throw Failure(path + ": " + rlx_last_error());
      param->second = true;
      ++matched;
    }
    if (!matched)
      throw Failure(
          path + ": none of its " + std::to_string(tensors.size()) +
          " tensors is an open param of " + options.model +
          (open.empty() ? ", which has none" : "; rlx-run --list shows them"));
    if (!others.empty())
      std::cerr << path << ": not params of this program: " << others << "\n";
  }
}

void Model::replaceParams() {
  for (const NamedFile &file : options.setParams)
    if (setParam(weights.get(), file.name, readNpy(file.path)) != RLX_OK)
      throw Failure("--set-param " + file.name + ": " + rlx_last_error());
}

/// The output that an option means; the file may go without a name if there is
/// only one.
uint32_t Model::outputNamed(const char *option, const NamedFile &file) const {
  std::string there;
  for (uint32_t i = 0; i < entry->output_count; ++i) {
    const char *name = entry->outputs[i].name;
    if (file.name.empty() ? entry->output_count == 1 : file.name == name)
      return i;
    there += std::string(i ? ", '" : "'") + name + "'";
  }
  throw Failure(std::string(option) + " " + file.name + "=@" + file.path +
                ": entry '" + entry->name + "' makes " +
                (there.empty() ? "no outputs" : there) + ", not '" + file.name +
                "'");
}

void Model::noteSymbols(const rlx_value_info &input,
                        const std::vector<int64_t> &dims) {
  for (size_t d = 0; d < dims.size() && d < size_t(input.rank); ++d)
    for (uint32_t s = 0; input.symbols[d] && s < entry->symbol_count; ++s)
      if (!std::strcmp(entry->symbols[s], input.symbols[d]) && symbols[s] < 0)
        symbols[s] = dims[d];
}

/// The dims of an input that no file gives: fixed sizes, --shape, symbols.
std::vector<int64_t> Model::inputDims(const rlx_value_info &input) {
  for (size_t i = 0; i < options.shapes.size(); ++i) {
    if (options.shapes[i].name != input.name)
      continue;
    shapeUsed[i] = true;
    return options.shapes[i].dims;
  }
  std::vector<int64_t> dims(input.dims, input.dims + input.rank);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] >= 0)
      continue;
    for (uint32_t s = 0; s < entry->symbol_count; ++s)
      if (!std::strcmp(entry->symbols[s], input.symbols[d]))
        dims[d] = symbols[s];
    if (dims[d] < 0)
      throw Failure("input '" + std::string(input.name) + "': dimension " +
                    std::to_string(d) + " ('" + input.symbols[d] +
                    "') has no size; add --shape " + input.symbols[d] + "=N");
  }
  return dims;
}

Array Model::randomInput(const rlx_value_info &input, uint64_t seed) {
  std::string who = "input '" + std::string(input.name) + "'";
  Array array = allocateArray(who, input.dtype, inputDims(input));
  SplitMix random(seed);
  switch (input.dtype) {
  case RLX_F32:
    fill<float>(array, random);
    break;
  case RLX_F64:
    fill<double>(array, random);
    break;
  case RLX_I8:
    fill<int8_t>(array, random);
    break;
  case RLX_I16:
    fill<int16_t>(array, random);
    break;
  case RLX_I32:
    fill<int32_t>(array, random);
    break;
  case RLX_I64:
    fill<int64_t>(array, random);
    break;
  case RLX_U8:
  case RLX_BOOL:
    fill<uint8_t>(array, random);
    break;
  case RLX_U32:
    fill<uint32_t>(array, random);
    break;
  default:
    throw Failure(who + ": --random-inputs makes no " +
                  rlx_dtype_name(input.dtype) + " numbers; give --input " +
                  input.name + "=@x.npy");
  }
  return array;
}

void Model::makeInputs() {
  inputs.resize(entry->input_count);
  std::vector<bool> given(entry->input_count);
  for (const NamedFile &file : options.inputs) {
    uint32_t index = 0;
    if (file.name.empty() && entry->input_count != 1)
      throw Failure("--input @" + file.path + ": entry '" + entry->name +
                    "' takes " + std::to_string(entry->input_count) +
                    " inputs, say which: name=@" + file.path);
    while (!file.name.empty() && index < entry->input_count &&
           file.name != entry->inputs[index].name)
      ++index;
    if (index == entry->input_count) {
      std::string there;
      for (uint32_t i = 0; i < entry->input_count; ++i)
        there += std::string(i ? ", '" : "'") + entry->inputs[i].name + "'";
      throw Failure("--input " + file.name + ": entry '" + entry->name +
                    "' has no such input; it takes " +
                    (there.empty() ? "none" : there));
    }
    if (given[index])
      throw Failure("--input " + file.name + " is given twice");
    given[index] = true;
    inputs[index] = readNpy(file.path);
    noteSymbols(entry->inputs[index], inputs[index].dims);
  }
  std::string missing;
  for (uint32_t i = 0; i < entry->input_count; ++i)
    if (!given[i])
      missing += std::string(missing.empty() ? "'" : ", '") +
                 entry->inputs[i].name + "'";
  if (!missing.empty() && !options.randomInputs)
    throw Failure("entry '" + std::string(entry->name) + "' needs inputs " +
                  missing + "; give --input name=@x.npy or --random-inputs");

  for (size_t i = 0; i < options.shapes.size(); ++i)
    for (uint32_t s = 0; s < entry->symbol_count; ++s) {
      const ShapeOption &shape = options.shapes[i];
      if (shape.name != entry->symbols[s] || shape.dims.size() != 1)
        continue;
      if (symbols[s] >= 0 && symbols[s] != shape.dims[0])
        throw Failure("--shape " + shape.name + "=" +
                      std::to_string(shape.dims[0]) + ": an input says " +
                      std::to_string(symbols[s]));
      symbols[s] = shape.dims[0];
      shapeUsed[i] = true;
    }
  // Shapes of whole inputs first: they give symbols to the others.
  for (uint32_t i = 0; i < entry->input_count; ++i)
    for (const ShapeOption &shape : options.shapes)
      if (!given[i] && shape.name == entry->inputs[i].name)
        noteSymbols(entry->inputs[i], shape.dims);
  SplitMix random(options.seed);
  for (uint32_t i = 0; i < entry->input_count; ++i)
    if (!given[i])
      inputs[i] = randomInput(entry->inputs[i], random.next());
  for (size_t i = 0; i < options.shapes.size(); ++i)
    if (!shapeUsed[i])
      throw Failure("--shape " + options.shapes[i].name + ": entry '" +
                    entry->name +
                    "' has no random input and no symbol of that name");
  for (const Array &input : inputs)
    inputViews.push_back(input.view());
}

void Model::makeOutputs() {
  uint64_t dimCount = 0;
  for (uint32_t i = 0; i < entry->output_count; ++i)
    dimCount += entry->outputs[i].rank;
  std::vector<int64_t> dims(dimCount);
  require(rlx_session_output_dims(session.get(), entryIndex, inputViews.data(),
                                  entry->input_count, dims.data(), dimCount));
  auto at = dims.begin();
  for (uint32_t i = 0; i < entry->output_count; ++i) {
    const rlx_value_info &output = entry->outputs[i];
    outputs.push_back(allocateArray("output '" + std::string(output.name) + "'",
                                    output.dtype, {at, at + output.rank}));
    outputViews.push_back(outputs.back().view());
    at += output.rank;
  }
}
