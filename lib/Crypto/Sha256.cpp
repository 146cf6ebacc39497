// SPDX-License-Identifier: MIT OR Apache-2.0

#include "RLX/Crypto/Sha256.h"

#include <new>
#include <openssl/evp.h>

using namespace rlx::crypto;

namespace {
void require(bool ok) {
  if (!ok)
    throw std::bad_alloc();
}
} // namespace

struct Sha256::Context {
  // Fetched once per hasher: EVP_sha256() looks the implementation up again at
  // every initialisation, which doubles the cost of hashing small ranges.
  EVP_MD *algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX *state = EVP_MD_CTX_new();

  ~Context() {
    EVP_MD_CTX_free(state);
    EVP_MD_free(algorithm);
  }
  void start() { require(EVP_DigestInit_ex(state, algorithm, nullptr) == 1); }
};

Sha256::Sha256() : context(std::make_unique<Context>()) {
  require(context->algorithm && context->state);
  context->start();
}

Sha256::~Sha256() = default;

void Sha256::update(const void *data, size_t sizeBytes) {
  require(EVP_DigestUpdate(context->state, data, sizeBytes) == 1);
}

Digest Sha256::finish() {
  Digest digest;
  require(EVP_DigestFinal_ex(context->state, digest.data(), nullptr) == 1);
  context->start();
  return digest;
}

Digest rlx::crypto::sha256(const void *data, size_t sizeBytes) {
  Sha256 hasher;
  hasher.update(data, sizeBytes);
  return hasher.finish();
}

std::string rlx::crypto::toHex(const Digest &digest) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}
