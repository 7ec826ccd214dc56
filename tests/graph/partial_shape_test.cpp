// Ranges of sizes: text, and what two ranges can have in common.
#include <weft/partial_shape.h>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

TEST_CASE("ranges of sizes are read and printed") {
  for (const char* text : {"16", "0", "?", "<=8", "4..8", "4.."}) CHECK(to_text(size_range(text)) == text);
  CHECK(size_range("-1") == SizeRange());
  CHECK(size_range("0..8") == size_range("<=8"));
  CHECK(to_text(PartialShape{16, {}, {4, 8}}) == "[16, ?, 4..8]");
  for (const char* text : {"", "-2", "<=", "8..4", "n", "4..x", "1 "})
    CHECK(error_text([&] { size_range(text); }) == concat("text: size_range: expected a size such as 16, ?, <=8 or 4..8, got \"", text, "\""));
}

// Every pair of sizes below `limit` that the ranges allow.
TEST_CASE("the common range is the smallest around every common size") {
  const char* texts[] = {"0", "1", "2", "5", "?", "<=1", "<=3", "2..4", "1..2", "3.."};
  const Index limit = 8;
  for (const char* left : texts)
    for (const char* right : texts) {
      CAPTURE(left);
      CAPTURE(right);
      const SizeRange a = size_range(left), b = size_range(right);
      Index least = limit, most = -1;
      for (Index x = 0; x < limit; ++x)
        for (Index y = 0; y < limit; ++y) {
          if (!a.contains(x) || !b.contains(y) || (x != y && x != 1 && y != 1)) continue;
          const Index size = x == 1 ? y : x;
          least = std::min(least, size);
          most = std::max(most, size);
        }
      const auto common = common_size(a, b);
      REQUIRE(common.has_value() == (most >= 0));
      if (!common) continue;
      CHECK(common->low == least);
      CHECK(common->high.value_or(limit - 1) == most);
      CHECK(common == common_size(b, a));
    }
}
