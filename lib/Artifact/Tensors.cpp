// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Element types, byte counts and leaf hashes.

#include "RLX/Artifact/Manifest.h"

#include <algorithm>

using namespace rlx;
using namespace rlx::artifact;

namespace {
struct DTypeRow {
  std::string_view name;
  uint64_t sizeBytes;
};
constexpr DTypeRow dtypeRows[numDTypes] = {
    {"f32", 4},  {"f16", 2}, {"bf16", 2}, {"f64", 8}, {"i8", 1},
    {"i16", 2},  {"i32", 4}, {"i64", 8},  {"u8", 1},  {"u32", 4},
    {"bool", 1}, {"c64", 8}, {"c128", 16}};
} // namespace

std::string artifact::dimsText(const int64_t *dims, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string_view artifact::dtypeName(DType dtype) {
  return dtypeRows[static_cast<unsigned>(dtype)].name;
}

uint64_t artifact::dtypeSizeBytes(DType dtype) {
  return dtypeRows[static_cast<unsigned>(dtype)].sizeBytes;
}

Result<uint64_t> artifact::tensorSizeBytes(std::string_view what, DType dtype,
                                           const std::vector<int64_t> &shape,
                                           std::string_view encoding,
                                           std::string_view layout) {
  std::string subject(what);
  if (static_cast<unsigned>(dtype) >= numDTypes)
    return Fault{FaultKind::Format,
                 subject + ": dtype number " +
                     std::to_string(static_cast<unsigned>(dtype)) +
                     " is not known to this version of RLX, which knows 0 to " +
                     std::to_string(numDTypes - 1)};
  if (shape.size() > maxRank)
    return Fault{FaultKind::Format, subject + ": has " +
                                        std::to_string(shape.size()) +
                                        " dimensions, at most " +
                                        std::to_string(maxRank) + " are read"};
  if (encoding != dtypeName(dtype))
    return Fault{FaultKind::Format,
                 subject + ": encoding '" + std::string(encoding) + "' of " +
                     std::string(dtypeName(dtype)) +
                     " values is not known to this version of RLX; use the "
                     "version that wrote the file, or a newer one"};
  bool packed = layout == "panel64";
  if (!packed && layout != "row_major")
    return Fault{FaultKind::Format,
                 subject + ": layout '" + std::string(layout) +
                     "' is not known to this version of RLX; use the version "
                     "that wrote the file, or a newer one"};
  if (packed && (dtype != DType::F32 || shape.size() < 2))
    return Fault{FaultKind::Format,
                 subject + ": layout 'panel64' is for f32 matrices, not for " +
                     std::string(dtypeName(dtype)) + " of shape " +
                     dimsText(shape.data(), shape.size())};

  // Sizes stay below 2^63, so that offsets computed from them are exact in
  // signed arithmetic too. A zero dim does not excuse an absurd other one.
  uint64_t size = dtypeSizeBytes(dtype), product = size;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return Fault{FaultKind::Format, subject + ": shape " +
                                          dimsText(shape.data(), shape.size()) +
                                          " has a negative dimension"};
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(product, static_cast<uint64_t>(dim), &product) ||
        product > static_cast<uint64_t>(INT64_MAX))
      return Fault{FaultKind::Format, subject + ": shape " +
                                          dimsText(shape.data(), shape.size()) +
                                          " takes more than 2^63 bytes"};
  }
  return empty ? uint64_t(0) : product;
}

std::vector<crypto::Digest> artifact::hashLeaves(ByteSpan bytes) {
  std::vector<crypto::Digest> leaves;
  leaves.reserve((bytes.sizeBytes + leafSizeBytes - 1) / leafSizeBytes);
  crypto::Sha256 hasher;
  for (uint64_t begin = 0; begin < bytes.sizeBytes; begin += leafSizeBytes) {
    hasher.update(bytes.data + begin,
                  std::min(leafSizeBytes, bytes.sizeBytes - begin));
    leaves.push_back(hasher.finish());
  }
  return leaves;
}

crypto::Digest artifact::contentHash(ByteSpan bytes) {
  crypto::Sha256 hasher;
  for (const crypto::Digest &leaf : hashLeaves(bytes))
    hasher.update(leaf.data(), leaf.size());
  return hasher.finish();
}
