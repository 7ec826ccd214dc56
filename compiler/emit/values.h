// The values of a nest: one of each outside of vector loops, vectors inside.
#pragma once
#include "lane_memory.h"

namespace weft {

class Values : protected LaneMemory {
 protected:
  using LaneMemory::LaneMemory;

  void forget_values();
  Value* scalar(const Arg& arg);
  Value* scalar_load(const Load& load);
  void scalar_store(const Store& store);
  // One vector of a value inside a vector loop; scalars from outside are spread once, before the loop.
  Value* pack(const Arg& arg, int step);
  bool is_invariant(const Arg& arg) const { return arg.constant || packs_[static_cast<std::size_t>(arg.value)].empty(); }

  std::vector<Value*> scalars_;                 // by value number
  std::vector<std::vector<Value*>> packs_;      // by value number, inside a vector loop
  std::unordered_map<int, Value*> spread_;      // scalars as vectors, made before the current vector loop
  llvm::Instruction* before_lanes_ = nullptr;
};

}  // namespace weft
