// SPDX-License-Identifier: MIT OR Apache-2.0
// One function per operator that is not a leaf.
#include "GraphBuilder.h"

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Support/Error.h"
#include "RLX/Support/NearMiss.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace rlx;
using json::Kind;

/// The kind of an Activation or a Binary.
template <typename KindT>
static FailureOr<const KindT *> findKind(const DeclaredNode &node,
                                         ArrayRef<KindT> kinds,
                                         const GraphReporter &report) {
  if (!node.payload || !node.payload->is(Kind::String))
    return report.error(node, node.opOffset)
           << node.op << " has no kind, expected one such as {\"" << node.op
           << "\": \"" << kinds.front().name << "\"}";
  StringRef name = node.payload->string();
  const KindT *found =
      find_if(kinds, [&](const KindT &kind) { return kind.name == name; });
  if (found != kinds.end())
    return found;
  SmallVector<StringRef> names;
  for (const KindT &kind : kinds)
    names.push_back(kind.name);
  return report.error(node, node.payload->offset())
         << node.op << " of kind " << quoteName(name) << " is not known"
         << didYouMean(name, names);
}

FailureOr<BuiltNode> GraphBuilder::buildActivation(const DeclaredNode &node) {
  FailureOr<const ActivationKind *> kind =
      findKind(node, activationKinds(), report);
  if (failed(kind) || failed(checkArity(node, 1)) || failed(checkKinds(node)) ||
      failed(checkTakes(node, (*kind)->takes, (*kind)->name)))
    return failure();
  const BuiltNode &input = operand(node, 0);
  if (failed(checkShape(node, input.shape)))
    return failure();
  return BuiltNode{(*kind)->create(builder, location(node), input.value),
                   input.shape};
}

FailureOr<BuiltNode> GraphBuilder::buildBinary(const DeclaredNode &node) {
  FailureOr<const BinaryKind *> kind = findKind(node, binaryKinds(), report);
  if (failed(kind) || failed(checkArity(node, 2)) || failed(checkKinds(node)) ||
      failed(checkTakes(node, (*kind)->takes, (*kind)->name)))
    return failure();
  const BuiltNode &lhs = operand(node, 0), &rhs = operand(node, 1);
  size_t conflict;
  std::optional<SymbolicShape> shape =
      broadcast(lhs.shape, rhs.shape, conflict);
  if (!shape)
    return report.error(node)
           << "inputs " << describe(declaredOperand(node, 0)) << " "
           << str(lhs.shape) << " and " << describe(declaredOperand(node, 1))
           << " " << str(rhs.shape) << " do not broadcast: dim " << conflict
           << " of the result would be both";
  if (failed(checkShape(node, *shape)))
    return failure();
  Value value = (*kind)->create(
      builder, location(node), typeOf(*shape, node.kind), lhs.value, rhs.value);
  return BuiltNode{value, std::move(*shape)};
}

FailureOr<BuiltNode> GraphBuilder::buildCast(const DeclaredNode &node) {
  FailureOr<json::Value> to = readAttribute(node, "to", Kind::String, report);
  if (failed(to) || failed(checkArity(node, 1)))
    return failure();
  if (parseElementKind(to->string()) != node.kind)
    return report.error(node, to->offset())
           << "casts to " << quoteName(to->string()) << " but declares "
           << name(node.kind);
  const BuiltNode &input = operand(node, 0);
  if (failed(checkShape(node, input.shape)))
    return failure();
  Value value = CastOp::create(builder, location(node),
                               typeOf(input.shape, node.kind), input.value);
  return BuiltNode{value, input.shape};
}

FailureOr<BuiltNode> GraphBuilder::buildMatMul(const DeclaredNode &node) {
  if (failed(checkArity(node, 2)) || failed(checkKinds(node)) ||
      failed(checkTakes(node, Takes::Floats, node.op)))
    return failure();
  const BuiltNode &lhs = operand(node, 0), &rhs = operand(node, 1);
  auto refuse = [&]() {
    InFlightDiagnostic diagnostic = report.error(node);
    diagnostic << "inputs " << describe(declaredOperand(node, 0)) << " "
               << str(lhs.shape) << " and "
               << describe(declaredOperand(node, 1)) << " " << str(rhs.shape)
               << " ";
    return diagnostic;
  };
  if (lhs.shape.size() < 2 || rhs.shape.size() < 2)
    return refuse() << "need rank 2 or more each for MatMul";
  const Size &lhsK = lhs.shape.back(), &rhsK = rhs.shape[rhs.shape.size() - 2];
  if (lhsK != rhsK)
    return refuse() << "do not multiply: lhs has " << lhsK.str()
                    << " columns, rhs has " << rhsK.str() << " rows";
  size_t conflict;
  std::optional<SymbolicShape> shape =
      broadcast(ArrayRef(lhs.shape).drop_back(2),
                ArrayRef(rhs.shape).drop_back(2), conflict);
  if (!shape)
    return refuse() << "do not broadcast: batch dim " << conflict
                    << " of the result would be both";
  shape->push_back(lhs.shape[lhs.shape.size() - 2]);
  shape->push_back(rhs.shape.back());
  if (failed(checkShape(node, *shape)))
    return failure();
  Value value = MatmulOp::create(
      builder, location(node), typeOf(*shape, node.kind), lhs.value, rhs.value);
  return BuiltNode{value, std::move(*shape)};
}

LogicalResult GraphBuilder::checkTarget(const DeclaredNode &node,
                                        StringRef key) {
  FailureOr<json::Value> list = readAttribute(node, key, Kind::Array, report);
  if (failed(list))
    return failure();
  if (list->size() != node.shape.size())
    return report.error(node, list->offset())
           << "\"" << key << "\" has " << list->size()
           << " entries but the declared shape " << str(node.shape) << " has "
           << node.shape.size() << " dims";
  for (size_t i = 0, e = list->size(); i != e; ++i) {
    json::Value entry = (*list)[i];
    std::optional<int64_t> size;
    if (entry.is(Kind::Number))
      size = entry.integer();
    const DeclaredDim &dim = node.shape[i];
    // -1 leaves the dim to the declared shape.
    if (size == -1 || (size == dim.value && !dim.isSymbol))
      continue;
    return report.error(node, entry.offset())
           << "\"" << key << "\" has "
           << (entry.is(Kind::Number) ? entry.digits()
                                      : json::describe(entry.kind()).str())
           << " as entry " << i << ", the declared shape " << str(node.shape)
           << " asks for "
           << (dim.isSymbol ? "-1" : itostr(dim.value) + " or -1");
  }
  return success();
}

FailureOr<BuiltNode> GraphBuilder::buildReshape(const DeclaredNode &node) {
  if (failed(checkArity(node, 1)) || failed(checkKinds(node)) ||
      failed(checkTarget(node, "new_shape")))
    return failure();
  const BuiltNode &input = operand(node, 0);
  std::optional<Size> count = elementCount(input.shape);

  SymbolicShape shape;
  std::optional<size_t> undefined;
  for (auto [index, dim] : enumerate(node.shape)) {
    std::optional<Size> size = resolve(dim);
    if (!size && undefined)
      return report.error(node, node.shapeOffset)
             << "dims " << *undefined << " and " << index
             << " are symbols that no input carries; the element count can "
             << "define one";
    if (!size)
      undefined = index;
    shape.push_back(size.value_or(Size::fixed(1)));
  }
  // With 1 for the symbol that is to be defined, a lower bound of the size.
  if (failed(checkSize(node, shape)))
    return failure();
  std::optional<Size> known = elementCount(shape);

  if (undefined) {
    uint32_t id = node.shape[*undefined].value;
    std::optional<Size> quotient = count->dividedBy(*known);
    if (!quotient)
      return report.error(node, node.shapeOffset)
             << "input " << describe(declaredOperand(node, 0)) << " has "
             << count->str() << " elements, which is no multiple of "
             << known->str() << ", so that symbol '" << symbolName(id)
             << "' of dim " << *undefined << " has no size";
    symbols.try_emplace(id, *quotient);
    derivedSymbols.push_back(id);
    shape[*undefined] = *quotient;
  } else if (*count != *known) {
    return report.error(node, node.shapeOffset)
           << "input " << describe(declaredOperand(node, 0)) << " "
           << str(input.shape) << " has " << count->str()
           << " elements but shape " << str(node.shape) << " has "
           << known->str();
  }
  size_t derived = count_if(shape, [](const Size &size) {
    return !size.isFixed() && !size.asSymbol();
  });
  if (derived > 1)
    return report.error(node, node.shapeOffset)
           << "shape " << str(node.shape) << " has " << derived
           << " symbols that no input carries, at most one can be computed";
  if (failed(checkSize(node, shape)))
    return failure();
  Value value =
      ReshapeOp::create(builder, location(node), typeOf(shape, node.kind),
                        input.value, dimsAttr(shape));
  return BuiltNode{value, std::move(shape)};
}

FailureOr<BuiltNode> GraphBuilder::buildExpand(const DeclaredNode &node) {
  if (failed(checkArity(node, 1)) || failed(checkKinds(node)) ||
      failed(checkTarget(node, "target_shape")))
    return failure();
  FailureOr<SymbolicShape> shape = inputShape(node);
  if (failed(shape))
    return failure();
  const BuiltNode &input = operand(node, 0);
  size_t conflict;
  std::optional<SymbolicShape> broadcasted =
      broadcast(input.shape, *shape, conflict);
  if (!broadcasted || *broadcasted != *shape)
    return report.error(node)
           << "input " << describe(declaredOperand(node, 0)) << " "
           << str(input.shape) << " does not expand to " << str(*shape);
  Value value =
      ExpandOp::create(builder, location(node), typeOf(*shape, node.kind),
                       input.value, dimsAttr(*shape));
  return BuiltNode{value, std::move(*shape)};
}

FailureOr<BuiltNode> GraphBuilder::buildTranspose(const DeclaredNode &node) {
  FailureOr<json::Value> list =
      readAttribute(node, "perm", Kind::Array, report);
  if (failed(list) || failed(checkArity(node, 1)) || failed(checkKinds(node)))
    return failure();
  const BuiltNode &input = operand(node, 0);
  size_t rank = input.shape.size();
  SmallVector<int64_t> perm;
  SmallVector<bool> isTaken(rank, false);
  SymbolicShape shape;
  bool isPermutation = list->size() == rank;
  for (size_t i = 0; isPermutation && i != rank; ++i) {
    std::optional<int64_t> axis;
    if ((*list)[i].is(Kind::Number))
      axis = (*list)[i].integer();
    isPermutation =
        axis && *axis >= 0 && *axis < int64_t(rank) && !isTaken[*axis];
    if (!isPermutation)
      break;
    isTaken[*axis] = true;
    perm.push_back(*axis);
    shape.push_back(input.shape[*axis]);
  }
  if (!isPermutation)
    return report.error(node, list->offset())
           << "\"perm\" is no permutation of the " << rank << " dims of its "
           << "input " << describe(declaredOperand(node, 0)) << " "
           << str(input.shape);
  if (failed(checkShape(node, shape)))
    return failure();
  Value value = TransposeOp::create(
      builder, location(node), typeOf(shape, node.kind), input.value, perm);
  return BuiltNode{value, std::move(shape)};
}

FailureOr<BuiltNode> GraphBuilder::buildStopGradient(const DeclaredNode &node) {
  if (failed(checkArity(node, 1)) || failed(checkKinds(node)) ||
      failed(checkShape(node, operand(node, 0).shape)))
    return failure();
  return operand(node, 0);
}

FailureOr<APFloat> GraphBuilder::readFloat(const DeclaredNode &node,
                                           StringRef key) {
  FailureOr<json::Value> value = readAttribute(node, key, Kind::Number, report);
  if (failed(value))
    return failure();
  APFloat number(APFloat::IEEEsingle());
  Expected<APFloat::opStatus> status =
      number.convertFromString(value->digits(), APFloat::rmNearestTiesToEven);
  bool isNumber = bool(status);
  if (!isNumber)
    consumeError(status.takeError());
  if (!isNumber || !number.isFinite())
    return report.error(node, value->offset())
           << node.op << " has " << value->digits() << " as \"" << key
           << "\", which is beyond F32";
  return number;
}

FailureOr<uint64_t> GraphBuilder::readSeed(const DeclaredNode &node,
                                           StringRef key) {
  FailureOr<json::Value> value = readAttribute(node, key, Kind::Number, report);
  if (failed(value))
    return failure();
  uint64_t seed;
  if (!StringRef(value->digits()).getAsInteger(10, seed))
    return seed;
  if (std::optional<int64_t> negative = value->integer())
    return uint64_t(*negative);
  return report.error(node, value->offset())
         << node.op << " has " << value->digits() << " as \"" << key
         << "\", expected an integer of 64 bits";
}

FailureOr<BuiltNode> GraphBuilder::buildRandom(const DeclaredNode &node) {
  bool isNormal = node.op == "RngNormal";
  FailureOr<APFloat> first = readFloat(node, isNormal ? "mean" : "low");
  FailureOr<APFloat> second = readFloat(node, isNormal ? "scale" : "high");
  FailureOr<uint64_t> key = readSeed(node, "key");
  if (failed(first) || failed(second) || failed(key) ||
      failed(checkTakes(node, Takes::Floats, node.op)))
    return failure();
  if (!node.operands.empty())
    return report.error(node)
           << node.op << " with an input is not yet supported";
  // Two draws with one key and different seeds of their own are different
  // draws. The odd constant of Knuth's multiplicative hashing (2^64 / golden
  // ratio) spreads small seeds over all bits.
  std::optional<json::Value> ownSeed = node.payload->find("op_seed");
  if (ownSeed && !ownSeed->is(Kind::Null)) {
    FailureOr<uint64_t> seed = readSeed(node, "op_seed");
    if (failed(seed))
      return failure();
    *key ^= (*seed + 1) * 0x9E3779B97F4A7C15ull;
  }
  FailureOr<SymbolicShape> shape = inputShape(node);
  if (failed(shape))
    return failure();

  RankedTensorType type = typeOf(*shape, node.kind);
  FloatAttr parameters[] = {FloatAttr::get(builder.getF32Type(), *first),
                            FloatAttr::get(builder.getF32Type(), *second)};
  IntegerAttr keyAttr = builder.getI64IntegerAttr(int64_t(*key));
  Value value;
  if (isNormal)
    value = RngNormalOp::create(builder, location(node), type, parameters[0],
                                parameters[1], keyAttr, dimsAttr(*shape));
  else
    value = RngUniformOp::create(builder, location(node), type, parameters[0],
                                 parameters[1], keyAttr, dimsAttr(*shape));
  return BuiltNode{value, std::move(*shape)};
}
