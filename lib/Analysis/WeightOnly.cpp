// SPDX-License-Identifier: MIT OR Apache-2.0
//===- WeightOnly.cpp - Which values depend on weights alone --------------===//
//
// A fixpoint of its own rather than an analysis of MLIR's DataFlowSolver, which
// is wrong here in both directions: it joins what the branches of an `if` yield
// and ignores the condition, it does not revisit an op when a value that its
// regions capture changes, and without dead-code and constant analyses nothing
// gets a state at all; with them, code that only looks dead stays optimistic.
// Treating an op with regions as one opaque function of its operands and
// captures is both what soundness needs and what a transformation needs, since
// it moves such an op whole.
//
// Every value starts with no facts and gains some: a may-reach analysis by
// union, so the solution is the least one and each value is visited at most
// three times.
//
//===----------------------------------------------------------------------===//

#include "RLX/Analysis/WeightOnly.h"
#include "RLX/Analysis/WeightData.h"
#include "RLX/Dialect/RLXDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace rlx {

/// Calls inside calls; programs have a handful.
static constexpr unsigned kMaxCallDepth = 500;

class WeightOnlyAnalysis::Solver {
public:
  Solver(Operation *root, DenseMap<Value, uint8_t> &state);

  void run();

private:
  void visitOp(Operation *op);
  void visitRegions(Operation *op, uint8_t own);
  void visitRegionBranch(RegionBranchOpInterface op);
  void visitCallable(CallableOpInterface op);
  void visitControlFlow(Region &region);
  void visitCall(CallOpInterface call, CallableOpInterface callee);

  /// What an op's results depend on besides its operands and captures.
  uint8_t ownFacts(Operation *op);
  uint8_t callFacts(CallableOpInterface callee);
  /// The function that is called, if it is below the root; null otherwise.
  CallableOpInterface resolve(CallOpInterface call);
  bool hasKnownCallers(CallableOpInterface callable);

  void raise(Value value, uint8_t facts);
  void raiseAll(ValueRange values, uint8_t facts);
  void raiseEntryArguments(Operation *op, uint8_t facts);
  void propagate(Value value);

  /// True if nothing says how an op's operands reach its regions.
  static bool hasOpaqueRegions(Operation *op) {
    return !isa<RegionBranchOpInterface, CallableOpInterface>(op);
  }

  Operation *root;
  DenseMap<Value, uint8_t> &state;
  SmallVector<Value> worklist;
  /// Flow along branches, yields and calls; from operand to result needs no
  /// edge.
  DenseMap<Value, SmallVector<Value, 2>> edges;
  SymbolTableCollection symbolTables;
  std::optional<SymbolUserMap> symbolUsers;
  /// Facts of the bodies of functions; Dynamic while one is being looked at, so
  /// that recursion, which might not end, is dynamic.
  DenseMap<Operation *, uint8_t> bodies;
  unsigned callDepth = 0;
};

WeightOnlyAnalysis::Solver::Solver(Operation *root,
                                   DenseMap<Value, uint8_t> &state)
    : root(root), state(state) {
  if (root->hasTrait<OpTrait::SymbolTable>())
    symbolUsers.emplace(symbolTables, root);
}

void WeightOnlyAnalysis::Solver::raise(Value value, uint8_t facts) {
  uint8_t &known = state[value];
  if ((known | facts) == known)
    return;
  known |= facts;
  worklist.push_back(value);
}

void WeightOnlyAnalysis::Solver::raiseAll(ValueRange values, uint8_t facts) {
  for (Value value : values)
    raise(value, facts);
}

void WeightOnlyAnalysis::Solver::raiseEntryArguments(Operation *op,
                                                     uint8_t facts) {
  for (Region &region : op->getRegions())
    if (!region.empty())
      raiseAll(region.getArguments(), facts);
}

void WeightOnlyAnalysis::Solver::propagate(Value value) {
  uint8_t facts = state.lookup(value);
  Region *home = value.getParentRegion();
  for (Operation *user : value.getUsers()) {
    raiseAll(user->getResults(), facts);
    if (hasOpaqueRegions(user))
      raiseEntryArguments(user, facts);
    // The ops around the user capture the value.
    for (Operation *op = user; op->getParentRegion() != home;) {
      op = op->getParentOp();
      if (!op || op == root)
        break;
      raiseAll(op->getResults(), facts);
      if (hasOpaqueRegions(op))
        raiseEntryArguments(op, facts);
    }
  }
  if (auto it = edges.find(value); it != edges.end())
    raiseAll(it->second, facts);
}

CallableOpInterface WeightOnlyAnalysis::Solver::resolve(CallOpInterface call) {
  if (!symbolUsers)
    return nullptr;
  auto callee = dyn_cast_if_present<CallableOpInterface>(
      call.resolveCallableInTable(&symbolTables));
  if (!callee || !root->isProperAncestor(callee) || !callee.getCallableRegion())
    return nullptr;
  return callee;
}

bool WeightOnlyAnalysis::Solver::hasKnownCallers(CallableOpInterface callable) {
  auto symbol = dyn_cast<SymbolOpInterface>(callable.getOperation());
  if (!symbolUsers || !symbol || !symbol.isPrivate() || callable == root)
    return false;
  return llvm::all_of(symbolUsers->getUsers(symbol), [&](Operation *user) {
    auto call = dyn_cast<CallOpInterface>(user);
    return call && resolve(call) == callable;
  });
}

uint8_t WeightOnlyAnalysis::Solver::callFacts(CallableOpInterface callee) {
  if (auto it = bodies.find(callee); it != bodies.end())
    return it->second;
  bodies[callee] = Dynamic;
  // The stack bounds how deep calls are followed.
  if (callDepth == kMaxCallDepth)
    return Dynamic;
  ++callDepth;
  // Several blocks might form a loop that does not end.
  Region *body = callee.getCallableRegion();
  uint8_t facts = body->hasOneBlock() ? 0 : Dynamic;
  body->walk([&](Operation *op) { facts |= ownFacts(op); });
  --callDepth;
  return bodies[callee] = facts;
}

uint8_t WeightOnlyAnalysis::Solver::ownFacts(Operation *op) {
  if (auto leaf = dyn_cast<WeightLeafOpInterface>(op)) {
    // A value that is named but not loaded is no value.
    ElementsAttr value = leaf.getWeightValue();
    return value && WeightBytes::isReadable(value) ? 0 : Open;
  }
  if (op->hasTrait<OpTrait::ConstantLike>())
    return 0;
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    CallableOpInterface callee = resolve(call);
    return callee ? callFacts(callee) : uint8_t(Dynamic);
  }
  if (!isPure(op))
    return Dynamic;
  // Pure, yet not a function of operands alone: a thread's index, the address
  // of a global. An empty tensor has no contents that anything may read.
  if (op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
      op->getNumResults() != 0)
    return isa<tensor::EmptyOp>(op) ? 0 : Dynamic;
  // A symbol in the target shape is a dim of an input.
  auto isSymbol = [](Attribute dim) { return isa<SymbolRefAttr>(dim); };
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return llvm::any_of(reshape.getShape(), isSymbol) ? Dynamic : 0;
  if (auto expand = dyn_cast<ExpandOp>(op))
    return llvm::any_of(expand.getShape(), isSymbol) ? Dynamic : 0;
  return 0;
}

void WeightOnlyAnalysis::Solver::visitCall(CallOpInterface call,
                                           CallableOpInterface callee) {
  Block::BlockArgListType arguments =
      callee.getCallableRegion()->getArguments();
  OperandRange operands = call.getArgOperands();
  if (operands.size() != arguments.size()) {
    raiseAll(arguments, Dynamic);
    return;
  }
  for (auto [operand, argument] : llvm::zip_equal(operands, arguments))
    edges[operand].push_back(argument);
}

void WeightOnlyAnalysis::Solver::visitCallable(CallableOpInterface op) {
  raiseEntryArguments(op, hasKnownCallers(op) ? Varying : Varying | Dynamic);
}

void WeightOnlyAnalysis::Solver::visitRegionBranch(RegionBranchOpInterface op) {
  RegionBranchSuccessorMapping forwarded;
  op.getSuccessorOperandInputMapping(forwarded);
  for (auto &[operand, inputs] : forwarded)
    for (Value input : inputs)
      if (isa<BlockArgument>(input))
        edges[operand->get()].push_back(input);

  // What is not forwarded steers: the condition of an `if`, the bounds of a
  // `for`, what a `while` tests. It decides how often each region runs, hence
  // all that its arguments hold.
  auto addControl = [&](Operation *source) {
    for (OpOperand &operand : source->getOpOperands()) {
      if (forwarded.contains(&operand))
        continue;
      for (Region &region : op->getRegions())
        if (!region.empty())
          llvm::append_range(edges[operand.get()], region.getArguments());
    }
  };
  addControl(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!block.empty() && block.back().getNumSuccessors() == 0)
        addControl(&block.back());
  raiseEntryArguments(op, Varying);
}

void WeightOnlyAnalysis::Solver::visitControlFlow(Region &region) {
  if (region.empty() || region.hasOneBlock())
    return;
  auto inner = llvm::drop_begin(region.getBlocks());
  for (Block &block : inner)
    raiseAll(block.getArguments(), Varying);

  for (Block &block : region) {
    if (block.empty() || block.back().getNumSuccessors() == 0)
      continue;
    Operation *terminator = &block.back();
    auto branch = dyn_cast<BranchOpInterface>(terminator);
    bool chooses = terminator->getNumSuccessors() > 1;
    if (!branch || (chooses && !isPure(terminator))) {
      for (Block &target : inner)
        raiseAll(target.getArguments(), Dynamic);
      continue;
    }
    llvm::SmallDenseSet<unsigned> forwarded;
    for (auto [index, successor] :
         llvm::enumerate(terminator->getSuccessors())) {
      SuccessorOperands operands = branch.getSuccessorOperands(index);
      for (auto [i, argument] : llvm::enumerate(successor->getArguments())) {
        if (operands.isOperandProduced(i)) {
          raise(argument, Dynamic);
          continue;
        }
        edges[operands[i]].push_back(argument);
        forwarded.insert(operands.getOperandIndex(i));
      }
    }
    // Which way is taken decides what every later block argument holds, however
    // far away it is: without post-dominance, assume all of this region's.
    if (!chooses)
      continue;
    for (OpOperand &operand : terminator->getOpOperands())
      if (!forwarded.contains(operand.getOperandNumber()))
        for (Block &target : inner)
          llvm::append_range(edges[operand.get()], target.getArguments());
  }
}

void WeightOnlyAnalysis::Solver::visitRegions(Operation *op, uint8_t own) {
  for (Region &region : op->getRegions())
    visitControlFlow(region);
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    visitRegionBranch(branch);
  else if (auto callable = dyn_cast<CallableOpInterface>(op))
    visitCallable(callable);
  else
    raiseEntryArguments(op, Varying | own);
}

void WeightOnlyAnalysis::Solver::visitOp(Operation *op) {
  for (Value result : op->getResults())
    state.try_emplace(result, 0);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value argument : block.getArguments())
        state.try_emplace(argument, 0);

  uint8_t own = ownFacts(op);
  raiseAll(op->getResults(), own);
  for (Operation *around = op; own && around != root;) {
    around = around->getParentOp();
    raiseAll(around->getResults(), own);
  }
  if (op->getNumRegions() != 0)
    visitRegions(op, own);
  if (auto call = dyn_cast<CallOpInterface>(op))
    if (CallableOpInterface callee = resolve(call))
      visitCall(call, callee);
}

void WeightOnlyAnalysis::Solver::run() {
  root->walk([&](Operation *op) { visitOp(op); });
  while (!worklist.empty())
    propagate(worklist.pop_back_val());
}

WeightOnlyAnalysis::WeightOnlyAnalysis(Operation *root) {
  Solver(root, state).run();
}

} // namespace rlx
