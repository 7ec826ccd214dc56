// Large transposes. Tile after tile along the vector loop, each line of a tile would lie on a page of its own. So several tiles of the outer loop go
// together, some vectors at a time: neighbouring lines are read one after the other, and what is written is rows of whole lines.
// Measured on 2 * x^T of 4096^2 floats past the caches: .48 ns an element without, .26 with blocks of 64 (Zen 5); machine.h says where they are longer.
//
// Where the rows of a result are a power of two apart, sixteen of its lines are of one set of the first level. Such results are gathered in
// scratch, whose rows are not, and then written one row after the other.
#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {
constexpr auto block = static_cast<Index>(short_tile_block);     // elements of the outer loop
constexpr Index staged_bytes = 512;     // the same of such results, in bytes of the widest
}

// As much of the range as is whole tiles, of so many elements and vectors; returns where the rest begins.
Value* KernelEmitter::emit_blocks_of_tiles(const Loop& outer, const Loop& lanes, Range range, int elements, int steps, const EmitTile& tile) {
  const Index together = open_stages(outer, lanes, steps);
  Value* rest = end_of_whole(outer.var.axis, range, elements);
  for_range(range.begin, rest, together, "block", [&](Value* start) {
    Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(together)), rest);
    in_steps(lanes.var.axis, steps, "step", [&](Value* index, int count, const Masks& masks) {
      block_ = {start, index};
      Value* rows = part_ ? part_ : number(count * lane_count);
      for_range(start, end, elements, "tile", [&](Value* first) { tile(first, index, count, masks); });
      for (const auto& [item, stage] : stages_) empty_stage(stage, outer, lanes, end, elements, rows);
    });
  });
  block_ = {};
  stages_.clear();
  return rest;
}

Value* KernelEmitter::emit_tile_blocks(const Loop& outer, Range range, int elements, int vectors) {
  const Loop& lanes = *outer_of(outer).loops[0];
  Value* rest = nullptr;
  estimated_ = find_estimated(lanes, 1);
  as_copies({.tiled_by = outer.var.axis, .swept = vectors}, [&] {
    rest = emit_blocks_of_tiles(outer, lanes, range, elements, vectors, [&](Value* first, Value* index, int steps, const Masks& masks) {
      const auto one = [&](Value* vector) { emit_together(outer, first, elements, 1, nullptr, [&](const Loop& loop) { emit_tile_step(loop, vector, masks); }); };
      if (steps == 1) one(index);
      else for_range(index, b_.CreateAdd(index, number(steps * lane_count)), lane_count, "vector", one, true);
    });
  });
  return rest;
}

// One step of the vector loop, for all elements of a tile.
void KernelEmitter::emit_tile_step(const Loop& lanes, Value* index, const Masks& masks) {
  each_copy([&] {
    axis_index_[static_cast<std::size_t>(lanes.var.axis)] = nullptr;
    open_accesses(lanes);
  });
  note_code(lanes, 1, false);
  around_lanes([&] { emit_lane_body(lanes, index, 1, masks); });
}

// Squares, of long bodies, fetch meanwhile wherever they are.
bool KernelEmitter::has_long_blocks() const { return past_caches() && !copies_.rolled && machine_.tile_block > short_tile_block; }
int KernelEmitter::vectors_past_caches() const { return !past_caches() ? 0 : has_long_blocks() ? 2 : 1; }

// Returns how many elements of the outer loop a block has. No stages where results go past the caches: their lines are in no set.
Index KernelEmitter::open_stages(const Loop& outer, const Loop& lanes, int steps) {
  if (has_long_blocks()) return static_cast<Index>(machine_.tile_block) / lane_count * lane_count;
  if (past_caches() || !stages_results(outer, lanes, machine_.first_level_ways)) return block;
  Index widest = 1;
  for (const Item& item : lanes.body) {
    auto* store = std::get_if<Store>(&item);
    if (!store || lies_across(item, outer.var.axis, lanes.var.axis) == 0) continue;
    const DType dtype = program_.buffer(store->buffer).dtype;
    stages_[&item] = {store, dtype, nullptr, 0};
    widest = std::max(widest, item_bytes(dtype));
  }
  const Index together = staged_bytes / widest;
  for (auto& [item, stage] : stages_) {
    stage.pitch = together * item_bytes(stage.dtype) + line_bytes;
    stage.memory = scratch_at(scratch_);
    scratch_ = scratch_ + stage.pitch * steps * lane_count;
  }
  return together;
}

// Rows of a tile that begins at `first`, from element `index` of the vector loop on: all sixteen, since there is room for them.
void KernelEmitter::keep_in_stage(const Stage& stage, const std::vector<Value*>& rows, Value* first, Value* index) {
  const auto bytes = item_bytes(stage.dtype);
  Value* offset = b_.CreateAdd(b_.CreateMul(b_.CreateSub(index, block_.lanes), number(stage.pitch)), b_.CreateMul(b_.CreateSub(first, block_.outer), number(bytes)));
  Value* at = b_.CreateGEP(b_.getInt8Ty(), stage.memory, offset);
  for (std::size_t row = 0; row < rows.size(); ++row)
    b_.CreateAlignedStore(rows[row], bytes_after(at, static_cast<Index>(row) * stage.pitch), llvm::Align(static_cast<std::uint64_t>(bytes)));
}

// The rows of a block, up to element `end` of the outer loop, one after the other.
void KernelEmitter::empty_stage(const Stage& stage, const Loop& outer, const Loop& lanes, Value* end, int elements, Value* rows) {
  const auto bytes = item_bytes(stage.dtype);
  auto& index = axis_index_[static_cast<std::size_t>(outer.var.axis)];
  index = block_.outer;
  const LaneAccess access = lane_access(stage.store->buffer, stage.store->at, lanes.var.axis);
  index = nullptr;
  Value* length = b_.CreateMul(b_.CreateSub(end, block_.outer), number(bytes));
  llvm::Type* run = memory_type(context_, stage.dtype, elements);
  const llvm::Align align(static_cast<std::uint64_t>(bytes));
  for_range(number(0), rows, 1, "row", [&](Value* row) {      // and fetches the next one
    Value* from = b_.CreateGEP(b_.getInt8Ty(), stage.memory, b_.CreateMul(row, number(stage.pitch)));
    Value* to = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(b_.CreateAdd(block_.lanes, row), access.lane_stride));
    for_range(number(0), length, elements * bytes, "run", [&](Value* at) {
      Value* moved = b_.CreateAlignedLoad(run, b_.CreateGEP(b_.getInt8Ty(), from, at), align);
      Value* there = b_.CreateGEP(b_.getInt8Ty(), to, at);
      fetch_lines(there, access.lane_stride, 1, true, true);
      b_.CreateAlignedStore(moved, there, align);
    }, true);
  }, true);
}

}  // namespace weft
