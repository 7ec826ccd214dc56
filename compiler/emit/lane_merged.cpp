// Operands of loops over two axes that were merged: they repeat after a few elements, or each of them stays for a few.
#include <numeric>

#include <llvm/IR/Intrinsics.h>

#include "lane_memory.h"

namespace weft {

using llvm::Value;

// Sixteen elements from number `first` on, counted modulo the period: all of them are there.
Value* LaneMemory::repeated_load(const LaneAccess& access, DType dtype, Value* first) {
  const auto *known = llvm::dyn_cast<llvm::ConstantInt>(first), *apart = llvm::dyn_cast<llvm::ConstantInt>(access.lane_stride);
  if (known && apart && apart->getSExtValue() == item_bytes(dtype) && access.period <= lane_count) {
    std::vector<int> lanes;
    for (Index k = 0; k < lane_count; ++k) lanes.push_back(static_cast<int>((known->getSExtValue() + k) % access.period));
    return from_memory(b_.CreateShuffleVector(load_run(dtype, access.base, static_cast<int>(access.period)), lanes), dtype);
  }
  std::vector<llvm::Constant*> numbers;
  for (Index k = 0; k < lane_count; ++k) numbers.push_back(b_.getInt64(static_cast<std::uint64_t>(k % access.period)));
  Value* number_in_period = b_.CreateAdd(llvm::ConstantVector::get(numbers), b_.CreateVectorSplat(lane_count, b_.CreateURem(first, number(access.period))));
  Value* wrapped = b_.CreateSub(number_in_period, b_.CreateVectorSplat(lane_count, number(access.period)));
  number_in_period = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number_in_period, wrapped);
  Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(number_in_period, b_.CreateVectorSplat(lane_count, access.lane_stride)));
  return gather(at, dtype);
}

// Where element 0 of the first of so many vectors is the first of those for which one stays: the next such elements, one after the other, in
// as few loads as vectors allow, and each lane picks its own. `part`: elements that there are, if not all; the others are zero.
std::vector<Value*> LaneMemory::load_staying(const LaneAccess& access, DType dtype, Value* index, int steps, Value* part) {
  const auto each = static_cast<int>(access.each), common = std::gcd(each, lane_count), together = each / common, count = lane_count / common;
  WEFT_ASSERT(steps % together == 0, "vectors that end within what stays");
  llvm::Type *element = memory_type(context_, dtype, 1), *type = llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
  Value* first = b_.CreateGEP(element, access.base, b_.CreateUDiv(index, number(each), "", true));
  Value* there = part ? b_.CreateUDiv(b_.CreateAdd(part, number(each - 1)), number(each)) : nullptr;
  const llvm::Align align(size_of(dtype));
  std::vector<Value*> made;
  for (int step = 0; step < steps; step += together) {
    const int before = step / together * count;
    Value *at = after(element, first, before), *loaded;
    if (part) {
      llvm::SmallVector<llvm::Constant*> numbers;
      for (int k = 0; k < count; ++k) numbers.push_back(b_.getInt64(static_cast<std::uint64_t>(before + k)));
      Value* mask = b_.CreateICmpULT(llvm::ConstantVector::get(numbers), b_.CreateVectorSplat(static_cast<unsigned>(count), there));
      loaded = b_.CreateMaskedLoad(type, at, align, mask, llvm::Constant::getNullValue(type));
    } else {
      loaded = b_.CreateAlignedLoad(type, at, align);
    }
    for (int k = 0; k < together; ++k) {
      std::vector<int> lanes;
      for (int lane = 0; lane < lane_count; ++lane) lanes.push_back((k * lane_count + lane) / each);
      made.push_back(from_memory(b_.CreateShuffleVector(loaded, lanes), dtype));
    }
  }
  return made;
}

// The same from anywhere on. Lanes past the last element have that of the last.
Value* LaneMemory::gather_staying(const LaneAccess& access, DType dtype, Value* index, int step, Value* part) {
  const auto spread = [&](Value* scalar) { return b_.CreateVectorSplat(lane_count, b_.CreateTrunc(scalar, b_.getInt32Ty())); };
  Value* lane = b_.CreateAdd(lane_numbers(32), spread(number(step * lane_count)));
  if (part) lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lane, spread(b_.CreateSub(part, number(1))));
  Value* row = b_.CreateUDiv(b_.CreateAdd(lane, spread(b_.CreateURem(index, number(access.each)))), spread(number(access.each)));
  Value* first = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(b_.CreateUDiv(index, number(access.each)), access.lane_stride));
  Value* at = access.beside ? b_.CreateGEP(memory_type(context_, dtype, 1), first, row)
                            : b_.CreateGEP(b_.getInt8Ty(), first, b_.CreateMul(b_.CreateZExt(row, lane_numbers(64)->getType()), b_.CreateVectorSplat(lane_count, access.lane_stride)));
  return gather(at, dtype);
}

std::vector<Value*> LaneMemory::staying_load(const LaneAccess& access, DType dtype, Value* index, int steps, bool begins, Value* part) {
  if (begins && access.beside && steps * lane_count % access.each == 0 && !(part && masks_by_branches(dtype))) return load_staying(access, dtype, index, steps, part);
  std::vector<Value*> made;
  for (int step = 0; step < steps; ++step) made.push_back(gather_staying(access, dtype, index, step, part));
  return made;
}

}  // namespace weft
