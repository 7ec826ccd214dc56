// Loops that store past the caches (stream.cpp) from where a line begins.
#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// The one result of a loop that walks all of it as one row, where that begins within a line: the loop goes from the next line on, and its
// ends go through the caches. Sums of two arrays of 16 Mi floats, which std::vector puts behind 16 bytes: .45 -> .28 ns an element (Zen 4).
// Folds along the loop count its elements from where they begin.
const Item* KernelEmitter::streams_from_a_line_on(const Loop& loop) const {
  if (stream_ != PastCaches::anywhere || !jam_.empty() || has_staying(loop) || (loop.weight > twice_emitted && !shares_body(loop)) || !loop.folds.empty() || byte_function(loop)) return nullptr;
  const Item* only = nullptr;
  for (const Item& item : loop.body) {
    const auto access = accesses_.find(&item);
    if (std::holds_alternative<Others>(item) || (access != accesses_.end() && access->second.own_vectors)) return nullptr;     // whole vectors, from the first element on
    if (!std::holds_alternative<Store>(item)) continue;
    if (only) return nullptr;
    only = &item;
  }
  if (!only) return nullptr;
  const auto& store = std::get<Store>(*only);
  const Buffer& buffer = program_.buffer(store.buffer);
  const auto bytes = item_bytes(buffer.dtype);
  if (lane_count * bytes % line_bytes != 0 || masks_by_branches(buffer.dtype)) return nullptr;
  return is_one_row(store, loop.var.axis) && is_only_written(store, loop.var.axis) ? only : nullptr;
}

// Of short bodies, the ends are masked vectors, emitted once; long ones are emitted once for everything.
void KernelEmitter::emit_from_a_line_on(const Loop& loop, Range range, int steps, const Item& result) {
  const auto bytes = item_bytes(program_.buffer(std::get<Store>(result).buffer).dtype), stride = Index{steps} * lane_count;
  Value* first = b_.CreateGEP(b_.getInt8Ty(), accesses_.at(&result).base, b_.CreateMul(range.begin, number(bytes)));
  Value* before = b_.CreateUDiv(b_.CreateAnd(b_.CreateNeg(b_.CreatePtrToInt(first, b_.getInt64Ty())), number(line_bytes - 1)), number(bytes));
  Value* line = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(range.begin, before), range.end);
  const auto in_two = [&](Value* second, const std::function<void(Range)>& part) {
    for_range(number(0), number(2), 1, "part", [&](Value* pass) {
      Value* last = b_.CreateICmpNE(pass, number(0));
      part({b_.CreateSelect(last, second, range.begin), b_.CreateSelect(last, range.end, line)});
    }, true);
  };
  if (!is_emitted_twice(loop)) return in_two(line, [&](Range part) { emit_shared_body(loop, part, steps); });
  Value* whole = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, line), number(stride)));
  load_repeated(loop, line, steps);
  for_range(line, whole, stride, "lanes", [&](Value* index) { emit_lane_body(loop, index, steps, {}); });
  repeated_.clear();
  in_two(whole, [&](Range part) {
    for_range(part.begin, part.end, lane_count, "end", [&](Value* index) {
      part_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(part.end, index), number(lane_count));
      emit_lane_body(loop, index, 1, first_lanes(part_, 1));
      part_ = nullptr;
    });
  });
}

}  // namespace weft
