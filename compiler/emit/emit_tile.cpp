// Operands that lie across a vector loop, such as a transpose: neighbours of the outer loop are neighbours in memory. Sixteen elements
// of that loop, or eight, are worked on together; sixteen vectors along it are loaded and transposed in registers, so that every cache line is
// read once and as a whole. Results that lie across are written in the same way.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"
#include "transpose.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int vectors_ahead = 2;
}  // namespace

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

// A row of a tile: from the one before by an addition. Where the vector is less than whole, the last row stands for those that are not there.
Value* KernelEmitter::row_at(Value* before, const LaneAccess& access, Value* index, int lane) {
  if (before && !part_) return b_.CreateGEP(b_.getInt8Ty(), before, access.lane_stride);
  Value* row = part_ ? b_.CreateAdd(index, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number(lane), b_.CreateSub(part_, number(1)))) : index;
  return b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(row, access.lane_stride));
}

// How far rows of a few elements are apart, all of which are worked on, if they go as whole vectors.
Index KernelEmitter::rows_apart(const Load& load, const Loop& lanes) const {
  const Index apart = copies_.thin ? distance_of_rows(load.buffer, load.at, copies_.tiled_by, lanes.var.axis) : 0;
  return apart != 0 && picks_joined_rows(static_cast<int>(jam_.size()), size_of(program_.buffer(load.buffer).dtype), true, false, apart) ? apart : 0;
}

// Every line of a tile lies on a page of its own, where no processor guesses what comes next: it fetches that of a later tile, the next one of
// these rows, or in the next block; over few rows one at least 128 lines later. Rows of 32, 64, 100 and 128 floats of F matrices that memory holds,
// normalized: .79, .84, .87, .68 ns an element where tiles fetch along the rows, .44, .43, .58, .50 so; of 1024 1.24 and 1.11 (Zen 4).
// Where the second level does not hold so much, along the rows, and in blocks of tiles: two vectors ahead took 0.85 ns an element in x^T + y of 4096^2
// floats, one 1.05, four 0.86, none 1.35 (Zen 4). A row may begin within a line: its last byte is in the one that the tile before it did not fetch.
KernelEmitter::LaterTile KernelEmitter::later_tile(const Load& load, const LaneAccess& access, int step, int elements, const Loop& lanes) {
  constexpr Index least_lines = 128;
  const auto size = static_cast<Index>(size_of(program_.buffer(load.buffer).dtype));
  const Index columns = std::max<Index>(1, program_.axis(lanes.var.axis).hint), bytes = elements * std::abs(step) * size, last = std::min(bytes, line_bytes) - 1;
  const auto along = [&](int vectors, bool near) { return LaterTile{b_.CreateAdd(b_.CreateMul(access.lane_stride, number(vectors * lane_count)), number(last)), bytes, near}; };
  if (copies_.swept) return along(copies_.swept, false);
  const Index tiles = copies_.tiled_by == program_.root.var.axis && program_.block > 0 ? program_.block / elements : (least_lines + columns - 1) / columns;
  const Index later = std::max(tiles * bytes, line_bytes);
  if (static_cast<double>(columns * later) > machine_.second_level_bytes / 4 || crowds_second_level(load, lanes)) return along(vectors_ahead, true);
  return {number((step < 0 ? -later : later) + last), bytes, false};
}

// Whether the lines of a tile, of this and what else lies across, are of so few sets of the second level that it does not keep them until the next
// tile, and come from the third: log(1 + exp(x + y)) with its gradient, of F matrices of 768 x 1024 floats, takes 10 % more if they are fetched.
// Lines that come from memory are at least in the third level then.
bool KernelEmitter::crowds_second_level(const Load& load, const Loop& lanes) const {
  constexpr Index ways = 8;
  const Index apart = bytes_apart(load.buffer, load.at, lanes.var.axis), sets = static_cast<Index>(machine_.second_level_bytes) / (ways * line_bytes);
  if (apart == 0 || apart % line_bytes != 0 || lies_in_memory(load.buffer, load.at)) return false;
  const auto arrays = std::count_if(lanes.body.begin(), lanes.body.end(), [&](const Item& item) { return std::holds_alternative<Load>(item) && lies_across(item, copies_.tiled_by, lanes.var.axis) != 0; });
  return arrays * program_.axis(lanes.var.axis).hint * std::gcd(apart / line_bytes, sets) > sets * ways;
}

// Of arrays that lie along the vectors, what comes to the same copy next. In blocks of tiles the next vectors of a row, which come many rows later:
// polynomials of an F matrix of 768 x 1024 floats beside others in the caches take 10 to 30 % less, sums of two of 4096^2 .61 -> .49 ns an element. Else
// the row of the next tile, if it is short: x^T + y, rows of 32, 96 and 256 floats in memory .57, .63, .73 -> .34, .41, .40; of 1024 as before (Zen 4).
// Before all copies: what they all read, they would load again behind each of these.
void KernelEmitter::fetch_beside_tiles(const Loop& lanes, Value* index) {
  constexpr Index short_row = 1024;             // bytes
  const Index extent = program_.axis(lanes.var.axis).hint, ahead = copies_.swept * lane_count;
  const bool is_tile = std::any_of(lanes.body.begin(), lanes.body.end(), [&](const Item& item) { return lies_across(item, copies_.tiled_by, lanes.var.axis) != 0; });
  if (!is_tile || copies_.thin || extent <= ahead) return;
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    if (!load || load->guarded || !lies_along(load->buffer, load->at, lanes.var.axis) || !depends_on(*load, copies_.tiled_by)) continue;
    const Buffer& buffer = program_.buffer(load->buffer);
    const auto bytes = static_cast<Index>(size_of(buffer.dtype));
    if (buffer.place == Place::row || (!copies_.swept && extent * bytes > short_row)) continue;
    Value* distance = copies_.swept ? number(ahead * bytes) : b_.CreateMul(stride_along(load->buffer, load->at, copies_.tiled_by), number(copies()));
    for (const JamCopy& copy : jam_) fetch_lines(lane_address(copy.accesses.at(&item), buffer.dtype, index, 0), distance, lane_count * bytes, false);
  }
}

// Before the copies of a vector step.
void KernelEmitter::load_tiles(const Loop& lanes, Value* index) {
  if (copies_.tiled_by < 0) return;
  fetch_beside_tiles(lanes, index);
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    const int step = load ? lies_across(item, copies_.tiled_by, lanes.var.axis) : 0;
    if (step == 0) continue;
    const DType dtype = program_.buffer(load->buffer).dtype;
    const LaneAccess& access = (step > 0 ? jam_.front() : jam_.back()).accesses.at(&item);
    const auto width = static_cast<int>(jam_.size());
    const auto fetch_rows = [&](Value* first, Index row, Index ahead, bool near) {
      if (past_caches()) fetch_lines(first, number(ahead), lane_count * row * static_cast<Index>(size_of(dtype)), near);
    };
    if (is_along_rows()) {
      Value* first = row_at(nullptr, access, index, 0);
      fetch_rows(first, width, far_ahead, false);
      tiles_[&item] = load_rows(dtype, first, width);
      continue;
    }
    if (const Index apart = part_ || step != 1 ? 0 : rows_apart(*load, lanes); apart > 0) {
      Value* first = row_at(nullptr, access, index, 0);
      fetch_rows(first, apart, thin_bytes_ahead, true);
      tiles_[&item] = load_rows_apart(dtype, first, apart, width);
      continue;
    }
    std::vector<Value*> rows;
    Value* at = nullptr;
    const LaterTile later = later_tile(*load, access, step, width, lanes);
    for (int lane = 0; lane < lane_count; ++lane) {
      at = row_at(at, access, index, lane);
      rows.push_back(std::abs(step) == 1 ? load_run(dtype, at, width) : load_steps(dtype, at, std::abs(step), width));
      // Few elements of a row: a line has several rows, and no pages are apart.
      const Index row_bytes = width * std::abs(step) * static_cast<Index>(size_of(dtype));
      if (copies_.thin && past_caches() && !part_ && lane * row_bytes % line_bytes < row_bytes) fetch_lines(at, number(thin_bytes_ahead), row_bytes, true);
      if (!copies_.thin && program_.buffer(load->buffer).place != Place::row) fetch_lines(at, later.distance, later.bytes, later.near);
    }
    auto& columns = tiles_[&item] = columns_of(b_, rows, register_bytes());
    columns.resize(jam_.size());
    if (step < 0) std::reverse(columns.begin(), columns.end());
  }
}

// After the last copy: what all copies store.
void KernelEmitter::store_tiles(const Loop& lanes, Value* index) {
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
      store_vectors(columns, row_at(nullptr, access, index, 0), dtype, access.stream);
      continue;
    }
    if (!part_ && is_joined(store, lanes)) {
      store_joined(columns, row_at(nullptr, access, index, 0), dtype, access.stream);
      continue;
    }
    store_rows(rows_of(b_, columns, register_bytes()), access, dtype, index);
  }
  tile_stores_.clear();
}

// As many rows as there are: by way of memory, if that is not known.
void KernelEmitter::store_rows(const std::vector<Value*>& rows, const LaneAccess& access, DType dtype, Value* index) {
  const llvm::Align align(size_of(dtype));
  llvm::Type* type = rows[0]->getType();
  if (!part_) {
    Value* at = nullptr;
    for (int lane = 0; lane < lane_count; ++lane) {
      at = row_at(at, access, index, lane);
      if (access.stream) store_past_caches(rows[static_cast<std::size_t>(lane)], at);
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
