// A large body with operands or results that lie across the vector loop: sixteen copies of it, as in emit_tile.cpp, would be too much code.
// Squares of sixteen by sixteen elements are transposed to and from memory of their own, and one body runs for each of sixteen rows.
#include <algorithm>
#include <cstdlib>

#include "emit_kernel.h"
#include "transpose.h"

namespace weft {

using llvm::Value;

// The items of a tile that lie across, with addresses for its first row, or its last one where rows run backwards.
std::vector<KernelEmitter::Square> KernelEmitter::squares_of(const Loop& outer, const Loop& lanes, Value* first) {
  std::vector<Square> squares;
  auto& row = axis_index_[static_cast<std::size_t>(outer.var.axis)];
  axis_index_[static_cast<std::size_t>(lanes.var.axis)] = nullptr;
  for (const Item& item : lanes.body) {
    const int step = lies_across(item, outer.var.axis, lanes.var.axis);
    if (step == 0) continue;
    auto* load = std::get_if<Load>(&item);
    const int buffer = load ? load->buffer : std::get<Store>(item).buffer;
    const DType dtype = program_.buffers[static_cast<std::size_t>(buffer)].dtype;
    row = step > 0 ? first : b_.CreateAdd(first, number(lane_count - 1));
    auto* cell = stack_cell(llvm::ArrayType::get(memory_type(context_, dtype, lane_count), lane_count), "square");
    squares.push_back({&item, load != nullptr, dtype, step, lane_access(buffer, load ? load->at : std::get<Store>(item).at, lanes.var.axis), cell});
  }
  row = nullptr;
  return squares;
}

Value* KernelEmitter::row_of(const Square& square, Value* row) {
  return b_.CreateGEP(memory_type(context_, square.dtype, lane_count), square.cell, row);
}

void KernelEmitter::load_square(const Square& square, Value* index) {
  std::vector<Value*> rows;
  Value* at = nullptr;
  for (int lane = 0; lane < lane_count; ++lane) {
    at = row_at(at, square.access, index, lane);
    rows.push_back(load_steps(square.dtype, at, std::abs(square.step), lane_count));
  }
  auto columns = transposed(b_, rows, register_bytes());
  if (square.step < 0) std::reverse(columns.begin(), columns.end());
  for (Index k = 0; k < lane_count; ++k) b_.CreateStore(columns[static_cast<std::size_t>(k)], row_of(square, number(k)));
}

void KernelEmitter::store_square(const Square& square, Value* index) {
  std::vector<Value*> columns;
  for (Index k = 0; k < lane_count; ++k) columns.push_back(b_.CreateLoad(memory_type(context_, square.dtype, lane_count), row_of(square, number(k))));
  if (square.step < 0) std::reverse(columns.begin(), columns.end());
  store_rows(transposed(b_, columns, register_bytes()), square.access, square.dtype, index);
}

// Sixteen elements of the vector loop, for sixteen of the outer one.
void KernelEmitter::emit_squares(const Loop& outer, const Loop& lanes, Value* first, const std::vector<Square>& squares, Value* index, const Masks& masks) {
  for (const Square& square : squares)
    if (square.is_load) load_square(square, index);
  for_range(number(0), number(lane_count), 1, "row", [&](Value* row) {
    axis_index_[static_cast<std::size_t>(outer.var.axis)] = b_.CreateAdd(first, row);
    for (const Square& square : squares)
      if (square.is_load) tiles_[square.item] = {b_.CreateLoad(memory_type(context_, square.dtype, lane_count), row_of(square, row))};
    for (const Item& item : outer.body)
      if (!std::holds_alternative<Loop>(item)) emit_item(item);
    open_accesses(lanes);
    jam_copy_ = 0;
    around_lanes([&] { emit_lane_items(lanes, index, 1, masks); });
    for (const Square& square : squares)
      if (!square.is_load) b_.CreateStore(tile_stores_.at(square.item)[0], row_of(square, row));
    tiles_.clear();
    tile_stores_.clear();
    carried_rows_.clear();
  });
  axis_index_[static_cast<std::size_t>(outer.var.axis)] = nullptr;
  for (const Square& square : squares)
    if (!square.is_load) store_square(square, index);
}

// The range, in whole tiles; returns where the rest begins.
Value* KernelEmitter::emit_rolled_tiles(const Loop& outer, const Loop& lanes, Range range) {
  Value* rest = end_of_whole(outer.var.axis, range, lane_count);
  const Range along = range_of(lanes.var.axis);
  Value* whole = end_of_whole(lanes.var.axis, along, lane_count);
  tiled_by_ = outer.var.axis;
  note_code(lanes, 1, false);
  for_range(range.begin, rest, lane_count, "tile", [&](Value* first) {
    const auto squares = squares_of(outer, lanes, first);
    for_range(along.begin, whole, lane_count, "square", [&](Value* index) { emit_squares(outer, lanes, first, squares, index, {}); });
    if (whole == along.end) return;
    for_range(whole, along.end, lane_count, "part", [&](Value* index) {
      part_ = b_.CreateSub(along.end, index);
      emit_squares(outer, lanes, first, squares, index, first_lanes(part_, 1));
      part_ = nullptr;
    });
  });
  tiled_by_ = -1;
  return rest;
}

}  // namespace weft
