// Loops over elements of one or two bytes: several vector steps are one vector, which fills a register.
#include <algorithm>
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "emit_kernel.h"
#include "emit_op.h"

namespace weft {

using llvm::Value;

// Whether all that a loop moves lies along it, one element after the other.
bool KernelEmitter::moves_plainly() const {
  if (copies_.tiled_by >= 0 || !carried_rows_.empty() || !thin_results_.empty() || !repeated_.empty()) return false;
  const auto& accesses = jam_.empty() ? accesses_ : jam_.front().accesses;
  return std::all_of(accesses.begin(), accesses.end(), [](const auto& access) { return !access.second.cells && !access.second.stream && access.second.lane == StrideClass::unit; });
}

// How many of the steps are one vector; 1: they are not.
int KernelEmitter::steps_in_register(const Loop& loop, int steps) const {
  if (!moves_plainly() || !loop.folds.empty()) return 1;
  const int together = vectors_in_register(loop);
  return steps % together == 0 ? together : 1;
}

void KernelEmitter::emit_narrow_items(const Loop& loop, Value* index, int steps, int together) {
  for (int step = 0; step < steps; step += together) emit_wide_items(loop, index, step * lane_count, lane_count * together);
}

// Whether what is left of whole registers is one with a mask of bytes.
bool KernelEmitter::masks_registers(const Loop& loop, int steps) const {
  return (jam_.empty() || copies_.keep_windows) && steps_in_register(loop, steps) > 1 && !masks_by_branches(DType::u8);
}

// 3 x 3 minima of 1022 rows of as many bytes: 62 us where the rest went through memory of its own (emit_shared_body.cpp), 36 (Zen 5). A mask that is known
// to have one lane is stored without: see store_part.
void KernelEmitter::emit_narrow_range(const Loop& loop, Range range, int steps) {
  const int lanes = steps_in_register(loop, steps) * lane_count;
  Value* rest = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(Index{steps} * lane_count)));
  emit_whole_steps(loop, {range.begin, rest}, steps, false);
  const auto step = [&](Value* index, Value* left) { emit_wide_items(loop, index, 0, lanes, first_elements(lanes, left)); };
  Value* left = b_.CreateSub(range.end, rest);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(left);
  if (known && known->isZero()) return;
  if (known && known->getSExtValue() <= lanes) return step(rest, left);
  for_range(rest, range.end, lanes, "rest", [&](Value* index) { step(index, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(range.end, index), number(lanes))); });
}

bool KernelEmitter::folds_wide(const Loop& loop) const { return !loop.folds.empty() && jam_.empty() && moves_plainly() && vectors_in_register(loop) > 1; }

// Accumulators that fill registers, several of them, and in the end their sixteenths go to the loop's own. The largest of 16384 bytes 161 -> 78 ns, of 1 Mi
// 10.8 -> 8.5 us (Zen 5).
void KernelEmitter::emit_wide_folds(const Loop& loop, Range range) {
  const int lanes = vectors_in_register(loop) * lane_count;
  const auto side_by_side = static_cast<int>(std::clamp<Index>(program_.axis(loop.var.axis).hint / lanes, 1, 4));
  std::vector<WideFold> folds;
  for (const Item& item : loop.body) {
    auto* accumulate = std::get_if<Accumulate>(&item);
    if (!accumulate || std::any_of(folds.begin(), folds.end(), [&](const WideFold& each) { return each.fold == accumulate->fold; })) continue;
    const Fold& fold = program_.fold(accumulate->fold);
    folds.push_back({accumulate->fold, widened_bytes(loop, *accumulate), {}});
    Value* const nothing = folds.back().widened ? constant_value(context_, Scalar::of(DType::u64, std::uint64_t{0}), lanes / 8) : constant_value(context_, unit(fold.accumulator, fold.dtype), lanes);
    for (int k = 0; k < side_by_side; ++k) b_.CreateStore(nothing, folds.back().cells.emplace_back(stack_cell(nothing->getType(), "wide")));
  }
  const auto add = [&](const std::map<int, Value*>& made, int place, Value* mask) {
    for (const Item& item : loop.body) {
      auto* accumulate = std::get_if<Accumulate>(&item);
      if (!accumulate) continue;
      const Fold& fold = program_.fold(accumulate->fold);
      const WideFold& wide = *std::find_if(folds.begin(), folds.end(), [&](const WideFold& each) { return each.fold == accumulate->fold; });
      auto* cell = wide.cells[static_cast<std::size_t>(place)];
      Value* before = b_.CreateLoad(cell->getAllocatedType(), cell);
      if (const Compute* widened = widened_bytes(loop, *accumulate)) {
        Value* bytes = wide_operand(widened->args[0], made, lanes);
        if (mask) bytes = b_.CreateSelect(mask, bytes, llvm::Constant::getNullValue(bytes->getType()));
        b_.CreateStore(b_.CreateAdd(before, sums_of_eight(bytes, program_.dtype_of(widened->args[0]))), cell);
        continue;
      }
      Value* after = emit_combine(b_, fold.accumulator, fold.dtype, before, wide_operand(accumulate->value, made, lanes));
      b_.CreateStore(mask ? b_.CreateSelect(mask, after, before) : after, cell);
    }
  };
  const auto whole = [&](Value* begin, int steps) {
    const Index stride = Index{steps} * lanes;
    Value* end = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, begin), number(stride)));
    for_range(begin, end, stride, "wide", [&](Value* index) {
      for (int step = 0; step < steps; ++step) add(emit_wide_items(loop, index, step * lanes, lanes), step, nullptr);
    });
    return end;
  };
  Value* rest = whole(range.begin, side_by_side);
  if (side_by_side > 1) rest = whole(rest, 1);
  if (masks_by_branches(DType::u8)) {
    emit_rest(loop, {emit_single_vectors(loop, {rest, range.end}), range.end}, 1, false);
  } else {
    if_then(b_.CreateICmpSLT(rest, range.end), "part", [&] {
      Value* mask = first_elements(lanes, b_.CreateSub(range.end, rest));
      add(emit_wide_items(loop, rest, 0, lanes, mask), 0, mask);
    });
  }
  for (const WideFold& each : folds) end_wide_fold(each);
}

// Their parts of sixteen lanes, one with the other, and with what the loop's own accumulator has.
void KernelEmitter::end_wide_fold(const WideFold& wide) {
  const Fold& fold = program_.fold(wide.fold);
  auto* cell = folds_[static_cast<std::size_t>(wide.fold)].registers[0];
  const auto combine = [&](Value* a, Value* b) { return wide.widened ? b_.CreateAdd(a, b) : emit_combine(b_, fold.accumulator, fold.dtype, a, b); };
  Value* all = b_.CreateLoad(wide.cells[0]->getAllocatedType(), wide.cells[0]);
  for (std::size_t k = 1; k < wide.cells.size(); ++k) all = combine(all, b_.CreateLoad(all->getType(), wide.cells[k]));
  if (wide.widened) all = as_lanes(all, fold.dtype);
  for (int width = static_cast<int>(llvm::cast<llvm::FixedVectorType>(all->getType())->getNumElements()) / 2; width >= lane_count; width /= 2) {
    const auto half = [&](int first) { return b_.CreateShuffleVector(all, llvm::createSequentialMask(static_cast<unsigned>(first), static_cast<unsigned>(width), 0)); };
    Value *low = half(0), *high = half(width);
    all = combine(low, high);
  }
  b_.CreateStore(combine(b_.CreateLoad(all->getType(), cell), all), cell);
}

// Of a register of bytes, or of conditions, which count one each: sums of eight neighbours, by one instruction. Signed bytes are 128 less than what they are as
// unsigned ones with the other sign bit. Sums of 16 Ki bytes .77 -> .20 us, of a row of 1000 46 -> 11 ns, counts of conditions in one 28 -> 14 (Zen 4).
Value* KernelEmitter::sums_of_eight(Value* bytes, DType dtype) {
  const auto count = llvm::cast<llvm::FixedVectorType>(bytes->getType())->getNumElements();
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), count);
  const auto splat = [&](llvm::Constant* each, unsigned times) { return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(times), each); };
  if (is_boolean(dtype)) bytes = b_.CreateZExt(bytes, type);
  if (is_signed_integer(dtype)) bytes = b_.CreateXor(bytes, splat(b_.getInt8(0x80), count));
  Value* sums = b_.CreateIntrinsic(count == 64 ? llvm::Intrinsic::x86_avx512_psad_bw_512 : llvm::Intrinsic::x86_avx2_psad_bw, {}, {bytes, llvm::Constant::getNullValue(type)});
  return is_signed_integer(dtype) ? b_.CreateSub(sums, splat(b_.getInt64(8 * 128), count / 8)) : sums;
}

// Sums of 64 bits as lanes of the dtype, the others zero: any sixteen that add up to the same.
Value* KernelEmitter::as_lanes(Value* sums, DType dtype) {
  Value* const all = b_.CreateTrunc(sums, sums->getType()->getWithNewType(b_.getIntNTy(8 * static_cast<unsigned>(size_of(dtype)))));
  const auto count = llvm::cast<llvm::FixedVectorType>(sums->getType())->getNumElements();
  std::vector<int> lanes(lane_count, static_cast<int>(count));         // of the zeros
  std::iota(lanes.begin(), lanes.begin() + count, 0);
  return b_.CreateShuffleVector(all, llvm::Constant::getNullValue(all->getType()), lanes);
}

// Which lanes of so many have an element, if so many are left.
Value* KernelEmitter::first_elements(int lanes, Value* left) {
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < lanes; ++lane) numbers.push_back(b_.getInt8(static_cast<std::uint8_t>(lane)));
  return b_.CreateICmpULT(llvm::ConstantVector::get(numbers), b_.CreateVectorSplat(static_cast<unsigned>(lanes), b_.CreateTrunc(left, b_.getInt8Ty())));
}

// The body for as many elements as a vector is to have, so many after `index`, or those of a mask. Returns what it makes, by value.
std::map<int, Value*> KernelEmitter::emit_wide_items(const Loop& loop, Value* index, int first, int lanes, Value* mask) {
  std::map<int, Value*> made;
  if (jam_.empty()) emit_wide_items(loop, index, first, lanes, mask, {0, 0, loop.body.size()}, made);
  else emit_windows_wide(loop, index, first, lanes, mask);
  return made;
}

// As all copies: see emit_windows.
void KernelEmitter::emit_windows_wide(const Loop& loop, Value* index, int first, int lanes, Value* mask) {
  std::vector<std::map<int, Value*>> made(jam_.size());
  each_turn(loop, [&](const Turn& turn) { emit_wide_items(loop, index, first, lanes, mask, turn, made[jam_copy_]); });
}

void KernelEmitter::emit_wide_items(const Loop& loop, Value* index, int first, int lanes, Value* mask, const Turn& turn, std::map<int, Value*>& made) {
  const auto operand = [&](const Arg& arg) { return wide_operand(arg, made, lanes); };
  for (std::size_t k = turn.first; k < turn.last; ++k) {
    const Item& item = loop.body[k];
    if (auto* compute = std::get_if<Compute>(&item)) {
      if (is_widening(loop, *compute)) continue;           // which only folds read
      std::vector<DType> dtypes;
      std::vector<Value*> operands;
      for (const Arg& arg : compute->args) dtypes.push_back(program_.dtype_of(arg)), operands.push_back(operand(arg));
      made[compute->result] = emit_op(b_, compute->op, operands, dtypes, program_.dtype_of(compute->result), fast_math_);
      continue;
    }
    const WideVector vector{index, first, lanes, mask};
    if (auto* load = std::get_if<Load>(&item)) made[load->result] = wide_load(*load, accesses_.at(&item), vector);
    if (auto* store = std::get_if<Store>(&item)) wide_store(operand(store->value), program_.buffer(store->buffer).dtype, accesses_.at(&item), vector);       // folds: see emit_wide_folds
  }
}

// What the body has made, a constant, or what is from outside of the loop in all lanes.
Value* KernelEmitter::wide_operand(const Arg& arg, const std::map<int, Value*>& made, int lanes) {
  if (arg.constant) return constant_value(context_, *arg.constant, lanes);
  if (const auto found = made.find(arg.value); found != made.end()) return found->second;
  return llvm::IRBuilder<>(before_lanes_).CreateVectorSplat(static_cast<unsigned>(lanes), scalar(arg));
}

Value* KernelEmitter::wide_address(const LaneAccess& access, DType dtype, const WideVector& vector) {
  return bytes_after(lane_address(access, dtype, vector.index, vector.first / lane_count), vector.first % lane_count * item_bytes(dtype));
}

Value* KernelEmitter::wide_load(const Load& load, const LaneAccess& access, const WideVector& vector) {
  if (Value* kept = kept_window(load); kept) return kept;
  const DType dtype = program_.buffer(load.buffer).dtype;
  Value* at = wide_address(access, dtype, vector);
  fetch_beside(access, dtype, at, vector.first / lane_count);
  llvm::Type* type = memory_type(context_, dtype, vector.lanes);
  const llvm::Align align(size_of(dtype));
  Value* loaded = vector.mask ? b_.CreateMaskedLoad(type, at, align, vector.mask, llvm::Constant::getNullValue(type)) : static_cast<Value*>(b_.CreateAlignedLoad(type, at, align));
  loaded = from_memory(loaded, dtype);
  keep_window(load, loaded);
  return loaded;
}

void KernelEmitter::wide_store(Value* value, DType dtype, const LaneAccess& access, const WideVector& vector) {
  const llvm::Align align(size_of(dtype));
  Value* at = wide_address(access, dtype, vector);
  value = to_memory(value, dtype);
  const auto* known = llvm::dyn_cast_or_null<llvm::Constant>(vector.mask);
  if (!vector.mask) b_.CreateAlignedStore(value, at, align);
  else if (known && lanes_of(*known).size() == 1) b_.CreateAlignedStore(b_.CreateExtractElement(value, std::uint64_t{0}), at, align);
  else b_.CreateMaskedStore(value, at, align, vector.mask);
}

}  // namespace weft
