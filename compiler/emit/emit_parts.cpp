// Vector loops in parts (program/partition.h): around the bounds single vectors that ask where they are, between them bodies that do not.
#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"
#include "program/index_conditions.h"

namespace weft {

using llvm::Value;

// Tiles do along their vectors: what asks is gathered, not transposed. Means down the columns of 12000 x 5 floats less those of the row before .95 -> .21 ns an
// element (Zen 4).
bool KernelEmitter::runs_in_parts(const Loop& loop) const {
  if (loop.parts.empty() || is_one_vector(loop) || has_staying(loop)) return false;
  const bool side_by_side = !copies_.along_rows && !copies_.rolled && copies_.swept == 0 && !copies_.down_columns && !copies_.in_registers && !copies_.keep_windows;
  const auto is_along = [&](const Loop& part) { return part.bounded == loop.var.axis; };
  if ((!jam_.empty() || copies_.tiled_by >= 0) && !(side_by_side && std::all_of(loop.parts.begin(), loop.parts.end(), is_along))) return false;
  const auto is_known = [&](const Bound& bound) { return bound.axis < 0 || axis_index_[static_cast<std::size_t>(bound.axis)]; };
  return std::all_of(loop.parts.begin(), loop.parts.end(), [&](const Loop& part) {
    return std::all_of(part.from.begin(), part.from.end(), is_known) && std::all_of(part.to.begin(), part.to.end(), is_known);
  });
}

Value* KernelEmitter::place_of(const Bound& bound) {
  return bound.axis < 0 ? size(bound.at) : b_.CreateAdd(axis_index_[static_cast<std::size_t>(bound.axis)], size(bound.at));
}

// Whether there are bodies for parts of a loop outside, whose index is known here.
bool KernelEmitter::has_cases(const Loop& loop) const {
  return runs_in_parts(loop) && loop.parts[0].bounded != loop.var.axis && axis_index_[static_cast<std::size_t>(loop.parts[0].bounded)];
}

// The case that holds, or else the body that asks, vector after vector: those are few.
void KernelEmitter::emit_cases(const Loop& loop) {
  Value* index = axis_index_[static_cast<std::size_t>(loop.parts[0].bounded)];
  auto* done = llvm::BasicBlock::Create(context_, "case.end", function_);
  for (const Loop& each : loop.parts) {
    Value* holds = b_.getTrue();
    for (const Bound& bound : each.from) holds = b_.CreateAnd(holds, b_.CreateICmpSGE(index, place_of(bound)));
    for (const Bound& bound : each.to) holds = b_.CreateAnd(holds, b_.CreateICmpSLT(index, place_of(bound)));
    auto *then = llvm::BasicBlock::Create(context_, "case", function_), *other = llvm::BasicBlock::Create(context_, "case.else", function_);
    b_.CreateCondBr(holds, then, other);
    b_.SetInsertPoint(then);
    emit_vectors(each);
    b_.CreateBr(done);
    b_.SetInsertPoint(other);
  }
  emit_vectors(loop);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// Of what code knows, a number: the builder folds no intrinsics.
static Value* extreme_of(llvm::IRBuilder<>& b, llvm::Intrinsic::ID which, Value* one, Value* other) {
  const auto *first = llvm::dyn_cast<llvm::ConstantInt>(one), *second = llvm::dyn_cast<llvm::ConstantInt>(other);
  if (!first || !second) return b.CreateBinaryIntrinsic(which, one, other);
  return (first->getSExtValue() < second->getSExtValue()) == (which == llvm::Intrinsic::smin) ? one : other;
}

// The whole vectors of a part, from a whole number of them after `begin` on.
Range KernelEmitter::whole_vectors_of(const Loop& part, Value* begin, Value* end) {
  Value *from = begin, *to = end;
  for (const Bound& bound : part.from) from = extreme_of(b_, llvm::Intrinsic::smax, from, place_of(bound));
  for (const Bound& bound : part.to) to = extreme_of(b_, llvm::Intrinsic::smin, to, place_of(bound));
  const auto whole = [&](Value* elements) { return b_.CreateAnd(elements, number(-lane_count)); };
  from = b_.CreateAdd(begin, whole(b_.CreateAdd(b_.CreateSub(from, begin), number(lane_count - 1))));
  from = extreme_of(b_, llvm::Intrinsic::smin, from, end);
  Value* inside = extreme_of(b_, llvm::Intrinsic::smax, b_.CreateSub(to, from), number(0));
  return {from, b_.CreateAdd(from, whole(inside))};
}

// Whole steps of it; returns where the rest begins.
Value* KernelEmitter::emit_steps_of_part(const Loop& part, Range range) {
  const int steps = steps_of(part), stride = steps * lane_count;
  estimated_ = find_estimated(part, steps);
  each_copy([&] { open_accesses(part); });
  find_row_windows(part);
  note_code(part, steps, false);
  Value* rest = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride)));
  load_repeated(part, range.begin, steps);
  for_range(range.begin, rest, stride, "lanes", [&](Value* index) { emit_lane_body(part, index, steps, {}); });
  repeated_.clear();
  return rest;
}

void KernelEmitter::emit_part(const Loop& part, Range range) {
  Value* rest = emit_steps_of_part(part, range);
  if (steps_of(part) > 1) emit_single_vectors(part, {rest, range.end});
}

// Whether code knows that the parts are all there is: no vector asks where it is. Rows of 64 floats whose halves rotate each other .11 -> .066 ns an
// element (Zen 5).
static bool leave_nothing(const std::vector<Range>& wholes, Range range) {
  Value* at = range.begin;
  for (const Range& whole : wholes) {
    if (whole.begin != at || !llvm::isa<llvm::Constant>(at)) return false;
    at = whole.end;
  }
  return at == range.end;
}

// Few vectors at indices that code knows: it knows the answers too. Images of 28 x 28 floats with borders of two 31 -> 14 us a megabyte (Zen 4).
bool KernelEmitter::emit_known_vectors(const Loop& loop, Range range) {
  const auto *begin = llvm::dyn_cast<llvm::ConstantInt>(range.begin), *end = llvm::dyn_cast<llvm::ConstantInt>(range.end);
  const auto asks_elsewhere = [&](const Item& item) {           // see emit_rest
    const auto* load = std::get_if<Load>(&item);
    return load && load->guarded && std::any_of(load->at.begin(), load->at.end(), [&](const Subscript& s) { return s.axis != loop.var.axis && !has_every_index(program_, *load, s); });
  };
  if (!begin || !end || std::any_of(loop.body.begin(), loop.body.end(), asks_elsewhere)) return false;
  const Index vectors = (end->getSExtValue() - begin->getSExtValue() + lane_count - 1) / lane_count;
  const bool is_more_code = vectors > std::ssize(loop.parts) + 1 && vectors * loop.weight * copies() > small_body;
  if (vectors > most_vectors || is_more_code) return false;
  for (Index at = begin->getSExtValue(); at < end->getSExtValue(); at += lane_count) {
    const Index left = end->getSExtValue() - at;
    part_ = left < lane_count ? number(left) : nullptr;
    emit_lane_body(loop, number(at), 1, part_ ? first_lanes(part_, 1) : Masks{});
    part_ = nullptr;
  }
  return true;
}

// Parts that follow each other and are all there is, as those of a concatenation: each from its first element to its last, with masks for what its vectors
// leave over, and none asks. Three rows of 100 floats beside each other, a megabyte, 19.0 -> 11.4 us, two of 64, 16 KiB, .18 -> .07 (Zen 4). Not past the
// caches, where stores begin lines.
bool KernelEmitter::follow_each_other(const std::vector<const Loop*>& parts) const {
  if (parts.size() < 2 || !parts.front()->from.empty() || !parts.back()->to.empty()) return false;
  int weight = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    weight += parts[k]->weight;
    if (!ends_with_masks(*parts[k])) return false;
    if (k > 0 && !(parts[k - 1]->to.size() == 1 && parts[k]->from.size() == 1 && parts[k - 1]->to[0] == parts[k]->from[0])) return false;
  }
  return weight <= 2 * small_body;
}

// Whether less than a vector of a part is left to its own body, with a mask.
bool KernelEmitter::ends_with_masks(const Loop& part) const {
  return has_feature("+avx512f") && !has_guards(part) && part.folds.empty() && part.weight <= small_body && std::none_of(accesses_.begin(), accesses_.end(), [](const auto& each) { return each.second.stream; });
}

void KernelEmitter::emit_one_after_the_other(const std::vector<const Loop*>& parts, Range range) {
  for (const Loop* part : parts) {
    Value* end = part == parts.back() ? range.end : extreme_of(b_, llvm::Intrinsic::smax, range.begin, extreme_of(b_, llvm::Intrinsic::smin, place_of(part->to[0]), range.end));
    Value* rest = emit_steps_of_part(*part, {range.begin, end});
    emit_rest(*part, {rest, end}, steps_of(*part), false);
    range.begin = end;
  }
}

// One copy of the body that asks serves all bounds: pass after pass, it runs up to where the next part begins, and then that part does.
void KernelEmitter::emit_parts(const Loop& loop, Range range) {
  const bool is_alone = jam_.empty();
  if (emit_known_vectors(loop, range)) return;
  std::vector<Range> wholes;
  std::vector<const Loop*> parts;
  for (const Loop& part : loop.parts) {
    if (part.bounded != loop.var.axis) continue;
    parts.push_back(&part);
    wholes.push_back(whole_vectors_of(part, wholes.empty() ? range.begin : wholes.back().end, range.end));
  }
  if (leave_nothing(wholes, range)) {
    for (std::size_t k = 0; k < wholes.size(); ++k) emit_part(*parts[k], wholes[k]);
    return;
  }
  if (is_alone && follow_each_other(parts)) return emit_one_after_the_other(parts, range);
  const bool masks = !relies_on_whole(loop.var.axis, lane_count), ends_in_part = !parts.empty() && parts.back()->to.empty() && (!masks || (is_alone && ends_with_masks(*parts.back())));
  for_range(number(0), number(static_cast<Index>(wholes.size()) + (ends_in_part ? 0 : 1)), 1, "part", [&](Value* pass) {
    const auto is_pass = [&](std::size_t k) { return b_.CreateICmpEQ(pass, number(static_cast<Index>(k))); };
    Value *first = range.begin, *last = range.end;
    for (std::size_t k = 0; k < wholes.size(); ++k) {
      first = b_.CreateSelect(is_pass(k + 1), wholes[k].end, first);
      last = b_.CreateSelect(is_pass(k), wholes[k].begin, last);
    }
    for_range(first, last, lane_count, "bound", [&](Value* index) {
      if (masks) part_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(range.end, index), number(lane_count));
      emit_lane_body(loop, index, 1, masks ? first_lanes(part_, 1) : Masks{});
      part_ = nullptr;
    });
    for (std::size_t k = 0; k < wholes.size(); ++k)
      emit_part(*parts[k], {wholes[k].begin, b_.CreateSelect(is_pass(k), wholes[k].end, wholes[k].begin)});
  });
  if (!ends_in_part || !masks) return;
  open_accesses(*parts.back());
  find_row_windows(*parts.back());
  emit_rest(*parts.back(), {wholes.back().end, range.end}, 1, false);
}

}  // namespace weft
