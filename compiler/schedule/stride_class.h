// How memory lies along one dimension of an array: known when compiling, so part of the specialisation key.
//
// Steps of up to four elements, forwards or backwards, are known exactly, along the fastest axis of an array: one channel of an image,
// every second element, the real parts of interleaved complex numbers. Lines of cache are shared by neighbours there, and vectors are
// loaded whole (vector_steps.cpp). Of other axes it is known which one follows the fastest without a gap, as pixels follow each other whose
// channels lie side by side, and which one these two together, as 3 x 3 matrices do: sixteen such rows of three or nine elements are three or
// nine whole vectors.
#pragma once
#include <unordered_map>
#include <vector>

#include <weft/graph.h>

namespace weft {

inline constexpr Index longest_step = 4;         // of a class
inline constexpr Index longest_row = 16;         // the step between rows of known extents, where that is looked up (LoopChoices::lane_class)

// A known step is its own number: also 2, 3 and 4, and these backwards. joined: neighbours are as far apart as the dimension of step 1
// is long, the last one where views overlap themselves; stacked: as that and the joined one are together.
enum class StrideClass : std::int8_t { reversed = -1, zero = 0, unit = 1, other = longest_row + 1, joined, stacked };

// Of all dimensions of an array. Those of extent 1 are `unit`: their strides say nothing.
std::vector<StrideClass> stride_classes(const Dims& strides, const Dims& shape);

// Of every `factor`-th element.
StrideClass times(StrideClass stride, Index factor);

// Of the arrays that a program touches, by node and dimension; nodes not listed are contiguous (c).
using StrideClasses = std::unordered_map<NodeId, std::vector<StrideClass>>;

// In elements; only of known steps.
inline Index step_of(StrideClass stride) { return static_cast<Index>(stride); }
inline bool is_known(StrideClass stride) { return stride < StrideClass::other; }
inline bool is_behind_rows(StrideClass stride) { return stride == StrideClass::joined || stride == StrideClass::stacked; }
inline bool is_dense(StrideClass stride) { return stride == StrideClass::unit || stride == StrideClass::reversed; }

// One for each class.
char letter_of(StrideClass stride);

}  // namespace weft
