// SPDX-License-Identifier: MIT OR Apache-2.0
//===- GemmKernels.cpp - Products and packs as calls of tile kernels ------===//

#include "IndexBuilder.h"
#include "KernelBody.h"

#include "RLX/Codegen/CPU/Kernels/PanelLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace rlx;

/// Rows below which a product isn't divided by rows: the tile kernel works on 6
/// at a time.
constexpr int64_t kMinTaskRows = 24;

/// The kernels take dense operands only.
static LogicalResult checkLayouts(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (type && !type.getLayout().isIdentity())
      return op->emitOpError("has a strided operand ")
             << type << " but tile kernels take dense ones";
  }
  return success();
}

/// Declares a function of the kernel library.
static func::FuncOp declareKernel(func::FuncOp near, StringRef name,
                                  ArrayRef<Type> types) {
  auto module = near->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto func = func::FuncOp::create(builder, near.getLoc(), name,
                                   builder.getFunctionType(types, {}));
  func.setPrivate();
  return func;
}

namespace {

/// Strides and outer dims of an operand, in the kernel's function.
struct Operand {
  SmallVector<Value> sizes, strides; ///< logical dims, row-major by storage

  Operand(IndexBuilder &b, ArrayRef<Value> storedSizes,
          function_ref<int64_t(int64_t)> storedDim) {
    int64_t rank = storedSizes.size();
    SmallVector<Value> storedStrides(rank);
    Value stride = b.constant(1);
    for (int64_t i = rank - 1; i >= 0; --i) {
      storedStrides[i] = stride;
      stride = b.mul(stride, storedSizes[i]);
    }
    for (int64_t i = 0; i < rank; ++i) {
      sizes.push_back(storedSizes[storedDim(i)]);
      strides.push_back(storedStrides[storedDim(i)]);
    }
  }

  /// Offset of the matrix with number `indices` of the result; outer dims are
  /// aligned at the innermost one, those of static size 1 repeat.
  Value getOuterOffset(IndexBuilder &b, ArrayRef<Value> indices,
                       ArrayRef<int64_t> outerShape) const {
    Value offset = b.constant(0);
    size_t skipped = indices.size() - outerShape.size();
    for (size_t i = 0; i < outerShape.size(); ++i)
      if (outerShape[i] != 1)
        offset = b.add(offset, b.mul(indices[skipped + i], strides[i]));
    return offset;
  }
};

/// A product as its kernel sees it: `outer` independent ones of M rows.
struct GemmShape {
  /// The outer dims are rows too: one product of outer*M rows.
  bool flat;
  SmallVector<OpFoldResult> outer;
  OpFoldResult m, n, k;
};

} // namespace

/// True if each row of the result is the same function of a row of lhs, so that
/// outer dims and rows can be counted together.
static bool canFlatten(GemmOp op) {
  auto lhs = cast<MemRefType>(op.getLhs().getType());
  auto rhs = cast<MemRefType>(op.getRhs().getType());
  auto init = cast<MemRefType>(op.getInit().getType());
  int64_t rank = init.getRank();
  if (lhs.getRank() != rank || op.getPermutation())
    return false;
  auto isOne = [](int64_t size) { return size == 1; };
  if (!llvm::all_of(rhs.getShape().drop_back(), isOne))
    return false;
  for (int64_t i = 0; i < rank - 2; ++i)
    if (lhs.getDimSize(i) == 1 && init.getDimSize(i) != 1)
      return false;
  for (Attribute attr : op.getEpilogueMaps()) {
    AffineMap map = cast<AffineMapAttr>(attr).getAffineMap();
    bool ofColumn = llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return !dim || dim.getPosition() == rank - 1;
    });
    if (!map.isIdentity() && !ofColumn)
      return false;
  }
  return true;
}

static GemmShape getShape(GemmOp op) {
  OpBuilder builder(op);
  GemmShape shape;
  shape.flat = canFlatten(op);
  SmallVector<OpFoldResult> init = getDims(builder, op.getInit());
  shape.k = getDims(builder, op.getLhs()).back();
  shape.n = init.pop_back_val();
  if (shape.flat) {
    shape.m = getAsOpFoldResult(getProduct(builder, op.getLoc(), init));
    return shape;
  }
  shape.m = init.pop_back_val();
  shape.outer = init;
  return shape;
}

/// Indices of element `number` in an array of shape `sizes`.
static SmallVector<Value> delinearize(IndexBuilder &b, Value number,
                                      ArrayRef<Value> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    // A size of zero has no elements, but division by it must not trap.
    Value size = b.max(sizes[i], b.constant(1));
    indices[i] = i == 0 ? number : b.rem(number, size);
    number = b.div(number, size);
  }
  return indices;
}

/// Address of element `offset` (f32) behind `base`.
static Value getAddress(OpBuilder &builder, IndexBuilder &b, Location loc,
                        Value base, Value offset) {
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::GEPOp::create(builder, loc, ptr, builder.getF32Type(), base,
                             ArrayRef<LLVM::GEPArg>{b.toI64(offset)});
}

/// Loops over the groups of panels that units [begin, end) touch: `emit` gets
/// the number of the group and the panels of it, [first, last).
static void forEachPanelRange(
    OpBuilder &builder, Location loc, Value panels, Value begin, Value end,
    function_ref<void(IndexBuilder &, Value, Value, Value)> emit) {
  IndexBuilder b(builder, loc);
  panels = b.max(panels, b.constant(1));
  auto loop = scf::ForOp::create(builder, loc, b.div(begin, panels),
                                 b.ceilDiv(end, panels), b.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value group = loop.getInductionVar(), start = b.mul(group, panels);
  Value first = b.sub(b.max(begin, start), start);
  Value last = b.min(b.sub(end, start), panels);
  emit(b, group, first, last);
}

namespace {

/// Emits the kernel of a product, and the function of its epilogue.
class GemmEmitter {
public:
  GemmEmitter(GemmOp op, Value workers, FunctionPool &pool)
      : op(op), loc(op.getLoc()), workers(workers), pool(pool),
        shape(getShape(op)) {}

  Kernel run();

private:
  void planWork();
  void emitBody(KernelBody &body);
  void emitEpilogue();
  void emitCallback();
  void fillRecord(KernelBody &body, Value record, Value row0,
                  ArrayRef<Value> outerIndices);

  GemmOp op;
  Location loc;
  Value workers;
  FunctionPool &pool;
  GemmShape shape;
  Kernel kernel;
  /// Into how many parts the rows are divided.
  Value rowChunks;
  /// The function that computes the epilogue of a block of C. Its arguments
  /// are those of a kernel, the outer indices, and ranges of rows and columns.
  std::unique_ptr<KernelBody> epilogue;
  func::FuncOp epilogueFunction;
  /// What the product calls: unpacks a record of the arguments above.
  func::FuncOp callback;
};

} // namespace

void GemmEmitter::planWork() {
  OpBuilder builder(op);
  IndexBuilder b(builder, loc);
  auto toValue = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  };
  // 50 multiply-adds per ns, and at least the time to read B.
  SmallVector<OpFoldResult> readSizes = shape.outer;
  readSizes.append({shape.k, shape.n});
  SmallVector<OpFoldResult> workSizes = readSizes;
  workSizes.push_back(shape.m);
  Value cost = arith::AddFOp::create(builder, loc,
                                     getCost(builder, loc, 0.02, workSizes),
                                     getCost(builder, loc, 0.2, readSizes));
  Value one = b.constant(1);
  Value panels = b.ceilDiv(toValue(shape.n), b.constant(kPanelWidth));
  Value whole = b.mul(getProduct(builder, loc, shape.outer), panels);
  Value mostChunks =
      b.max(b.div(toValue(shape.m), b.constant(kMinTaskRows)), one);
  Value count =
      getTaskCount(builder, loc, cost, workers, b.mul(whole, mostChunks));
  // Rows are divided only if there are too few panels: each part packs its
  // rows of A, but would read all of B again.
  rowChunks = b.min(b.ceilDiv(count, b.max(whole, one)), mostChunks);
  kernel.units = b.mul(whole, rowChunks);
  kernel.count = b.max(b.min(count, kernel.units), one);
}

/// Emits the loops over a block of C.
void GemmEmitter::emitEpilogue() {
  SmallVector<Value> values = {op.getInit()};
  llvm::append_range(values, op.getExtras());
  SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  llvm::append_range(values, used);
  Type index = IndexType::get(op.getContext());
  size_t outerRank = shape.outer.size();
  SmallVector<Type> extraTypes(outerRank + 4, index);
  epilogue = std::make_unique<KernelBody>(op, values, extraTypes);
  OpBuilder &builder = epilogue->getBuilder();
  IndexBuilder b(builder, loc);

  int64_t rank = cast<MemRefType>(op.getInit().getType()).getRank();
  auto flatten = [&](Value buffer) -> Value {
    Value inside = epilogue->get(buffer);
    if (!shape.flat || rank == 2)
      return inside;
    ReassociationIndices rows;
    for (int64_t i = 0; i < rank - 1; ++i)
      rows.push_back(i);
    return memref::CollapseShapeOp::create(
        builder, loc, inside,
        SmallVector<ReassociationIndices>{rows, {rank - 1}});
  };
  SmallVector<Value> buffers = {flatten(op.getInit())};
  SmallVector<AffineMap> maps = {
      builder.getMultiDimIdentityMap(shape.flat ? 2 : rank)};
  for (auto [extra, attr] : llvm::zip(op.getExtras(), op.getEpilogueMaps())) {
    AffineMap map = cast<AffineMapAttr>(attr).getAffineMap();
    bool wholeRows = shape.flat && map.isIdentity();
    buffers.push_back(wholeRows ? flatten(extra) : epilogue->get(extra));
    maps.push_back(wholeRows ? builder.getMultiDimIdentityMap(2) : map);
  }
  for (Value value : used)
    epilogue->get(value);

  auto bound = [&](unsigned i) -> Value {
    return epilogue->getExtra(outerRank + i);
  };
  Value one = b.constant(1);
  auto rows = scf::ForOp::create(builder, loc, bound(0), bound(1), one);
  builder.setInsertionPointToStart(rows.getBody());
  auto columns = scf::ForOp::create(builder, loc, bound(2), bound(3), one);
  builder.setInsertionPointToStart(columns.getBody());
  Value row = rows.getInductionVar(), column = columns.getInductionVar();
  auto getIndices = [&](AffineMap map) {
    SmallVector<Value> indices;
    unsigned dims = map.getNumDims();
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        indices.push_back(
            b.constant(cast<AffineConstantExpr>(expr).getValue()));
      else if (dim.getPosition() == dims - 1)
        indices.push_back(column);
      else if (dim.getPosition() == dims - 2)
        indices.push_back(row);
      else
        indices.push_back(epilogue->getExtra(dim.getPosition()));
    }
    return indices;
  };
  Block &region = op.getEpilogue().front();
  IRMapping mapping = epilogue->getMapping();
  for (auto [i, buffer] : llvm::enumerate(buffers))
    mapping.map(
        region.getArgument(i),
        memref::LoadOp::create(builder, loc, buffer, getIndices(maps[i])));
  for (Operation &nested : region.without_terminator())
    builder.clone(nested, mapping);
  Value result = cast<YieldOp>(region.getTerminator()).getValue();
  memref::StoreOp::create(builder, loc, mapping.lookupOrDefault(result),
                          buffers.front(), getIndices(maps.front()));
  epilogueFunction = pool.intern(epilogue->getFunction(), "rlx.epilogue");
}

/// Types of what a record holds: the epilogue's arguments up to the outer
/// indices, and the first row.
static SmallVector<Type> getRecordTypes(func::FuncOp epilogue) {
  FunctionType type = epilogue.getFunctionType();
  SmallVector<Type> types(type.getInputs().drop_back(4));
  types.push_back(IndexType::get(type.getContext()));
  for (Type &entry : types)
    if (isa<IndexType>(entry))
      entry = IntegerType::get(type.getContext(), 64);
  return types;
}

/// A record is an array of 8-byte slots.
static Value getSlot(OpBuilder &builder, Location loc, Value record,
                     int64_t i) {
  return LLVM::GEPOp::create(builder, loc, record.getType(),
                             builder.getI64Type(), record,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
}

void GemmEmitter::emitCallback() {
  OpBuilder builder(epilogueFunction);
  IndexBuilder b(builder, loc);
  Type ptr = LLVM::LLVMPointerType::get(op.getContext());
  Type i64 = builder.getI64Type(), index = builder.getIndexType();
  callback = func::FuncOp::create(
      builder, loc, "rlx.callback",
      builder.getFunctionType({ptr, i64, i64, i64, i64}, {}));
  callback.setPrivate();
  Block *block = callback.addEntryBlock();
  builder.setInsertionPointToStart(block);
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, index, value);
  };
  SmallVector<Value> loaded;
  SmallVector<Type> types = getRecordTypes(epilogueFunction);
  for (auto [i, type] : llvm::enumerate(types))
    loaded.push_back(LLVM::LoadOp::create(
        builder, loc, type, getSlot(builder, loc, block->getArgument(0), i)));
  Value row0 = toIndex(loaded.pop_back_val());
  SmallVector<Value> arguments;
  for (auto [value, type] :
       llvm::zip(loaded, epilogueFunction.getArgumentTypes()))
    arguments.push_back(isa<IndexType>(type) ? toIndex(value) : value);
  Value row = b.add(row0, toIndex(block->getArgument(1)));
  Value column = toIndex(block->getArgument(3));
  arguments.append({row, b.add(row, toIndex(block->getArgument(2))), column,
                    b.add(column, toIndex(block->getArgument(4)))});
  func::CallOp::create(builder, loc, epilogueFunction, arguments);
  func::ReturnOp::create(builder, loc);
  callback = pool.intern(callback, "rlx.callback");
}

/// Stores what the callback needs for rows from `row0` on.
void GemmEmitter::fillRecord(KernelBody &body, Value record, Value row0,
                             ArrayRef<Value> outerIndices) {
  OpBuilder &builder = body.getBuilder();
  IndexBuilder b(builder, loc);
  SmallVector<Value> values;
  for (Value buffer : epilogue->getBuffers())
    values.push_back(body.getPointer(buffer));
  for (Value scalar : epilogue->getScalars())
    values.push_back(body.get(scalar));
  llvm::append_range(values, outerIndices);
  values.push_back(row0);
  for (auto [i, value] : llvm::enumerate(values)) {
    if (isa<IndexType>(value.getType()))
      value = b.toI64(value);
    LLVM::StoreOp::create(builder, loc, value,
                          getSlot(builder, loc, record, i));
  }
}

void GemmEmitter::emitBody(KernelBody &body) {
  OpBuilder &builder = body.getBuilder();
  IndexBuilder b(builder, loc);
  Type ptr = LLVM::LLVMPointerType::get(op.getContext());
  Type i64 = builder.getI64Type();
  Value begin = body.getExtra(0), end = body.getExtra(1);

  SmallVector<Value> lhsSizes = body.getSizes(op.getLhs()),
                     rhsSizes = body.getSizes(op.getRhs()),
                     initSizes = body.getSizes(op.getInit());
  int64_t lhsRank = lhsSizes.size(), rank = initSizes.size();
  Operand lhs(b, lhsSizes, [&](int64_t i) { return op.getLhsDim(i); });
  Operand rhs(b, rhsSizes, [](int64_t i) { return i; });
  Operand init(b, initSizes, [](int64_t i) { return i; });
  Value k = lhs.sizes.back(), n = initSizes.back();
  Value m = initSizes[rank - 2];
  SmallVector<int64_t> lhsOuter, rhsOuter, initOuter;
  ArrayRef<Value> outerSizes;
  if (shape.flat) {
    for (int64_t i = 0; i < rank - 2; ++i)
      m = b.mul(m, initSizes[i]);
  } else {
    auto lhsType = cast<MemRefType>(op.getLhs().getType());
    for (int64_t i = 0; i < lhsRank - 2; ++i)
      lhsOuter.push_back(lhsType.getDimSize(op.getLhsDim(i)));
    auto rhsType = cast<MemRefType>(op.getRhs().getType());
    llvm::append_range(rhsOuter, rhsType.getShape().drop_back());
    outerSizes = ArrayRef(initSizes).drop_back(2);
    // The destination has every outer dim, those of size 1 too.
    initOuter.assign(outerSizes.size(), ShapedType::kDynamic);
  }

  Value record, callbackPtr = LLVM::ZeroOp::create(builder, loc, ptr),
                contextPtr = callbackPtr;
  if (epilogue) {
    int64_t slots = getRecordTypes(epilogueFunction).size();
    record = LLVM::AllocaOp::create(
        builder, loc, ptr, i64,
        LLVM::ConstantOp::create(builder, loc, i64, slots), /*alignment=*/8);
    Value function = func::ConstantOp::create(
        builder, loc, callback.getFunctionType(), callback.getName());
    callbackPtr =
        UnrealizedConversionCastOp::create(builder, loc, ptr, function)
            .getResult(0);
    contextPtr = record;
  }
  func::FuncOp gemm = declareKernel(
      body.getFunction(), "rlx_gemm_f32",
      {ptr, i64, ptr, ptr, i64, i64, i64, i64, i64, i64, ptr, ptr});
  Value lhsPtr = body.getPointer(op.getLhs()),
        rhsPtr = body.getPointer(op.getRhs()),
        initPtr = body.getPointer(op.getInit());
  Value panels = b.ceilDiv(n, b.constant(kPanelWidth));
  Value chunks = body.get(rowChunks);

  forEachPanelRange(
      builder, loc, panels, begin, end,
      [&](IndexBuilder &b, Value group, Value first, Value last) {
        Value outer = b.div(group, chunks);
        Value chunk = b.rem(group, chunks);
        Value row0 = b.div(b.mul(chunk, m), chunks);
        Value row1 = b.div(b.mul(b.add(chunk, b.constant(1)), m), chunks);
        SmallVector<Value> indices = delinearize(b, outer, outerSizes);
        Value lda = lhs.strides[lhsRank - 2];
        Value lhsOffset =
            b.add(lhs.getOuterOffset(b, indices, lhsOuter), b.mul(row0, lda));
        Value rhsOffset = rhs.getOuterOffset(b, indices, rhsOuter);
        Value initOffset =
            b.add(init.getOuterOffset(b, indices, initOuter), b.mul(row0, n));
        if (epilogue)
          fillRecord(body, record, row0, indices);
        func::CallOp::create(
            builder, loc, gemm,
            ValueRange{
                getAddress(builder, b, loc, lhsPtr, lhsOffset), b.toI64(lda),
                getAddress(builder, b, loc, rhsPtr, rhsOffset),
                getAddress(builder, b, loc, initPtr, initOffset), b.toI64(n),
                b.toI64(b.sub(row1, row0)), b.toI64(n), b.toI64(k),
                b.toI64(first), b.toI64(last), callbackPtr, contextPtr});
      });
}

Kernel GemmEmitter::run() {
  planWork();
  if (op.hasEpilogue()) {
    emitEpilogue();
    emitCallback();
  }
  SmallVector<Value> values = getUsedValues(op);
  values.push_back(rowChunks);
  Type index = IndexType::get(op.getContext());
  KernelBody body(op, values, {index, index});
  emitBody(body);
  kernel.function = pool.intern(body.getFunction(), "rlx.gemm");
  llvm::append_range(kernel.buffers, body.getBuffers());
  llvm::append_range(kernel.scalars, body.getScalars());
  return kernel;
}

FailureOr<Kernel> rlx::emitGemmKernel(GemmOp op, Value workers,
                                      FunctionPool &pool) {
  if (failed(checkLayouts(op)))
    return failure();
  return GemmEmitter(op, workers, pool).run();
}

FailureOr<Kernel> rlx::emitPackKernel(PackPanelsOp op, Value workers,
                                      FunctionPool &pool) {
  if (failed(checkLayouts(op)))
    return failure();
  Location loc = op.getLoc();
  Kernel kernel;
  int64_t rank = cast<MemRefType>(op.getSource().getType()).getRank();
  {
    OpBuilder builder(op);
    IndexBuilder b(builder, loc);
    SmallVector<OpFoldResult> stored = getDims(builder, op.getSource()), sizes;
    for (int64_t i = 0; i < rank; ++i)
      sizes.push_back(stored[op.getSourceDim(i)]);
    // Half a nanosecond to move an element.
    Value cost = getCost(builder, loc, 0.5, sizes);
    Value panels =
        b.ceilDiv(getValueOrCreateConstantIndexOp(builder, loc, sizes.back()),
                  b.constant(kPanelWidth));
    kernel.units =
        b.mul(getProduct(builder, loc, ArrayRef(sizes).drop_back(2)), panels);
    kernel.count = getTaskCount(builder, loc, cost, workers, kernel.units);
  }
  Type index = IndexType::get(op.getContext());
  Type ptr = LLVM::LLVMPointerType::get(op.getContext());
  Type i64 = IntegerType::get(op.getContext(), 64);
  KernelBody body(op, getUsedValues(op), {index, index});
  OpBuilder &builder = body.getBuilder();
  IndexBuilder b(builder, loc);
  Operand source(b, body.getSizes(op.getSource()),
                 [&](int64_t i) { return op.getSourceDim(i); });
  Value k = source.sizes[rank - 2], n = source.sizes[rank - 1];
  ArrayRef<Value> outerSizes = ArrayRef(source.sizes).drop_back(2);
  SmallVector<int64_t> outerShape(rank - 2, ShapedType::kDynamic);
  func::FuncOp pack = declareKernel(body.getFunction(), "rlx_pack_f32",
                                    {ptr, i64, i64, ptr, i64, i64, i64, i64});
  Value sourcePtr = body.getPointer(op.getSource()),
        initPtr = body.getPointer(op.getInit());
  forEachPanelRange(
      builder, loc, b.ceilDiv(n, b.constant(kPanelWidth)), body.getExtra(0),
      body.getExtra(1),
      [&](IndexBuilder &b, Value outer, Value first, Value last) {
        SmallVector<Value> indices = delinearize(b, outer, outerSizes);
        Value sourceOffset = source.getOuterOffset(b, indices, outerShape);
        Value initOffset = b.mul(outer, b.mul(k, n));
        func::CallOp::create(
            builder, loc, pack,
            ValueRange{getAddress(builder, b, loc, sourcePtr, sourceOffset),
                       b.toI64(source.strides[rank - 2]),
                       b.toI64(source.strides[rank - 1]),
                       getAddress(builder, b, loc, initPtr, initOffset),
                       b.toI64(k), b.toI64(n), b.toI64(first), b.toI64(last)});
      });
  kernel.function = pool.intern(body.getFunction(), "rlx.pack");
  llvm::append_range(kernel.buffers, body.getBuffers());
  llvm::append_range(kernel.scalars, body.getScalars());
  return kernel;
}
