// Concrete shapes: sizes and strides of arrays. Symbolic shapes (Extent) belong to graphs.
// Pure values; thread-safe.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace weft {

using Index = std::int64_t;
using Dims = std::vector<Index>;      // sizes, or strides in elements

// c: the last index is the fastest in memory, folds and alignment work on the last axes; f: the first.
enum class Order : std::uint8_t { c, f };

Index element_count(const Dims& dims);                 // 1 for rank 0; throws Error(shape) on overflow
Dims contiguous_strides(const Dims& dims, Order order);
std::string to_text(const Dims& dims);                 // "[2, 3]"
const char* to_text(Order order);

}  // namespace weft
