// Loops over vectors of rows of a few elements (emit_thin.cpp): their copies and transposes are much code, and with masks for the rows that are less
// than a vector at the end, much of it again. So these, which come once, go through memory of their own, which looks like the arrays, and the same code:
// softmax of rows of 7 and 12 floats takes two thirds of the time to compile, running sums six tenths (Zen 3).
#include <algorithm>
#include <cstdlib>

#include <llvm/IR/Intrinsics.h>

#include "code/loop_hints.h"
#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// What of a vector loop, one of the copies or the one that takes their results, goes through memory of its own. False: not all of it can.
bool KernelEmitter::share_rows(const Loop& loop, std::unordered_map<const void*, LaneAccess>& accesses, bool of_copies, std::vector<SharedRows>& all) {
  constexpr Index longest_apart = 1024;         // bytes from row to row
  for (const Item& item : loop.body) {
    auto* load = std::get_if<Load>(&item);
    auto* store = std::get_if<Store>(&item);
    if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && program_.fold(accumulate->fold).axis == loop.var.axis) return false;
    if ((load && (load->guarded || (of_copies && moves_rows(*load, loop)))) || std::holds_alternative<Others>(item)) return false;
    const auto found = accesses.find(&item);
    if (found == accesses.end()) continue;
    const LaneAccess& access = found->second;
    const int step = of_copies ? lies_across(item, copies_.tiled_by, loop.var.axis) : 0;
    const bool has_room = access.cells || access.own || access.own_vectors || access.lane == StrideClass::zero;
    if (access.stream) return false;
    if (step == 0 && has_room) continue;
    if ((!load && !store) || access.period > 0 || access.each > 1) return false;
    const int number_of_buffer = load ? load->buffer : store->buffer;
    const Buffer& buffer = program_.buffer(number_of_buffer);
    Index pitch = item_bytes(buffer.dtype);
    if (step == 0) {
      const bool is_each_copys = of_copies && (store || depends_on(*load, copies_.tiled_by));
      if (access.lane != StrideClass::unit || buffer.place == Place::row || is_each_copys) return false;
    } else {
      if (load && joins(number_of_buffer, load->at, copies_.tiled_by, loop.var.axis, -1)) return false;       // whole rows, from the last one on
      const Index apart = distance_of_rows(number_of_buffer, load ? load->at : store->at, copies_.tiled_by, loop.var.axis);
      pitch *= apart != 0 ? apart : copies();
      if (std::abs(step) != 1 || pitch <= 0 || pitch > longest_apart) return false;
    }
    const auto moves_back = [&](const SharedRows& rows) { return rows.buffer == number_of_buffer && rows.is_load != (load != nullptr); };
    if (std::any_of(all.begin(), all.end(), moves_back)) return false;           // what one copy stores, another may load
    all.push_back({&item, number_of_buffer, load != nullptr, of_copies, buffer.dtype, step, pitch, nullptr, {}});
  }
  return true;
}

// Where less than a vector of rows comes but once, and all that these read and write can go through memory of their own.
std::optional<std::vector<KernelEmitter::SharedRows>> KernelEmitter::shared_rows(const Loop& loop) {
  if (!copies_.thin || copies_.tiled_by < 0 || loop.var.axis != program_.root.var.axis) return {};
  std::vector<SharedRows> all;
  if (!share_rows(loop, jam_.front().accesses, true, all)) return {};
  if (copies_.taker && !share_rows(*copies_.taker, accesses_, false, all)) return {};
  return all;
}

// Of the copy whose elements lie first in memory.
LaneAccess& KernelEmitter::first_access(const SharedRows& rows) {
  if (!rows.of_copies) return accesses_.at(rows.item);
  return (rows.step >= 0 ? jam_.front() : jam_.back()).accesses.at(rows.item);
}

// All sixteen rows, the last of which stands for those that are not there; or, from that memory, those that are.
void KernelEmitter::move_rows(const SharedRows& rows, Value* index, Value* left) {
  const Index bytes = item_bytes(rows.dtype);
  const int elements = rows.step == 0 ? 1 : copies();
  const llvm::Align align(static_cast<std::uint64_t>(bytes));
  for_range(number(0), rows.is_load ? number(lane_count) : left, 1, "row", [&](Value* row) {
    Value* there = rows.is_load ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, b_.CreateSub(left, number(1))) : row;
    Value* in_array = b_.CreateGEP(b_.getInt8Ty(), rows.in_array.base, b_.CreateMul(b_.CreateAdd(index, there), rows.step == 0 ? number(bytes) : rows.in_array.lane_stride));
    Value* in_cell = b_.CreateGEP(b_.getInt8Ty(), rows.cell, b_.CreateMul(row, number(rows.pitch)));
    const auto load = [&](Value* at) -> Value* { return b_.CreateAlignedLoad(memory_type(context_, rows.dtype, elements), at, align); };
    if (!rows.is_load) b_.CreateAlignedStore(load(in_cell), in_array, align);
    else b_.CreateAlignedStore(elements == 1 ? load(in_array) : load_run(rows.dtype, in_array, elements), in_cell, align);      // behind it comes the next row
  }, true);
}

// All whole vectors, and then those that are left, without a branch within the loop.
void KernelEmitter::emit_shared_rows(const Loop& loop, Range range, std::vector<SharedRows> all) {
  for (SharedRows& rows : all) {
    rows.in_array = first_access(rows);
    rows.cell = stack_cell(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(lane_count * rows.pitch + line_bytes)), "rows");
  }
  Value* left = b_.CreateURem(b_.CreateSub(range.end, range.begin), number(lane_count));
  Value* whole_end = b_.CreateSub(range.end, left);
  if (copies_.along_rows) open_rows();
  auto* parts = for_range(number(0), number(2), 1, "part", [&](Value* pass) {
    Value *is_part = b_.CreateICmpNE(pass, number(0)), *some_left = b_.CreateAnd(is_part, b_.CreateICmpNE(left, number(0)));
    if_then(some_left, "before", [&] {
      for (const SharedRows& rows : all)
        if (rows.is_load) move_rows(rows, whole_end, left);
    });
    for (const SharedRows& rows : all) {
      LaneAccess& access = first_access(rows);
      Value* from_end = b_.CreateMul(whole_end, number(-rows.pitch));
      access.base = b_.CreateSelect(is_part, b_.CreateGEP(b_.getInt8Ty(), rows.cell, from_end), rows.in_array.base);
      if (rows.step != 0) access.lane_stride = b_.CreateSelect(is_part, number(rows.pitch), rows.in_array.lane_stride);
    }
    for_range(b_.CreateSelect(is_part, whole_end, range.begin), b_.CreateSelect(is_part, range.end, whole_end), lane_count, "lanes",
              [&](Value* index) { emit_lane_body(loop, index, 1, {}); });
    if_then(some_left, "after", [&] {
      for (const SharedRows& rows : all)
        if (!rows.is_load) move_rows(rows, whole_end, left);
    });
  });
  set_hint(*parts, few_turns);
  if (copies_.along_rows) close_rows(loop);
}

}  // namespace weft
