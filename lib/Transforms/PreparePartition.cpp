// SPDX-License-Identifier: MIT OR Apache-2.0
//===- PreparePartition.cpp - Instances of weight-only functions ----------===//
//
// Three steps. (1) Which ops are weight-only and which of their results main
// needs: the boundary. (2) Value numbering of what the boundary needs, over all
// functions of the module, so that entry functions share work. (3) Connected
// components of the numbered graph without its leaves, cut further where
// results share an intermediate, each component a function of its leaves;
// equal functions are one.
//
//===----------------------------------------------------------------------===//

#include "PreparePartition.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXShape.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace rlx {

/// Literals up to this size are copied to where they are used.
static constexpr int64_t kMaxInlinedBytes = 256;
/// Nodes times results up to which a component is cut: 32 MiB of bits.
static constexpr uint64_t kMaxReachBits = uint64_t(1) << 28;

static bool isLeaf(Operation *op) {
  return isWeightLeaf(op) || op->hasTrait<OpTrait::ConstantLike>();
}

bool isInlinedLeaf(Operation *leaf) {
  auto weight = dyn_cast<WeightLeafOpInterface>(leaf);
  if (!weight || leaf->getNumResults() != 1)
    return true;
  std::optional<int64_t> size =
      getStoredSizeBytes(leaf->getResult(0).getType());
  if (!size)
    return true;
  if (!weight.getWeightName().empty())
    return false;
  // Without a name only a constant of ours can become an argument: it is given
  // one.
  auto constant = dyn_cast<ConstantOp>(leaf);
  return !constant || *size <= kMaxInlinedBytes ||
         constant.getValue().isSplat();
}

bool isFreeInMain(Operation *op) { return isa<ExpandOp, ReshapeOp>(op); }

StringRef getLocationName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getLocationName(part); !name.empty())
        return name;
  return {};
}

/// Operands, then what the regions capture.
static SetVector<Value> getInputs(Operation *op) {
  SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs;
}

//===----------------------------------------------------------------------===//
// What moves
//===----------------------------------------------------------------------===//

void PreparePartition::findMovable(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    // A call can't move: the function it names is in this module.
    bool moves =
        op->getNumResults() != 0 && !isLeaf(op) && !isa<CallOpInterface>(op) &&
        llvm::all_of(op->getResults(),
                     [&](Value v) { return weightOnly.isHoistable(v); }) &&
        (!options.mayMove || options.mayMove(op)) &&
        llvm::all_of(getInputs(op), [&](Value input) {
          Operation *source = input.getDefiningOp();
          return source && (isLeaf(source) || movable.contains(source));
        });
    if (!moves)
      return WalkResult::advance();
    movable.insert(op);
    return WalkResult::skip();
  });
}

bool PreparePartition::mayCross(Value value) const {
  Operation *op = value.getDefiningOp();
  return getStoredSizeBytes(value.getType()) && !isa<tensor::EmptyOp>(op) &&
         (!options.mayCross || options.mayCross(op));
}

bool PreparePartition::isUsedByMain(OpOperand &use) const {
  for (Operation *op = use.getOwner(); op; op = op->getParentOp())
    if (movable.contains(op))
      return kept.contains(op);
  return true;
}

void PreparePartition::findKept() {
  auto mustKeep = [&](Operation *op) {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return !mayCross(result) &&
             llvm::any_of(result.getUses(),
                          [&](OpOperand &use) { return isUsedByMain(use); });
    });
  };
  // Backwards, one sweep and one that finds nothing, unless the blocks of a
  // function are out of order.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : llvm::reverse(movable))
      if (!kept.contains(op) && mustKeep(op))
        changed |= kept.insert(op).second;
  }
}

void PreparePartition::findBoundary() {
  for (Operation *op : movable) {
    if (kept.contains(op))
      continue;
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUses(),
                       [&](OpOperand &use) { return isUsedByMain(use); }))
        results.insert(NodeValue{number(op), result.getResultNumber()});
  }
}

//===----------------------------------------------------------------------===//
// Value numbering
//===----------------------------------------------------------------------===//

NodeValue PreparePartition::lookup(Value value) const {
  return {nodeOf.lookup(value.getDefiningOp()),
          cast<OpResult>(value).getResultNumber()};
}

unsigned PreparePartition::number(Operation *root) {
  // With a stack of its own: chains of weight-only ops can be long.
  SmallVector<Operation *> stack = {root};
  while (!stack.empty()) {
    Operation *op = stack.back();
    bool ready = true;
    if (!nodeOf.contains(op)) {
      SetVector<Value> inputs = getInputs(op);
      for (Value input : llvm::reverse(inputs))
        if (Operation *source = input.getDefiningOp();
            !nodeOf.contains(source)) {
          stack.push_back(source);
          ready = false;
        }
      if (ready)
        numberOne(op);
    }
    if (ready)
      stack.pop_back();
  }
  return nodeOf.lookup(root);
}

unsigned PreparePartition::numberOne(Operation *op) {
  bool leaf = isLeaf(op);
  auto flags = OperationEquivalence::IgnoreLocations;
  // Where a weight comes from does not make it another weight.
  if (leaf)
    flags = flags | OperationEquivalence::IgnoreDiscardableAttrs;
  size_t hash = OperationEquivalence::computeHash(
      op,
      [&](Value operand) {
        NodeValue value = lookup(operand);
        return llvm::hash_combine(value.node, value.result);
      },
      OperationEquivalence::ignoreHashValue, flags);

  auto isEqual = [&](Operation *other) {
    DenseMap<Value, Value> inner;
    return OperationEquivalence::isEquivalentTo(
        op, other,
        [&](Value lhs, Value rhs) {
          if (auto it = inner.find(lhs); it != inner.end())
            return success(it->second == rhs);
          Operation *lhsOp = lhs.getDefiningOp(), *rhsOp = rhs.getDefiningOp();
          return success(nodeOf.contains(lhsOp) && nodeOf.contains(rhsOp) &&
                         lookup(lhs) == lookup(rhs));
        },
        [&](Value lhs, Value rhs) { inner[lhs] = rhs; }, flags);
  };
  SmallVector<unsigned, 1> &candidates = nodesByHash[hash];
  for (unsigned candidate : candidates)
    if (isEqual(nodes[candidate].getOp())) {
      nodes[candidate].ops.push_back(op);
      return nodeOf[op] = candidate;
    }

  unsigned node = nodes.size();
  candidates.push_back(node);
  PrepareNode &added = nodes.emplace_back();
  added.ops.push_back(op);
  added.isLeaf = leaf;
  for (Value input : getInputs(op))
    added.inputs.push_back(lookup(input));
  return nodeOf[op] = node;
}

Type PreparePartition::getType(NodeValue value) const {
  return nodes[value.node].getOp()->getResult(value.result).getType();
}

SmallVector<Value> PreparePartition::getOccurrences(NodeValue value) const {
  return llvm::map_to_vector(nodes[value.node].ops, [&](Operation *op) {
    return Value(op->getResult(value.result));
  });
}

bool PreparePartition::isUsedByMain(NodeValue value) const {
  return llvm::any_of(getOccurrences(value), [&](Value occurrence) {
    return llvm::any_of(occurrence.getUses(),
                        [&](OpOperand &use) { return isUsedByMain(use); });
  });
}

SmallVector<WeightLeafOpInterface>
PreparePartition::getWeights(NodeValue value) const {
  SmallVector<WeightLeafOpInterface> weights;
  llvm::DenseSet<unsigned> seen;
  SmallVector<unsigned> stack = {value.node};
  while (!stack.empty()) {
    unsigned at = stack.pop_back_val();
    if (!seen.insert(at).second)
      continue;
    const PrepareNode &node = nodes[at];
    for (NodeValue input : llvm::reverse(node.inputs))
      stack.push_back(input.node);
    auto leaf = dyn_cast<WeightLeafOpInterface>(node.getOp());
    if (leaf && !leaf.getWeightName().empty())
      weights.push_back(leaf);
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

void PreparePartition::buildInstances() {
  llvm::IntEqClasses classes(nodes.size());
  for (auto [index, node] : llvm::enumerate(nodes))
    for (NodeValue input : node.inputs)
      if (!nodes[input.node].isLeaf)
        classes.join(index, input.node);

  llvm::MapVector<unsigned, SmallVector<unsigned>> components;
  for (auto [index, node] : llvm::enumerate(nodes))
    if (!node.isLeaf)
      components[classes.findLeader(index)].push_back(index);
  for (auto &[leader, component] : components)
    cutComponent(component);
}

/// Cuts a component where results part ways: nodes that lead to the same
/// results stay together, so that a changed weight recomputes what it touches
/// and nothing else. That needs the values between the parts kept in memory;
/// where one is large the component stays whole.
void PreparePartition::cutComponent(ArrayRef<unsigned> component) {
  DenseMap<unsigned, unsigned> position;
  for (auto [at, node] : llvm::enumerate(component))
    position[node] = at;

  unsigned numResults = 0;
  for (unsigned node : component)
    for (unsigned r = 0, e = nodes[node].getOp()->getNumResults(); r != e; ++r)
      numResults += results.count({node, r});
  if (options.maxSharedBytes < 0 || numResults == 1 ||
      uint64_t(numResults) * component.size() > kMaxReachBits)
    return addInstance(component);

  // What each node leads to. Users stand after what they use.
  SmallVector<llvm::BitVector> reach(component.size(),
                                     llvm::BitVector(numResults));
  unsigned nextResult = 0;
  for (unsigned at = component.size(); at-- != 0;) {
    PrepareNode &node = nodes[component[at]];
    for (unsigned r = 0, e = node.getOp()->getNumResults(); r != e; ++r)
      if (results.count({component[at], r}))
        reach[at].set(nextResult++);
    for (NodeValue input : node.inputs)
      if (!nodes[input.node].isLeaf)
        reach[position[input.node]] |= reach[at];
  }

  SmallVector<NodeValue> shared;
  llvm::IntEqClasses groups(component.size());
  for (auto [at, node] : llvm::enumerate(component))
    for (NodeValue input : nodes[node].inputs) {
      if (nodes[input.node].isLeaf)
        continue;
      if (reach[position[input.node]] == reach[at]) {
        groups.join(position[input.node], at);
        continue;
      }
      if (results.count(input))
        continue;
      Value value = nodes[input.node].getOp()->getResult(input.result);
      if (!mayCross(value) ||
          *getStoredSizeBytes(value.getType()) > options.maxSharedBytes)
        return addInstance(component);
      shared.push_back(input);
    }
  results.insert(shared.begin(), shared.end());

  llvm::MapVector<unsigned, SmallVector<unsigned>> parts;
  for (auto [at, node] : llvm::enumerate(component))
    parts[groups.findLeader(at)].push_back(node);
  // A part leads to all that the parts which take its results lead to, and
  // more: the number of results it leads to is an order.
  auto ordered = parts.takeVector();
  auto rank = [&](const auto &part) {
    return std::make_pair(
        -int64_t(reach[position[part.second.front()]].count()),
        part.second.front());
  };
  llvm::sort(ordered, [&](const auto &lhs, const auto &rhs) {
    return rank(lhs) < rank(rhs);
  });
  for (auto &[leader, part] : ordered)
    addInstance(part);
}

void PreparePartition::addInstance(ArrayRef<unsigned> component) {
  PrepareInstance instance;
  instance.nodes.assign(component.begin(), component.end());
  for (unsigned node : component)
    for (unsigned r = 0, e = nodes[node].getOp()->getNumResults(); r != e; ++r)
      if (results.count({node, r}))
        instance.results.push_back({node, r});
  instance.function = addFunction(instance);
  instances.push_back(std::move(instance));
}

unsigned PreparePartition::addFunction(PrepareInstance &instance) {
  // Depth first from the results, so that parts of equal structure become
  // equal whatever the order in which the program interleaves their ops.
  llvm::DenseSet<unsigned> inside(instance.nodes.begin(), instance.nodes.end());
  llvm::SetVector<unsigned> order;
  llvm::DenseSet<unsigned> opened;
  SmallVector<unsigned> stack;
  for (NodeValue result : llvm::reverse(instance.results))
    stack.push_back(result.node);
  while (!stack.empty()) {
    unsigned at = stack.back();
    if (!opened.insert(at).second) {
      order.insert(at);
      stack.pop_back();
      continue;
    }
    for (NodeValue input : llvm::reverse(nodes[at].inputs)) {
      bool isInner = inside.contains(input.node) ||
                     (nodes[input.node].isLeaf &&
                      isInlinedLeaf(nodes[input.node].getOp()));
      if (isInner && !opened.contains(input.node))
        stack.push_back(input.node);
    }
  }
  std::map<NodeValue, unsigned> argumentNumber;
  for (unsigned at : order)
    for (NodeValue input : nodes[at].inputs)
      if (!order.contains(input.node) &&
          argumentNumber.try_emplace(input, argumentNumber.size()).second)
        instance.arguments.push_back(input);

  auto types = [&](ArrayRef<NodeValue> values) {
    return llvm::map_to_vector(values,
                               [&](NodeValue value) { return getType(value); });
  };
  Operation *last = nodes[instance.results.front().node].getOp();
  OpBuilder builder(last->getContext());
  auto type = builder.getFunctionType(types(instance.arguments),
                                      types(instance.results));
  auto function = func::FuncOp::create(last->getLoc(), "prepare", type);
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());

  llvm::DenseMap<unsigned, Operation *> cloned;
  auto getValue = [&](NodeValue value) -> Value {
    if (Operation *op = cloned.lookup(value.node))
      return op->getResult(value.result);
    return function.getArgument(argumentNumber.at(value));
  };
  size_t hash = hash_value(type);
  for (unsigned at : order) {
    Operation *op = nodes[at].getOp();
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(getInputs(op), nodes[at].inputs))
      mapping.map(from, getValue(to));
    cloned[at] = builder.clone(*op, mapping);
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  }
  func::ReturnOp::create(builder, last->getLoc(),
                         llvm::map_to_vector(instance.results, getValue));

  SmallVector<unsigned, 1> &candidates = functionsByHash[hash];
  for (unsigned candidate : candidates)
    if (functions[candidate]->getFunctionType() == type &&
        OperationEquivalence::isRegionEquivalentTo(
            &functions[candidate]->getBody(), &function.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      function.erase();
      return candidate;
    }
  candidates.push_back(functions.size());
  functions.push_back(OwningOpRef<func::FuncOp>(function));
  return functions.size() - 1;
}

PreparePartition::PreparePartition(ModuleOp module,
                                   const WeightOnlyAnalysis &weightOnly,
                                   Options options)
    : options(std::move(options)), weightOnly(weightOnly) {
  llvm::DenseSet<StringAttr> prepareFunctions;
  for (auto prepare : module.getOps<PrepareOp>())
    prepareFunctions.insert(prepare.getCalleeAttr().getAttr());
  for (auto function : module.getOps<func::FuncOp>())
    if (!prepareFunctions.contains(function.getSymNameAttr()))
      findMovable(function);
  findKept();
  findBoundary();
  buildInstances();
}

} // namespace rlx
