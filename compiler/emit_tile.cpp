// Operands that lie across a vector loop, such as a transpose: neighbours of the outer loop are neighbours in memory. Sixteen elements
// of that loop are worked on together; sixteen vectors along it are loaded and transposed in registers, so that every cache line is
// read once and as a whole. Results that lie across are written in the same way.
#include <algorithm>
#include <cstdlib>
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

// How many elements of memory neighbours of the outer loop are apart, -1 if they run backwards, where that is known and neighbours of the
// vector loop may be anywhere; or 0.
int KernelEmitter::lies_across(int number_of_buffer, const std::vector<Subscript>& at, int outer, int lanes) const {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(number_of_buffer)];
  if (buffer.place == Place::index || buffer.place == Place::extent || buffer.place == Place::row) return 0;
  int along_outer = 0;
  bool across_lanes = false;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d].period > 0) return 0;
    const StrideClass stride = times(class_of(buffer, d), at[d].step);
    if (at[d].axis == outer) along_outer = is_known(stride) ? static_cast<int>(step_of(stride)) : 0;
    if (at[d].axis == lanes) across_lanes = !is_known(stride);
  }
  return across_lanes ? along_outer : 0;
}

int KernelEmitter::lies_across(const Item& item, int outer, int lanes) const {
  if (auto* load = std::get_if<Load>(&item)) return load->guarded ? 0 : lies_across(load->buffer, load->at, outer, lanes);
  if (auto* store = std::get_if<Store>(&item)) {
    const int step = lies_across(store->buffer, store->at, outer, lanes);
    return step == 1 || step == -1 ? step : 0;                         // what lies between elements belongs to others
  }
  return 0;
}

// Whether the body of this loop is one vector loop that reads or writes an array lying across it. States of scans in rows and slots of
// folds go from copy to copy through memory.
bool KernelEmitter::is_tiled_by(const Loop& outer) const {
  const Loop* lanes = nullptr;
  for (const Item& item : outer.body) {
    if (auto* loop = std::get_if<Loop>(&item)) {
      if (lanes || loop->mark != Mark::lanes || !loop->folds.empty()) return false;
      lanes = loop;
    } else if (!std::holds_alternative<Load>(item) && !std::holds_alternative<Compute>(item)) {
      return false;
    }
  }
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

Value* shuffled(llvm::IRBuilderBase& builder, Value* a, Value* b, const std::function<int(int lane)>& from) {
  std::vector<int> mask;
  for (int lane = 0; lane < static_cast<int>(llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements()); ++lane) mask.push_back(from(lane));
  return builder.CreateShuffleVector(a, b, mask);
}

// Transposes all blocks of 4 x 4 within a square of vectors: by instructions that interleave single elements, then pairs.
void transpose_fours(llvm::IRBuilderBase& builder, Vectors& rows) {
  const int width = static_cast<int>(rows.size());
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

// A square of vectors: vector k holds lane k of each. Halves, then quarters and so on trade places.
void transpose_square(llvm::IRBuilderBase& builder, Vectors& rows) {
  const int width = static_cast<int>(rows.size());
  const bool fours = rows[0]->getType()->getScalarSizeInBits() == 32 && width >= 4;
  for (int half = width / 2; half >= (fours ? 4 : 1); half /= 2)
    for (int row = 0; row < width; ++row) {
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
      transpose_square(builder, square);
      for (std::size_t k = 0; k < width; ++k) parts[right * width + k][down] = square[k];
    }
  Vectors columns;
  for (const Vectors& of_column : parts) columns.push_back(llvm::concatenateVectors(builder, of_column));
  return columns;
}

}  // namespace

// sixteen vectors of fewer elements -> vector k holds element k of each
static std::vector<Value*> columns_of(llvm::IRBuilderBase& builder, std::vector<Value*> rows, int width) {
  for (std::size_t count = rows.size(); count > 1; count /= 2)
    for (std::size_t k = 0; k < count / 2; ++k) {
      std::vector<int> both(static_cast<std::size_t>(width) * 2 * rows.size() / count);
      for (std::size_t lane = 0; lane < both.size(); ++lane) both[lane] = static_cast<int>(lane);
      rows[k] = builder.CreateShuffleVector(rows[2 * k], rows[2 * k + 1], both);
    }
  std::vector<Value*> columns;
  for (int column = 0; column < width; ++column) {
    std::vector<int> every;
    for (int lane = 0; lane < lane_count; ++lane) every.push_back(lane * width + column);
    columns.push_back(builder.CreateShuffleVector(rows[0], every));
  }
  return columns;
}

// The next row of a tile: by an addition, the first one apart.
Value* KernelEmitter::row_after(Value* row, const LaneAccess& access, Value* index) {
  return row ? b_.CreateGEP(b_.getInt8Ty(), row, access.lane_stride) : b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(index, access.lane_stride));
}

// Before the copies of a vector step. The masked steps at the end of a row gather.
void KernelEmitter::load_tiles(const Loop& lanes, Value* index, Value* mask) {
  if (tiled_by_ < 0 || mask) return;
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    const int step = load ? lies_across(item, tiled_by_, lanes.var.axis) : 0;
    if (step == 0) continue;
    const DType dtype = program_.buffers[static_cast<std::size_t>(load->buffer)].dtype;
    const LaneAccess& access = (step > 0 ? jam_.front() : jam_.back()).accesses.at(&item);
    const auto width = static_cast<int>(jam_.size());
    std::vector<Value*> rows;
    Value* at = nullptr;
    Value* const ahead = b_.CreateMul(access.lane_stride, number(tiles_ahead * lane_count));
    for (int lane = 0; lane < lane_count; ++lane) {
      at = row_after(at, access, index);
      rows.push_back(load_steps(dtype, at, std::abs(step), width));
      for (Index line = 0; width == lane_count && line < std::abs(step); ++line) {
        Value* later = b_.CreateConstGEP1_64(b_.getInt8Ty(), b_.CreateGEP(b_.getInt8Ty(), at, ahead), static_cast<std::uint64_t>(64 * line));
        b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {later, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
      }
    }
    auto& columns = tiles_[&item] = width == lane_count ? transposed(b_, rows, register_bytes()) : columns_of(b_, std::move(rows), width);
    if (step < 0) std::reverse(columns.begin(), columns.end());
  }
}

// After the last copy: what all copies store.
void KernelEmitter::store_tiles(const Loop& lanes, Value* index) {
  for (auto& [key, columns] : tile_stores_) {
    const Item& item = *static_cast<const Item*>(key);
    const int direction = lies_across(item, tiled_by_, lanes.var.axis);
    if (direction < 0) std::reverse(columns.begin(), columns.end());
    const LaneAccess& access = (direction > 0 ? jam_.front() : jam_.back()).accesses.at(key);
    const auto rows = transposed(b_, columns, register_bytes());
    Value* at = nullptr;
    for (int lane = 0; lane < lane_count; ++lane) {
      at = row_after(at, access, index);
      b_.CreateAlignedStore(rows[static_cast<std::size_t>(lane)], at, llvm::Align(size_of(program_.buffers[static_cast<std::size_t>(std::get<Store>(item).buffer)].dtype)));
    }
  }
  tile_stores_.clear();
}

}  // namespace weft
