// Around and within loops that fold: where accumulators are, how they start, and the tree in which their slots and leaves end. Whatever
// the loops are, the order is that of weft/accumulator.h.
#pragma once
#include <functional>

#include "code/fold_support.h"
#include "side_by_side.h"

namespace weft {

inline bool is_maximum(AccumulatorId accumulator) { return accumulator == AccumulatorId::max || accumulator == AccumulatorId::supremum; }

class Folds : protected SideBySide {
 protected:
  using SideBySide::SideBySide;

  void open_folds(const Loop& loop, bool leaves);
  void start_folds(const Loop& loop, bool ordered);
  void fold_leaves(const Loop& loop, Range range, bool leaves, const std::function<void(Range)>& run);
  void end_leaf(const Loop& loop, Value* leaf, Value* several = nullptr);
  void close_folds(const Loop& loop, Range range);
  Value* accumulated(const Fold& fold, Value* acc, Value* value, Value* factor);
  Value* fold_slot(const Fold& fold, const FoldState& state);
  void call_support(FoldSupport what, const Fold& fold, std::vector<Value*> args);
  using Combine = std::function<Value*(Value*, Value*)>;
  std::vector<Value*> across_lanes(std::vector<Value*> vectors, const Combine& combine);       // trees.cpp

  struct EndOfTree {
    Value* vector = nullptr;
    int lane = 0;
  };
  std::unordered_map<const Value*, EndOfTree> ends_of_trees_;   // by value: those that share a register

  // Of copies along rows (emit_thin.cpp) the registers of all are one after the other what rows of a few elements hold: slot by slot, the sums of all
  // copies. They are each copy's own again after this.
  void take_columns(const Loop& loop);
  bool folds_hold_rows_ = false;

  // extreme.cpp
  void accumulate_extreme(const Fold& fold, FoldState& state, const std::vector<Value*>& values);
  void take_extremes(const Loop& loop);
  Value* better(const Fold& fold, const FoldState& state, Value* a, Value* b);

 private:
  void finish_leaves(const Loop& loop, Value* leaves);
  void take_results(const Loop& loop);
  Value* across_lanes(Value* vector, const Combine& combine);
  Combine combine_of(const Fold& fold) { return [this, &fold](Value* a, Value* b) { return emit_combine(b_, fold.accumulator, fold.dtype, a, b); }; }
  Value* elements_in_use(const Buffer& row);

  // trees.cpp
  bool sums_in_registers(const Loop& loop) const;
  void end_leaves_together(const Loop& loop);
  void end_leaves_of_rows(const Loop& loop);
  void take_columns(int fold);
  Value* elements_from(const std::vector<Value*>& vectors, int first);
  std::vector<Value*> across_slots_of_rows(int fold);
  std::vector<Value*> elements_of(Value* vector, const std::vector<int>& lanes);

  // extreme.cpp
  void open_extreme(const Fold& fold, FoldState& state);
  void start_extreme(const Fold& fold, FoldState& state);
  Value* of_registers(const std::vector<llvm::AllocaInst*>& cells, const Combine& combine);
  Value* exact_extreme(const Fold& fold, const FoldState& state, Value* best);
};

}  // namespace weft
