// Sizes beyond 64 bits are mistakes: nothing wraps.
#pragma once
#include <weft/error.h>
#include <weft/shape.h>

namespace weft {

// Error(shape) beyond 64 bits.
inline Index checked_sum(Index a, Index b) {
  Index sum = 0;
  WEFT_REQUIRE(!__builtin_add_overflow(a, b, &sum), shape, "extent: ", a, " + ", b, " is beyond 64 bits");
  return sum;
}
inline Index checked_product(Index a, Index b) {
  Index product = 0;
  WEFT_REQUIRE(!__builtin_mul_overflow(a, b, &product), shape, "extent: ", a, " * ", b, " is beyond 64 bits");
  return product;
}

}  // namespace weft
