// Packs the operands of rows of sums: a leaf of a fold, each of whose elements is a row, along the vectors or along the rows of results. Called
// from compiled loops, once for about a hundred rows of results.
//
// Element k of the leaf becomes row (k % 16) * ceil(count / 16) + k / 16 of `to`: those of a slot follow each other. What is longer than a
// pitch goes on in a panel behind that, which has all rows as well, and a line between so that the same rows of panels are of different sets
// of a cache. The last panel's rows end with zeros.
#pragma once
#include <string>
#include <vector>

#include <weft/shape.h>

namespace weft {

// void weft_pack_<bytes of an element>(to, pitch, from, count, stride, row, row_stride)
//   to, pitch            the rows, and how many bytes each takes
//   from, count, stride  the first element of the leaf; how many there are, how many bytes apart
//   row, row_stride      the same of the elements of a row
inline constexpr Index bytes_between_panels = 64;
using Pack = void(char* to, Index pitch, const char* from, Index count, Index stride, Index row, Index row_stride);

std::string pack_symbol(std::size_t element_bytes);
struct PackFunction {
  std::string symbol;
  Pack* address;
};
std::vector<PackFunction> pack_functions();      // of 1, 2, 4 and 8 bytes

}  // namespace weft
