// Operands that lie across a vector loop, such as a transpose: neighbours of the outer loop are neighbours in memory. Sixteen elements
// of that loop are worked on together; sixteen vectors along it are loaded and transposed in registers, so that every cache line is
// read once and as a whole.
#include "emit_kernel.h"

namespace weft {

using llvm::Value;

bool KernelEmitter::lies_across(const Load& load, int outer, int lanes) const {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load.buffer)];
  if (load.guarded || buffer.place == Place::index || buffer.place == Place::extent || buffer.place == Place::row) return false;
  bool along_outer = false, across_lanes = false;
  for (std::size_t d = 0; d < load.at.size(); ++d) {
    if (load.at[d].axis == outer) along_outer = class_of(buffer, d) == StrideClass::unit && load.at[d].step == 1;
    if (load.at[d].axis == lanes) across_lanes = class_of(buffer, d) == StrideClass::other;
  }
  return along_outer && across_lanes;
}

// Whether the body of this loop is one vector loop without folds that reads an operand lying across it.
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
  constexpr int largest = 24;         // sixteen copies of a larger body are too much code
  if (!lanes || !outer.folds.empty() || lanes->weight > largest) return false;
  bool across = false;
  for (const Item& item : lanes->body) {
    if (std::holds_alternative<Accumulate>(item)) return false;
    if (auto* load = std::get_if<Load>(&item)) across |= lies_across(*load, outer.var.axis, lanes->var.axis);
  }
  return across;
}

// The loop over [begin, end), in whole tiles; returns where the rest begins.
Value* KernelEmitter::emit_tiles(const Loop& outer, Value* begin, Value* end) {
  Value* rest = b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(end, begin), number(-lane_count)));
  tiled_by_ = outer.var.axis;
  for_range(begin, rest, lane_count, "tile", [&](Value* first) { emit_together(outer, first, lane_count, 1); });
  tiled_by_ = -1;
  return rest;
}

// sixteen vectors -> vector k holds lane k of each
static std::vector<Value*> transposed(llvm::IRBuilderBase& builder, std::vector<Value*> rows) {
  for (int half = lane_count / 2; half >= 1; half /= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < lane_count; ++lane) {
      const bool second = (lane & half) != 0;
      low.push_back(second ? lane_count + lane - half : lane);
      high.push_back(second ? lane_count + lane : lane + half);
    }
    for (int row = 0; row < lane_count; ++row) {
      if (row & half) continue;
      auto &a = rows[static_cast<std::size_t>(row)], &b = rows[static_cast<std::size_t>(row + half)];
      Value* first = builder.CreateShuffleVector(a, b, low);
      b = builder.CreateShuffleVector(a, b, high);
      a = first;
    }
  }
  return rows;
}

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

// Before the copies of a vector step. The masked steps at the end of a row gather.
void KernelEmitter::load_tiles(const Loop& lanes, Value* index, Value* mask) {
  if (tiled_by_ < 0 || mask) return;
  for (const Item& item : lanes.body) {
    auto* load = std::get_if<Load>(&item);
    if (!load || !lies_across(*load, tiled_by_, lanes.var.axis)) continue;
    const DType dtype = program_.buffers[static_cast<std::size_t>(load->buffer)].dtype;
    const LaneAccess& access = jam_.front().accesses.at(&item);
    const auto width = static_cast<int>(jam_.size());
    std::vector<Value*> rows;
    for (int lane = 0; lane < lane_count; ++lane) {
      Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(b_.CreateAdd(index, number(lane)), access.lane_stride));
      auto* type = llvm::FixedVectorType::get(memory_type(context_, dtype, 1), static_cast<unsigned>(width));
      rows.push_back(b_.CreateAlignedLoad(type, at, llvm::Align(size_of(dtype))));
    }
    tiles_[&item] = width == lane_count ? transposed(b_, std::move(rows)) : columns_of(b_, std::move(rows), width);
  }
}

}  // namespace weft
