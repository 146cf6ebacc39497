// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Import/TensorSource.h"

#include "RLX/Support/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rlx;

TensorSource::~TensorSource() = default;

const SourceTensor *TensorSource::find(StringRef name) const {
  auto found = indices.find(name);
  return found == indices.end() ? nullptr : &list[found->second];
}

void TensorSource::add(SourceTensor tensor) {
  bool isNew = indices.try_emplace(tensor.name, list.size()).second;
  assert(isNew && "the reader refuses a name that comes twice");
  (void)isNew;
  list.push_back(std::move(tensor));
}

Expected<std::shared_ptr<TensorSource>> rlx::openTensorSource(StringRef path) {
  if (!sys::fs::is_directory(path))
    return path.ends_with(".index.json") ? openShardIndex(path)
                                         : openSafetensors(path);
  constexpr StringLiteral names[] = {"model.safetensors.index.json",
                                     "model.safetensors",
                                     "weights.safetensors"};
  for (StringRef name : names) {
    SmallString<256> file(path);
    sys::path::append(file, name);
    if (sys::fs::exists(file))
      return openTensorSource(file);
  }
  return makeError("{0}: directory has no {1}, {2} or {3}", path, names[0],
                   names[1], names[2]);
}
