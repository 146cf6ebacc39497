// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C interface: weights and sessions.

#include "Api.h"
#include "CpuInfo.h"

#include <algorithm>

using namespace rlx;
using namespace rlx::artifact;
using namespace rlx::runtime;

namespace {

constexpr int64_t maxWorkers = 4096;

/// Params that the caller lent. Each is given back once: when its owner goes,
/// or with this object if it never got one.
class LentParams {
public:
  LentParams(const rlx_param *params, uint64_t count)
      : next(params), end(params + count) {}
  ~LentParams() {
    for (; next != end; ++next)
      giveBack(*next);
  }
  LentParams(const LentParams &) = delete;
  LentParams &operator=(const LentParams &) = delete;

  /// The owner of the next param's bytes.
  std::shared_ptr<const void> takeNext() {
    const rlx_param &param = *next++;
    // If there is no memory for the owner, this calls the deleter.
    return std::shared_ptr<const void>(
        param.value.data, [release = param.release,
                           context = param.release_context](const void *) {
          if (release)
            release(context);
        });
  }

private:
  static void giveBack(const rlx_param &param) {
    if (param.release)
      param.release(param.release_context);
  }
  const rlx_param *next, *end;
};

/// \param owner of the value's bytes; null: they are to be copied.
Result<ParamUpdate> readParam(const rlx_param &param,
                              std::shared_ptr<const void> owner) {
  if (!param.name)
    return nullArgument("rlx_weights_set_params", "a name");
  const rlx_tensor &value = param.value;
  std::string who = "param '" + std::string(param.name) + "': ";
  if (value.rank < 0 || value.rank > static_cast<int32_t>(maxRank) ||
      (value.rank && !value.dims))
    return Fault{FaultKind::Argument,
                 who + "the value has rank " + std::to_string(value.rank) +
                     (value.rank && !value.dims ? " and no dims" : "")};
  if (!rlx_dtype_name(value.dtype))
    return Fault{FaultKind::Argument, who + "the value has dtype number " +
                                          std::to_string(value.dtype)};
  ParamUpdate update;
  update.name = param.name;
  update.dtype = static_cast<DType>(value.dtype);
  update.dims.assign(value.dims, value.dims + value.rank);
  update.data = value.data;
  update.owner = std::move(owner);
  return update;
}

} // namespace

rlx_status rlx_weights_create(rlx_program *program, rlx_weights **out) {
  if (out)
    *out = nullptr;
  return guarded([&]() -> Result<void> {
    if (!program || !out)
      return nullArgument("rlx_weights_create", program ? "out" : "program");
    auto handle = std::make_unique<rlx_weights>();
    handle->weights = std::make_shared<WeightSet>(program->program);
    *out = handle.release();
    return {};
  });
}

rlx_status rlx_weights_default(rlx_program *program, rlx_weights **out) {
  if (out)
    *out = nullptr;
  return guarded([&]() -> Result<void> {
    if (!program || !out)
      return nullArgument("rlx_weights_default", program ? "out" : "program");
    auto handle = std::make_unique<rlx_weights>();
    handle->weights = program->defaultWeights();
    *out = handle.release();
    return {};
  });
}

void rlx_weights_retain(rlx_weights *weights) { retain(weights); }
void rlx_weights_release(rlx_weights *weights) { release(weights); }

rlx_status rlx_weights_set_params(rlx_weights *weights, const rlx_param *params,
                                  uint64_t count, uint32_t flags) {
  return guarded([&]() -> Result<void> {
    bool borrow = flags & RLX_BORROW;
    // From here on `release` is called whatever happens.
    LentParams lent(params, borrow && params ? count : 0);
    if (!weights || (!params && count))
      return nullArgument("rlx_weights_set_params",
                          weights ? "params" : "weights");
    if (flags & ~uint32_t(RLX_BORROW))
      return Fault{FaultKind::Argument, "rlx_weights_set_params: flags " +
                                            std::to_string(flags) +
                                            " has unknown bits"};
    std::vector<ParamUpdate> updates;
    for (uint64_t i = 0; i < count; ++i) {
      Result<ParamUpdate> update =
          readParam(params[i], borrow ? lent.takeNext() : nullptr);
      if (!update)
        return update.fault();
      updates.push_back(std::move(*update));
    }
    return weights->weights->set(updates);
  });
}

rlx_status rlx_weights_set_param(rlx_weights *weights, const char *name,
                                 const rlx_tensor *value) {
  if (!value)
    return guarded([]() -> Result<void> {
      return nullArgument("rlx_weights_set_param", "value");
    });
  rlx_param param = {name, *value, nullptr, nullptr};
  return rlx_weights_set_params(weights, &param, 1, 0);
}

rlx_status rlx_session_create(rlx_program *program, rlx_weights *weights,
                              const rlx_session_options *given,
                              rlx_session **out) {
  if (out)
    *out = nullptr;
  return guarded([&]() -> Result<void> {
    if (!program || !out)
      return nullArgument("rlx_session_create", program ? "out" : "program");
    Result<rlx_session_options> read =
        readOptions(given, "rlx_session_options");
    if (!read)
      return read.fault();
    if (read->workers < 0 || read->workers > maxWorkers)
      return Fault{FaultKind::Argument, "rlx_session_options.workers is " +
                                            std::to_string(read->workers) +
                                            ", it can be 0 to " +
                                            std::to_string(maxWorkers)};
    SessionOptions options;
    options.workers = read->workers;
    if (!options.workers)
      options.workers =
          std::min<int64_t>(maxWorkers, int64_t(allowedCpus().size()));
    options.seed = read->seed;
    options.pin = read->pin != 0;
    std::shared_ptr<WeightSet> set =
        weights ? weights->weights : program->defaultWeights();
    if (set->program() != program->program)
      return Fault{FaultKind::Argument,
                   "rlx_session_create: the weights belong to " +
                       set->program()->name() + ", the program is " +
                       program->program->name()};
    Result<std::unique_ptr<Session>> session =
        Session::create(std::move(set), options);
    if (!session)
      return session.fault();
    auto handle = std::make_unique<rlx_session>();
    handle->session = std::move(*session);
    *out = handle.release();
    return {};
  });
}

void rlx_session_retain(rlx_session *session) { retain(session); }
void rlx_session_release(rlx_session *session) { release(session); }

rlx_status rlx_session_output_dims(rlx_session *session, uint32_t entry,
                                   const rlx_tensor *inputs,
                                   uint32_t inputCount, int64_t *dims,
                                   uint64_t dimCount) {
  return guarded([&]() -> Result<void> {
    if (!session || (!inputs && inputCount) || (!dims && dimCount))
      return nullArgument("rlx_session_output_dims", !session ? "session"
                                                     : inputs || !inputCount
                                                         ? "dims"
                                                         : "inputs");
    return session->session->outputDims(entry, inputs, inputCount, dims,
                                        dimCount);
  });
}

rlx_status rlx_session_prepare(rlx_session *session, uint32_t entry) {
  return guarded([&]() -> Result<void> {
    if (!session)
      return nullArgument("rlx_session_prepare", "session");
    return session->session->prepare(entry);
  });
}

rlx_status rlx_session_run(rlx_session *session, uint32_t entry,
                           const rlx_tensor *inputs, uint32_t inputCount,
                           const rlx_tensor *outputs, uint32_t outputCount) {
  return guarded([&]() -> Result<void> {
    if (!session || (!inputs && inputCount) || (!outputs && outputCount))
      return nullArgument("rlx_session_run", !session ? "session"
                                             : inputs || !inputCount
                                                 ? "outputs"
                                                 : "inputs");
    return session->session->run(entry, inputs, inputCount, outputs,
                                 outputCount);
  });
}

rlx_status rlx_session_stats(const rlx_session *session, rlx_stats *out) {
  return guarded([&]() -> Result<void> {
    if (!session || !out)
      return nullArgument("rlx_session_stats", session ? "out" : "session");
    if (out->struct_size < sizeof(uint64_t))
      return Fault{FaultKind::Argument, "rlx_stats.struct_size is " +
                                            std::to_string(out->struct_size) +
                                            "; set it to sizeof(rlx_stats)"};
    Result<rlx_stats> stats = session->session->stats();
    if (!stats)
      return stats.fault();
    uint64_t size = std::min<uint64_t>(out->struct_size, sizeof(rlx_stats));
    stats->struct_size = out->struct_size;
    auto *from = reinterpret_cast<const char *>(&*stats);
    std::copy(from, from + size, reinterpret_cast<char *>(out));
    return {};
  });
}

const char *rlx_session_target(const rlx_session *session) {
  return session->session->target();
}
