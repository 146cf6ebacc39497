// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Session.h - Compile a graph and run it in this process -------------===//

#ifndef RLX_PIPELINES_SESSION_H
#define RLX_PIPELINES_SESSION_H

#include "RLX/Pipelines/Bake.h"
#include "RLX/Runtime/Handles.h"
#include <memory>
#include <optional>

namespace rlx {

enum class Device { CPU };

struct CompileOptions {
  /// Values of params that are known now: they become part of the program, and
  /// compute on them is folded. They must outlive the compiled graph if they
  /// are large (resources), since no weight is copied.
  WeightBindings paramBindings;
  /// Compute what depends on the other params alone once, before the first
  /// forward. Unset: what RLX_CACHE_PARAM_INVARIANT (`0` or `1`) says, else
  /// yes.
  std::optional<bool> cacheParamInvariant;
  /// Threads of a forward, with the calling one; 0: as many as there are CPUs.
  int64_t workers = 0;
};

/// A graph that was compiled for this machine, with one runtime session over
/// it. It executes as a baked file does: the same code, loaded by the same
/// runtime, without a copy of the weights. One thread at a time; more sessions
/// over the same program come from `rlx_session_create`.
class CompiledGraph {
public:
  struct Storage;
  explicit CompiledGraph(std::unique_ptr<Storage> storage);
  CompiledGraph(CompiledGraph &&);
  CompiledGraph &operator=(CompiledGraph &&);
  ~CompiledGraph();

  /// Sets a param that the graph left open. What was prepared from it is
  /// computed again at the next forward, and nothing else is.
  llvm::Error setParam(llvm::StringRef name, const rlx_tensor &value);

  /// Runs `entry` (empty: the only one, or `main`) on the caller's buffers.
  llvm::Error run(llvm::ArrayRef<rlx_tensor> inputs,
                  llvm::ArrayRef<rlx_tensor> outputs,
                  llvm::StringRef entry = {});

  rlx_stats getStats() const;
  const BakeReport &getReport() const;

  /// For the rest of the C interface; owned by this object.
  rlx_program *getProgram() const;
  rlx_session *getSession() const;

private:
  std::unique_ptr<Storage> storage;
};

/// Compiles graphs for a device.
class Session {
public:
  explicit Session(Device device = Device::CPU) : device(device) {}

  /// Compiles `graph`, which is rewritten in place, and keeps its context in
  /// use for as long as the result lives.
  llvm::Expected<CompiledGraph> compile(mlir::ModuleOp graph,
                                        const CompileOptions &options = {});

  Device getDevice() const { return device; }

private:
  Device device;
};

/// `Session().compile(graph, options)`.
llvm::Expected<CompiledGraph> compile(mlir::ModuleOp graph,
                                      const CompileOptions &options = {});

} // namespace rlx

#endif // RLX_PIPELINES_SESSION_H
