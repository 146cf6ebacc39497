// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_CRYPTO_SHA256_H
#define RLX_CRYPTO_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace rlx::crypto {

/// A SHA-256 value.
using Digest = std::array<uint8_t, 32>;

/// Lower-case hexadecimal, 64 characters.
std::string toHex(const Digest &digest);

/// An incremental SHA-256 over libcrypto. Reusable after finish(). The only
/// failure is exhausted memory, reported as std::bad_alloc.
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256 &) = delete;
  Sha256 &operator=(const Sha256 &) = delete;

  void update(const void *data, size_t sizeBytes);

  /// Returns the digest of everything since construction or the last finish()
  /// and starts over.
  Digest finish();

private:
  struct Context;
  std::unique_ptr<Context> context;
};

/// The digest of one contiguous range.
Digest sha256(const void *data, size_t sizeBytes);

} // namespace rlx::crypto

#endif // RLX_CRYPTO_SHA256_H
