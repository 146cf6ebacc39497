// SPDX-License-Identifier: MIT OR Apache-2.0
//===- ShapeOps.cpp - Shape and data movement -------------------*- C++ -*-===//

#include "RLX/Dialect/RLXDialect.h"
#include "RLX/Dialect/RLXShape.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace rlx;

LogicalResult ReshapeOp::verify() { return success(); }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return {}; }
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {}
LogicalResult ExpandOp::verify() { return success(); }
OpFoldResult ExpandOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return {}; }
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return emitOptionalError(location, "input has type ",
                             adaptor.getInput().getType(),
                             " but must be a ranked tensor");
  ArrayRef<int64_t> perm = adaptor.getPerm();
  if (static_cast<int64_t>(perm.size()) != type.getRank())
    return emitOptionalError(location, "perm has ", perm.size(),
                             " entries but input has rank ", type.getRank());
  if (!isPermutationVector(perm))
    return emitOptionalError(location, "perm [", perm,
                             "] is no permutation of the dims of ", type);
  inferred.push_back(RankedTensorType::get(
      applyPermutation(type.getShape(), perm), type.getElementType()));
  return success();
}
