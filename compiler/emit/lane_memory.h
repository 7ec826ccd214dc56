// Sixteen elements of an array to and from registers, at the current iteration of a vector loop, however they lie; and of windows, which have
// some of them (lane_window.cpp).
#pragma once
#include "emit_op.h"
#include "fetches.h"

namespace weft {

class LaneMemory : protected Fetches {
 protected:
  using Fetches::Fetches;

  LaneAccess lane_access(int buffer, const std::vector<Subscript>& at, int axis);
  Value* lane_load(const LaneAccess& access, DType dtype, Value* index, int step, Value* mask);
  void lane_store(const LaneAccess& access, DType dtype, Value* index, int step, Value* mask, Value* value);
  Value* lane_address(const LaneAccess& access, DType dtype, Value* index, int step);
  Value* repeated_load(const LaneAccess& access, DType dtype, Value* first);
  // Vectors of elements that stay for several of the loop; begins: element 0 of the first vector is the first for which one stays.
  std::vector<Value*> staying_load(const LaneAccess& access, DType dtype, Value* index, int steps, bool begins, Value* part);
  Value* guarded_load(const Load& load, Value* index, int step, Value* mask);

  std::map<int, std::vector<llvm::AllocaInst*>> held_rows_;  // by buffer: rows in registers

 private:
  static llvm::AllocaInst* held_cell(const LaneAccess& access, Value* index, int step);
  Value* lowest_address(const LaneAccess& access, DType dtype, Value* index, int step);
  Value* any_address(const LaneAccess& access, Value* index, int step);
  Value* lane_offsets(const LaneAccess& access, Value* index, int step);

  // lane_gather.cpp
  Value* gather(Value* at, DType dtype, Value* mask = nullptr);
  Value* gather_steps(Value* first, Value* step, DType dtype, Value* mask);
  llvm::Function* function_for_steps(DType dtype);

  // lane_merged.cpp
  std::vector<Value*> load_staying(const LaneAccess& access, DType dtype, Value* index, int steps, Value* part);
  Value* gather_staying(const LaneAccess& access, DType dtype, Value* index, int step, Value* part);

  // lane_window.cpp
  const Subscript* run_in_window(const Load& load) const;
  Value* load_run_of_window(const Load& load, const Subscript& run, Value* first, Value* base, Value* offset, Value* valid, Value* mask);
};

}  // namespace weft
