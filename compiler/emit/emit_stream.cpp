// Results larger than the caches: stores past them neither read the lines they overwrite nor evict what is read next.
#include <algorithm>

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {

bool is_loaded(const Loop& loop, int buffer) {
  for (const Item& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item); inner && is_loaded(*inner, buffer)) return true;
    if (auto* load = std::get_if<Load>(&item); load && load->buffer == buffer) return true;
  }
  return false;
}

}  // namespace

// Whether a loop over the axis walks all of the array.
bool KernelEmitter::is_one_row(const Store& store, int axis) {
  return std::all_of(store.at.begin(), store.at.end(), [&](const Subscript& s) { return s.axis == axis ? s.step == 1 && s.start.is(0) : s.axis < 0 && s.start.is(0); });
}

// A result of which a loop over the axis writes whole vectors, and which nothing reads.
bool KernelEmitter::is_only_written(const Store& store, int axis) const {
  return program_.buffer(store.buffer).place == Place::result && lies_along(store.buffer, store.at, axis) && !is_loaded(program_.root, store.buffer);
}

// Vectors of `lanes` elements that are whole cache lines: the array starts a line, so do its rows if it has several, and vectors start at
// multiples of their length.
bool KernelEmitter::streams(const Store& store, int axis, int lanes) const {
  const Buffer& buffer = program_.buffer(store.buffer);
  if (!past_caches() || !is_only_written(store, axis) || lanes * size_of(buffer.dtype) % line_bytes != 0) return false;
  if (stream_ == PastCaches::single_rows && !is_one_row(store, axis)) return false;
  for (const Subscript& s : store.at)
    if (s.axis == axis && (s.step != 1 || !s.start.is(0))) return false;
  return !program_.is_tiled(axis) || (program_.unit % lanes == 0 && program_.block % lanes == 0);
}

// The same of sixteen rows of few elements at a time, which are as many whole vectors.
bool KernelEmitter::streams_joined(const Store& store, int few, int axis) const {
  const Buffer& buffer = program_.buffer(store.buffer);
  if (!past_caches() || !is_only_written(store, few) || lane_count * size_of(buffer.dtype) % line_bytes != 0) return false;
  for (const Subscript& s : store.at) {
    const bool is_walked = s.axis == few || s.axis == axis;
    if (!s.start.is(0) || (stream_ == PastCaches::single_rows && !is_walked && s.axis >= 0)) return false;
  }
  return !program_.is_tiled(axis) || (program_.unit % lane_count == 0 && program_.block % lane_count == 0);
}

// The one result of a loop that walks all of it as one row, where that begins within a line: the loop goes from the next line on, and its
// ends go through the caches. Sums of two arrays of 16 Mi floats, which std::vector puts behind 16 bytes: .45 -> .28 ns an element (Zen 4).
// Folds along the loop count its elements from where they begin.
const Item* KernelEmitter::streams_from_a_line_on(const Loop& loop) const {
  if (stream_ != PastCaches::anywhere || !jam_.empty() || (loop.weight > twice_emitted && !shares_body(loop)) || !loop.folds.empty() || byte_function(loop)) return nullptr;
  const Item* only = nullptr;
  for (const Item& item : loop.body) {
    if (std::holds_alternative<Others>(item)) return nullptr;
    if (!std::holds_alternative<Store>(item)) continue;
    if (only) return nullptr;
    only = &item;
  }
  if (!only) return nullptr;
  const auto& store = std::get<Store>(*only);
  const Buffer& buffer = program_.buffer(store.buffer);
  const auto bytes = static_cast<Index>(size_of(buffer.dtype));
  if (lane_count * bytes % line_bytes != 0 || masks_by_branches(buffer.dtype)) return nullptr;
  return is_one_row(store, loop.var.axis) && is_only_written(store, loop.var.axis) ? only : nullptr;
}

// Of short bodies, the ends are masked vectors, emitted once; long ones are emitted once for everything.
void KernelEmitter::emit_from_a_line_on(const Loop& loop, Range range, int steps, const Item& result) {
  const auto bytes = static_cast<Index>(size_of(program_.buffer(std::get<Store>(result).buffer).dtype)), stride = Index{steps} * lane_count;
  Value* first = b_.CreateGEP(b_.getInt8Ty(), accesses_.at(&result).base, b_.CreateMul(range.begin, number(bytes)));
  Value* before = b_.CreateUDiv(b_.CreateAnd(b_.CreateNeg(b_.CreatePtrToInt(first, b_.getInt64Ty())), number(line_bytes - 1)), number(bytes));
  Value* line = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(range.begin, before), range.end);
  const auto in_two = [&](Value* second, const std::function<void(Range)>& part) {
    for_range(number(0), number(2), 1, "part", [&](Value* pass) {
      Value* last = b_.CreateICmpNE(pass, number(0));
      part({b_.CreateSelect(last, second, range.begin), b_.CreateSelect(last, range.end, line)});
    }, true);
  };
  if (loop.weight > twice_emitted) return in_two(line, [&](Range part) { emit_shared_body(loop, part, steps); });
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

// Such stores become visible in no order before this.
void KernelEmitter::finish_streams() {
  if (stream_ != PastCaches::no && llvm::Triple(llvm::sys::getProcessTriple()).isX86()) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<llvm::Type*>{}, llvm::ArrayRef<Value*>{});
}

}  // namespace weft
