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
    const DType dtype = program_.buffers[static_cast<std::size_t>(buffer)].dtype;
    row = step > 0 ? first : b_.CreateAdd(first, number(lane_count - 1));
    auto* cell = stack_cell(llvm::ArrayType::get(llvm::ArrayType::get(memory_type(context_, dtype, 1), static_cast<unsigned>(steps * lane_count)), lane_count), "square");
    squares.push_back({&item, load != nullptr, dtype, step, lane_access(buffer, load ? load->at : std::get<Store>(item).at, lanes.var.axis), cell});
  }
  row = nullptr;
  return squares;
}

// A row of the squares side by side: its elements from `lane` on.
Value* KernelEmitter::row_of(const Square& square, Value* row, Value* lane) {
  return b_.CreateGEP(square.cell->getAllocatedType(), square.cell, {number(0), row, lane});
}

void KernelEmitter::load_square(const Square& square, Value* index, Value* lane, int steps) {
  std::vector<Value*> rows;
  Value *first = b_.CreateAdd(index, lane), *at = nullptr, *const next = b_.CreateMul(square.access.lane_stride, number(steps * lane_count));
  for (int k = 0; k < lane_count; ++k) {
    at = row_at(at, square.access, first, k);
    if (!part_) fetch_lines(at, next, lane_count * std::abs(square.step) * static_cast<Index>(size_of(square.dtype)), true);
    rows.push_back(load_steps(square.dtype, at, std::abs(square.step), lane_count));
  }
  auto columns = transposed(b_, rows, register_bytes());
  if (square.step < 0) std::reverse(columns.begin(), columns.end());
  for (Index k = 0; k < lane_count; ++k) b_.CreateStore(columns[static_cast<std::size_t>(k)], row_of(square, number(k), lane));
}

void KernelEmitter::store_square(const Square& square, Value* index, Value* lane) {
  std::vector<Value*> columns;
  for (Index k = 0; k < lane_count; ++k) columns.push_back(b_.CreateLoad(memory_type(context_, square.dtype, lane_count), row_of(square, number(k), lane)));
  if (square.step < 0) std::reverse(columns.begin(), columns.end());
  store_rows(transposed(b_, columns, register_bytes()), square.access, square.dtype, b_.CreateAdd(index, lane));
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
  each_square(true, [&](const Square& square, Value* lane) { load_square(square, index, lane, steps); });
  for_range(number(0), number(lane_count), 1, "row", [&](Value* row) {
    axis_index_[static_cast<std::size_t>(outer.var.axis)] = b_.CreateAdd(first, row);
    for (const Square& square : squares)
      for (int step = 0; step < steps && square.is_load; ++step)
        tiles_[square.item].push_back(b_.CreateLoad(memory_type(context_, square.dtype, lane_count), row_of(square, row, number(step * lane_count))));
    for (const Item& item : outer.body)
      if (!std::holds_alternative<Loop>(item)) emit_item(item);
    open_accesses(lanes);
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
  each_square(false, [&](const Square& square, Value* lane) { store_square(square, index, lane); });
}

// The range, in whole tiles; returns where the rest begins.
Value* KernelEmitter::emit_rolled_tiles(const Loop& outer, const Loop& lanes, Range range) {
  Value* rest = end_of_whole(outer.var.axis, range, lane_count);
  // What is left over goes one square at a time, with masks: that must be little of a row.
  const Index elements = program_.axes[static_cast<std::size_t>(lanes.var.axis)].hint;
  int steps = interleave(lanes);
  while (steps > 1 && elements % (steps * lane_count) != 0 && elements < 8 * steps * lane_count) steps /= 2;
  as_copies({.tiled_by = outer.var.axis, .rolled = true}, [&] {
    note_code(lanes, steps, false);
    for_range(range.begin, rest, lane_count, "tile", [&](Value* first) {
      const auto squares = squares_of(outer, lanes, first, steps);
      in_steps(lanes.var.axis, steps, "squares", [&](Value* index, int count, const Masks& masks) { emit_squares(outer, lanes, first, squares, index, count, masks); });
    });
  });
  return rest;
}

}  // namespace weft
