// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Bytecode.cpp - The rlx dialect in MLIR bytecode ----------*- C++ -*-===//
//
// Baked files keep their graph as bytecode for years. Ops need nothing of their
// own: MLIR writes operands, attributes and properties. A change of an op that
// makes old bytecode mean something else takes a new version, an upgrade in
// upgradeFromVersion(), and a file of the old version in test/Dialect/Inputs.
//
//===----------------------------------------------------------------------===//

#include "Bytecode.h"
#include "RLX/Dialect/RLXDialect.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;
using namespace rlx;

/// The version that is written. 1: the dialect of RLX 0.1.
static constexpr uint64_t kVersion = 1;

/// What a type starts with.
enum TypeCode : uint64_t { kPackedType = 0 };

/// Packed weights are matrices or stacks of them.
static constexpr uint64_t kMaxPackedRank = 3;

namespace {

struct Version final : DialectVersion {};

class BytecodeInterface final : public BytecodeDialectInterface {
public:
  explicit BytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(kVersion);
  }
  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override;

  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const override;
  Type readType(DialectBytecodeReader &reader) const override;
};

} // namespace

std::unique_ptr<DialectVersion>
BytecodeInterface::readVersion(DialectBytecodeReader &reader) const {
  uint64_t number;
  if (failed(reader.readVarInt(number)))
    return nullptr;
  if (number == kVersion)
    return std::make_unique<Version>();
  reader.emitError() << "the graph is written in version " << number
                     << " of the rlx dialect, this release of RLX reads "
                        "version "
                     << kVersion
                     << "; use the release that wrote it or a newer one";
  return nullptr;
}

LogicalResult
BytecodeInterface::writeType(Type type, DialectBytecodeWriter &writer) const {
  auto packed = dyn_cast<PackedType>(type);
  if (!packed)
    return failure();
  writer.writeVarInt(kPackedType);
  writer.writeList(packed.getShape(),
                   [&](int64_t size) { writer.writeVarInt(size); });
  writer.writeType(packed.getElementType());
  writer.writeVarInt(uint64_t(packed.getEncoding()));
  writer.writeVarInt(uint64_t(packed.getLayout()));
  return success();
}

Type BytecodeInterface::readType(DialectBytecodeReader &reader) const {
  uint64_t code, rank, encoding, layout;
  if (failed(reader.readVarInt(code)))
    return {};
  if (code != kPackedType) {
    reader.emitError() << "no type of the rlx dialect has code " << code;
    return {};
  }
  if (failed(reader.readVarInt(rank)))
    return {};
  if (rank > kMaxPackedRank) {
    reader.emitError() << "packed weight has rank " << rank << " but at most "
                       << kMaxPackedRank << " is possible";
    return {};
  }
  SmallVector<int64_t> shape;
  for (uint64_t axis = 0; axis < rank; ++axis) {
    uint64_t size;
    if (failed(reader.readVarInt(size)))
      return {};
    // Sizes of 2^63 and more become negative, which the type refuses.
    shape.push_back(int64_t(size));
  }
  Type elementType;
  if (failed(reader.readType(elementType)) ||
      failed(reader.readVarInt(encoding)) || failed(reader.readVarInt(layout)))
    return {};
  auto toEnum = [](uint64_t value) {
    return uint32_t(std::min<uint64_t>(value, UINT32_MAX));
  };
  std::optional<Encoding> knownEncoding = symbolizeEncoding(toEnum(encoding));
  std::optional<Layout> knownLayout = symbolizeLayout(toEnum(layout));
  if (!knownEncoding || !knownLayout) {
    reader.emitError() << "packed weight has encoding " << encoding
                       << " and layout " << layout
                       << ", of which this release of RLX does not know both";
    return {};
  }
  return PackedType::getChecked([&] { return reader.emitError(); },
                                getContext(), ArrayRef(shape), elementType,
                                *knownEncoding, *knownLayout);
}

void rlx::addBytecodeInterface(RLXDialect &dialect) {
  dialect.addInterface<BytecodeInterface>();
}
