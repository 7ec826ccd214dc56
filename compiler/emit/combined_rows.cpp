// Results whose rows begin within lines, larger than the caches. If whole lines went there straight from registers, the ends of rows would go through the
// caches, which fetch what lies around them, so that what is stored past the caches meets what is in them. Instead rows are put together in scratch
// (code/write_combining.h). 4194 rows of 1000 and 41943 of 100 floats divided by their lengths, through the caches, straight and so: .16 and .19, .12
// and .58, .145 and .13 ns an element; softmax of them .23 and .39, .26 and .75, .205 and .32 (Zen 5).
#include <algorithm>
#include <cstddef>

#include "accesses.h"
#include "code/write_combining.h"

namespace weft {

using llvm::Value;

// Rows that follow each other in memory without a gap, and that a loop of its own writes from their first element to the last. What each takes more does
// not pay for short ones (17 floats divided by their length 10 % more), and long ones would not stay in the first level (w x + b of rows of 5000
// floats 25 % more).
bool Accesses::goes_by_lines(const Store& store, const Loop& loop) const {
  constexpr Index shortest = 128, longest = 16 << 10;        // bytes
  const int axis = loop.var.axis;
  if (program_.is_tiled(axis) || axis == program_.root.var.axis || !loop.parts.empty() || !is_only_written(store, axis) || is_one_row(store, axis)) return false;
  for (const Subscript& s : store.at)
    if (s.axis == axis && (s.step != 1 || !s.start.is(0))) return false;
  const Buffer& buffer = program_.buffer(store.buffer);
  bool follow = false;
  for (std::size_t d = 0; d < store.at.size(); ++d) follow |= class_of(buffer, d) == StrideClass::joined;
  const Index bytes = program_.axis(axis).hint * item_bytes(buffer.dtype);
  return follow && bytes >= shortest && bytes <= longest;
}

// Parts of a loop, and what moves others, write no whole rows. Several rows at once, whose windows overlap, are not put together but where each reads few rows:
// 5 x 5 weights of 2900 x 2900 floats take 3.7 ms one by one and put together, 3.1 straight from registers, whose lines are read first, 3 x 3 sums 1.8 and 2.1,
// of rows of 1000 1.3 and 2.0 (Zen 5).
void Accesses::find_stores(const Loop& loop, bool is_part, StoresOfBuffers& stores) const {
  const bool is_apart = is_part || (loop.mark == Mark::units && together(loop, outer_of(loop)) == Together::windows && !reads_few_rows(loop, outer_of(loop)));
  for (const Item& item : loop.body) {
    if (const auto* inner = std::get_if<Loop>(&item)) find_stores(*inner, is_apart, stores);
    if (const auto* others = std::get_if<Others>(&item)) stores[others->to].push_back({});
    if (const auto* store = std::get_if<Store>(&item)) stores[store->buffer].push_back({store, is_part ? nullptr : &loop});
  }
  for (const Loop& part : loop.parts) find_stores(part, true, stores);
}

// Before anything else of the function: nothing is combined.
void Accesses::find_combined_rows() {
  combined_rows_.clear();
  if (stream_ != PastCaches::single_rows && stream_ != PastCaches::anywhere) return;
  StoresOfBuffers stores;
  find_stores(program_.root, false, stores);
  for (const auto& [buffer, of_buffer] : stores) {
    const auto [store, loop] = of_buffer[0];
    if (of_buffer.size() > 1 || !loop || loop->mark != Mark::lanes || !goes_by_lines(*store, *loop)) continue;
    const Index item = item_bytes(program_.buffer(buffer).dtype), beyond = combined_bytes + 2 * line_bytes + most_vectors * lane_count * item;
    const Extent row = program_.axis(loop->var.axis).extent * Extent(item), state = scratch_, memory = state + line_bytes;
    scratch_ = memory + floor_div(row + (beyond + line_bytes - 1), line_bytes) * Extent(line_bytes);
    combined_rows_.push_back({store, row, state, memory});
    b_.CreateMemSet(scratch_at(state), b_.getInt8(0), sizeof(WriteCombiner), llvm::Align(line_bytes));
  }
}

Value* Accesses::combined_end(const CombinedRow& combined) { return bytes_after(scratch_at(combined.state), offsetof(WriteCombiner, end)); }

// What the loop stores of them is put together.
void Accesses::open_combined_rows(const Loop& loop) {
  each_combined_row(loop, [&](const CombinedRow& combined, LaneAccess& access) {
    const auto end = [&] { return b_.CreateLoad(b_.getInt64Ty(), combined_end(combined)); };
    Value *state = scratch_at(combined.state), *memory = scratch_at(combined.memory);
    Value* next = b_.CreateGEP(b_.getInt8Ty(), b_.CreateLoad(b_.getPtrTy(), state), end());
    if_then(b_.CreateICmpNE(access.base, next), "apart", [&] { call(combine_at_symbol, {state, memory, access.base}); });
    access.base = b_.CreateGEP(b_.getInt8Ty(), memory, end());
    access.own = access.by_lines = true;
  });
  const auto by_lines = [](const auto& each) { return each.second.by_lines; };
  if (std::any_of(accesses_.begin(), accesses_.end(), by_lines)) fetch_ahead(loop, true);
}

void Accesses::close_combined_rows(const Loop& loop) {
  each_combined_row(loop, [&](const CombinedRow& combined, const LaneAccess&) {
    Value* end = combined_end(combined);
    Value* now = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), end), size(combined.row));
    b_.CreateStore(now, end);
    if_then(b_.CreateICmpSGE(now, number(combined_bytes)), "lines", [&] { call(flush_lines_symbol, {scratch_at(combined.state), scratch_at(combined.memory)}); });
  });
}

void Accesses::finish_combined_rows() {
  for (const CombinedRow& combined : combined_rows_) call(combine_at_symbol, {scratch_at(combined.state), scratch_at(combined.memory), llvm::ConstantPointerNull::get(b_.getPtrTy())});
}

}  // namespace weft
