// How memory lies along one dimension of an array: known when compiling, so part of the specialisation key.
//
// Steps of up to four elements, forwards or backwards, are known exactly, along the fastest axis of an array: one channel of an image,
// every second element, the real parts of interleaved complex numbers. Lines of cache are shared by neighbours there, and vectors are
// loaded whole (vector_steps.cpp). Of other axes it is known which one follows the fastest without a gap, as pixels follow each other whose
// channels lie side by side: sixteen such rows of three elements are three whole vectors.
#pragma once
#include <unordered_map>
#include <vector>

#include <weft/graph.h>

namespace weft {

inline constexpr Index longest_step = 4;

// A known step is its own number: also 2, 3 and 4, and these backwards. joined: neighbours are as far apart as the dimension of step 1
// is long, the last one where views overlap themselves.
enum class StrideClass : std::int8_t { reversed = -1, zero = 0, unit = 1, other = longest_step + 1, joined };

// Of all dimensions of an array. Those of extent 1 are `unit`: their strides say nothing.
std::vector<StrideClass> stride_classes(const Dims& strides, const Dims& shape);

// Of every `factor`-th element.
StrideClass times(StrideClass stride, Index factor);

// Of the arrays that a program touches, by node and dimension; nodes not listed are contiguous (c).
using StrideClasses = std::unordered_map<NodeId, std::vector<StrideClass>>;

// In elements; only of known steps.
inline Index step_of(StrideClass stride) { return static_cast<Index>(stride); }
inline bool is_known(StrideClass stride) { return stride < StrideClass::other; }
inline bool is_dense(StrideClass stride) { return stride == StrideClass::unit || stride == StrideClass::reversed; }

// One for each class.
char letter_of(StrideClass stride);

}  // namespace weft
