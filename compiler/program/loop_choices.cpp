#include "loop_choices.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "code/features.h"
#include "schedule/cost_model.h"
#include "visit.h"

namespace weft {

namespace {

bool is_pure(const Item& item) { return std::holds_alternative<Load>(item) || std::holds_alternative<Compute>(item); }

}  // namespace

bool is_extreme(const Fold& fold) {
  const AccumulatorId id = fold.accumulator;
  return is_floating(fold.dtype) && (id == AccumulatorId::max || id == AccumulatorId::supremum || id == AccumulatorId::min || id == AccumulatorId::infimum);
}

bool LoopChoices::has_feature(std::string_view name) const { return weft::has_feature(features_, name); }

std::size_t LoopChoices::register_bytes() const { return weft::register_bytes(features_); }

// Whether there are instructions that take elements from anywhere, or put them there, and are worth it: those of AVX2 that gather are not.
bool LoopChoices::scatters(DType dtype) const { return size_of(dtype) >= 4 && has_feature("+avx512f"); }

bool LoopChoices::masks_by_branches(DType dtype) const { return weft::masks_by_branches(features_, dtype); }

bool LoopChoices::permutes_bytes() const { return has_feature("+avx512vbmi"); }

bool LoopChoices::shuffles_bytes() const { return has_feature("+avx2") && register_bytes() == 32; }

bool LoopChoices::has_staying(const Loop& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load && std::any_of(load->at.begin(), load->at.end(), [&](const Subscript& s) { return s.axis == loop.var.axis && s.each > 1; });
  });
}

// How many vectors a unit has, if it is what the loop runs over.
int LoopChoices::vectors_of_unit(const Loop& loop) const {
  return program_.is_tiled(loop.var.axis) ? static_cast<int>(std::max<Index>(1, program_.unit / lane_count)) : std::numeric_limits<int>::max();
}

// How many vectors run side by side: hides latencies. More cost compile time. Few known ones run all at once, or in equal parts: what a
// larger step leaves over is masked. No more than the call that compiles has: the others would be code that never runs, and its vectors one by one
// what is left over. The gradient of batch normalization of pictures of 32 x 32, 2.05 -> 1.14 ms; sqrt((a-b)^2+1) of rows of 34, .26 -> .18 ns an
// element (Zen 4).
int LoopChoices::interleave(const Loop& loop) const {
  if (std::any_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return std::holds_alternative<Others>(item); })) return 1;       // rows across it fill the registers
  if (loop.is_seldom_run) return 1;
  const bool along_block = program_.block > 0 && program_.is_tiled(loop.var.axis) && loop.weight > small_body;
  const int most = along_block ? vectors_of_block : program_.vectors;
  const int together = vectors_in_register(loop), wanted = std::min({most, std::max(latency_steps(loop), together), vectors_of_unit(loop), vectors_of_rows(loop)});
  int repetition = 1;                   // vectors until all repeating operands begin anew
  for (const Item& item : loop.body)
    if (auto* load = std::get_if<Load>(&item))
      for (const Subscript& s : load->at)
        if (s.axis == loop.var.axis && !s.is_linear())
          for (Index elements : {std::max<Index>(s.period, 1), s.each}) repetition = std::lcm(repetition, static_cast<int>(elements / std::gcd(elements, Index{lane_count})));
  if (repetition > 1) return whole_repetitions(wanted, repetition);
  const NestAxis& axis = program_.axis(loop.var.axis);
  const Index all = axis.extent.is_number() ? (axis.extent.constant() + lane_count - 1) / lane_count : most;
  if (program_.is_tiled(loop.var.axis)) return static_cast<int>(std::clamp<Index>(all, 1, wanted));
  // Of bytes whole registers: the smallest of 3 x 3 in 1022 rows of as many, three vectors side by side, took 100 us, four take 62 (Zen 5).
  const auto in_registers = [&](int vectors) { return vectors > together ? vectors / together * together : vectors; };
  if (!axis.extent.is_number()) return in_registers(static_cast<int>(std::clamp<Index>(axis.hint / lane_count, 1, wanted)));
  if (is_one_masked_step(loop, wanted)) return static_cast<int>((axis.extent.constant() + lane_count - 1) / lane_count);
  if (axis.extent.constant() < lane_count) return 1;
  if (runs_in_leaves(loop)) return wanted;
  const Index vectors = axis.extent.constant() / lane_count;
  return std::min<Index>(wanted, vectors) < together ? equal_parts(wanted, vectors) : together * equal_parts(wanted / together, vectors / together);
}

// Whether all of a row, which is no whole vectors, is one step with masks. Rows of 17 to 31 floats divided by their lengths take .74 to .84 of the time,
// softmax of 24 and 31 .86; 2 (x - b) of eight pixels of three floats .45 -> .06 ns an element; x sigmoid(y) of rows of 17, 33 and 50 floats in memory .2 of it,
// which went through memory of its own before (emit_shared_body.cpp, Zen 5).
bool LoopChoices::is_one_masked_step(const Loop& loop, int vectors) const {
  const Extent& extent = program_.axis(loop.var.axis).extent;
  if (!extent.is_number() || program_.is_tiled(loop.var.axis) || loop.var.axis == program_.root.var.axis || register_bytes() != 64) return false;
  const Index elements = extent.constant();
  if (elements % lane_count == 0 || elements < lane_count || elements > vectors * lane_count) return false;
  return std::none_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    const auto* load = std::get_if<Load>(&item);
    return load && (load->guarded || std::any_of(load->at.begin(), load->at.end(), [&](const Subscript& s) { return s.axis == loop.var.axis && (s.each > 1 || s.step != 1); }));
  });
}

// Elements of longer rows are picked from as many vectors, which fill the registers. Normals of triangles, nine floats each: four vectors side by side took
// 1.55 ns and 39 ms to compile, one takes 1.0 and 10 (Zen 5).
int LoopChoices::vectors_of_rows(const Loop& loop) const {
  constexpr int few = 4;
  int longest = 1;
  for (const Item& item : loop.body) {
    const auto* load = std::get_if<Load>(&item);
    if (!load || load->guarded || !is_linear(load->at)) continue;
    const StrideClass lanes = lane_class(load->buffer, load->at, loop.var.axis);
    if (is_known(lanes)) longest = std::max(longest, static_cast<int>(std::abs(step_of(lanes))));
  }
  return longest <= few ? most_vectors : std::max(1, registers() / 2 / (longest * registers_of(widest_of(loop))));
}

int LoopChoices::latency_steps(const Loop& loop) const {
  LongFunctions functions;
  for (const Item& item : loop.body)
    if (auto* compute = std::get_if<Compute>(&item); compute && op_cost(compute->op) >= long_function) {
      functions.cost += op_cost(compute->op);
      functions.longest = std::max(functions.longest, op_cost(compute->op));
      functions.all_from_tables &= is_from_tables(compute->op, program_.dtype_of(compute->result));
    }
  std::size_t bytes = widest_of(loop);
  for (const Item& item : loop.body)
    if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && std::count(loop.folds.begin(), loop.folds.end(), accumulate->fold) > 0)
      if (is_extreme(program_.fold(accumulate->fold)) && registers_of(bytes) < registers()) bytes *= 2;    // each takes several instructions
  return vectors_side_by_side(loop.weight, functions, !loop.folds.empty(), registers_of(bytes), registers(), loop.is_long_run);
}

std::size_t LoopChoices::widest_of(const Loop& loop) const {
  std::size_t widest = 1;
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) widest = std::max(widest, size_of(program_.dtype_of(load->result)));
    if (auto* compute = std::get_if<Compute>(&item)) widest = std::max(widest, size_of(program_.dtype_of(compute->result)));
  }
  return widest;
}

// Slices of a root that is not tiled begin and end anywhere.
bool LoopChoices::begins_in_whole(int axis, Index size) const {
  if (program_.is_tiled(axis)) return program_.unit % size == 0 && program_.block % size == 0;
  return axis != program_.root.var.axis;
}

bool LoopChoices::runs_in_whole(int axis, Index size) const { return program_.axis(axis).known.multiple % size == 0 && begins_in_whole(axis, size); }

bool LoopChoices::fits_one_leaf(int axis) const {
  return program_.is_tiled(axis) || program_.axis(axis).known.most <= fold_leaf;
}

bool LoopChoices::runs_in_leaves(const Loop& loop) const {
  return !fits_one_leaf(loop.var.axis) && std::any_of(loop.folds.begin(), loop.folds.end(), [&](int fold) { return program_.fold(fold).ordered; });
}

// The bytes that decide, with operands that repeat, everything the loop stores; nothing where lookups do not pay.
std::optional<LoopChoices::ByteFunction> LoopChoices::byte_function(const Loop& loop) const {
  if (!loop.folds.empty()) return {};
  ByteFunction found;
  found.in_registers = permutes_bytes() || shuffles_bytes();
  int cost = 0;
  for (const Item& item : loop.body) {
    auto* load = std::get_if<Load>(&item);
    auto* store = std::get_if<Store>(&item);
    if (auto* compute = std::get_if<Compute>(&item)) {
      cost += op_cost(compute->op);
    } else if (load || store) {
      const int number_of_buffer = load ? load->buffer : store->buffer;
      const auto& at = load ? load->at : store->at;
      const Buffer& buffer = program_.buffer(number_of_buffer);
      if (buffer.place == Place::index || (load && load->guarded)) return {};
      const auto repeats = std::find_if(at.begin(), at.end(), [&](const Subscript& s) { return s.axis == loop.var.axis && !s.is_linear(); });
      if (load && repeats != at.end()) {
        if (repeats->each > 1 || (found.tables != 1 && found.tables != repeats->period)) return {};
        found.tables = repeats->period;
        continue;
      }
      const Item*& single = load ? found.load : found.store;
      const StrideClass lane = lane_class(number_of_buffer, at, loop.var.axis);
      if (single || size_of(buffer.dtype) != 1 || (load && is_boolean(buffer.dtype)) || lane == StrideClass::zero) return {};
      if (load ? !is_known(lane) || step_of(lane) > longest_step : lane != StrideClass::unit) found.in_registers = false;
      single = &item;
    } else {
      return {};
    }
  }
  if (!found.load || !found.store || found.tables > most_tables || cost < (found.in_registers ? table_pays : table_in_memory_pays)) return {};
  return found;
}

// The vector loops of a body whose iterations can run side by side: all along one axis, and what they keep in rows is each one's own. None
// if they can not.
std::vector<const Loop*> LoopChoices::vector_loops(const Loop& outer) const {
  const auto shared_row = [&](const Item& item) {
    auto* store = std::get_if<Store>(&item);
    if (!store) return false;
    const Buffer& buffer = program_.buffer(store->buffer);
    return buffer.place == Place::row && std::find(buffer.axes.begin(), buffer.axes.end(), outer.var.axis) == buffer.axes.end();
  };
  std::vector<const Loop*> loops;
  bool shared = false;
  for (const Item& item : outer.body) {
    if (auto* loop = std::get_if<Loop>(&item)) {
      if (loop->mark != Mark::lanes || (!loops.empty() && loop->var.axis != loops[0]->var.axis)) return {};
      if (std::any_of(loop->body.begin(), loop->body.end(), [](const Item& each) { return std::holds_alternative<Others>(each); })) return {};
      loops.push_back(loop);
      shared |= std::any_of(loop->body.begin(), loop->body.end(), shared_row);
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      const Fold& fold = program_.fold(accumulate->fold);
      if (fold.row >= 0 && std::find(fold.row_axes.begin(), fold.row_axes.end(), outer.var.axis) == fold.row_axes.end()) return {};
    } else if (shared_row(item) || (!is_pure(item) && !std::holds_alternative<Store>(item))) {
      return {};
    }
  }
  if (!shared) return loops;
  const auto reads_row = [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load && program_.buffer(load->buffer).place == Place::row;
  };
  if (loops.size() > 1 || std::any_of(outer.body.begin(), outer.body.end(), reads_row)) return {};
  return loops;                         // one loop alone stores states of scans, which go from copy to copy
}

LoopChoices::Outer LoopChoices::outer_of(const Loop& loop) const {
  Outer outer;
  outer.loops = vector_loops(loop);
  outer.pure = std::all_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return is_pure(item) || std::holds_alternative<Loop>(item); });
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    outer.scans |= fold.start.has_value();
    (fold.row >= 0 ? outer.rows : outer.scalars) = true;
  }
  for (const Loop* lanes : outer.loops) {
    outer.weight += code_with_windows(*lanes, loop.var.axis);
    outer.folds_lanes |= !lanes->folds.empty();
    outer.scans |= std::any_of(lanes->folds.begin(), lanes->folds.end(), [&](int fold) { return program_.fold(fold).start.has_value(); });
    for (const Item& item : lanes->body) {
      outer.across += lies_across(item, loop.var.axis, lanes->var.axis) != 0;
      if (auto* load = std::get_if<Load>(&item)) outer.windows += window_across(*load, loop.var.axis, lanes->var.axis) != 0;
      outer.stores |= std::holds_alternative<Store>(item);
      auto* accumulate = std::get_if<Accumulate>(&item);
      if (!accumulate || std::find(lanes->folds.begin(), lanes->folds.end(), accumulate->fold) != lanes->folds.end()) continue;
      const Fold& fold = program_.fold(accumulate->fold);
      (fold.axis == loop.var.axis ? outer.folds_outer : outer.folds_others) = true;
      outer.ordered |= fold.ordered;
    }
  }
  return outer;
}

// Of one of several copies of the body: long functions are called.
static int weight_of_copy(const LoopChoices::Outer& outer) {
  constexpr int call = 4;
  int weight = outer.weight;
  for (const Loop* lanes : outer.loops)
    for (const Item& item : lanes->body)
      if (auto* compute = std::get_if<Compute>(&item); compute && op_cost(compute->op) >= long_function) weight += call - op_cost(compute->op);
  return weight;
}

// So few elements that all stay in registers.
bool LoopChoices::is_thin(const Loop& loop, const Outer& outer) const {
  const Extent& extent = program_.axis(loop.var.axis).extent;
  const bool across = outer.across + outer.windows > 0;
  const Index most = most_thin(weight_of_copy(outer) < outer.weight, outer.stores, across);
  if (loop.mark != Mark::serial || !extent.is_number() || extent.constant() < 1 || extent.constant() > most) return false;
  if (program_.is_tiled(loop.var.axis) || outer.scalars || (outer.folds_others && !across) || (outer.scans && (!across || !carries_rows(outer)))) return false;
  const int weight = extent.constant() < static_cast<Index>(copies_that_call) ? outer.weight : weight_of_copy(outer);
  return (outer.folds_outer || across) && weight * extent.constant() <= thin_bodies;
}

const Loop* LoopChoices::taker_of(const Loop& parent, std::size_t k) const {
  const auto* fold = std::get_if<Loop>(&parent.body[k]);
  const auto* taker = k + 1 < parent.body.size() ? std::get_if<Loop>(&parent.body[k + 1]) : nullptr;
  if (!fold || !taker || fold->mark != Mark::serial || taker->mark != Mark::lanes || !taker->folds.empty() || taker->weight > small_body) return nullptr;
  const Outer outer = outer_of(*fold);
  if (together(*fold, outer) != Together::thin || outer.scans || outer.stores || fold->body.size() != 1 || outer.loops.size() != 1) return nullptr;
  const int axis = taker->var.axis;
  if (outer.loops[0]->var.axis != axis) return nullptr;
  std::size_t taken = 0;
  for (const Item& item : taker->body) {
    auto* load = std::get_if<Load>(&item);
    if (!load) continue;
    if (!is_linear(load->at)) return nullptr;      // read once, before a loop of its own
    if (program_.buffer(load->buffer).place != Place::row) continue;
    const bool same_element = load->at.size() == 1 && load->at[0].axis == axis && load->at[0].step == 1 && load->at[0].start.is(0) && load->at[0].is_linear();
    const bool result = std::any_of(fold->folds.begin(), fold->folds.end(), [&](int f) { return program_.fold(f).row == load->buffer; });
    if (!same_element || !result || reads_of(program_.root, load->buffer) != 1) return nullptr;
    ++taken;
  }
  return taken == fold->folds.size() ? taker : nullptr;
}

LoopChoices::Together LoopChoices::together(const Loop& loop, const Outer& outer) const {
  if (register_block(loop)) return Together::registers;
  if (outer.loops.empty() || std::any_of(outer.loops.begin(), outer.loops.end(), [&](const Loop* lanes) { return byte_function(*lanes).has_value(); }))
    return Together::none;
  if (is_thin(loop, outer)) return Together::thin;
  const Extent& extent = program_.axis(loop.var.axis).extent;
  if (!extent.is_number() || extent.constant() >= lane_count) {
    if (is_tiled(outer)) return Together::tiles;
    if (is_rolled_tile(loop, outer)) return Together::squares;
  }
  if (is_rows(loop, outer)) return Together::rows;
  if (is_columns(loop, outer)) return Together::columns;
  if (is_pairs(loop, outer)) return Together::pairs;
  if (is_jam(loop, outer)) return Together::jam;
  return overlapping(loop, outer) > 1 ? Together::windows : sharing(loop, outer) > 1 ? Together::shared : Together::none;
}

}  // namespace weft
