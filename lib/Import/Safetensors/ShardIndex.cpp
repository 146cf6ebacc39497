// SPDX-License-Identifier: MIT OR Apache-2.0
// A model in several safetensors files: an index that maps each tensor to its
// file.
#include "RLX/Import/JSON/Document.h"
#include "RLX/Import/TensorSource.h"
#include "RLX/Support/Error.h"
#include "RLX/Support/File.h"

#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rlx;

namespace {

class ShardedFiles : public TensorSource {
public:
  explicit ShardedFiles(StringRef path) : TensorSource(path) {}

  Error readIndex();

private:
  Expected<TensorSource *> openShard(StringRef tensor, StringRef file);

  StringMap<std::shared_ptr<TensorSource>> shards;
};

} // namespace

Error ShardedFiles::readIndex() {
  Expected<std::unique_ptr<MemoryBuffer>> file = openRegularFile(path());
  if (!file)
    return file.takeError();
  Expected<json::Document> index =
      json::Document::parse((*file)->getBuffer(), path());
  if (!index)
    return index.takeError();
  json::Value root = index->root();
  std::optional<json::Value> map;
  if (root.is(json::Kind::Object))
    map = root.find("weight_map");
  if (!map || !map->is(json::Kind::Object))
    return makeError("{0}: has no \"weight_map\", expected an object that maps "
                     "tensors to files",
                     path());

  for (size_t i = 0, e = map->size(); i != e; ++i) {
    StringRef name = map->key(i);
    json::Value value = map->member(i);
    if (!value.is(json::Kind::String))
      return makeError("{0}: tensor {1} is mapped to {2}, expected a file name",
                       index->locate(value.offset()), quoteName(name),
                       describe(value.kind()));
    Expected<TensorSource *> shard = openShard(name, value.string());
    if (!shard)
      return shard.takeError();
    const SourceTensor *tensor = (*shard)->find(name);
    if (!tensor)
      return makeError("{0}: tensor {1} is not in {2}, where the index has it",
                       index->locate(map->keyOffset(i)), quoteName(name),
                       (*shard)->path());
    add(*tensor);
  }
  return Error::success();
}

Expected<TensorSource *> ShardedFiles::openShard(StringRef tensor,
                                                 StringRef file) {
  std::shared_ptr<TensorSource> &shard = shards[file];
  if (shard)
    return shard.get();
  // The index may come from anywhere; it must not make us read other folders.
  if (file.empty() || file == "." || file == ".." ||
      file.find_first_of(StringRef("/\\\0", 3)) != StringRef::npos)
    return makeError("{0}: tensor {1} is in file {2}, expected the name of a "
                     "file beside the index",
                     path(), quoteName(tensor), quoteName(file));
  SmallString<256> full = sys::path::parent_path(path());
  sys::path::append(full, file);
  Expected<std::shared_ptr<TensorSource>> opened = openSafetensors(full);
  if (!opened)
    return opened.takeError();
  shard = std::move(*opened);
  return shard.get();
}

Expected<std::shared_ptr<TensorSource>> rlx::openShardIndex(StringRef path) {
  auto source = std::make_shared<ShardedFiles>(path);
  if (Error error = source->readIndex())
    return std::move(error);
  return source;
}
