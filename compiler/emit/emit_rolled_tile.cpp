// A large body with operands or results that lie across the vector loop: sixteen copies of it, as in emit_tile.cpp, would be too much code.
// Squares of sixteen by sixteen elements are transposed to and from memory of their own, as many of them as there are vectors side by side in
// the body without tiles, and that body runs for each of sixteen rows.
#include <algorithm>
#include <cstdlib>

#include "emit_kernel.h"
#include "transpose.h"

namespace weft {

using llvm::Value;

// The items of a tile that lie across, with addresses for its first row, or its last one where rows run backwards.
std::vector<KernelEmitter::Square> KernelEmitter::squares_of(const Loop& outer, const Loop& lanes, Value* first, int steps) {
  std::vector<Square> squares;
  auto& row = axis_index_[static_cast<std::size_t>(outer.var.axis)];
  axis_index_[static_cast<std::size_t>(lanes.var.axis)] = nullptr;
  for (const Item& item : lanes.body) {
    const int step = lies_across(item, outer.var.axis, lanes.var.axis);
    if (step == 0) continue;
    auto* load = std::get_if<Load>(&item);
    const int buffer = load ? load->buffer : std::get<Store>(item).buffer;
    const DType dtype = program_.buffer(buffer).dtype;
    row = step > 0 ? first : b_.CreateAdd(first, number(lane_count - 1));
    auto* cell = stack_cell(llvm::ArrayType::get(llvm::ArrayType::get(memory_type(context_, dtype, 1), static_cast<unsigned>(steps * lane_count)), lane_count), "square");
    LaneAccess access = lane_access(buffer, load ? load->at : std::get<Store>(item).at, lanes.var.axis);
    access.stream = !load && step == 1 && streams(std::get<Store>(item), outer.var.axis);
    squares.push_back({&item, load != nullptr, dtype, step, access, cell});
  }
  row = nullptr;
  return squares;
}

// A row of the squares side by side: its elements from `lane` on.
Value* KernelEmitter::row_of(const Square& square, Value* row, Value* lane) {
  return b_.CreateGEP(square.cell->getAllocatedType(), square.cell, {number(0), row, lane});
}

void KernelEmitter::load_square(const Square& square, const Loop& lanes, Value* index, Value* lane) {
  std::vector<Value*> rows;
  Value *first = b_.CreateAdd(index, lane), *at = nullptr;
  const LaterTile later = later_tile(std::get<Load>(*square.item), square.access, square.step, lane_count, lanes);
  for (int k = 0; k < lane_count; ++k) {
    at = row_at(at, square.access, first, k);
    fetch_lines(at, later.distance, later.bytes, later.near);
    rows.push_back(load_steps(square.dtype, at, std::abs(square.step), lane_count));
  }
  auto columns = transposed(b_, rows, register_bytes());
  if (square.step < 0) std::reverse(columns.begin(), columns.end());
  for (Index k = 0; k < lane_count; ++k) b_.CreateStore(columns[static_cast<std::size_t>(k)], row_of(square, number(k), lane));
}

void KernelEmitter::store_square(const Square& square, Value* first, Value* index, Value* lane) {
  std::vector<Value*> columns;
  for (Index k = 0; k < lane_count; ++k) columns.push_back(b_.CreateLoad(memory_type(context_, square.dtype, lane_count), row_of(square, number(k), lane)));
  if (square.step < 0) std::reverse(columns.begin(), columns.end());
  const std::vector<Value*> rows = transposed(b_, columns, register_bytes());
  Value* row = b_.CreateAdd(index, lane);
  if (const auto stage = stages_.find(square.item); stage != stages_.end()) keep_in_stage(stage->second, rows, first, row);
  else store_rows(rows, square.access, square.dtype, row);
}

// As many squares of the vector loop as there are steps, for sixteen elements of the outer one.
void KernelEmitter::emit_squares(const Loop& outer, const Loop& lanes, Value* first, const std::vector<Square>& squares, Value* index, int steps, const Masks& masks) {
  const auto each_square = [&](bool loads, auto move) {
    if (std::none_of(squares.begin(), squares.end(), [&](const Square& square) { return square.is_load == loads; })) return;
    for_range(number(0), number(steps * lane_count), lane_count, "square", [&](Value* lane) {
      for (const Square& square : squares)
        if (square.is_load == loads) move(square, lane);
    }, true);
  };
  each_square(true, [&](const Square& square, Value* lane) { load_square(square, lanes, index, lane); });
  for_range(number(0), number(lane_count), 1, "row", [&](Value* row) {
    axis_index_[static_cast<std::size_t>(outer.var.axis)] = b_.CreateAdd(first, row);
    for (const Square& square : squares)
      for (int step = 0; step < steps && square.is_load; ++step)
        tiles_[square.item].push_back(b_.CreateLoad(memory_type(context_, square.dtype, lane_count), row_of(square, row, number(step * lane_count))));
    for (const Item& item : outer.body)
      if (!std::holds_alternative<Loop>(item)) emit_item(item);
    open_accesses(lanes);
    fetch_beside_squares(outer, lanes, steps);
    jam_copy_ = 0;
    around_lanes([&] { emit_lane_items(lanes, index, steps, masks); });
    for (const Square& square : squares)
      for (int step = 0; step < steps && !square.is_load; ++step)
        b_.CreateStore(tile_stores_.at(square.item)[static_cast<std::size_t>(step)], row_of(square, row, number(step * lane_count)));
    tiles_.clear();
    tile_stores_.clear();
    carried_rows_.clear();
  });
  axis_index_[static_cast<std::size_t>(outer.var.axis)] = nullptr;
  each_square(false, [&](const Square& square, Value* lane) { store_square(square, first, index, lane); });
}

// The range, in whole tiles; returns where the rest begins.
Value* KernelEmitter::emit_rolled_tiles(const Loop& loop, const Outer& outer, Range range) {
  const Loop& lanes = *outer.loops[0];
  // What is left over goes one square at a time, with masks: that must be little of a row.
  const Index elements = program_.axis(lanes.var.axis).hint;
  int steps = interleave(lanes);
  while (steps > 1 && elements % (steps * lane_count) != 0 && elements < 8 * steps * lane_count) steps /= 2;
  const bool in_blocks = vectors_of_blocks(loop, outer, vectors_past_caches()) > 0;
  estimated_ = find_estimated(lanes, steps);
  Value* rest = nullptr;
  as_copies({.tiled_by = loop.var.axis, .swept = in_blocks ? steps : 0, .rolled = true}, [&] {
    const EmitTile tile = [&](Value* first, Value* index, int count, const Masks& masks) {
      note_code(lanes, steps, false);
      emit_squares(loop, lanes, first, squares_of(loop, lanes, first, steps), index, count, masks);
    };
    if (in_blocks) {
      rest = emit_blocks_of_tiles(loop, lanes, range, lane_count, steps, tile);
      return;
    }
    rest = end_of_whole(loop.var.axis, range, lane_count);
    for_range(range.begin, rest, lane_count, "tile", [&](Value* first) {
      in_steps(lanes.var.axis, steps, "squares", [&](Value* index, int count, const Masks& masks) { tile(first, index, count, masks); });
    });
  });
  return rest;
}

}  // namespace weft
