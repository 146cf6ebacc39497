// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_TOOLS_RLX_RUN_MODEL_H
#define RLX_TOOLS_RLX_RUN_MODEL_H

#include "Array.h"
#include "Options.h"
#include "RLX/Runtime/Handles.h"

#include <vector>

namespace rlx::run {

/// Throws Failure with the runtime's message unless `status` is RLX_OK.
void require(rlx_status status);

/// An opened program, one of its entries, and what is needed to run it as the
/// command line says. Throws Failure.
class Model {
public:
  explicit Model(const Options &options);

  /// Prints what the program takes, gives and contains.
  void list() const;

  /// Does everything else that the options ask for. Returns the exit status.
  int run();

private:
  void bindWeights();
  void replaceParams();
  void makeInputs();
  Array randomInput(const rlx_value_info &input, uint64_t seed);
  std::vector<int64_t> inputDims(const rlx_value_info &input);
  void noteSymbols(const rlx_value_info &input,
                   const std::vector<int64_t> &dims);
  void makeOutputs();
  uint32_t outputNamed(const char *option, const NamedFile &file) const;
  void forward();
  void runAll();
  void reportTimes() const;
  void summarise() const;
  bool compare() const;
  void writeStats() const;

  const Options &options;
  ProgramHandle program;
  uint32_t entryIndex = 0;
  const rlx_entry_info *entry = nullptr;
  WeightsHandle weights;
  SessionHandle session;
  std::vector<Array> inputs, outputs;
  std::vector<rlx_tensor> inputViews, outputViews;
  /// Sizes of symbols, -1 while unknown, and of shapes that were used.
  std::vector<int64_t> symbols;
  std::vector<bool> shapeUsed;
  std::vector<uint64_t> timesNs;
};

} // namespace rlx::run

#endif // RLX_TOOLS_RLX_RUN_MODEL_H
