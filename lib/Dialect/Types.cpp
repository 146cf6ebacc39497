// SPDX-License-Identifier: MIT OR Apache-2.0
//===- Types.cpp - Types of the rlx dialect ---------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

#include "RLX/Dialect/RLXEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "RLX/Dialect/RLXTypes.cpp.inc"

using namespace mlir;
using namespace rlx;

void RLXDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "RLX/Dialect/RLXTypes.cpp.inc"
      >();
}

/// Parses a keyword of enum `Enum`; `known` lists its cases for the message.
template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, Enum &value, StringRef what,
                             StringRef known) {
  SMLoc loc = parser.getCurrentLocation();
  std::string keyword;
  if (parser.parseKeywordOrString(&keyword))
    return failure();
  std::optional<Enum> parsed = symbolizeEnum<Enum>(keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "unknown " << what << " '" << keyword << "', known: " << known;
  value = *parsed;
  return success();
}

Type PackedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Encoding encoding;
  Layout layout;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parseEnum(parser, encoding, "encoding", "dense") || parser.parseComma() ||
      parseEnum(parser, layout, "layout", "row_major, panel64") ||
      parser.parseGreater())
    return {};
  return parser.getChecked<PackedType>(parser.getContext(), shape, elementType,
                                       encoding, layout);
}

void PackedType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << ", " << stringifyEncoding(getEncoding())
          << ", " << stringifyLayout(getLayout()) << '>';
}

LogicalResult PackedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 Encoding encoding, Layout layout) {
  if (shape.size() != 2 && shape.size() != 3)
    return emitError() << "packed weight has rank " << shape.size()
                       << " but holds a matrix (KxN) or a stack of them "
                          "(BxKxN)";
  for (int64_t size : shape)
    if (size < 0)
      return emitError() << "packed weight has a dim of size " << size
                         << " but weights have static shapes";
  if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32() &&
      !elementType.isF64())
    return emitError() << "packed weight has elements of type " << elementType
                       << " but only f16, bf16, f32 and f64 can be packed";
  std::optional<int64_t> count = getStaticElementCount(shape);
  if (!count || !llvm::checkedMul<int64_t>(
                    *count, elementType.getIntOrFloatBitWidth() / 8))
    return emitError() << "packed weight takes more than 2^63 - 1 bytes";
  return success();
}

int64_t PackedType::getSizeInBytes() const {
  return *getStaticElementCount(getShape()) *
         (getElementType().getIntOrFloatBitWidth() / 8);
}
