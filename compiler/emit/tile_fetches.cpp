// What tiles and squares fetch meanwhile: theirs are many short runs, each elsewhere, which a processor does not guess.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

bool KernelEmitter::is_across(const Item& item, const Loop& lanes) const { return lies_across(item, copies_.tiled_by, lanes.var.axis) != 0; }

// Of the loop, until the next tiles of its rows: of a unit that is as long as it is, if rows are long. Those of short ones end soon, and what comes to the
// next unit follows them. Running sums along 1024 and 4096 floats in memory, .22 and .25 -> .16 and .17 ns an element; along 64 and 128 .18 and .19 -> .29
// and .22 without the limit (Zen 5).
Index KernelEmitter::until_next_tiles(const Load& load, const Loop& lanes) const {
  constexpr Index long_row = 1024;              // bytes
  const Index all = program_.axis(lanes.var.axis).hint;
  const bool in_units = program_.is_tiled(lanes.var.axis) && program_.block == 0 && bytes_apart(load.buffer, load.at, lanes.var.axis) >= long_row;
  return in_units ? std::min(all, program_.unit) : all;
}

// Every line of a tile lies on a page of its own, where no processor guesses what comes next: it fetches that of a later tile, the next one of
// these rows, or in the next block; over few rows one at least 128 lines later. Rows of 32, 64, 100 and 128 floats of F matrices that memory holds,
// normalized: .79, .84, .87, .68 ns an element where tiles fetch along the rows, .44, .43, .58, .50 so; of 1024 1.24 and 1.11 (Zen 4).
// Where the second level does not hold so much, along the rows, and in blocks of tiles: two vectors ahead took 0.85 ns an element in x^T + y of 4096^2
// floats, one 1.05, four 0.86, none 1.35 (Zen 4). A row may begin within a line: its last byte is in the one that the tile before it did not fetch.
KernelEmitter::LaterTile KernelEmitter::later_tile(const Load& load, const LaneAccess& access, int step, int elements, const Loop& lanes) {
  constexpr Index least_lines = 128;
  constexpr int vectors_ahead = 2;
  const auto size = item_bytes(program_.buffer(load.buffer).dtype);
  const Index columns = std::max<Index>(1, until_next_tiles(load, lanes)), bytes = elements * std::abs(step) * size, last = std::min(bytes, line_bytes) - 1;
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
  const auto arrays = std::count_if(lanes.body.begin(), lanes.body.end(), [&](const Item& item) { return std::holds_alternative<Load>(item) && is_across(item, lanes); });
  return arrays * until_next_tiles(load, lanes) * std::gcd(apart / line_bytes, sets) > sets * ways;
}

// Whether few elements of each row go at a time, whose rows lie apart, and all do not stay in the second level: a processor follows no sixteen rows at
// once. Running sums over the 500 in 300 x 500 x 7 floats take .4 of the time if each row fetches what is four lines ahead (Zen 3).
bool KernelEmitter::leaves_second_level(const Load& load, const Loop& lanes) const {
  const Index apart = bytes_apart(load.buffer, load.at, lanes.var.axis);
  return apart > far_rows_ahead && static_cast<double>(apart * program_.axis(lanes.var.axis).hint) > machine_.second_level_bytes;
}

// Of arrays that lie along the vectors, what comes to the same copy next. In blocks of tiles the next vectors of a row, which come many rows later:
// polynomials of an F matrix of 768 x 1024 floats beside others in the caches take 10 to 30 % less, sums of two of 4096^2 .61 -> .49 ns an element. Else
// the row of the next tile, if it is short: x^T + y, rows of 32, 96 and 256 floats in memory .57, .63, .73 -> .34, .41, .40; of 1024 as before (Zen 4).
// Before all copies: what they all read, they would load again behind each of these.
void KernelEmitter::fetch_beside_tiles(const Loop& lanes, Value* index) {
  constexpr Index short_row = 1024;             // bytes
  const Index extent = program_.axis(lanes.var.axis).hint, ahead = copies_.swept * lane_count;
  const bool is_tile = std::any_of(lanes.body.begin(), lanes.body.end(), [&](const Item& item) { return is_across(item, lanes); });
  if (!is_tile || copies_.thin || extent <= ahead) return;
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    if (!load || load->guarded || !lies_along(load->buffer, load->at, lanes.var.axis) || !depends_on(*load, copies_.tiled_by)) continue;
    const Buffer& buffer = program_.buffer(load->buffer);
    const auto bytes = item_bytes(buffer.dtype);
    if (buffer.place == Place::row || (copies_.swept ? bytes_of_array(load->buffer, load->at) <= machine_.tile_fetch_bytes : extent * bytes > short_row)) continue;
    Value* distance = copies_.swept ? number(ahead * bytes) : b_.CreateMul(stride_along(load->buffer, load->at, copies_.tiled_by), number(copies()));
    for (const JamCopy& copy : jam_) fetch_lines(lane_address(copy.accesses.at(&item), buffer.dtype, index, 0), distance, lane_count * bytes, false);
  }
}

// Of arrays that lie along the vector loop, what a later row reads: rows are runs of few lines, each elsewhere, and a body is longer than
// a processor looks ahead. Black-Scholes of four such arrays takes 5 % less, sigmoid(x) * tanh(y) 10 % (768 x 1024 floats, Zen 5). Of results,
// what the row stores after the other fifteen, which is part of two lines each if rows begin within lines, unless these would go before they are used:
// gelu and its gradient with F inputs, 784 x 1100, 1.7 -> .73 ns an element, 777 x 1033 1.5 -> .83; 768 x 1024 would take 10 % more (Zen 4).
void KernelEmitter::fetch_beside_squares(const Loop& outer, const Loop& lanes, int steps) {
  constexpr Index rows_ahead = 4;
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    auto* store = std::get_if<Store>(&item);
    if (load && !load->guarded && lies_along(load->buffer, load->at, lanes.var.axis)) {
      LaneAccess& access = accesses_.at(&item);
      access.next_row = b_.CreateMul(stride_along(load->buffer, load->at, outer.var.axis), number(rows_ahead));
      access.next_is_near = true;
    }
    const bool is_stored_along = store && lies_along(store->buffer, store->at, lanes.var.axis) && !accesses_.at(&item).stream;
    if (is_stored_along && !crowds_a_set(store->buffer, store->at, outer.var.axis, lane_count, machine_.first_level_ways / 2))
      accesses_.at(&item).next_row = number(steps * lane_count * item_bytes(program_.buffer(store->buffer).dtype) + line_bytes - 1);
  }
}

}  // namespace weft
