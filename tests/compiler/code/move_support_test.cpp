// Parts of vectors: every number of bytes, from and to anywhere, and nothing beside them.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "code/move_support.h"

using namespace weft;

TEST_CASE("parts of vectors are moved as they are, and what lies around them stays") {
  constexpr Index room = 300;
  std::vector<char> from(room);
  std::iota(from.begin(), from.end(), 1);
  for (Index bytes = 0; bytes <= 260; ++bytes)
    for (Index begin : {0, 1, 16, 33}) {
      std::vector<char> to(room, 'x'), expected(room, 'x');
      std::copy_n(from.begin() + begin, bytes, expected.begin() + 2 * begin / 3);
      move_part(to.data() + 2 * begin / 3, from.data() + begin, bytes);
      CHECK(to == expected);
    }
}
