// Folds over checked axes of one operand, of the elements that a mask selects: what sum, mean and norm are made of.
//
// The mask is bool and broadcasts onto the operand without enlarging it. An element that it leaves out counts as a filler,
// the unit of the accumulator unless another value does as well. Not thread-safe: building a graph is single-threaded.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axes.h"

namespace weft {

class Reducer {
 public:
  // Error(usage, shape, dtype) that opens with `what` if axes or mask do not fit x. Adds no node.
  Reducer(std::string_view what, const Expr& x, const Axes& axes, const ReduceOptions& options);

  // Error(dtype, shape, usage) unless the initial value, if there is one, is a number or an Expr of rank 0 that fits `dtype`
  // (none: that is converted to bool).
  void check_initial(std::optional<DType> dtype) const;
  void take_no_initial() const;                              // Error(usage) if there is one
  void take_no_dtype() const;
  std::string_view what() const { return what_; }
  bool has_mask() const { return !options_.where.is_empty(); }
  bool has_initial() const { return options_.initial.has_value(); }
  const std::vector<int>& axes() const { return axes_; }
  Reducer keeping_dims() const;

  // value (of the shape of x) folded in `dtype`; elements left out count as `filler`, if there is a mask.
  Expr fold(AccumulatorId acc, const Expr& value, DType dtype) const { return fold(acc, value, dtype, unit(acc, dtype)); }
  Expr fold(AccumulatorId acc, const Expr& value, DType dtype, const Scalar& filler) const;
  Expr initial(DType dtype) const;                           // a node of rank 0; for bool: whether it differs from zero
  // total over the number of elements folded into one, less `correction`; NaN if that leaves nothing to divide by.
  Expr divide_by_count(const Expr& total, double correction = 0) const;
  Expr zero_where_nothing(const Expr& total) const;          // +0 where the mask selects no element

 private:
  bool is_folded(int axis) const;
  // acc over the axes of the mask that are folded; its value beside a result of this reduction.
  Operand fold_mask(AccumulatorId acc, DType dtype) const;

  std::string what_;
  Expr x_;
  std::vector<int> axes_;
  ReduceOptions options_;
  AxisMap mask_map_;                                         // onto the axes of x
};

}  // namespace weft
