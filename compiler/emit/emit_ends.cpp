// What a vector loop leaves over of whole steps: single vectors, masked ones, code of its own for short rows.
#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

bool KernelEmitter::has_guards(const Loop& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return std::holds_alternative<Load>(item) && std::get<Load>(item).guarded; });
}

// Bodies for whole steps, and again with masks for the rest: small ones, and those that mostly move. What such a one would copy so that it serves
// both is as much code: 3 x 3 sums of rows of 1000 floats take .7 of the time. Not of what goes past the caches, as rows are long there. Windows that are
// picked from vectors of their row have no copies (Zen 5).
bool KernelEmitter::is_emitted_twice(const Loop& loop) const {
  if (!row_windows_.empty()) return loop.weight <= masked_only;
  if (loop.weight <= twice_emitted || loop.weight > masked_only) return loop.weight <= twice_emitted;
  if (std::any_of(accesses_.begin(), accesses_.end(), [](const auto& each) { return each.second.stream; })) return false;
  const auto moves = std::count_if(accesses_.begin(), accesses_.end(), [](const auto& each) { return each.second.lane == StrideClass::unit && !each.second.own; });
  return has_feature("+avx512f") && jam_.empty() && !has_guards(loop) && 4 * moves >= loop.weight;
}

// Without a loop where that is known to be one turn: what starts before it is known to be what it starts with. Not with guards: see emit_rest.
llvm::BranchInst* KernelEmitter::emit_whole_steps(const Loop& loop, Range range, int steps, bool some) {
  const auto *begin = llvm::dyn_cast<llvm::ConstantInt>(range.begin), *end = llvm::dyn_cast<llvm::ConstantInt>(range.end);
  const auto turn = [&](Value* index) { emit_lane_body(loop, index, steps, {}); };
  const Index stride = Index{steps} * lane_count;
  if (!begin || !end || end->getSExtValue() - begin->getSExtValue() != stride || has_guards(loop)) return for_range(range.begin, range.end, stride, "lanes", turn, some);
  turn(range.begin);
  return nullptr;
}

// Masks of processors without mask registers are vectors that take instructions to make, and stores with them tens of cycles: whole
// vectors go without. So do those of rows that run side by side, each of which has such a rest: a gradient over rows of 63 floats takes 15 %
// less (Zen 5). Returns where the rest begins.
Value* KernelEmitter::emit_single_vectors(const Loop& loop, Range range) {
  Value* rest = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(lane_count)));
  for_range(range.begin, rest, lane_count, "vector", [&](Value* index) { emit_lane_body(loop, index, 1, {}); });
  return rest;
}

// Whether what rows of a long body leave over of whole steps is worth code of its own. Where it is the same code, each row takes a detour by way of
// memory, and as long as a whole step: tanh of rows of 65, 80 and 200 floats .57, .45 and .33 ns an element, with such an end .30, .26 and .25; softmax of 63 .72
// and .42 (Zen 4). With registers of masks that is so for all that comes from memory: gated linear units of 55924 x 100 floats 3.1 -> 1.6 ms, cells of
// 72628 x 33 with long short-term memory 11.0 -> 4.0 (Zen 5).
bool KernelEmitter::ends_apart(const Loop& loop) const {
  if (!jam_.empty() || loop.var.axis == program_.root.var.axis || loop.weight <= twice_emitted) return false;
  const Index extent = program_.axis(loop.var.axis).hint;
  if (has_feature("+avx512f")) return loop.weight <= masked_only && (vectors_left(loop) > 0 || (extent <= rows_in_memory && walks_rows_of_memory(loop)));
  return loop.weight <= ends_apart_up_to && extent <= short_rows;
}

// Of short rows in the call that compiles, after whole steps: those run side by side, the last one with masks. Not beside operands that repeat, which are
// loaded before whole steps: their elements would be gathered.
int KernelEmitter::vectors_left(const Loop& loop) const {
  if (std::any_of(accesses_.begin(), accesses_.end(), [](const auto& each) { return each.second.period > 0; })) return 0;
  const Index extent = program_.axis(loop.var.axis).hint, stride = Index{steps_of(loop)} * lane_count;
  return extent < stride || extent > masked_rows ? 0 : static_cast<int>((extent % stride + lane_count - 1) / lane_count);
}

void KernelEmitter::emit_end_apart(const Loop& loop, Range range, int steps) {
  Value* left = b_.CreateURem(b_.CreateSub(range.end, range.begin), number(steps * lane_count));
  Value* whole = b_.CreateSub(range.end, left);
  load_repeated(loop, range.begin, steps);
  emit_whole_steps(loop, {range.begin, whole}, steps, false);
  repeated_.clear();
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(left); known && !has_guards(loop))
    return emit_rest(loop, {whole, range.end}, static_cast<int>((known->getSExtValue() + lane_count - 1) / lane_count), false);
  if (const int vectors = has_feature("+avx512f") ? vectors_left(loop) : 0; vectors > 1) return emit_rest(loop, {whole, range.end}, vectors, false);
  Value* rest = emit_single_vectors(loop, {whole, range.end});
  if (!relies_on_whole(loop.var.axis, lane_count)) emit_rest(loop, {rest, range.end}, 1, false);
}

// Every step may be the last one, of fewer elements. Known to be the only one it needs no loop, and its masks are constants. Not with guards: of a mask
// of a constant and a guard LLVM 22 loads the half that has no lanes as if it had all (seen where it uses EXTRQ, of SSE4a).
void KernelEmitter::emit_rest(const Loop& loop, Range range, int steps, bool mostly_whole) {
  Value* left = b_.CreateSub(range.end, range.begin);
  const auto step = [&](Value* index, Value* count) {
    part_ = count;
    emit_lane_body(loop, index, steps, first_lanes(part_, steps));
    part_ = nullptr;
  };
  mostly_whole_ = mostly_whole;
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(left);
  if (!has_guards(loop) && known && known->getSExtValue() > 0 && known->getSExtValue() <= steps * lane_count) step(range.begin, left);
  else
    for_range(range.begin, range.end, steps * lane_count, "rest", [&](Value* index) {
      step(index, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(range.end, index), number(steps * lane_count)));
    });
  mostly_whole_ = false;
}

// A body that is emitted once, run for all whole steps with masks of all lanes and once more for the rest: masks do not change within
// the loop.
void KernelEmitter::emit_whole_then_rest(const Loop& loop, Range range, int steps) {
  const int stride = steps * lane_count;
  Value* all = b_.CreateSub(range.end, range.begin);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(all); known && known->getSExtValue() > 0 && known->getSExtValue() < stride) return emit_rest(loop, range, steps, false);
  Value* left = b_.CreateURem(all, number(stride));
  Value* whole_end = b_.CreateSub(range.end, left);
  for_range(number(0), number(2), 1, "part", [&](Value* pass) {
    Value* last = b_.CreateICmpNE(pass, number(0));
    Value *begin = b_.CreateSelect(last, whole_end, range.begin), *end = b_.CreateSelect(last, range.end, whole_end);
    part_ = b_.CreateSelect(last, left, number(stride));
    const Masks masks = first_lanes(part_, steps);
    for_range(begin, end, stride, "lanes", [&](Value* index) { emit_lane_body(loop, index, steps, masks); });
    part_ = nullptr;
  });
}

}  // namespace weft
