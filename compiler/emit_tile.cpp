// Operands that lie across a vector loop, such as a transpose: neighbours of the outer loop are neighbours in memory. Sixteen elements
// of that loop are worked on together; sixteen vectors along it are loaded and transposed in registers, so that every cache line is
// read once and as a whole. Results that lie across are written in the same way.
#include <algorithm>
#include <bit>
#include <functional>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {
// Every line of a tile lies on a page of its own, where no processor guesses what comes next. Two ahead took 0.85 ns an element in
// x^T + y of 4096^2 floats, one 1.05, four 0.86, none 1.35 (Zen 4).
constexpr int tiles_ahead = 2;
}  // namespace

// 1: neighbours of the outer loop are neighbours in memory, and those of the vector loop are not; -1: so, but backwards.
int KernelEmitter::lies_across(int number_of_buffer, const std::vector<Subscript>& at, int outer, int lanes) const {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(number_of_buffer)];
  if (buffer.place == Place::index || buffer.place == Place::extent || buffer.place == Place::row) return 0;
  int along_outer = 0;
  bool across_lanes = false;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d].period > 0) return 0;
    const StrideClass stride = class_of(buffer, d);
    if (at[d].axis == outer && (at[d].step == 1 || at[d].step == -1))
      along_outer = stride == StrideClass::unit ? static_cast<int>(at[d].step) : stride == StrideClass::reversed ? -static_cast<int>(at[d].step) : 0;
    if (at[d].axis == lanes) across_lanes = stride == StrideClass::other;
  }
  return across_lanes ? along_outer : 0;
}

int KernelEmitter::lies_across(const Item& item, int outer, int lanes) const {
  if (auto* load = std::get_if<Load>(&item)) return load->guarded ? 0 : lies_across(load->buffer, load->at, outer, lanes);
  if (auto* store = std::get_if<Store>(&item)) return lies_across(store->buffer, store->at, outer, lanes);
  return 0;
}

// Whether the body of this loop is one vector loop that reads or writes an array lying across it. States of scans in rows and slots of
// folds go from copy to copy through memory.
bool KernelEmitter::is_tiled_by(const Loop& outer) const {
  const Loop* lanes = only_lanes(outer);
  if (!lanes || lanes->weight > tiled_body) return false;
  const bool scans = std::any_of(outer.folds.begin(), outer.folds.end(), [&](int fold) { return program_.folds[static_cast<std::size_t>(fold)].start.has_value(); });
  if (!scans && !outer.folds.empty()) return false;                    // emit_jam's
  return std::any_of(lanes->body.begin(), lanes->body.end(), [&](const Item& item) { return lies_across(item, outer.var.axis, lanes->var.axis) != 0; });
}

// Rows of states that all copies of a tile change in turn stay in registers: what a copy stores is what the next one loads.
bool KernelEmitter::is_carried_row(int number_of_buffer, const Loop& lanes) const {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(number_of_buffer)];
  return tiled_by_ >= 0 && !thin_ && buffer.place == Place::row && buffer.axes == std::vector<int>{lanes.var.axis};
}

// The loop over [begin, end), in whole tiles; returns where the rest begins.
Value* KernelEmitter::emit_tiles(const Loop& outer, Value* begin, Value* end) {
  Value* rest = b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(end, begin), number(-lane_count)));
  tiled_by_ = outer.var.axis;
  for_range(begin, rest, lane_count, "tile", [&](Value* first) { emit_together(outer, first, lane_count, 1); });
  tiled_by_ = -1;
  emit_edge(outer, {begin, rest});
  return rest;
}

// Beside the tiles, those elements of the vector loop that fill no vector: one element of the outer loop at a time.
void KernelEmitter::emit_edge(const Loop& outer, Range range) {
  const Loop& lanes = lanes_of(outer);
  const auto axis = static_cast<std::size_t>(outer.var.axis);
  const Range across = range_of(lanes.var.axis);
  if (ends_in_whole_vectors(lanes, lane_count)) return;
  edge_ = b_.CreateAdd(across.begin, b_.CreateAnd(b_.CreateSub(across.end, across.begin), number(-lane_count)));
  if_then(b_.CreateICmpSLT(edge_, across.end), "edge", [&] {
    for_range(range.begin, range.end, 1, "edge", [&](Value* index) {
      axis_index_[axis] = index;
      emit_items(outer);
    });
  });
  axis_index_[axis] = nullptr;
  edge_ = nullptr;
}

namespace {

using Vectors = std::vector<Value*>;

int lanes_of_type(Value* vector) { return static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements()); }

Value* shuffled(llvm::IRBuilderBase& builder, Value* a, Value* b, const std::function<int(int lane)>& from) {
  std::vector<int> mask;
  for (int lane = 0; lane < lanes_of_type(a); ++lane) mask.push_back(from(lane));
  return builder.CreateShuffleVector(a, b, mask);
}

// Transposes all blocks of 4 x 4 elements: by instructions that interleave single elements, then pairs.
void transpose_fours(llvm::IRBuilderBase& builder, Vectors& rows) {
  const int width = lanes_of_type(rows[0]);
  const auto interleaved = [&](Value* a, Value* b, int each, int first) {
    return shuffled(builder, a, b, [&](int lane) { return lane / 4 * 4 + first + lane % 4 / (2 * each) * each + lane % each + (lane / each % 2) * width; });
  };
  for (auto row = rows.begin(); row != rows.end(); row += 4) {
    Value *a = interleaved(row[0], row[1], 1, 0), *b = interleaved(row[0], row[1], 1, 2), *c = interleaved(row[2], row[3], 1, 0), *d = interleaved(row[2], row[3], 1, 2);
    row[0] = interleaved(a, c, 2, 0);
    row[1] = interleaved(a, c, 2, 2);
    row[2] = interleaved(b, d, 2, 0);
    row[3] = interleaved(b, d, 2, 2);
  }
}

// Squares side by side, of as many lanes as there are vectors, a power of two: vector k holds lane k of each. Halves, then quarters and
// so on trade places.
void transpose_squares(llvm::IRBuilderBase& builder, Vectors& rows) {
  const int width = lanes_of_type(rows[0]), side = static_cast<int>(rows.size());
  const bool fours = rows[0]->getType()->getScalarSizeInBits() == 32 && side >= 4;
  for (int half = side / 2; half >= (fours ? 4 : 1); half /= 2)
    for (int row = 0; row < side; ++row) {
      if (row & half) continue;
      auto &a = rows[static_cast<std::size_t>(row)], &b = rows[static_cast<std::size_t>(row + half)];
      Value* first = shuffled(builder, a, b, [&](int lane) { return (lane & half) ? width + lane - half : lane; });
      b = shuffled(builder, a, b, [&](int lane) { return (lane & half) ? width + lane : lane + half; });
      a = first;
    }
  if (fours) transpose_fours(builder, rows);
}

// sixteen vectors -> vector k holds lane k of each; in squares of whole registers, for which there are instructions
Vectors transposed(llvm::IRBuilderBase& builder, const Vectors& rows, std::size_t register_bytes) {
  const auto width = std::min<std::size_t>(lane_count, register_bytes * 8 / rows[0]->getType()->getScalarSizeInBits()), squares = lane_count / width;
  std::vector<Vectors> parts(lane_count, Vectors(squares));    // of the results
  for (std::size_t down = 0; down < squares; ++down)
    for (std::size_t right = 0; right < squares; ++right) {
      Vectors square;
      for (std::size_t k = 0; k < width; ++k) {
        Value* row = rows[down * width + k];
        square.push_back(squares == 1 ? row : builder.CreateShuffleVector(row, llvm::createSequentialMask(static_cast<unsigned>(right * width), static_cast<unsigned>(width), 0)));
      }
      transpose_squares(builder, square);
      for (std::size_t k = 0; k < width; ++k) parts[right * width + k][down] = square[k];
    }
  Vectors columns;
  for (const Vectors& of_column : parts) columns.push_back(llvm::concatenateVectors(builder, of_column));
  return columns;
}

// Sixteen short vectors, of `width` elements, -> vector k holds element k of each.
Vectors columns_of(llvm::IRBuilderBase& builder, const Vectors& rows) {
  const auto width = static_cast<std::size_t>(lanes_of_type(rows[0]));
  if (std::has_single_bit(width)) {
    Vectors squares(width);             // vector k holds rows k, width + k, ..
    for (std::size_t k = 0; k < width; ++k) {
      Vectors every;
      for (std::size_t row = k; row < rows.size(); row += width) every.push_back(rows[row]);
      squares[k] = llvm::concatenateVectors(builder, every);
    }
    transpose_squares(builder, squares);
    return squares;
  }
  Value* all = llvm::concatenateVectors(builder, rows);
  Vectors columns;
  for (unsigned k = 0; k < width; ++k) columns.push_back(builder.CreateShuffleVector(all, llvm::createStrideMask(k, static_cast<unsigned>(width), lane_count)));
  return columns;
}

// The reverse: row k holds lane k of each column.
Vectors rows_of(llvm::IRBuilderBase& builder, Vectors columns) {
  const std::size_t width = columns.size();
  Vectors rows(lane_count);
  if (std::has_single_bit(width)) {
    transpose_squares(builder, columns);
    for (std::size_t row = 0; row < lane_count; ++row)
      rows[row] = builder.CreateShuffleVector(columns[row % width], llvm::createSequentialMask(static_cast<unsigned>(row / width * width), static_cast<unsigned>(width), 0));
    return rows;
  }
  Value* all = llvm::concatenateVectors(builder, columns);
  for (unsigned row = 0; row < lane_count; ++row) rows[row] = builder.CreateShuffleVector(all, llvm::createStrideMask(row, lane_count, static_cast<unsigned>(width)));
  return rows;
}

}  // namespace

// The next row of a tile: by an addition, the first one apart.
Value* KernelEmitter::row_after(Value* row, const LaneAccess& access, Value* index) {
  return row ? b_.CreateGEP(b_.getInt8Ty(), row, access.lane_stride) : b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(index, access.lane_stride));
}

// Before the copies of a vector step. The masked steps at the end of a row gather.
void KernelEmitter::load_tiles(const Loop& lanes, Value* index, Value* mask) {
  if (tiled_by_ < 0 || mask) return;
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    const int direction = load ? lies_across(item, tiled_by_, lanes.var.axis) : 0;
    if (direction == 0) continue;
    const DType dtype = program_.buffers[static_cast<std::size_t>(load->buffer)].dtype;
    const LaneAccess& access = (direction > 0 ? jam_.front() : jam_.back()).accesses.at(&item);
    const auto width = static_cast<int>(jam_.size());
    std::vector<Value*> rows;
    Value* at = nullptr;
    Value* const ahead = b_.CreateMul(access.lane_stride, number(tiles_ahead * lane_count));
    for (int lane = 0; lane < lane_count; ++lane) {
      at = row_after(at, access, index);
      auto* type = llvm::FixedVectorType::get(memory_type(context_, dtype, 1), static_cast<unsigned>(width));
      rows.push_back(b_.CreateAlignedLoad(type, at, llvm::Align(size_of(dtype))));
      if (width < lane_count) continue;
      b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {b_.CreateGEP(b_.getInt8Ty(), at, ahead), b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
    }
    auto& columns = tiles_[&item] = width == lane_count ? transposed(b_, rows, register_bytes()) : columns_of(b_, rows);
    if (direction < 0) std::reverse(columns.begin(), columns.end());
  }
}

// After the last copy: what all copies store.
void KernelEmitter::store_tiles(const Loop& lanes, Value* index) {
  for (auto& [key, columns] : tile_stores_) {
    const Item& item = *static_cast<const Item*>(key);
    const int direction = lies_across(item, tiled_by_, lanes.var.axis);
    if (direction < 0) std::reverse(columns.begin(), columns.end());
    const LaneAccess& access = (direction > 0 ? jam_.front() : jam_.back()).accesses.at(key);
    const auto rows = columns.size() == lane_count ? transposed(b_, columns, register_bytes()) : rows_of(b_, columns);
    Value* at = nullptr;
    for (int lane = 0; lane < lane_count; ++lane) {
      at = row_after(at, access, index);
      b_.CreateAlignedStore(rows[static_cast<std::size_t>(lane)], at, llvm::Align(size_of(program_.buffers[static_cast<std::size_t>(std::get<Store>(item).buffer)].dtype)));
    }
  }
  tile_stores_.clear();
}

}  // namespace weft
