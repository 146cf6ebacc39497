// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_ARTIFACT_MANIFEST_H
#define RLX_ARTIFACT_MANIFEST_H

#include "RLX/Artifact/Result.h"
#include "RLX/Crypto/Sha256.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::artifact {

/// Read-only bytes that somebody else owns.
struct ByteSpan {
  const uint8_t *data = nullptr;
  uint64_t sizeBytes = 0;
};

/// Element types. The values are part of the file format and of the C ABI.
enum class DType : uint8_t {
  F32 = 0,
  F16 = 1,
  BF16 = 2,
  F64 = 3,
  I8 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  U8 = 8,
  U32 = 9,
  Bool = 10,
  C64 = 11,
  C128 = 12
};
inline constexpr unsigned numDTypes = 13;

/// The name used in tables and messages: "f32", "bool", ...
std::string_view dtypeName(DType dtype);

/// Bytes of one element.
uint64_t dtypeSizeBytes(DType dtype);

/// One dimension of an input or output: a size, a symbol of the entry, or, for
/// outputs, a number that only the entry's plan function can tell.
struct Dim {
  int64_t size = 0;
  int32_t symbol = -1;

  static Dim fixed(int64_t size) { return {size, -1}; }
  static Dim dynamic(int32_t symbol) { return {0, symbol}; }
  static Dim computed() { return {-1, -1}; }
  bool isDynamic() const { return symbol >= 0; }
  bool isComputed() const { return symbol < 0 && size == -1; }
};

/// An input or output of an entry.
struct Value {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Dim> dims;
};

/// Something to call. Its native function has the same name and gets the
/// buffers of `inputs`, `outputs`, `tensors` in this order.
struct Entry {
  std::string name;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  /// Names of the dynamic dims. Each occurs in the dims of an input.
  std::vector<std::string> symbols;
  /// Indexes into Manifest::tensors.
  std::vector<uint32_t> tensors;
};

enum class TensorState : uint8_t {
  Constant = 0, ///< the value is in a segment
  Param = 1,    ///< the value comes from the user
  Prepared = 2  ///< the value is an output of a prepare instance
};

/// One row of the weight table.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  /// The logical shape, whatever encoding and layout do to the bytes.
  std::vector<int64_t> shape;
  /// Which numbers: "f32" and the other dtype names; packed ones come later.
  std::string encoding = "f32";
  /// In which order: "row_major" or "panel64".
  std::string layout = "row_major";
  uint64_t sizeBytes = 0;
  TensorState state = TensorState::Constant;
  /// Constant: where the bytes are. The offset is a multiple of 64.
  uint32_t segment = 0;
  uint64_t segmentOffset = 0;
  /// Prepared: which output of which instance.
  uint32_t instance = 0;
  uint32_t output = 0;
  /// Param: contentHash() of the only value it may have; none: any will do.
  std::optional<crypto::Digest> contentHash;
  /// The weights it was made from, for people.
  std::string origin;
  /// What happened to it, for people.
  std::string note;
};

/// One run of a prepare function, which gets the buffers of `inputs`, `outputs`
/// in this order. Several instances may share a function. Inputs that are
/// prepared themselves belong to earlier instances.
struct Prepare {
  std::string function;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

/// Native code for one CPU class.
struct Executable {
  std::string target;
  uint32_t segment = 0;
  uint32_t abiVersion = 0;
};

enum class SegmentKind : uint8_t { Weights = 0, Executable = 1, Graph = 2 };

/// A range of the file.
struct Segment {
  SegmentKind kind = SegmentKind::Weights;
  /// From the start of the file; 0 when the artifact is not a file.
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  /// SHA-256 of each MiB, the last one shorter.
  std::vector<crypto::Digest> leaves;
};

/// A weight whose value became part of the program.
struct Baked {
  std::string name;
  std::string note;
};

/// Everything a loader knows before it touches a weight.
struct Manifest {
  /// Who wrote it, with version.
  std::string producer;
  /// The model's name.
  std::string name;
  /// What a reader must know to read this file rightly.
  std::vector<std::string> requiredFeatures;
  std::vector<Segment> segments;
  std::vector<Tensor> tensors;
  std::vector<Entry> entries;
  std::vector<Prepare> prepares;
  std::vector<Executable> executables;
  std::optional<uint32_t> graphSegment;
  std::vector<Baked> baked;
  /// JSON, as written by --report.
  std::string report;
};

/// Bytes per leaf hash.
inline constexpr uint64_t leafSizeBytes = uint64_t(1) << 20;
/// Alignment of segments and of tensors within them.
inline constexpr uint64_t segmentAlignment = 64;
/// Dims in messages: "[2, 3]".
std::string dimsText(const int64_t *dims, size_t rank);

/// Most dims of a tensor or value.
inline constexpr size_t maxRank = 32;

/// The bytes that a tensor of this shape takes, or why there is no such tensor.
/// Messages start with `what`, as in "tensor 'w'".
Result<uint64_t> tensorSizeBytes(std::string_view what, DType dtype,
                                 const std::vector<int64_t> &shape,
                                 std::string_view encoding,
                                 std::string_view layout);

/// Leaf hashes of one range.
std::vector<crypto::Digest> hashLeaves(ByteSpan bytes);

/// What Tensor::contentHash says of a value: SHA-256 over its leaf hashes.
crypto::Digest contentHash(ByteSpan bytes);

/// Checks everything about a manifest that does not depend on where segments
/// are stored: indexes, names, shapes against byte counts, order of prepare
/// instances, known encodings and features. The first fault is reported.
Result<void> validateManifest(const Manifest &manifest);

/// Serialises. Equal manifests give equal bytes.
std::vector<uint8_t> encodeManifest(const Manifest &manifest);

/// Reads what encodeManifest() or a stranger wrote: structure verified within
/// limits, then validateManifest(). `bytes` must be aligned to 8.
Result<Manifest> decodeManifest(ByteSpan bytes);

} // namespace rlx::artifact

#endif // RLX_ARTIFACT_MANIFEST_H
