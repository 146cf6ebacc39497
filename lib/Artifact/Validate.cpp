// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a manifest may say, beyond being well-formed FlatBuffers.

#include "RLX/Artifact/Manifest.h"

#include <set>

using namespace rlx;
using namespace rlx::artifact;

namespace {

/// Texts reach C strings and messages.
bool isText(const std::string &text) {
  return text.find('\0') == std::string::npos;
}

bool isName(const std::string &text) {
  return !text.empty() && text.size() < 65536 && isText(text);
}

class Validator {
public:
  explicit Validator(const Manifest &manifest) : manifest(manifest) {}

  Result<void> run() {
    if (!checkHeader() || !checkSegments() || !checkTensors() ||
        !checkPrepares() || !checkEntries() || !checkExecutables() ||
        !checkGraph() || !checkBaked())
      return Fault{FaultKind::Format, "manifest: " + fault};
    return {};
  }

private:
  bool fail(std::string text) {
    fault = std::move(text);
    return false;
  }

  bool checkHeader() {
    for (const std::string *text :
         {&manifest.producer, &manifest.name, &manifest.report})
      if (!isText(*text))
        return fail("producer, name or report contains a NUL character");
    for (const std::string &feature : manifest.requiredFeatures)
      return fail("the file requires feature '" + feature +
                  "', which this version of RLX does not have; use the version "
                  "that wrote it ('" +
                  manifest.producer + "'), or a newer one");
    return true;
  }

  bool checkSegments() {
    for (size_t i = 0; i < manifest.segments.size(); ++i) {
      const Segment &segment = manifest.segments[i];
      if (segment.kind > SegmentKind::Graph)
        return fail("segment " + std::to_string(i) + " has unknown kind " +
                    std::to_string(unsigned(segment.kind)));
      if (segment.sizeBytes > uint64_t(INT64_MAX))
        return fail("segment " + std::to_string(i) + " has " +
                    std::to_string(segment.sizeBytes) + " bytes");
    }
    return true;
  }

  bool checkSegmentIndex(const std::string &who, uint64_t index,
                         SegmentKind kind) {
    if (index >= manifest.segments.size())
      return fail(who + " names segment " + std::to_string(index) +
                  ", the file has " + std::to_string(manifest.segments.size()));
    if (manifest.segments[index].kind != kind)
      return fail(who + " names segment " + std::to_string(index) +
                  ", which is of kind " +
                  std::to_string(unsigned(manifest.segments[index].kind)) +
                  " instead of " + std::to_string(unsigned(kind)));
    return true;
  }

  static std::string describe(const Tensor &tensor, size_t index) {
    if (tensor.name.empty())
      return "tensor " + std::to_string(index);
    return "tensor '" + tensor.name + "'";
  }

  bool checkTensors() {
    std::set<std::string_view> names, params;
    for (size_t i = 0; i < manifest.tensors.size(); ++i) {
      const Tensor &tensor = manifest.tensors[i];
      std::string who = describe(tensor, i);
      for (const std::string *text :
           {&tensor.name, &tensor.encoding, &tensor.layout, &tensor.origin,
            &tensor.note})
        if (!isText(*text))
          return fail(who + ": a text field contains a NUL character");
      Result<uint64_t> size = tensorSizeBytes(who, tensor.dtype, tensor.shape,
                                              tensor.encoding, tensor.layout);
      if (!size)
        return fail(size.fault().message);
      if (*size != tensor.sizeBytes)
        return fail(who + ": shape and encoding take " + std::to_string(*size) +
                    " bytes, the table says " +
                    std::to_string(tensor.sizeBytes));
      if (!checkState(tensor, i, who))
        return false;
      // A param is addressed by name, so its name is nobody else's.
      bool isParam = tensor.state == TensorState::Param;
      if (isParam && tensor.name.empty())
        return fail(who + ": a param needs a name");
      bool fresh = tensor.name.empty() || names.insert(tensor.name).second;
      if (isParam)
        params.insert(tensor.name);
      if (!fresh && params.count(tensor.name))
        return fail(who + ": a param's name occurs twice");
    }
    return true;
  }

  bool checkState(const Tensor &tensor, size_t index, const std::string &who) {
    switch (tensor.state) {
    case TensorState::Constant: {
      if (!checkSegmentIndex(who, tensor.segment, SegmentKind::Weights))
        return false;
      uint64_t available = manifest.segments[tensor.segment].sizeBytes;
      if (tensor.segmentOffset % segmentAlignment)
        return fail(who + ": starts at byte " +
                    std::to_string(tensor.segmentOffset) +
                    " of its segment, which is no multiple of " +
                    std::to_string(segmentAlignment));
      if (tensor.segmentOffset > available ||
          tensor.sizeBytes > available - tensor.segmentOffset)
        return fail(who + ": needs " + std::to_string(tensor.sizeBytes) +
                    " bytes from byte " + std::to_string(tensor.segmentOffset) +
                    " on, segment " + std::to_string(tensor.segment) + " has " +
                    std::to_string(available));
      return true;
    }
    case TensorState::Param:
      if (tensor.layout != "row_major")
        return fail(who + ": a param has layout 'row_major', not '" +
                    tensor.layout + "'");
      return true;
    case TensorState::Prepared: {
      if (tensor.instance >= manifest.prepares.size())
        return fail(who + " is made by prepare instance " +
                    std::to_string(tensor.instance) + ", the file has " +
                    std::to_string(manifest.prepares.size()));
      const Prepare &prepare = manifest.prepares[tensor.instance];
      if (tensor.output >= prepare.outputs.size() ||
          prepare.outputs[tensor.output] != index)
        return fail(who + " claims to be output " +
                    std::to_string(tensor.output) + " of prepare instance " +
                    std::to_string(tensor.instance) +
                    ", which does not list it there");
      return true;
    }
    }
    return fail(who + ": has unknown state " +
                std::to_string(unsigned(tensor.state)));
  }

  bool checkTensorIndex(const std::string &who, uint32_t index) {
    if (index >= manifest.tensors.size())
      return fail(who + " names tensor " + std::to_string(index) +
                  ", the file has " + std::to_string(manifest.tensors.size()));
    return true;
  }

  bool checkPrepares() {
    for (size_t i = 0; i < manifest.prepares.size(); ++i) {
      const Prepare &prepare = manifest.prepares[i];
      std::string who = "prepare instance " + std::to_string(i);
      if (!isName(prepare.function))
        return fail(who + " has no function name");
      for (uint32_t input : prepare.inputs) {
        if (!checkTensorIndex(who, input))
          return false;
        const Tensor &tensor = manifest.tensors[input];
        // Earlier instances only: this is what makes the graph acyclic.
        if (tensor.state == TensorState::Prepared && tensor.instance >= i)
          return fail(who + " reads " + describe(tensor, input) +
                      ", which instance " + std::to_string(tensor.instance) +
                      " makes; instances read results of earlier ones only");
      }
      for (size_t output = 0; output < prepare.outputs.size(); ++output) {
        uint32_t index = prepare.outputs[output];
        if (!checkTensorIndex(who, index))
          return false;
        const Tensor &tensor = manifest.tensors[index];
        if (tensor.state != TensorState::Prepared || tensor.instance != i ||
            tensor.output != output)
          return fail(who + " makes " + describe(tensor, index) +
                      " as output " + std::to_string(output) +
                      ", but the table says otherwise");
      }
    }
    return true;
  }

  bool checkValues(const std::string &who, const std::vector<Value> &values,
                   const Entry &entry, bool mayCompute) {
    std::set<std::string_view> names;
    for (const Value &value : values) {
      if (!isName(value.name))
        return fail(who + " without a name");
      std::string what = who + " '" + value.name + "'";
      if (!names.insert(value.name).second)
        return fail(what + " occurs twice");
      std::vector<int64_t> sizes;
      for (const Dim &dim : value.dims) {
        if (dim.symbol < -1 ||
            (dim.isDynamic() && size_t(dim.symbol) >= entry.symbols.size()))
          return fail(what + " uses symbol " + std::to_string(dim.symbol) +
                      ", the entry has " +
                      std::to_string(entry.symbols.size()));
        bool known = !dim.isDynamic() && !(mayCompute && dim.isComputed());
        sizes.push_back(known ? dim.size : 1);
      }
      if (static_cast<unsigned>(value.dtype) >= numDTypes)
        return fail(what + " has unknown dtype number " +
                    std::to_string(unsigned(value.dtype)));
      Result<uint64_t> size = tensorSizeBytes(
          what, value.dtype, sizes, dtypeName(value.dtype), "row_major");
      if (!size)
        return fail(size.fault().message);
    }
    return true;
  }

  bool checkEntries() {
    std::set<std::string_view> names;
    for (const Entry &entry : manifest.entries) {
      if (!isName(entry.name))
        return fail("an entry has no name");
      std::string who = "entry '" + entry.name + "'";
      if (!names.insert(entry.name).second)
        return fail(who + " occurs twice");
      std::set<std::string_view> symbols;
      for (const std::string &symbol : entry.symbols)
        if (!isName(symbol) || !symbols.insert(symbol).second)
          return fail(who + ": symbol names must be distinct and not empty");
      if (!checkValues(who + ": input", entry.inputs, entry, false) ||
          !checkValues(who + ": output", entry.outputs, entry, true))
        return false;
      std::vector<bool> bound(entry.symbols.size());
      for (const Value &input : entry.inputs)
        for (const Dim &dim : input.dims)
          if (dim.isDynamic())
            bound[dim.symbol] = true;
      for (size_t i = 0; i < bound.size(); ++i)
        if (!bound[i])
          return fail(who + ": symbol '" + entry.symbols[i] +
                      "' is in no dimension of an input, so no call can give "
                      "it a value");
      for (uint32_t tensor : entry.tensors)
        if (!checkTensorIndex(who, tensor))
          return false;
    }
    return true;
  }

  bool checkExecutables() {
    std::set<std::string_view> targets;
    for (const Executable &executable : manifest.executables) {
      if (!isName(executable.target))
        return fail("an executable has no target");
      std::string who = "executable for '" + executable.target + "'";
      if (!targets.insert(executable.target).second)
        return fail(who + " occurs twice");
      if (!checkSegmentIndex(who, executable.segment, SegmentKind::Executable))
        return false;
    }
    return true;
  }

  bool checkGraph() {
    return !manifest.graphSegment ||
           checkSegmentIndex("the portable graph", *manifest.graphSegment,
                             SegmentKind::Graph);
  }

  bool checkBaked() {
    std::set<std::string_view> params;
    for (const Tensor &tensor : manifest.tensors)
      if (tensor.state == TensorState::Param)
        params.insert(tensor.name);
    for (const Baked &baked : manifest.baked) {
      if (!isName(baked.name) || !isText(baked.note))
        return fail("a baked weight has no usable name or note");
      if (params.count(baked.name))
        return fail("weight '" + baked.name +
                    "' is listed both as a param and as baked");
    }
    return true;
  }

  const Manifest &manifest;
  std::string fault;
};

} // namespace

Result<void> artifact::validateManifest(const Manifest &manifest) {
  return Validator(manifest).run();
}
