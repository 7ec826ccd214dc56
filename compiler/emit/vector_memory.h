// Vectors to and from memory, whatever they are for: whole and in part, with known steps between their elements, of rows without gaps.
// Values in registers and in memory differ in type: bool, f16, bf16 (emit_op.h).
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "code_builder.h"
#include "emit_lane.h"
#include "program/moved_rows.h"

namespace weft {

std::vector<int> lanes_of(const llvm::Constant& mask);           // that a known mask has

class VectorMemory : protected CodeBuilder {
 protected:
  VectorMemory(llvm::Module& module, const std::string& features) : CodeBuilder(module), target_features_(features) {}

  // vector_memory.cpp
  Value* from_memory(Value* value, DType dtype);
  Value* to_memory(Value* value, DType dtype);
  Value* lane_numbers(int bits);
  Value* reverse(Value* vector);
  Value* lanes_set(Value* mask);
  Masks first_lanes(Value* count, int steps);
  Value* load_part(llvm::Type* type, Value* at, DType dtype, Value* mask, bool backwards);
  Value* load_known_part(Value* at, DType dtype, const std::vector<int>& lanes);
  void store_part(Value* value, Value* at, DType dtype, Value* mask, bool backwards);
  bool stores_by_masks(DType dtype) const;
  void move_elements(Value* to, Value* from, DType dtype, Value* count);
  void move_part(Value* to, Value* from, DType dtype, Value* mask, bool backwards);
  void if_whole(Value* mask, const std::function<void()>& whole, const std::function<void()>& part);
  Value* load_run(DType dtype, Value* at, int count);
  void store_past_caches(Value* value, Value* at);
  void fetch_lines(Value* at, Value* distance, Index bytes, bool near, bool to_write = false);

  // vector_steps.cpp
  Value* load_steps(DType dtype, Value* first, Index step, int count, Value* mask = nullptr);
  std::vector<Value*> load_rows(DType dtype, Value* first, int count, const Masks& masks = {});
  Value* column_of_rows(const std::vector<Value*>& rows, int k);
  std::vector<Value*> load_rows_apart(DType dtype, Value* first, Index apart, int count);
  Value* load_column(DType dtype, Value* at, Index count, Index column);
  void store_joined(const std::vector<Value*>& columns, Value* first, DType dtype, bool past_caches, int rows);
  void store_vectors(const std::vector<Value*>& vectors, Value* first, DType dtype, bool past_caches, const Masks& masks = {});       // one after the other
  Value* load_each(DType dtype, Value* at, Value* stride, Value* mask, int count);
  void store_each(Value* value, DType dtype, Value* at, Value* stride, Value* mask);

  // moved_rows.cpp
  std::vector<Value*> load_moved_rows(DType dtype, Value* first, const MovedRows& rows, int count, Value* left);

  bool mostly_whole_ = false;                   // vectors with masks have all lanes but at the end

 private:
  bool picks_from_registers(DType dtype) const;

  const std::string& target_features_;
  std::map<Value*, std::pair<Value*, Index>> first_of_;     // masks of the first lanes: of how many elements, and how many lie before
};

}  // namespace weft
