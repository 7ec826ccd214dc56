// Loops over products of all others along few elements (others.h).
#include <algorithm>

#include "emit_kernel.h"
#include "others.h"

namespace weft {

using llvm::Value;

// Outside the loops along the row: it lies along the vectors.
void KernelEmitter::emit_others(const Others& item) {
  const DType dtype = program_.buffer(item.from).dtype;
  const Index count = program_.axis(item.axis).extent.constant();
  const auto [from, to] = others_access(item, item.axis);
  Value* inside = count % lane_count == 0 ? nullptr : first_lanes(number(count % lane_count), 1)[0];
  Value* first = number(0);
  const int vectors = static_cast<int>((count + lane_count - 1) / lane_count);
  std::vector<Value*> row;
  for (int k = 0; k < vectors; ++k) row.push_back(lane_load(from, dtype, first, k, k + 1 == vectors ? inside : nullptr));
  if (inside) row.back() = b_.CreateSelect(inside, row.back(), constant_value(context_, unit(AccumulatorId::prod, dtype), lane_count));
  Value* total = nullptr;
  const std::vector<Value*> others = others_along_lanes(b_, dtype, row, total);
  if (item.total >= 0) scalars_[static_cast<std::size_t>(item.total)] = b_.CreateExtractElement(total, std::uint64_t{0});
  for (int k = 0; k < vectors; ++k) lane_store(to, dtype, first, k, k + 1 == vectors ? inside : nullptr, others[static_cast<std::size_t>(k)]);
}

// In a vector loop: the row lies across it.
void KernelEmitter::emit_lane_others(const Others& item, Value* index, int steps, const Masks& masks) {
  const DType dtype = program_.buffer(item.from).dtype;
  const auto& elements = others_accesses_.at(&item);
  std::vector<Value*> totals;
  for (int step = 0; step < steps; ++step) {
    Value* mask = mask_of(masks, step);
    std::vector<Value*> row;
    for (const auto& [from, to] : elements) row.push_back(lane_load(from, dtype, index, step, mask));
    totals.push_back(nullptr);
    const std::vector<Value*> others = others_across_lanes(b_, dtype, row, totals.back());
    for (std::size_t k = 0; k < others.size(); ++k) lane_store(elements[k].second, dtype, index, step, mask, others[k]);
  }
  if (item.total >= 0) packs_[static_cast<std::size_t>(item.total)] = std::move(totals);
}

namespace {

// Calls visit(item, loop it stands in, loop around that) for every item but loops.
template <class Visit> void for_each_item(const Loop& loop, const Loop* around, const Visit& visit) {
  for (const Item& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item)) for_each_item(*inner, &loop, visit);
    else visit(item, loop, around);
  }
}

}  // namespace

// Rows that products of others read and write stay in registers where all loops over them are vector loops along them, short ones, and stand
// beside the products, where nothing runs side by side.
void KernelEmitter::hold_rows() {
  constexpr int short_body = 40;
  held_rows_.clear();
  const auto follows = [](const std::vector<Subscript>& at, int axis) { return at.size() == 1 && at[0] == Subscript{axis, 0, 1}; };
  std::map<int, const Loop*> home;
  for_each_item(program_.root, nullptr, [&](const Item& item, const Loop& loop, const Loop*) {
    const auto* others = std::get_if<Others>(&item);
    if (!others || loop.mark == Mark::lanes) return;
    for (const auto& [buffer, at] : {std::pair(others->from, others->from_at), std::pair(others->to, others->to_at)})
      if (program_.buffer(buffer).place == Place::row && follows(at, others->axis)) held_rows_[buffer], home[buffer] = &loop;
  });
  for_each_item(program_.root, nullptr, [&](const Item& item, const Loop& loop, const Loop* around) {
    const auto* load = std::get_if<Load>(&item);
    const auto* store = std::get_if<Store>(&item);
    if (!load && !store) return;
    const int buffer = load ? load->buffer : store->buffer;
    const bool along = loop.mark == Mark::lanes && follows(load ? load->at : store->at, loop.var.axis) && !program_.is_tiled(loop.var.axis);
    if (!along || home[buffer] != around || loop.weight > short_body) held_rows_.erase(buffer);
  });
  if (!held_rows_.empty() && is_cut(program_.root)) held_rows_.clear();       // a function has no registers of another
  for (auto& [buffer, cells] : held_rows_) {
    const Buffer& row = program_.buffer(buffer);
    for (Index k = 0; k < row.extents[0].constant(); k += lane_count) cells.push_back(stack_cell(register_type(context_, row.dtype, lane_count), "row"));
  }
}

bool KernelEmitter::moves_held_row(const Loop& loop) const {
  return !held_rows_.empty() && std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    auto* store = std::get_if<Store>(&item);
    return (load && held_rows_.contains(load->buffer)) || (store && held_rows_.contains(store->buffer));
  });
}

// A loop along rows in registers: all of it at once.
void KernelEmitter::emit_held_row(const Loop& loop) {
  const Index count = program_.axis(loop.var.axis).extent.constant(), rest = count % lane_count;
  const int whole = static_cast<int>(count / lane_count);
  note_code(loop, std::max(1, whole), false);
  if (whole > 0) emit_lane_body(loop, number(0), whole, {});
  if (rest == 0) return;
  part_ = number(rest);
  emit_lane_body(loop, number(count - rest), 1, first_lanes(part_, 1));
  part_ = nullptr;
}

}  // namespace weft
