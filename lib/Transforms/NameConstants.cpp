// SPDX-License-Identifier: MIT OR Apache-2.0
//===- NameConstants.cpp - A name of its own for each stored constant -----===//

#include "PreparePartition.h"
#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Transforms/Passes.h"
#include "WeightNames.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringMap.h"

#include <tuple>

namespace rlx {
#define GEN_PASS_DEF_NAMECONSTANTSPASS
#include "RLX/Transforms/Passes.h.inc"
} // namespace rlx

using namespace mlir;
using namespace rlx;

namespace {

class NameConstantsPass
    : public rlx::impl::NameConstantsPassBase<NameConstantsPass> {
  void runOnOperation() override;
};

/// What makes two constants one weight: the name they had, value and type (a
/// packed weight and a tensor may have the same bytes).
using ConstantKey = std::tuple<StringRef, Attribute, Type>;

} // namespace

static ConstantKey getKey(ConstantOp constant) {
  return {constant.getWeightName(), constant.getValue(), constant.getType()};
}

/// A literal is part of the code that reads it.
static bool isLiteral(ConstantOp constant) {
  return isInlinedLeaf(constant) && isa<DenseElementsAttr>(constant.getValue());
}

/// `<stem><i>` for the first `i` that is free.
static std::string takeNumbered(WeightNames &names, const Twine &stem,
                                unsigned &next) {
  for (;;) {
    std::string name = (stem + Twine(next++)).str();
    if (names.take(name))
      return name;
  }
}

void NameConstantsPass::runOnOperation() {
  ModuleOp module = getOperation();
  WeightNames names(module);
  // Who has a name: a constant, or no key for a weight without a value.
  llvm::StringMap<std::optional<ConstantKey>> owners;
  SmallVector<ConstantOp> constants;
  module.walk([&](WeightLeafOpInterface leaf) {
    if (auto constant = dyn_cast<ConstantOp>(*leaf))
      constants.push_back(constant);
    else
      owners.try_emplace(leaf.getWeightName());
  });

  DenseMap<ConstantKey, StringAttr> newNames;
  llvm::StringMap<unsigned> next;
  for (ConstantOp constant : constants) {
    ConstantKey key = getKey(constant);
    StringRef oldName = constant.getWeightName();
    if (oldName.empty()) {
      if (isLiteral(constant))
        continue;
    } else if (owners.try_emplace(oldName, key).first->second == key) {
      continue;
    }
    auto [entry, isNew] = newNames.try_emplace(key);
    if (isNew) {
      StringRef label = getLocationName(constant.getLoc());
      std::string name =
          oldName.empty() && names.take(label)
              ? label.str()
              : takeNumbered(names,
                             oldName.empty() ? "const" : oldName + Twine('.'),
                             next[oldName]);
      entry->second = StringAttr::get(&getContext(), name);
      if (!oldName.empty())
        remark::passed(
            constant.getLoc(),
            remark::RemarkOpts::name("NameConstants").category("weights"))
            << remark::add("constant {0} is stored as {1}: another weight has "
                           "its name",
                           oldName, name);
    }
    constant.setNameAttr(entry->second);
  }
}
