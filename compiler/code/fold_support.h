// The seldom-run parts of folds. Combining slots and the tree over leaves are called from compiled loops, once per leaf of 1024 elements or less; the
// tree over units is run by stages of its own. Rows of `count` elements; accumulators as in weft/accumulator.h.
//
// Functions that loops call are found by name: weft_<what>_<accumulator>_<dtype>.
#pragma once
#include <string>
#include <vector>

#include <weft/accumulator.h>
#include <weft/merge.h>

namespace weft {

enum class FoldSupport { fill, reduce, push, finish };
// fill  (T* rows, Index count, Index pitch, Index slots, const T* value)   every element of `slots` rows, which are `pitch` elements apart, = *value
// reduce(T* rows, Index count, Index pitch, Index slots)    rows[0] = the tree over such rows; `count` is a multiple of 16
// push  (T* stack, T* row, Index count, Index leaf)         adds leaf number `leaf` to the binary counter
// finish(T* stack, T* row, Index count, Index leaves)       row = the remaining subtrees

std::string fold_symbol(FoldSupport what, AccumulatorId accumulator, DType dtype);
struct FoldFunction {
  std::string symbol;
  void* address;
};
const std::vector<FoldFunction>& fold_functions();
MergeFn merge_function(AccumulatorId accumulator, DType dtype);

inline constexpr Index fold_stack_rows = 44;     // 2^54 elements

}  // namespace weft
