// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The executable's table is code from the file and thus trusted like code, but
// a table that does not fit the manifest would be called with wrong buffers:
// all counts are compared.

#include "Executable.h"

#include <cstring>
#include <unordered_map>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

namespace {

/// What the manifest says about a function, in the ABI's terms.
struct Signature {
  uint32_t kind;
  uint64_t inputs, outputs, weights, symbols, outputDims;
};

Fault codeFault(const std::string &text) { return {FaultKind::Code, text}; }

class Binder {
public:
  Binder(const Manifest &manifest, const std::string &target)
      : manifest(manifest), target(target) {}

  Result<void> bind(BoundExecutable &executable) {
    auto query = reinterpret_cast<rlx_abi_query>(
        executable.code.symbol(RLX_ABI_QUERY_SYMBOL));
    if (!query)
      return codeFault(who() + " does not export '" RLX_ABI_QUERY_SYMBOL "'");
    executable.table = query(RLX_ABI_VERSION);
    if (Result<void> table = checkTable(executable.table); !table)
      return table;
    for (const Entry &entry : manifest.entries) {
      Result<const rlx_abi_function *> function =
          find(entry.name,
               {RLX_ABI_ENTRY, entry.inputs.size(), entry.outputs.size(),
                entry.tensors.size(), entry.symbols.size(), sumOfRanks(entry)});
      if (!function)
        return function.fault();
      executable.entries.push_back(*function);
    }
    for (const Prepare &prepare : manifest.prepares) {
      Result<const rlx_abi_function *> function =
          find(prepare.function,
               {RLX_ABI_PREPARE, prepare.inputs.size(), prepare.outputs.size(),
                0, 0, sumOfRanks(prepare)});
      if (!function)
        return function.fault();
      executable.prepares.push_back(*function);
    }
    return {};
  }

private:
  std::string who() const { return "the executable for '" + target + "'"; }

  static uint64_t sumOfRanks(const Entry &entry) {
    uint64_t sum = 0;
    for (const Value &output : entry.outputs)
      sum += output.dims.size();
    return sum;
  }

  /// Code sees a packed tensor as a run of elements.
  uint64_t sumOfRanks(const Prepare &prepare) const {
    uint64_t sum = 0;
    for (uint32_t output : prepare.outputs) {
      const Tensor &tensor = manifest.tensors[output];
      sum += tensor.layout == "row_major" ? tensor.shape.size() : 1;
    }
    return sum;
  }

  Result<void> checkTable(const rlx_abi_executable *table) {
    if (!table)
      return codeFault(who() + " does not speak version " +
                       std::to_string(RLX_ABI_VERSION) +
                       " of the executable interface; bake the model again "
                       "with this version of RLX");
    bool plausible = table->struct_size >= sizeof(rlx_abi_executable) &&
                     table->abi_version == RLX_ABI_VERSION &&
                     table->function_size >= sizeof(rlx_abi_function) &&
                     table->function_size % alignof(rlx_abi_function) == 0 &&
                     (table->functions || !table->function_count) &&
                     (table->messages || !table->message_count) &&
                     table->target;
    if (!plausible)
      return codeFault(who() + " has a table that is not of version " +
                       std::to_string(RLX_ABI_VERSION) +
                       " of the executable interface");
    if (target != table->target)
      return codeFault(who() + " says that it is for '" + table->target + "'");
    auto *bytes = reinterpret_cast<const char *>(table->functions);
    for (uint32_t i = 0; i < table->function_count; ++i) {
      auto *function = reinterpret_cast<const rlx_abi_function *>(
          bytes + size_t(i) * table->function_size);
      if (!function->name || !function->plan || !function->run)
        return codeFault(who() + " has a function without name, plan or run");
      functions.emplace(function->name, function);
    }
    return {};
  }

  Result<const rlx_abi_function *> find(const std::string &name,
                                        const Signature &expected) {
    auto found = functions.find(name);
    if (found == functions.end())
      return codeFault(who() + " lacks function '" + name +
                       "', which the manifest names");
    const rlx_abi_function &function = *found->second;
    std::string what = who() + ": function '" + name + "' ";
    if (function.flags)
      return codeFault(what + "needs abilities (flags " +
                       std::to_string(function.flags) +
                       ") that this version of RLX does not have; use the "
                       "version that wrote the file, or a newer one");
    struct {
      const char *noun;
      uint64_t actual, expected;
    } counts[] = {
        {"kind", function.kind, expected.kind},
        {"inputs", function.input_count, expected.inputs},
        {"outputs", function.output_count, expected.outputs},
        {"weights", function.weight_count, expected.weights},
        {"symbols", function.symbol_count, expected.symbols},
        {"output dims", function.output_dim_count, expected.outputDims}};
    for (const auto &count : counts)
      if (count.actual != count.expected)
        return codeFault(what + "has " + count.noun + " = " +
                         std::to_string(count.actual) + ", the manifest says " +
                         std::to_string(count.expected));
    return &function;
  }

  const Manifest &manifest;
  const std::string &target;
  std::unordered_map<std::string_view, const rlx_abi_function *> functions;
};

} // namespace

std::string BoundExecutable::explain(const rlx_abi_function &function,
                                     int32_t status) const {
  std::string who = "'" + std::string(function.name) + "' ";
  switch (status) {
  case RLX_ABI_ERR_OVERFLOW:
    return who + "needs more than 2^63 bytes for these dims";
  case RLX_ABI_ERR_SHAPE:
    return who + "cannot work with these dims";
  case RLX_ABI_ERR_ALLOCATE:
    return who + "got no memory for an output";
  case RLX_ABI_ERR_INTERNAL:
    return who + "found an inconsistency in its own state";
  default:
    break;
  }
  int64_t message = int64_t(status) - RLX_ABI_MESSAGE_BASE;
  if (message >= 0 && uint64_t(message) < table->message_count &&
      table->messages[message])
    return who + "failed: " + table->messages[message];
  return who + "failed with status " + std::to_string(status);
}

Result<BoundExecutable> runtime::bindExecutable(LoadedCode code,
                                                const Manifest &manifest,
                                                const std::string &target) {
  BoundExecutable executable;
  executable.code = std::move(code);
  if (Result<void> bound = Binder(manifest, target).bind(executable); !bound)
    return bound.fault();
  return executable;
}
