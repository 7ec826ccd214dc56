#include "values.h"

#include <algorithm>

#include "emit_half.h"

namespace weft {

using llvm::Value;

void Values::forget_values() {
  scalars_.assign(program_.values.size(), nullptr);
  packs_.assign(program_.values.size(), {});
}

Value* Values::scalar_load(const Load& load) {
  const Buffer& buffer = program_.buffer(load.buffer);
  if (buffer.place == Place::extent) return size(buffer.size);
  if (buffer.place == Place::index) {
    const Subscript& s = load.at[0];
    Value* index = s.axis < 0 ? number(0) : axis_index_[static_cast<std::size_t>(s.axis)];
    return b_.CreateTrunc(b_.CreateAdd(size(s.start), b_.CreateMul(index, number(s.step))), memory_type(context_, buffer.dtype, 1));
  }
  if (load.guarded) return guarded_load(load, nullptr, 0, nullptr);
  auto* value = b_.CreateAlignedLoad(memory_type(context_, buffer.dtype, 1), address(load.buffer, load.at), llvm::Align(size_of(buffer.dtype)));
  // A scalar that an earlier nest made is nobody else's memory: it, and what is made of it alone, is hoisted from the loop over all elements.
  const bool is_fixed = std::all_of(load.at.begin(), load.at.end(), [](const Subscript& s) { return s.axis < 0; });
  if (buffer.place == Place::temporary && is_fixed && !is_written(load.buffer))
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return from_memory(value, buffer.dtype);
}

void Values::scalar_store(const Store& store) {
  const Buffer& buffer = program_.buffer(store.buffer);
  b_.CreateAlignedStore(to_memory(scalar(store.value), buffer.dtype), address(store.buffer, store.at), llvm::Align(size_of(buffer.dtype)));
}

Value* Values::scalar(const Arg& arg) {
  if (arg.constant) return constant_value(context_, *arg.constant, 1);
  Value* value = scalars_[static_cast<std::size_t>(arg.value)];
  WEFT_ASSERT(value, "value ", arg.value, " of ", program_.name, " is used before it is made");
  return value;
}

Value* Values::pack(const Arg& arg, int step) {
  if (arg.constant) return constant_value(context_, *arg.constant, lane_count);
  const auto& vectors = packs_[static_cast<std::size_t>(arg.value)];
  if (!vectors.empty()) return vectors[static_cast<std::size_t>(step)];
  Value*& spread = spread_[arg.value];
  if (!spread) {
    llvm::IRBuilder<> before(before_lanes_);
    spread = before.CreateVectorSplat(lane_count, scalar(arg));
  }
  return spread;
}

}  // namespace weft
