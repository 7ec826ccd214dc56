// A long body is emitted once, for whole steps and for the last part of a loop: code costs compile time. Masked moves are dear, also where
// there are mask registers: loads from beyond the first level take up to four times as long with them (Zen 5). So the last step reads and
// writes memory of its own, to which the elements are copied before it, and from which they are copied after.
#include <algorithm>

#include "code/loop_hints.h"
#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// Whether all that the body moves are whole vectors, side by side in memory.
bool KernelEmitter::shares_body(const Loop& loop) const {
  if (loop.weight <= twice_emitted || loop.weight > masked_only || !jam_.empty()) return false;
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    if (auto* load = std::get_if<Load>(&item); (load && load->guarded) || std::holds_alternative<Others>(item)) return false;
    if (auto* accumulate = std::get_if<Accumulate>(&item)) return program_.fold(accumulate->fold).axis == loop.var.axis;
    const auto access = accesses_.find(&item);
    return access == accesses_.end() || access->second.lane == StrideClass::unit || access->second.lane == StrideClass::zero || access->second.period > 0;
  });
}

// Loads and stores of this loop that go through memory of their own.
std::vector<KernelEmitter::Stop> KernelEmitter::stops_of(const Loop& loop, int steps) {
  std::vector<Stop> stops;
  for (const Item& item : loop.body) {
    const auto access = accesses_.find(&item);
    if (access == accesses_.end() || access->second.lane != StrideClass::unit || access->second.own) continue;
    auto* load = std::get_if<Load>(&item);
    const DType dtype = program_.buffer(load ? load->buffer : std::get<Store>(item).buffer).dtype;
    llvm::Type* type = llvm::ArrayType::get(memory_type(context_, dtype, lane_count), static_cast<unsigned>(steps));
    stops.push_back({&item, load != nullptr, dtype, stack_cell(type, "part"), access->second.base});
  }
  return stops;
}

void KernelEmitter::move_parts(const std::vector<Stop>& stops, bool loads, Value* index, const Masks& masks) {
  for (const Stop& stop : stops) {
    if (stop.is_load != loads) continue;
    llvm::Type *element = memory_type(context_, stop.dtype, 1), *vector = memory_type(context_, stop.dtype, lane_count);
    for (std::size_t step = 0; step < masks.size(); ++step) {
      Value* in_cell = after(vector, stop.cell, step);
      Value* in_array = after(vector, b_.CreateGEP(element, stop.base, index), step);
      if (loads) b_.CreateStore(load_part(vector, in_array, stop.dtype, masks[step], false), in_cell);
      else store_part(b_.CreateLoad(vector, in_cell), in_array, stop.dtype, masks[step], false);
    }
  }
}

// All whole steps, and then the last part, without a branch within the loop.
void KernelEmitter::emit_whole_then_part(const Loop& loop, Range range, int steps) {
  const int stride = steps * lane_count;
  const auto stops = stops_of(loop, steps);
  load_repeated(loop, range.begin, steps);
  Value* left = b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride));
  Value* whole_end = b_.CreateSub(range.end, left);
  auto* parts = for_range(number(0), number(2), 1, "part", [&](Value* pass) {
    Value *is_part = b_.CreateICmpNE(pass, number(0)), *some_left = b_.CreateAnd(is_part, b_.CreateICmpNE(left, number(0)));
    const Masks masks = first_lanes(left, steps);
    if_then(some_left, "before", [&] { move_parts(stops, true, whole_end, masks); });
    for (const Stop& stop : stops) {
      Value* from_end = b_.CreateMul(whole_end, number(-item_bytes(stop.dtype)));
      accesses_.at(stop.item).base = b_.CreateSelect(is_part, b_.CreateGEP(b_.getInt8Ty(), stop.cell, from_end), stop.base);
    }
    auto* branch = for_range(b_.CreateSelect(is_part, whole_end, range.begin), b_.CreateSelect(is_part, range.end, whole_end), stride, "lanes",
                             [&](Value* index) { emit_lane_body(loop, index, steps, {}); });
    if (branch) set_hint(*branch, many_turns);
    if_then(some_left, "after", [&] { move_parts(stops, false, whole_end, masks); });
  });
  set_hint(*parts, few_turns);
  repeated_.clear();
}

void KernelEmitter::emit_shared_body(const Loop& loop, Range range, int steps) {
  const int stride = steps * lane_count;
  const bool adds = std::any_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return std::holds_alternative<Accumulate>(item); });
  if (!adds && has_many_turns(loop, stride)) return emit_whole_then_part(loop, range, steps);
  const auto stops = stops_of(loop, steps);
  load_repeated(loop, range.begin, steps);
  for_range(range.begin, range.end, stride, "lanes", [&](Value* index) {
    Value* left = b_.CreateSub(range.end, index);
    const SharedStep step{b_.CreateICmpSLT(left, number(stride)), left};
    if_then(step.is_part, "before", [&] { move_parts(stops, true, index, first_lanes(left, steps)); });
    for (const Stop& stop : stops) {
      Value* from_index = b_.CreateMul(index, number(-item_bytes(stop.dtype)));
      accesses_.at(stop.item).base = b_.CreateSelect(step.is_part, b_.CreateGEP(b_.getInt8Ty(), stop.cell, from_index), stop.base);
    }
    shared_step_ = &step;
    emit_lane_body(loop, index, steps, {});
    shared_step_ = nullptr;
    if_then(step.is_part, "after", [&] { move_parts(stops, false, index, first_lanes(left, steps)); });
  });
  repeated_.clear();
}

// Lanes outside the loop do not change the fold: they hold its unit, the factors 1. In a shared body only its last step has some: a
// branch costs less than masks.
void KernelEmitter::keep_inside(const Fold& fold, std::vector<Value*>& values, std::vector<Value*>& factors, const Masks& masks) {
  const auto inside = [&](const Masks& which, std::vector<Value*> all, const Scalar& outside) {
    for (std::size_t step = 0; step < all.size(); ++step) all[step] = b_.CreateSelect(which[step], all[step], constant_value(context_, outside, lane_count));
    return all;
  };
  const Scalar nothing = unit(fold.accumulator, fold.dtype), one = Scalar::of(fold.dtype, 1.0);
  if (!shared_step_) {
    if (!masks.empty()) values = inside(masks, values, nothing), factors = inside(masks, factors, one);
    return;
  }
  std::vector<Value*> kept, kept_factors;
  llvm::BasicBlock *whole = b_.GetInsertBlock(), *part = nullptr;
  if_then(shared_step_->is_part, "inside", [&] {
    const Masks which = first_lanes(shared_step_->count, static_cast<int>(values.size()));
    kept = inside(which, values, nothing), kept_factors = inside(which, factors, one);
    part = b_.GetInsertBlock();
  });
  const auto joined = [&](std::vector<Value*> all, const std::vector<Value*>& of_part) {
    for (std::size_t step = 0; step < all.size(); ++step) {
      auto* value = b_.CreatePHI(all[step]->getType(), 2);
      value->addIncoming(all[step], whole);
      value->addIncoming(of_part[step], part);
      all[step] = value;
    }
    return all;
  };
  values = joined(values, kept), factors = joined(factors, kept_factors);
}

}  // namespace weft
