#include "vector_memory.h"

#include <bit>

#include <llvm/IR/Intrinsics.h>

#include <weft/error.h>

#include "emit_half.h"
#include "emit_op.h"
#include "code/features.h"
#include "code/move_support.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

Value* VectorMemory::from_memory(Value* value, DType dtype) {
  if (is_half(dtype)) return from_half_bits(b_, value, dtype);
  return is_boolean(dtype) ? b_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType())) : value;
}

Value* VectorMemory::to_memory(Value* value, DType dtype) {
  if (is_half(dtype)) return to_half_bits(b_, value, dtype);
  return is_boolean(dtype) ? b_.CreateZExt(value, value->getType()->getWithNewBitWidth(8)) : value;
}

Value* VectorMemory::lane_numbers(int bits) {
  std::vector<llvm::Constant*> numbers;
  for (int k = 0; k < lane_count; ++k) numbers.push_back(llvm::ConstantInt::get(b_.getIntNTy(static_cast<unsigned>(bits)), static_cast<std::uint64_t>(k)));
  return llvm::ConstantVector::get(numbers);
}

Value* VectorMemory::reverse(Value* vector) {
  std::vector<int> order;
  for (int k = lane_count - 1; k >= 0; --k) order.push_back(k);
  return b_.CreateShuffleVector(vector, order);
}

Value* VectorMemory::lanes_set(Value* mask) {
  if (const auto known = first_of_.find(mask); known != first_of_.end()) {
    const auto& [count, before] = known->second;
    Value* most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(count, number(before)), number(lane_count));
    return before == 0 ? most : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, most, number(0));
  }
  return b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateBitCast(mask, b_.getIntNTy(lane_count))), b_.getInt64Ty());
}

// Of each step, the lanes that hold one of `count` elements.
Masks VectorMemory::first_lanes(Value* count, int steps) {
  Value* wide = b_.CreateVectorSplat(lane_count, b_.CreateTrunc(count, b_.getInt32Ty()));
  Masks masks;
  for (int step = 0; step < steps; ++step) {
    Value* lanes = b_.CreateAdd(lane_numbers(32), constant_value(context_, Scalar::of(DType::i32, step * lane_count), lane_count));
    masks.push_back(b_.CreateICmpSLT(lanes, wide));
    if (!llvm::isa<llvm::Constant>(masks.back())) first_of_[masks.back()] = {count, step * lane_count};
  }
  return masks;
}

// Either of two, where most vectors are whole; else the second, whatever it is.
void VectorMemory::if_whole(Value* mask, const std::function<void()>& whole, const std::function<void()>& part) {
  if (!mostly_whole_) return part();
  Value* is_whole = b_.CreateICmpEQ(lanes_set(mask), number(lane_count));
  if_then(is_whole, "whole", whole);
  if_then(b_.CreateNot(is_whole), "part", part);
}

bool VectorMemory::stores_by_masks(DType dtype) const { return weft::stores_by_masks(target_features_, dtype); }

// Elements side by side, somewhere else. A call, since pieces of each length would be much code.
void VectorMemory::move_elements(Value* to, Value* from, DType dtype, Value* count) {
  auto* function = call(move_symbol, {to, from, b_.CreateMul(count, number(item_bytes(dtype)))})->getCalledFunction();
  function->setOnlyAccessesArgMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
}

// As many elements as the mask has lanes: the first ones in memory, or the last if lanes run backwards.
void VectorMemory::move_part(Value* to, Value* from, DType dtype, Value* mask, bool backwards) {
  llvm::Type* element = memory_type(context_, dtype, 1);
  Value* count = lanes_set(mask);
  Value* first = backwards ? b_.CreateSub(number(lane_count), count) : number(0);
  move_elements(b_.CreateGEP(element, to, first), b_.CreateGEP(element, from, first), dtype, count);
}

std::vector<int> lanes_of(const llvm::Constant& mask) {
  std::vector<int> set;
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(mask.getType())->getNumElements());
  for (int lane = 0; lane < lanes; ++lane)
    if (mask.getAggregateElement(static_cast<unsigned>(lane))->isOneValue()) set.push_back(lane);
  return set;
}
static bool lie_together(const std::vector<int>& lanes) { return lanes.empty() || lanes.back() - lanes.front() + 1 == static_cast<int>(lanes.size()); }

// As many known lanes as a shorter register has are loaded as that. Of eight LLVM 22 makes the mask by KXNORB of a register with itself, which processors take
// for one that waits for what was there: rows of 24 floats divided by their lengths, each of which compares, took .25 ns an element for .10 (Zen 5).
Value* VectorMemory::load_known_part(Value* at, DType dtype, const std::vector<int>& lanes) {
  auto* some = b_.CreateAlignedLoad(memory_type(context_, dtype, static_cast<int>(lanes.size())), after(memory_type(context_, dtype, 1), at, lanes[0]), llvm::Align(size_of(dtype)));
  if (lanes.size() == lane_count) return some;
  std::vector<int> from(lane_count, static_cast<int>(lanes.size()));
  for (std::size_t k = 0; k < lanes.size(); ++k) from[static_cast<std::size_t>(lanes[k])] = static_cast<int>(k);
  return b_.CreateShuffleVector(some, llvm::Constant::getNullValue(some->getType()), from);
}

Value* VectorMemory::load_part(llvm::Type* type, Value* at, DType dtype, Value* mask, bool backwards) {
  Value* none = llvm::Constant::getNullValue(type);
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(backwards ? reverse(mask) : mask))
    if (const std::vector<int> lanes = lanes_of(*known); lanes.size() > 1 && std::has_single_bit(lanes.size()) && lie_together(lanes)) return load_known_part(at, dtype, lanes);
  if (!masks_by_branches(target_features_, dtype)) return b_.CreateMaskedLoad(type, at, llvm::Align(size_of(dtype)), backwards ? reverse(mask) : mask, none);
  auto *cell = stack_cell(type, "part"), *loaded = stack_cell(type, "loaded");
  const auto whole = [&] { b_.CreateStore(b_.CreateAlignedLoad(type, at, llvm::Align(size_of(dtype))), loaded); };
  if_whole(mask, whole, [&] {
    b_.CreateStore(none, cell);
    move_part(cell, at, dtype, mask, backwards);
    b_.CreateStore(b_.CreateLoad(type, cell), loaded);
  });
  return b_.CreateLoad(type, loaded);
}

// Lanes that are known, one after the other, are stored as what they are: of a mask with one lane LLVM 22 makes a store of four bytes, if
// the value was truncated to one or two (llvm#179489).
void VectorMemory::store_part(Value* value, Value* at, DType dtype, Value* mask, bool backwards) {
  const llvm::Align align(size_of(dtype));
  Value* lanes = backwards ? reverse(mask) : mask;
  if (auto* known = llvm::dyn_cast<llvm::Constant>(lanes)) {
    const std::vector<int> set = lanes_of(*known);
    if (set.empty()) return;
    WEFT_ASSERT(lie_together(set), set.size(), " known lanes to store lie apart: from ", set.front(), " to ", set.back());
    b_.CreateAlignedStore(b_.CreateShuffleVector(value, set), after(memory_type(context_, dtype, 1), at, set[0]), align);
  } else if (stores_by_masks(dtype)) {
    b_.CreateMaskedStore(value, at, align, lanes);
  } else {
    auto* cell = stack_cell(value->getType(), "part");
    if_whole(mask, [&] { b_.CreateAlignedStore(value, at, align); }, [&] {
      b_.CreateStore(value, cell);
      move_part(at, cell, dtype, mask, backwards);
    });
  }
}

// Elements side by side, with room for as many more as make a power of two: types in between take LLVM many instructions.
Value* VectorMemory::load_run(DType dtype, Value* at, int count) {
  const int room = static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)));
  if (room <= 4 || room == count || masks_by_branches(target_features_, dtype) || size_of(dtype) < 4) return load_steps(dtype, at, 1, count);
  std::vector<llvm::Constant*> there;
  for (int lane = 0; lane < room; ++lane) there.push_back(b_.getInt1(lane < count));
  llvm::Type* type = memory_type(context_, dtype, room);
  return b_.CreateMaskedLoad(type, at, llvm::Align(size_of(dtype)), llvm::ConstantVector::get(there), llvm::PoisonValue::get(type));
}

void VectorMemory::store_past_caches(Value* value, Value* at) {
  auto* store = b_.CreateAlignedStore(value, at, llvm::Align(line_bytes));
  auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, {one}));
}

// The lines of a vector somewhere else, such as the next row. A fetch beyond the array does nothing.
void VectorMemory::fetch_lines(Value* at, Value* distance, Index bytes, bool near, bool to_write) {
  for (Index line = 0; line < bytes; line += line_bytes) {
    Value* ahead = bytes_after(b_.CreateGEP(b_.getInt8Ty(), at, distance), line);
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {ahead, b_.getInt32(to_write), b_.getInt32(near ? 3 : 2), b_.getInt32(1)});
  }
}

}  // namespace weft
