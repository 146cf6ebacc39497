// SPDX-License-Identifier: MIT OR Apache-2.0
/// \file
/// Where weights come from: named tensors, whatever the file format.
#ifndef RLX_IMPORT_TENSORSOURCE_H
#define RLX_IMPORT_TENSORSOURCE_H

#include "RLX/Import/ElementKind.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace rlx {

/// A tensor of a weight file.
struct SourceTensor {
  std::string name;
  ElementKind kind;
  llvm::SmallVector<int64_t, 4> shape;
  /// Row-major, little-endian, without gaps, as long as shape and kind say.
  /// Points into the mapped file, at any address: check the alignment before
  /// reading elements in place.
  llvm::ArrayRef<char> data;
  /// The file that holds it, for messages.
  llvm::StringRef file;
};

/// A set of named tensors. Immutable once made, so any thread may read it; the
/// bytes stay mapped as long as the source lives, and the file must not be
/// overwritten in place meanwhile.
class TensorSource {
public:
  virtual ~TensorSource();

  /// The path under which the source was opened.
  llvm::StringRef path() const { return sourcePath; }

  /// All tensors, in the order of the file's bytes; names are unique.
  llvm::ArrayRef<SourceTensor> tensors() const { return list; }

  /// The tensor of that name, or null.
  const SourceTensor *find(llvm::StringRef name) const;

  /// What the file says about itself, such as `format`.
  const llvm::StringMap<std::string> &metadata() const { return notes; }

protected:
  explicit TensorSource(llvm::StringRef path) : sourcePath(path) {}

  /// Adds a tensor whose name is new.
  void add(SourceTensor tensor);

  std::string sourcePath;
  llvm::StringMap<std::string> notes;

private:
  std::vector<SourceTensor> list;
  llvm::StringMap<size_t> indices;
};

/// Opens a weight file by what it is: `*.safetensors`, a shard index
/// `*.index.json`, or a directory with `model.safetensors.index.json`,
/// `model.safetensors` or `weights.safetensors`. Other formats are refused by
/// name.
llvm::Expected<std::shared_ptr<TensorSource>>
openTensorSource(llvm::StringRef path);

/// Maps a safetensors file and checks its header: every tensor lies within the
/// file, none overlap, no byte belongs to none.
llvm::Expected<std::shared_ptr<TensorSource>>
openSafetensors(llvm::StringRef path);

/// Opens the shards that `*.safetensors.index.json` names, which lie beside it,
/// and checks that each tensor of the index is in its shard.
llvm::Expected<std::shared_ptr<TensorSource>>
openShardIndex(llvm::StringRef path);

} // namespace rlx

#endif // RLX_IMPORT_TENSORSOURCE_H
