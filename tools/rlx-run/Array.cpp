// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Array.h"
#include "Failure.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace rlx::run;

namespace {

template <typename T> T elementAs(const Array &array, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(array.data) + index * sizeof(T),
              sizeof(T));
  return value;
}

double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude = exponent == 31 ? (mantissa ? NAN : INFINITY)
                     : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                    : std::ldexp(mantissa, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

double brainToDouble(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

} // namespace

std::string rlx::run::describe(int32_t dtype,
                               const std::vector<int64_t> &dims) {
  const char *name = rlx_dtype_name(dtype);
  std::string text = std::string(name ? name : "?") + "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

Array rlx::run::allocateArray(const std::string &what, int32_t dtype,
                              std::vector<int64_t> dims) {
  uint64_t size = rlx_dtype_size(dtype);
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(size, uint64_t(dim), &size) ||
        size > uint64_t(INT64_MAX))
      throw Failure(what + ": shape " + describe(dtype, dims) +
                    " takes more than 2^63 bytes");
  Array array;
  array.dtype = dtype;
  array.dims = std::move(dims);
  array.sizeBytes = size;
  // Zeroed by the system without touching the pages.
  array.owner =
      std::shared_ptr<void>(std::calloc(size ? size : 1, 1), std::free);
  array.data = array.owner.get();
  if (!array.data)
    throw Failure(what + ": cannot allocate " + std::to_string(size) +
                  " bytes");
  return array;
}

double rlx::run::elementAsDouble(const Array &array, uint64_t index) {
  switch (array.dtype) {
  case RLX_F32:
    return elementAs<float>(array, index);
  case RLX_F16:
    return halfToDouble(elementAs<uint16_t>(array, index));
  case RLX_BF16:
    return brainToDouble(elementAs<uint16_t>(array, index));
  case RLX_F64:
    return elementAs<double>(array, index);
  case RLX_I8:
    return elementAs<int8_t>(array, index);
  case RLX_I16:
    return elementAs<int16_t>(array, index);
  case RLX_I32:
    return elementAs<int32_t>(array, index);
  case RLX_I64:
    return static_cast<double>(elementAs<int64_t>(array, index));
  case RLX_U8:
  case RLX_BOOL:
    return elementAs<uint8_t>(array, index);
  case RLX_U32:
    return elementAs<uint32_t>(array, index);
  default:
    throw Failure(std::string("elements of type ") +
                  rlx_dtype_name(array.dtype) +
                  " can be written but neither shown nor compared");
  }
}
