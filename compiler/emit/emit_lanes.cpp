// Innermost loops as vectors: whole steps of 16 lanes (several interleaved), then masked steps for the rest.
#include <algorithm>
#include <bit>

#include <llvm/Analysis/VectorUtils.h>

#include "code/loop_hints.h"
#include "emit_kernel.h"
#include "schedule/schedule.h"

namespace weft {

using llvm::Value;

// Whether each vector is stored before the next is loaded: where nothing waits for results, loads and stores that alternate keep the first level busier
// than four of each at a time. a x + y of 4096 floats 80 -> 76 ns, of what the second level holds .97 of the time, of 256 floats 7.5 -> 8.5 ns (Zen 5).
bool KernelEmitter::takes_turns(const Loop& loop) const {
  constexpr Index few = 1024;
  if (loop.weight > stored_in_turn || program_.axis(loop.var.axis).hint < few || !repeated_.empty() || !estimated_.empty()) return false;
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    if (std::holds_alternative<Load>(item)) return accesses_.contains(&item) && accesses_.at(&item).each <= 1;
    const auto* compute = std::get_if<Compute>(&item);
    return std::holds_alternative<Store>(item) || (compute && op_cost(compute->op) == 1);
  });
}

void KernelEmitter::emit_lane_body(const Loop& loop, Value* index, int steps, const Masks& masks) {
  if (const int together = masks.empty() && (jam_.empty() || copies_.keep_windows) ? steps_in_register(loop, steps) : 1; together > 1) return emit_narrow_items(loop, index, steps, together);
  if (!jam_.empty()) return emit_jammed_items(loop, index, steps, masks);
  if (masks.empty() && steps > 1 && takes_turns(loop)) {
    for (int step = 0; step < steps; ++step) emit_lane_items(loop, b_.CreateAdd(index, number(step * lane_count)), 1, {});
    return;
  }
  emit_lane_items(loop, index, steps, masks);
}

// Long functions, quotients by an invariant and what comes from estimates work on two or four steps at once, as one wide vector: their instructions alternate, and
// one branch serves all rare cases.
std::vector<Value*> KernelEmitter::emit_lane_compute(const Loop& loop, const Compute& compute, int steps) {
  const DType result = program_.dtype_of(compute.result);
  std::vector<DType> dtypes;
  std::vector<std::vector<Value*>> operands;     // by step
  for (const Arg& arg : compute.args) dtypes.push_back(program_.dtype_of(arg));
  for (int step = 0; step < steps; ++step) {
    operands.emplace_back();
    for (const Arg& arg : compute.args) operands.back().push_back(pack(arg, step));
  }
  std::vector<Value*> made;
  const bool by_invariant = compute.op == Op::divide && is_invariant(compute.args[1]) && !is_invariant(compute.args[0]) && !is_one_vector(loop);
  const bool below = compute.op == Op::exp && compute.first.nonpositive && !fast_math_ && !calls_functions();
  const auto estimated = std::find_if(estimated_.begin(), estimated_.end(), [&](const Estimated& each) { return each.compute == &compute; });
  const std::size_t by_estimate = estimated == estimated_.end() ? 0 : operands.size() / (estimated->every_second ? 2 : 1);
  const bool at_once = op_cost(compute.op) >= long_function || by_invariant;
  const std::size_t most = calls_functions() ? 1 : register_bytes() == 64 ? 4 : 2;         // more would not stay in registers
  while (made.size() < operands.size()) {
    const std::size_t first = made.size();
    const bool estimates = first < by_estimate;
    if (!at_once && !estimates) {
      made.push_back(emit_op(b_, compute.op, operands[first], dtypes, result, fast_math_));
      continue;
    }
    const std::size_t together = std::bit_floor(std::min(most, (estimates ? by_estimate : operands.size()) - first));
    std::vector<Value*> wide;
    for (std::size_t k = 0; k < compute.args.size(); ++k) {
      std::vector<Value*> parts;
      for (std::size_t step = first; step < first + together; ++step) parts.push_back(operands[step][k]);
      wide.push_back(llvm::concatenateVectors(b_, parts));
    }
    Value* all = by_invariant ? divide_by_invariant(wide[0], compute.args[1], compute.first) : below ? emit_exp_of_nonpositive(b_, wide[0], result) : estimates ? by_estimates(compute.op, wide) : emit_or_call(compute.op, wide, dtypes, result);
    for (unsigned part = 0; part < together; ++part)
      made.push_back(together == 1 ? all : b_.CreateShuffleVector(all, llvm::createSequentialMask(part * lane_count, lane_count, 0)));
  }
  return made;
}

// The index along the loop of the elements of one step.
Value* KernelEmitter::index_lanes(const Load& load, Value* index, int step) {
  llvm::Type* type = register_type(context_, program_.buffer(load.buffer).dtype, 1);
  const auto spread = [&](Value* value) { return b_.CreateVectorSplat(lane_count, b_.CreateTrunc(value, type)); };
  Value* lanes = b_.CreateAdd(spread(b_.CreateAdd(index, number(step * lane_count))), lane_numbers(static_cast<int>(type->getIntegerBitWidth())));
  return b_.CreateAdd(b_.CreateMul(lanes, spread(number(load.at[0].step))), spread(size(load.at[0].start)));
}

Value* KernelEmitter::load_step(const Loop& loop, const Load& load, const void* key, Value* index, int step, const Masks& masks) {
  const Buffer& buffer = program_.buffer(load.buffer);
  if (buffer.place == Place::index) return index_lanes(load, index, step);
  if (auto again = repeated_.find({key, step}); again != repeated_.end()) return again->second;
  if (Value* in_tile = window_of_tile(loop, load)) return in_tile;
  if (load.guarded) return guarded_load(load, index, step, mask_of(masks, step));
  if (auto common = common_.find({key, step}); common != common_.end()) return common->second;
  if (Value* kept = kept_window(load); kept) return kept;
  Value* loaded = lane_load(accesses_.at(key), buffer.dtype, index, step, move_mask(masks, step));
  keep_window(load, loaded);
  if (is_common(load, loop)) common_[{key, step}] = loaded;
  return loaded;
}

// What a load gives, by step: from registers that have it, as what they gather or repeat, or step by step.
std::vector<Value*> KernelEmitter::emit_lane_load(const Loop& loop, const Load& load, const void* key, Value* index, int steps, const Masks& masks) {
  const Buffer& buffer = program_.buffer(load.buffer);
  std::vector<Value*> made;
  if (auto tile = tiles_.find(key); tile != tiles_.end()) {
    for (int step = 0; step < steps; ++step) made.push_back(from_memory(tile->second[jam_copy_ + static_cast<std::size_t>(step)], buffer.dtype));
    return made;
  }
  if (auto carried = carried_rows_.find(load.buffer); carried != carried_rows_.end()) return {carried->second};
  if (auto results = thin_results_.find(load.buffer); results != thin_results_.end()) return results->second;
  if (is_along_rows()) return spread_to_rows(lane_load(accesses_.at(key), buffer.dtype, index, 0, rows_left_ ? first_lanes(rows_left_, 1)[0] : nullptr));
  if (const auto access = accesses_.find(key); access != accesses_.end() && access->second.each > 1)
    return staying_load(access->second, buffer.dtype, index, steps, begins_in_whole(loop.var.axis, access->second.each), part_);
  if (std::vector<Value*> picked = emit_row_window(loop, static_cast<const Item*>(key), index, steps, masks); !picked.empty()) return picked;
  for (int step = 0; step < steps; ++step) made.push_back(load_step(loop, load, key, index, step, masks));
  return made;
}

void KernelEmitter::emit_lane_store(const Loop& loop, const Item& item, Value* index, int steps, const Masks& masks) {
  const auto& store = std::get<Store>(item);
  const DType dtype = program_.buffer(store.buffer).dtype;
  if (copies_.tiled_by >= 0 && is_across(item, loop)) {
    for (int step = 0; step < steps; ++step) tile_stores_[&item].push_back(to_memory(pack(store.value, step), dtype));
    return;
  }
  if (is_carried_row(store.buffer, loop)) {
    carried_rows_[store.buffer] = pack(store.value, 0);
    if (!is_last_copy()) return;
  }
  for (int step = 0; step < steps; ++step) {
    Value *mask = move_mask(masks, step), *value = pack(store.value, step);
    if (stores_late_) late_stores_.push_back({accesses_.at(&item), dtype, step, mask, value});
    else lane_store(accesses_.at(&item), dtype, index, step, mask, value);
  }
}

// What the body made for elements before is not what it makes now.
void KernelEmitter::forget_packs(const Loop& loop) {
  if (!copies_.keep_windows) windows_.clear();
  const auto forget = [&](int value) { packs_[static_cast<std::size_t>(value)].clear(); };
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) forget(load->result);
    if (auto* compute = std::get_if<Compute>(&item)) forget(compute->result);
    if (auto* running = std::get_if<Accumulate>(&item); running && running->result >= 0) forget(running->result);
  }
}

void KernelEmitter::emit_lane_items(const Loop& loop, Value* index, int steps, const Masks& masks) {
  forget_packs(loop);
  emit_lane_items(loop, index, steps, masks, 0, loop.body.size());
}

void KernelEmitter::emit_lane_items(const Loop& loop, Value* index, int steps, const Masks& masks, std::size_t first, std::size_t last) {
  const auto pack_of = [&](int value) -> std::vector<Value*>& { return packs_[static_cast<std::size_t>(value)]; };
  for (std::size_t k = first; k < last; ++k) {
    const Item& item = loop.body[k];
    if (auto* load = std::get_if<Load>(&item)) {
      pack_of(load->result) = emit_lane_load(loop, *load, &item, index, steps, masks);
    } else if (auto* compute = std::get_if<Compute>(&item)) {
      pack_of(compute->result) = emit_lane_compute(loop, *compute, steps);
    } else if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && !copies_.down_columns) {
      auto access = accesses_.find(&item);
      emit_lane_accumulate(loop, *accumulate, access == accesses_.end() ? nullptr : &access->second, index, steps, masks);
    } else if (auto* others = std::get_if<Others>(&item)) {
      emit_lane_others(*others, index, steps, masks);
    } else if (std::holds_alternative<Store>(item)) {
      emit_lane_store(loop, item, index, steps, masks);
    }
  }
}

// Before the loop: operands that repeat, if every iteration reads the same elements of them.
void KernelEmitter::load_repeated(const Loop& loop, Value* begin, int steps) {
  if (!jam_.empty()) return;
  for (const Item& item : loop.body) {
    auto* load = std::get_if<Load>(&item);
    if (!load || !accesses_.contains(&item)) continue;
    const LaneAccess& access = accesses_.at(&item);
    if (access.period == 0 || steps * lane_count % access.period != 0) continue;
    const DType dtype = program_.buffer(load->buffer).dtype;
    for (int step = 0; step < steps; ++step) repeated_[{&item, step}] = repeated_load(access, dtype, b_.CreateAdd(begin, number(step * lane_count)));
  }
}

// What has been loaded before the loop is that of any single vector too, and what stays for several elements begins anew with each: else single vectors gather
// it. x[857,7,10] * w[7,1] .67 -> .12 ns an element (Zen 4). Without registers of masks whole steps with masks are no better.
bool KernelEmitter::repeat_in_each_vector() const {
  return std::all_of(repeated_.begin(), repeated_.end(), [&](const auto& each) { return lane_count % accesses_.at(each.first.first).period == 0; }) &&
         (register_bytes() < 64 || std::all_of(accesses_.begin(), accesses_.end(), [](const auto& access) { return lane_count % access.second.each == 0; }));
}

// The first time a loop is emitted, most of its elements go through that code.
void KernelEmitter::note_code(const Loop& loop, int vectors, bool tables) {
  if (!noted_.insert(&loop).second) return;
  const bool transposes = copies_.tiled_by >= 0 && std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) { return is_across(item, loop); });
  LoopCode code{loop.var.axis, copies_.tiled_by, loop.weight, vectors, copies(), transposes, tables, copies_.down_columns, copies_.swept > 0, !stages_.empty(), copies_.rolled, &loop == copies_.taker, copies_.in_registers, 0, searches(loop)};
  if (!jam_.empty() && !copies_.in_registers && copies_.tiled_by < 0) code.outer = copied_axis_;
  const auto& accesses = jam_.empty() ? accesses_ : jam_.front().accesses;
  for (const Item& item : loop.body) {
    if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && copies_.down_columns) code.outer = program_.fold(accumulate->fold).axis;
    if (auto access = accesses.find(&item); access != accesses.end() && std::holds_alternative<Store>(item)) code.streams += access->second.stream || access->second.by_lines;
  }
  codes_.push_back(code);
}

// Along a block of no more elements than a vector has: nothing is worth preparing for it.
bool KernelEmitter::is_one_vector(const Loop& loop) const { return program_.is_tiled(loop.var.axis) && program_.block > 0 && program_.block <= lane_count; }

// What they gain is worth their compile time, and what the first and the last one take more (overlap_turns.h).
bool KernelEmitter::has_many_turns(const Loop& loop, Index stride) const {
  constexpr Index many = 16;
  const Index all = program_.axis(loop.var.axis).hint, at_once = !program_.is_tiled(loop.var.axis) ? all : program_.block > 0 ? program_.block : program_.unit;
  return jam_.empty() && all >= worth_overlapping && at_once >= many * stride;
}

void KernelEmitter::emit_part_of_vector(const Loop& loop, Range range) {
  note_code(loop, 1, false);
  part_ = b_.CreateSub(range.end, range.begin);
  emit_lane_body(loop, range.begin, 1, first_lanes(part_, 1));
  part_ = nullptr;
}

void KernelEmitter::emit_lane_range(const Loop& loop, Range range) {
  if (moves_held_row(loop)) return emit_held_row(loop);
  if (is_one_vector(loop) && program_.block < lane_count) return emit_part_of_vector(loop, range);
  const int steps = steps_of(loop), stride = steps * lane_count;
  WEFT_ASSERT(steps <= most_vectors, "rows end with room for so many vectors");
  if (const Item* result = streams_from_a_line_on(loop)) {
    accesses_.at(result).stream = true;
    fetch_ahead(loop, true);
    note_code(loop, steps, false);
    return emit_from_a_line_on(loop, range, steps, *result);
  }
  if (runs_in_parts(loop)) return emit_parts(loop, range);
  const auto bytes = jam_.empty() ? byte_function(loop) : std::nullopt;
  note_code(loop, steps, bytes.has_value());
  if (bytes && makes_tables_of_loop(loop, *bytes)) return emit_tables_and_rest(loop, *bytes, range);
  if (bytes) range.begin = emit_table_lookups(loop, *bytes, range);
  if (folds_wide(loop)) return emit_wide_folds(loop, range);
  Value* rest = range.begin;
  const bool exact = !bytes && (!runs_in_leaves(loop) || fold_leaf % stride == 0) && relies_on_whole(loop.var.axis, stride), masks = has_feature("+avx512f") && jam_.empty();
  if (!bytes && !exact && masks_registers(loop, steps)) return emit_narrow_range(loop, range, steps);
  // Stores past the caches have no masks; loads of elements by steps share whole rows without them, and stores of such are one by one with them.
  const bool unmasked = std::any_of(accesses_.begin(), accesses_.end(), [](const auto& each) { return each.second.stream || lies_by_steps(each.second); });
  if (jam_.empty() && masks && !unmasked && !bytes && steps > 1 && is_one_masked_step(loop, steps)) return emit_rest(loop, range, steps, false);
  if (!bytes && !exact && ends_apart(loop)) return emit_end_apart(loop, range, steps);
  if (!bytes && !exact && !is_emitted_twice(loop) && shares_body(loop)) return emit_shared_body(loop, range, steps);
  if (auto rows = bytes || exact ? std::nullopt : shared_rows(loop)) return emit_shared_rows(loop, range, std::move(*rows));
  const bool once = !exact && (masks && !unmasked ? !is_emitted_twice(loop) : loop.weight > masked_only);
  if (!once && !bytes) {
    rest = exact ? range.end : b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride)));
    load_repeated(loop, range.begin, steps);
    if (copies_.along_rows) open_rows();
    const bool some = exact && has_some(loop.var.axis);
    auto* branch = emit_whole_steps(loop, {range.begin, rest}, steps, some);
    if (branch && has_many_turns(loop, stride)) set_hint(*branch, many_turns);
    if (!repeat_in_each_vector() && !masks) repeated_.clear();
    if (copies_.along_rows) {
      const bool as_rows = !exact && masks_rows_left(loop);
      if (as_rows) emit_rows_left(loop, {rest, range.end});
      close_rows(loop);
      if (as_rows) return repeated_.clear();
    }
    if (exact) return repeated_.clear();
    if (folds_hold_rows_) take_columns(loop);
    if (steps > 1 && loop.weight <= small_body && repeat_in_each_vector() && (register_bytes() < 64 || !jam_.empty() || walks_rows_of_memory(loop))) rest = emit_single_vectors(loop, {rest, range.end});
  }
  if (once && masks) return emit_whole_then_rest(loop, range, steps);
  const bool as_whole_step = once || !repeat_in_each_vector();
  if (!as_whole_step && !bytes && relies_on_whole(loop.var.axis, lane_count))
    for_range(rest, range.end, lane_count, "rest", [&](Value* index) { emit_lane_body(loop, index, 1, {}); });
  else
    emit_rest(loop, {rest, range.end}, as_whole_step ? steps : 1, once);
  repeated_.clear();
}

void KernelEmitter::emit_vectors(const Loop& loop) {
  if (searches(loop)) return emit_searches(loop);
  const int axis = loop.var.axis;
  const Range range = range_of(axis);
  bool ordered = false;
  for (int fold : loop.folds) ordered |= program_.fold(fold).ordered;
  const bool leaves = ordered && !relies_on_one_leaf(axis);
  estimated_ = find_estimated(loop, steps_of(loop));
  each_copy([&] {
    open_folds(loop, leaves);
    axis_index_[static_cast<std::size_t>(axis)] = nullptr;
    open_accesses(loop);
    start_folds(loop, false);
  });
  find_row_windows(loop);
  const bool by_lines = jam_.empty() && copies_.tiled_by < 0;
  if (by_lines) open_combined_rows(loop);
  around_lanes([&] { fold_leaves(loop, range, leaves, [&](Range part) { emit_lane_range(loop, part); }); });
  if (by_lines) close_combined_rows(loop);
  row_windows_.clear();
  take_extremes(loop);
  each_copy([&] { close_folds(loop, range); });
}

// A mark before the loops: values from outside are spread there.
void KernelEmitter::around_lanes(const std::function<void()>& loops) {
  auto* mark = b_.CreateAlloca(b_.getInt8Ty());
  before_lanes_ = mark;
  loops();
  mark->eraseFromParent();
  before_lanes_ = nullptr;
  for (auto& vectors : packs_) if (!vectors.empty()) vectors.clear();
}

}  // namespace weft
