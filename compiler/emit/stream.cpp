// Results larger than the caches: stores past them neither read the lines they overwrite nor evict what is read next.
#include <algorithm>

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include "accesses.h"
#include "program/visit.h"

namespace weft {

// Whether a loop over the axis walks all of the array.
bool Accesses::is_one_row(const Store& store, int axis) {
  return std::all_of(store.at.begin(), store.at.end(), [&](const Subscript& s) { return s.axis == axis ? s.step == 1 && s.start.is(0) : s.axis < 0 && s.start.is(0); });
}

// A result of which a loop over the axis writes whole vectors, and which nothing reads.
bool Accesses::is_only_written(const Store& store, int axis) const {
  return program_.buffer(store.buffer).place == Place::result && lies_along(store.buffer, store.at, axis) && reads_of(program_.root, store.buffer) == 0;
}

// Vectors of `lanes` elements that are whole cache lines: the array starts a line, so do its rows if it has several, and vectors start at
// multiples of their length.
bool Accesses::streams(const Store& store, int axis, int lanes) const {
  const Buffer& buffer = program_.buffer(store.buffer);
  if (!past_caches() || !is_only_written(store, axis) || lanes * size_of(buffer.dtype) % line_bytes != 0) return false;
  if (stream_ == PastCaches::single_rows && !is_one_row(store, axis)) return false;
  for (const Subscript& s : store.at)
    if (s.axis == axis && (s.step != 1 || !s.start.is(0))) return false;
  return !program_.is_tiled(axis) || (program_.unit % lanes == 0 && program_.block % lanes == 0);
}

// The same of sixteen rows of few elements at a time, which are as many whole vectors.
bool Accesses::streams_joined(const Store& store, int few, int axis) const {
  const Buffer& buffer = program_.buffer(store.buffer);
  if (!past_caches() || !is_only_written(store, few) || lane_count * size_of(buffer.dtype) % line_bytes != 0) return false;
  for (const Subscript& s : store.at) {
    const bool is_walked = s.axis == few || s.axis == axis;
    if (!s.start.is(0) || (stream_ == PastCaches::single_rows && !is_walked && s.axis >= 0)) return false;
  }
  return !program_.is_tiled(axis) || (program_.unit % lane_count == 0 && program_.block % lane_count == 0);
}

bool Accesses::is_joined(const Store& store, const Loop& lanes) const {
  if (!copies_.thin || !joins(store.buffer, store.at, copies_.tiled_by, lanes.var.axis)) return false;
  return picks_joined_rows(static_cast<int>(jam_.size()), size_of(program_.buffer(store.buffer).dtype), false,
                           streams_joined(store, copies_.tiled_by, lanes.var.axis));
}

// Such stores become visible in no order before this.
void Accesses::finish_streams() {
  if (stream_ != PastCaches::no && llvm::Triple(llvm::sys::getProcessTriple()).isX86()) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<llvm::Type*>{}, llvm::ArrayRef<Value*>{});
}

}  // namespace weft
