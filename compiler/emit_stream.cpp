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

// Vectors of `lanes` elements that are whole cache lines: the array starts a line, so do its rows if it has several, and vectors start at
// multiples of their length.
bool KernelEmitter::streams(const Store& store, int axis, int lanes) const {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(store.buffer)];
  if (!past_caches()) return false;
  const bool one_row = std::all_of(store.at.begin(), store.at.end(), [&](const Subscript& s) { return s.axis == axis || (s.axis < 0 && s.start.is(0)); });
  if (stream_ == PastCaches::single_rows && !one_row) return false;
  if (buffer.place != Place::result || !lies_along(store.buffer, store.at, axis) || lanes * size_of(buffer.dtype) % line_bytes != 0 || is_loaded(program_.root, store.buffer)) return false;
  for (const Subscript& s : store.at)
    if (s.axis == axis && (s.step != 1 || !s.start.is(0))) return false;
  return !program_.is_tiled(axis) || (program_.unit % lanes == 0 && program_.block % lanes == 0);
}

void KernelEmitter::store_past_caches(Value* value, Value* at) {
  auto* store = b_.CreateAlignedStore(value, at, llvm::Align(line_bytes));
  auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, {one}));
}

// Such stores become visible in no order before this.
void KernelEmitter::finish_streams() {
  if (past_caches() && llvm::Triple(llvm::sys::getProcessTriple()).isX86()) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<llvm::Type*>{}, llvm::ArrayRef<Value*>{});
}

}  // namespace weft
