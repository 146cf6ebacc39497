// SPDX-License-Identifier: MIT OR Apache-2.0
//
// rlx-run --list

#include "Failure.h"
#include "Model.h"

#include <iostream>

using namespace rlx;
using namespace rlx::run;

namespace {

std::string valueText(const rlx_value_info &value) {
  std::string text =
      std::string(value.name) + ": " + rlx_dtype_name(value.dtype) + "[";
  for (int32_t d = 0; d < value.rank; ++d) {
    text += d ? ", " : "";
    if (value.symbols[d])
      text += value.symbols[d];
    else
      text += value.dims[d] < 0 ? "?" : std::to_string(value.dims[d]);
  }
  return text + "]";
}

std::string weightName(rlx_program *program, uint32_t index) {
  const char *name = rlx_program_weight(program, index)->name;
  return *name ? name : "#" + std::to_string(index);
}

} // namespace

void Model::list() const {
  std::ostream &out = std::cout;
  rlx_program *p = program.get();
  out << "program '" << rlx_program_name(p) << "', "
      << rlx_program_size_bytes(p) << " bytes, written by '"
      << rlx_program_producer(p) << "'\n";
  out << "native code for";
  for (uint32_t i = 0; i < rlx_program_target_count(p); ++i)
    out << (i ? ", " : " ") << rlx_program_target(p, i);
  out << (rlx_program_target_count(p) ? "" : " no CPU") << "; this CPU is "
      << rlx_host_cpu_class() << "\n";

  for (uint32_t i = 0; i < rlx_program_entry_count(p); ++i) {
    const rlx_entry_info *info = rlx_program_entry(p, i);
    out << "entry '" << info->name << "'\n";
    for (uint32_t j = 0; j < info->input_count; ++j)
      out << "  input  " << valueText(info->inputs[j]) << "\n";
    for (uint32_t j = 0; j < info->output_count; ++j)
      out << "  output " << valueText(info->outputs[j]) << "\n";
  }

  uint32_t weightCount = rlx_program_weight_count(p);
  out << weightCount << (weightCount == 1 ? " weight\n" : " weights\n");
  static const char *const states[] = {"constant", "param", "prepared"};
  for (uint32_t i = 0; i < weightCount; ++i) {
    const rlx_weight_info *info = rlx_program_weight(p, i);
    out << "  " << states[info->state] << " " << weightName(p, i) << ": "
        << describe(info->dtype, {info->dims, info->dims + info->rank}) << " "
        << info->encoding << " " << info->layout << ", " << info->size_bytes
        << " bytes";
    if (*info->origin)
      out << ", from " << info->origin;
    if (*info->note)
      out << " (" << info->note << ")";
    out << "\n";
  }

  for (uint32_t i = 0; i < rlx_program_prepare_count(p); ++i) {
    const rlx_prepare_info *info = rlx_program_prepare(p, i);
    out << "prepare " << info->function << "(";
    for (uint32_t j = 0; j < info->input_count; ++j)
      out << (j ? ", " : "") << weightName(p, info->inputs[j]);
    out << ") -> ";
    for (uint32_t j = 0; j < info->output_count; ++j)
      out << (j ? ", " : "") << weightName(p, info->outputs[j]);
    out << "\n";
  }
  if (!out.flush())
    throw Failure("standard output: cannot write");
}
