// Where the arrays of a nest lie: the arguments of its function, sizes, strides and addresses at the current iteration, the rows in scratch of
// a thread.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "plan.h"
#include "vector_memory.h"
#include "program/loop_choices.h"

namespace weft {

// What code is given of an array: its address, or a stride.
struct ArrayEntry {
  int buffer;
  int dim = -1;                                 // of the stride
  friend auto operator<=>(const ArrayEntry&, const ArrayEntry&) = default;
};

class Addresses : protected LoopChoices, protected VectorMemory {
 protected:
  using VectorMemory::Value;

  Addresses(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, int lanes);

  // Functions take what a stage does first: slots, sizes, begin, end, scratch (StageFn).
  llvm::Function* new_function(llvm::FunctionType* type, llvm::Function::LinkageTypes linkage, const std::string& name);
  void start_function(llvm::FunctionType* type, const std::string& name, llvm::Function::LinkageTypes linkage);
  // A function that waits for one that it calls. What was loaded at its entry is known there only.
  struct Suspended {
    llvm::Function* function;
    llvm::IRBuilderBase::InsertPoint point, entry;
    std::map<ArrayEntry, Value*> entries;
    std::unordered_map<int, Value*> size_values;
  };
  Suspended suspend_function();
  void resume(Suspended caller);
  void forget_rows();

  Value* size(const Extent& extent);
  Value* sizes_entry(int number);
  Range range_of(int axis);
  Value* base_of(int buffer);
  Extent reserve_rows(int buffer, Index copies);
  Value* scratch_at(const Extent& offset);
  Value* stride_bytes(int buffer, std::size_t dim);
  Value* stride_along(int buffer, const std::vector<Subscript>& at, int axis);
  Value* address(int buffer, const std::vector<Subscript>& at, int skip_axis = -2);

  // What is known of an axis, and from here on taken for granted.
  bool relies_on_whole(int axis, Index size);
  bool relies_on_one_leaf(int axis);
  bool relies_on_some(int axis);
  void rely_on_one_unit();
  bool has_some(int axis);                      // its range, here
  Value* end_of_whole(int axis, Range range, Index size);

  Plan& plan_;
  std::vector<ArrayEntry>* array_entries_ = nullptr;   // of code that numbers its arrays itself: those that it has used
  std::vector<int> slots_;                      // by buffer
  std::vector<std::optional<Extent>> row_offsets_;   // by buffer: where its row lies in scratch
  std::map<int, Value*> row_shifts_;            // by buffer: of several rows, how far the current one lies behind that
  Extent scratch_;                              // bytes used so far
  std::vector<Value*> axis_index_;              // by nest axis
  Value* unit_ = nullptr;
  Range tile_{};                                // the current unit of the root axis, or the current block of it

 private:
  struct Position {                             // an index: the sum of both
    Value* variable = nullptr;                  // null: nothing
    Index constant = 0;
  };
  Value* array_entry(ArrayEntry which);
  Position position_of(const Buffer& buffer, const Subscript& subscript, int skip_axis);

  std::map<ArrayEntry, Value*> entries_;
  std::unordered_map<int, Value*> size_values_;
};

}  // namespace weft
