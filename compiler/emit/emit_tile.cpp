// Operands that lie across a vector loop, such as a transpose: neighbours of the outer loop are neighbours in memory. Sixteen elements
// of that loop, or eight, are worked on together; sixteen vectors along it are loaded and transposed in registers, so that every cache line is
// read once and as a whole. Results that lie across are written in the same way.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"
#include "transpose.h"
#include "program/index_conditions.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

// Rows of states that all copies of a tile change in turn stay in registers: what a copy stores is what the next one loads.
bool KernelEmitter::is_carried_row(int number_of_buffer, const Loop& lanes) const {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  return copies_.tiled_by >= 0 && buffer.place == Place::row && buffer.axes == std::vector<int>{lanes.var.axis};
}

// The loop over [begin, end), in whole tiles; returns where the rest begins.
Value* KernelEmitter::emit_tiles(const Loop& outer, Range range, int elements) {
  Value* rest = end_of_whole(outer.var.axis, range, elements);
  as_copies({.tiled_by = outer.var.axis}, [&] { for_range(range.begin, rest, elements, "tile", [&](Value* first) { emit_together(outer, first, elements, 1); }); });
  return rest;
}

// What tiles of so many elements leave over of an axis of known extent: a narrower tile. Returns where the rest begins. Running sums of rows of 20 and 31
// floats take .5 and .34 of the time that loads and stores of single elements took, transposes .6 and .4, and compile in 1.3 to 1.9 times theirs (Zen 5).
Value* KernelEmitter::emit_last_tile(const Loop& outer, Range range, int elements) {
  const Extent& extent = program_.axis(outer.var.axis).extent;
  const Index left = extent.is_number() ? extent.constant() % elements : 0;
  if (left < 2 || program_.elements() * static_cast<double>(left) < worth_last_tile * static_cast<double>(extent.constant())) return range.begin;
  Value* is_left = b_.CreateICmpEQ(b_.CreateSub(range.end, range.begin), number(left));
  const auto tile = [&] { as_copies({.tiled_by = outer.var.axis}, [&] { emit_together(outer, range.begin, static_cast<int>(left), 1); }); };
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(is_left); known && known->isZero()) return range.begin;
  else if (known) tile();
  else if_then(is_left, "last", tile);
  return b_.CreateSelect(is_left, range.end, range.begin);
}

// A row of a tile: from the one before by an addition. Where the vector is less than whole, the last row stands for those that are not there.
Value* KernelEmitter::row_at(Value* before, const LaneAccess& access, Value* index, int lane) {
  if (before && !part_) return b_.CreateGEP(b_.getInt8Ty(), before, access.lane_stride);
  Value* row = part_ ? b_.CreateAdd(index, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number(lane), b_.CreateSub(part_, number(1)))) : index;
  return b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(row, access.lane_stride));
}

// How far rows of a few elements are apart, all of which are worked on, if they go as whole vectors; negative: from the last one on.
Index KernelEmitter::rows_apart(const Load& load, const Loop& lanes) const {
  if (!copies_.thin) return 0;
  const auto few = static_cast<Index>(jam_.size());
  const bool backwards = joins(load.buffer, load.at, copies_.tiled_by, lanes.var.axis, -1);
  const Index apart = backwards ? -few : distance_of_rows(load.buffer, load.at, copies_.tiled_by, lanes.var.axis);
  return apart != 0 && picks_joined_rows(static_cast<int>(few), size_of(program_.buffer(load.buffer).dtype), true, false, std::abs(apart)) ? apart : 0;
}

// Which elements of rows are wanted, if not all, in order.
std::optional<MovedRows> KernelEmitter::moves_rows(const Load& load, const Loop& lanes) const {
  if (!copies_.along_rows) return {};
  const auto moved = moved_rows(load, copies_.tiled_by, lanes.var.axis);
  return moved && (load.guarded || !moved->is_whole(static_cast<Index>(jam_.size()))) ? moved : std::nullopt;
}

void KernelEmitter::load_moved(const Item& item, const MovedRows& moved, const Loop& lanes, Value* index) {
  const auto& load = std::get<Load>(item);
  exchange(jam_[0]);
  const LaneAccess access = lane_access(load.buffer, load.guarded ? unguarded(program_, load) : load.at, lanes.var.axis);
  exchange(jam_[0]);
  const DType dtype = program_.buffer(load.buffer).dtype;
  Value* first = row_at(nullptr, access, index, 0);
  const auto* first_of_array = &*std::find_if(lanes.body.begin(), lanes.body.end(), [&](const Item& each) {
    const auto* other = std::get_if<Load>(&each);
    return other && other->buffer == load.buffer && moves_rows(*other, lanes);
  });
  if (past_caches() && first_of_array == &item) fetch_lines(first, number(moved.rows * thin_bytes_ahead), lane_count * moved.length * item_bytes(dtype), true);
  tiles_[&item] = load_moved_rows(dtype, first, moved, static_cast<int>(jam_.size()), rows_left_);
}

// Of the copies from `first` to before `last`: rows of as many elements, transposed.
std::vector<Value*> KernelEmitter::load_across(const Load& load, const std::vector<Subscript>& at, int step, std::size_t first, std::size_t last, int lanes, Value* index, const Masks& masks) {
  const DType dtype = program_.buffer(load.buffer).dtype;
  const auto width = static_cast<int>(last - first);
  JamCopy& lowest = jam_[step > 0 ? first : last - 1];
  exchange(lowest);
  const LaneAccess access = lane_access(load.buffer, at, lanes);
  exchange(lowest);
  if (width == 1) return {to_memory(lane_load(access, dtype, index, 0, move_mask(masks, 0)), dtype)};
  std::vector<Value*> rows;
  Value* row = nullptr;
  const Index known = known_rows();
  for (int lane = 0; lane < lane_count; ++lane) {
    if (known > 0 && lane >= known) {            // see load_tiles
      rows.push_back(llvm::Constant::getNullValue(rows[0]->getType()));
      continue;
    }
    row = row_at(row, access, index, lane);
    rows.push_back(std::abs(step) == 1 ? load_run(dtype, row, width) : load_steps(dtype, row, std::abs(step), width));
  }
  std::vector<Value*> columns = columns_of(b_, rows, register_bytes());
  columns.resize(static_cast<std::size_t>(width));
  if (step < 0) std::reverse(columns.begin(), columns.end());
  return columns;
}

// Before the copies of a vector step. Rows of few floats from memory come in pieces, without masks: gated linear units of 1118481 x 5 floats 13 -> 2.3 ms, of
// doubles 2.4 -> 3.0 (Zen 5).
void KernelEmitter::load_tiles(const Loop& lanes, Value* index, const Masks& masks) {
  if (copies_.tiled_by < 0) return;
  fetch_beside_tiles(lanes, index);
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    if (const auto moved = load && is_along_rows() ? moves_rows(*load, lanes) : std::nullopt) {
      load_moved(item, *moved, lanes, index);
      continue;
    }
    const int step = load ? lies_across(item, copies_.tiled_by, lanes.var.axis) : 0;
    if (step == 0) continue;
    const DType dtype = program_.buffer(load->buffer).dtype;
    const LaneAccess& access = (step > 0 ? jam_.front() : jam_.back()).accesses.at(&item);
    const auto width = static_cast<int>(jam_.size());
    const auto fetch_rows = [&](Value* first, Index row, Index ahead, bool near) {
      if (past_caches()) fetch_lines(first, number(ahead), lane_count * row * item_bytes(dtype), near);
    };
    if (is_along_rows()) {
      Value* first = row_at(nullptr, access, index, 0);
      fetch_rows(first, width, far_ahead, false);
      tiles_[&item] = load_rows(dtype, first, width, masks);
      continue;
    }
    if (const Index apart = part_ || step != 1 ? 0 : rows_apart(*load, lanes); apart > 0 || apart == -width) {
      const bool backwards = apart < 0;
      Value* first = row_at(nullptr, access, backwards ? b_.CreateAdd(index, number(lane_count - 1)) : index, 0);
      fetch_rows(first, std::abs(apart), backwards ? -thin_bytes_ahead : thin_bytes_ahead, true);
      auto& columns = tiles_[&item] = load_rows_apart(dtype, first, std::abs(apart), width);
      if (backwards) std::transform(columns.begin(), columns.end(), columns.begin(), [&](Value* column) { return reverse(column); });
      continue;
    }
    std::vector<Value*> rows;
    Value* at = nullptr;
    std::optional<LaterTile> later;
    if (!copies_.thin && !(copies_.swept > 0 && has_long_blocks()) && program_.buffer(load->buffer).place != Place::row) later = later_tile(*load, access, step, width, lanes);
    const bool in_pieces = comes_from_memory(*load) && size_of(dtype) <= size_of(f32);
    const bool far_rows = copies_.thin && leaves_second_level(*load, lanes);
    const Index known = known_rows();
    for (int lane = 0; lane < lane_count; ++lane) {
      if (known > 0 && lane >= known) {          // zeros, which ops are defined for: from sixteen times the same row LLVM 22 picks wrong elements
        rows.push_back(llvm::Constant::getNullValue(rows[0]->getType()));
        continue;
      }
      at = row_at(at, access, index, lane);
      rows.push_back(std::abs(step) == 1 && !in_pieces ? load_run(dtype, at, width) : load_steps(dtype, at, std::abs(step), width));
      // Few elements of a row: a line has several rows, and no pages are apart.
      const Index row_bytes = width * std::abs(step) * item_bytes(dtype);
      if (copies_.thin && past_caches() && !part_ && lane * row_bytes % line_bytes < row_bytes) fetch_lines(at, number(thin_bytes_ahead), row_bytes, true);
      if (far_rows) fetch_lines(at, number(far_rows_ahead), row_bytes, true);
      if (later) fetch_lines(at, later->distance, later->bytes, later->near);
    }
    auto& columns = tiles_[&item] = columns_of(b_, rows, register_bytes());
    columns.resize(jam_.size());
    if (step < 0) std::reverse(columns.begin(), columns.end());
  }
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    const int step = load && !tiles_.contains(&item) ? window_across(*load, copies_.tiled_by, lanes.var.axis) : 0;
    if (step != 0) load_window_tile(item, step, lanes, index, masks);
  }
}

// After the last copy: what all copies store.
void KernelEmitter::store_tiles(const Loop& lanes, Value* index, const Masks& masks) {
  for (auto& [key, columns] : tile_stores_) {
    const Item& item = *static_cast<const Item*>(key);
    if (const auto stage = stages_.find(key); stage != stages_.end()) {
      keep_in_stage(stage->second, rows_of(b_, columns, register_bytes()), jam_.front().axis_index[static_cast<std::size_t>(copies_.tiled_by)], index);
      continue;
    }
    const int direction = lies_across(item, copies_.tiled_by, lanes.var.axis);
    if (direction < 0) std::reverse(columns.begin(), columns.end());
    const LaneAccess& access = (direction > 0 ? jam_.front() : jam_.back()).accesses.at(key);
    const auto& store = std::get<Store>(item);
    const DType dtype = program_.buffer(store.buffer).dtype;
    if (is_along_rows()) {
      store_vectors(columns, row_at(nullptr, access, index, 0), dtype, access.stream, masks);
      continue;
    }
    const Index rows = known_rows();
    if (rows > 0 && (rows == lane_count || !access.stream) && is_joined(store, lanes)) {
      store_joined(columns, row_at(nullptr, access, index, 0), dtype, access.stream, static_cast<int>(rows));
      continue;
    }
    store_rows(rows_of(b_, columns, register_bytes()), access, dtype, index);
  }
  tile_stores_.clear();
}

// Of the current vector; 0: that is not known.
Index KernelEmitter::known_rows() const {
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(part_);
  return !part_ ? lane_count : known ? known->getSExtValue() : 0;
}

// As many rows as there are: by way of memory, if that is not known.
void KernelEmitter::store_rows(const std::vector<Value*>& rows, const LaneAccess& access, DType dtype, Value* index) {
  const llvm::Align align(size_of(dtype));
  llvm::Type* type = rows[0]->getType();
  if (const Index known = known_rows(); known > 0) {
    Value* at = nullptr;
    for (int lane = 0; lane < known; ++lane) {
      at = row_at(at, access, index, lane);
      if (access.stream && !part_) store_past_caches(rows[static_cast<std::size_t>(lane)], at);
      else b_.CreateAlignedStore(rows[static_cast<std::size_t>(lane)], at, align);
    }
    return;
  }
  auto* cell = stack_cell(llvm::ArrayType::get(type, lane_count), "rows");
  for (unsigned lane = 0; lane < lane_count; ++lane) b_.CreateStore(rows[lane], after(type, cell, lane));
  for_range(number(0), part_, 1, "row", [&](Value* lane) {
    Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(b_.CreateAdd(index, lane), access.lane_stride));
    b_.CreateAlignedStore(b_.CreateLoad(type, b_.CreateGEP(type, cell, lane)), at, align);
  });
}

}  // namespace weft
