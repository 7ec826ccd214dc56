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

// The elements that are left, less than all steps have.
void KernelEmitter::move_parts(const std::vector<Stop>& stops, bool loads, Value* index, Value* left, int steps) {
  Masks masks;
  for (const Stop& stop : stops) {
    if (stop.is_load != loads) continue;
    llvm::Type *element = memory_type(context_, stop.dtype, 1), *vector = memory_type(context_, stop.dtype, lane_count);
    Value* array = b_.CreateGEP(element, stop.base, index);
    if (!loads && !stores_by_masks(stop.dtype)) {
      move_elements(array, stop.cell, stop.dtype, left);
      continue;
    }
    if (masks.empty()) masks = first_lanes(left, steps);
    for (std::size_t step = 0; step < masks.size(); ++step) {
      Value *in_cell = after(vector, stop.cell, step), *in_array = after(vector, array, step);
      if (loads) b_.CreateStore(load_part(vector, in_array, stop.dtype, masks[step], false), in_cell);
      else store_part(b_.CreateLoad(vector, in_cell), in_array, stop.dtype, masks[step], false);
    }
  }
}

// What the loop folds along itself, if it can be taken back: of minima and maxima there may be more than their registers.
std::optional<std::vector<int>> KernelEmitter::folds_of_body(const Loop& loop) const {
  std::vector<int> folds;
  for (const Item& item : loop.body) {
    auto* accumulate = std::get_if<Accumulate>(&item);
    if (!accumulate || accumulate->result >= 0) continue;                // running: nothing reads what it has in the end
    if (is_extreme(program_.fold(accumulate->fold)) || std::find(folds.begin(), folds.end(), accumulate->fold) != folds.end()) return {};
    folds.push_back(accumulate->fold);
  }
  return folds;
}

// From here on until they are taken back, what has been added along the loop after each step is kept.
void KernelEmitter::keep_steps(const std::vector<int>& folds, int steps) {
  for (int number_of_fold : folds) {
    const FoldState& state = folds_[static_cast<std::size_t>(number_of_fold)];
    const DType dtype = program_.fold(number_of_fold).dtype;
    const bool in_registers = !state.registers.empty();
    llvm::Type* type = in_registers ? register_type(context_, dtype, lane_count) : memory_type(context_, dtype, lane_count);
    const std::size_t cells = in_registers ? state.registers.size() : 1;
    for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
      Value* cell = in_registers ? state.registers[step % cells] : state.cell;
      folded_steps_.push_back({number_of_fold, static_cast<int>(step), cell, step < cells ? b_.CreateLoad(type, cell) : nullptr, stack_cell(type, "step")});
    }
  }
}

void KernelEmitter::keep_step(int fold, int step) {
  for (const FoldedStep& each : folded_steps_)
    if (each.fold == fold && each.step == step) b_.CreateStore(b_.CreateLoad(each.after->getAllocatedType(), each.cell), each.after);
}

// After the last part, whose lanes outside the loop have added something all the same: each has what it had after the last step inside.
void KernelEmitter::take_back(const Masks& masks) {
  for (const FoldedStep& each : folded_steps_) {
    llvm::Type* type = each.after->getAllocatedType();
    Value* before = each.before ? each.before : b_.CreateLoad(type, each.cell);
    b_.CreateStore(b_.CreateSelect(masks[static_cast<std::size_t>(each.step)], b_.CreateLoad(type, each.after), before), each.cell);
  }
}

// All whole steps, and then the last part, without a branch within the loop.
void KernelEmitter::emit_whole_then_part(const Loop& loop, Range range, int steps, const std::vector<int>& folds) {
  const int stride = steps * lane_count;
  const auto stops = stops_of(loop, steps);
  load_repeated(loop, range.begin, steps);
  Value* left = b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride));
  Value* whole_end = b_.CreateSub(range.end, left);
  auto* parts = for_range(number(0), number(2), 1, "part", [&](Value* pass) {
    Value *is_part = b_.CreateICmpNE(pass, number(0)), *some_left = b_.CreateAnd(is_part, b_.CreateICmpNE(left, number(0)));
    if_then(some_left, "before", [&] { move_parts(stops, true, whole_end, left, steps); });
    for (const Stop& stop : stops) {
      Value* from_end = b_.CreateMul(whole_end, number(-item_bytes(stop.dtype)));
      accesses_.at(stop.item).base = b_.CreateSelect(is_part, b_.CreateGEP(b_.getInt8Ty(), stop.cell, from_end), stop.base);
    }
    keep_steps(folds, steps);
    auto* branch = for_range(b_.CreateSelect(is_part, whole_end, range.begin), b_.CreateSelect(is_part, range.end, whole_end), stride, "lanes",
                             [&](Value* index) { emit_lane_body(loop, index, steps, {}); });
    if (branch && has_many_turns(loop, stride)) set_hint(*branch, many_turns);
    if_then(some_left, "after", [&] {
      move_parts(stops, false, whole_end, left, steps);
      take_back(first_lanes(left, steps));
    });
    folded_steps_.clear();
  });
  set_hint(*parts, few_turns);
  repeated_.clear();
}

void KernelEmitter::emit_shared_body(const Loop& loop, Range range, int steps) {
  const int stride = steps * lane_count;
  const auto folds = folds_of_body(loop);
  if (folds && (!folds->empty() || has_many_turns(loop, stride))) return emit_whole_then_part(loop, range, steps, *folds);
  const auto stops = stops_of(loop, steps);
  load_repeated(loop, range.begin, steps);
  for_range(range.begin, range.end, stride, "lanes", [&](Value* index) {
    Value* left = b_.CreateSub(range.end, index);
    Value* is_part = b_.CreateICmpSLT(left, number(stride));
    if_then(is_part, "before", [&] { move_parts(stops, true, index, left, steps); });
    for (const Stop& stop : stops) {
      Value* from_index = b_.CreateMul(index, number(-item_bytes(stop.dtype)));
      accesses_.at(stop.item).base = b_.CreateSelect(is_part, b_.CreateGEP(b_.getInt8Ty(), stop.cell, from_index), stop.base);
    }
    moves_whole_ = true;
    emit_lane_body(loop, index, steps, folds ? Masks{} : first_lanes(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, number(stride)), steps));
    moves_whole_ = false;
    if_then(is_part, "after", [&] { move_parts(stops, false, index, left, steps); });
  });
  repeated_.clear();
}

}  // namespace weft
