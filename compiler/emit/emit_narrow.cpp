// Loops over elements of one or two bytes: several vector steps are one vector, which fills a register.
#include "emit_kernel.h"
#include "emit_op.h"

namespace weft {

using llvm::Value;

// Whether all that a loop moves lies along it, one element after the other.
bool KernelEmitter::moves_plainly() const {
  if (copies_.tiled_by >= 0 || !carried_rows_.empty() || !thin_results_.empty() || !repeated_.empty()) return false;
  return std::all_of(accesses_.begin(), accesses_.end(), [](const auto& access) { return !access.second.cells && !access.second.stream && access.second.lane == StrideClass::unit; });
}

// How many of the steps are one vector; 1: they are not.
int KernelEmitter::steps_in_register(const Loop& loop, int steps) const {
  if (!moves_plainly()) return 1;
  const int together = vectors_in_register(loop);
  return steps % together == 0 ? together : 1;
}

void KernelEmitter::emit_narrow_items(const Loop& loop, Value* index, int steps, int together) {
  for (int step = 0; step < steps; step += together) emit_wide_items(loop, index, step * lane_count, lane_count * together);
}

// The body for as many elements as a vector is to have, so many after `index`. Returns what it makes, by value.
std::map<int, Value*> KernelEmitter::emit_wide_items(const Loop& loop, Value* index, int first, int lanes) {
  std::map<int, Value*> made;
  const auto operand = [&](const Arg& arg) -> Value* {
    if (arg.constant) return constant_value(context_, *arg.constant, lanes);
    if (auto found = made.find(arg.value); found != made.end()) return found->second;
    return llvm::IRBuilder<>(before_lanes_).CreateVectorSplat(static_cast<unsigned>(lanes), scalar(arg));
  };
  for (const Item& item : loop.body) {
    if (auto* compute = std::get_if<Compute>(&item)) {
      std::vector<DType> dtypes;
      std::vector<Value*> operands;
      for (const Arg& arg : compute->args) dtypes.push_back(program_.dtype_of(arg)), operands.push_back(operand(arg));
      made[compute->result] = emit_op(b_, compute->op, operands, dtypes, program_.dtype_of(compute->result), fast_math_);
      continue;
    }
    auto* load = std::get_if<Load>(&item);
    const auto* store = std::get_if<Store>(&item);
    const DType dtype = program_.buffer(load ? load->buffer : store->buffer).dtype;
    const LaneAccess& access = accesses_.at(&item);
    const llvm::Align align(size_of(dtype));
    const int step = first / lane_count;
    Value* at = bytes_after(lane_address(access, dtype, index, step), first % lane_count * item_bytes(dtype));
    if (load) fetch_beside(access, dtype, at, step);
    if (load) made[load->result] = from_memory(b_.CreateAlignedLoad(memory_type(context_, dtype, lanes), at, align), dtype);
    else b_.CreateAlignedStore(to_memory(operand(store->value), dtype), at, align);
  }
  return made;
}

}  // namespace weft
