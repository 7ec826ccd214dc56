#include <weft/shape.h>

#include <sstream>

#include <weft/error.h>

namespace weft {

Index element_count(const Dims& dims) {
  Index count = 1;
  bool is_empty = false;
  for (const Index dim : dims) {
    WEFT_REQUIRE(dim >= 0, shape, "sizes must not be negative, got ", to_text(dims));
    is_empty = is_empty || dim == 0;
  }
  if (is_empty) return 0;
  for (const Index dim : dims)
    WEFT_REQUIRE(!__builtin_mul_overflow(count, dim, &count), shape, "the number of elements of ", to_text(dims),
                 " does not fit 64 bits");
  return count;
}

Dims contiguous_strides(const Dims& dims, Order order) {
  Dims strides(dims.size());
  std::uint64_t stride = 1;  // wraps only where an extent of 0 makes it meaningless
  const std::size_t rank = dims.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = order == Order::f ? i : rank - 1 - i;
    strides[axis] = static_cast<Index>(stride);
    stride *= dims[axis] > 1 ? static_cast<std::uint64_t>(dims[axis]) : 1;
  }
  return strides;
}

std::string to_text(const Dims& dims) {
  std::ostringstream out;
  out << '[';
  for (std::size_t i = 0; i < dims.size(); ++i) out << (i > 0 ? ", " : "") << dims[i];
  out << ']';
  return out.str();
}

const char* to_text(Order order) { return order == Order::c ? "c" : "f"; }

}  // namespace weft
