// Conditions on the indices of axes: made by every loop that asks, with no array of their own unless that loop asks at two indices.
#include <weft/rearrange.h>

#include "bits.h"
#include "call_sizes.h"

using namespace weft;

namespace {

CallSizes sizes_of(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Dims>& shapes) {
  std::vector<Array> arrays;
  for (std::size_t k = 0; k < shapes.size(); ++k) arrays.push_back(uniform(inputs[k].dtype(), shapes[k], static_cast<int>(k)));
  const Function f = compile(outputs, inputs, checked());
  check_bits(outputs, inputs, arrays);
  return sizes_of_call(f, arrays);
}

struct Square {
  Graph g;
  Expr x = g.input("x", f32, {"n", "n"}), row = expand_dims(iota(g, "n"), 1), column = iota(g, "n");
};

}  // namespace

TEST_CASE("conditions on an index are made where they are asked, whatever else runs there") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const CallSizes rolled = sizes_of({roll(x, 1, 1) + roll(x, -1, 0) * roll(x, 2, 1)}, {x}, {{100, 300}});
  CHECK(rolled.nests == 1);
  CHECK(rolled.temporary_bytes == 0);
  const CallSizes masked = sizes_of({where(less(iota(g, "m"), 20), x, 0), softmax(where(greater(iota(g, "m"), 7), x, -INFINITY), 1)}, {x}, {{100, 300}});
  CHECK(masked.temporary_bytes == 0);
}

TEST_CASE("a condition that several nests ask has no array") {
  Square s;
  const Expr mask = (s.row < s.column) & (s.column < s.row + 9), masked = where(mask, s.x, 0);
  const CallSizes sizes = sizes_of({masked / sum(masked), where(mask, 1, s.x)}, {s.x}, {{90, 90}});
  CHECK(sizes.nests >= 2);
  CHECK(sizes.temporary_bytes < 90 * 90 * 4 + 90 * 90);
  sizes_of({masked / sum(masked), where(mask, 1, transpose(s.x))}, {s.x}, {{90, 90}});     // in one nest, which asks it along exchanged axes
}

TEST_CASE("conditions that a nest asks at two indices, and what they are made of") {
  Square s;
  const Expr near = s.row < s.column + 3, mask = near & (s.column < 70);
  const Expr both = where(mask, s.x, 1) + where(transpose(mask), s.x, 2);
  CHECK(sizes_of({both}, {s.x}, {{90, 90}}).nests == 1);
  CHECK(sizes_of({both + where(near, 1, s.x) * where(transpose(near), s.x, 3)}, {s.x}, {{90, 90}}).nests == 1);
}

TEST_CASE("conditions that are results, are summed up, moved or laid out anew") {
  Square s;
  const Expr mask = s.row < s.column;
  sizes_of({mask, where(mask, s.x, 0)}, {s.x}, {{33, 33}});
  sizes_of({sum(cast(mask, f32), 1) * s.x, sum(cast(mask, i32))}, {s.x}, {{33, 33}});
  sizes_of({where(mask.slice({{1, {}}}), s.x.slice({{1, {}}}), 0), reshape(mask, {-1})}, {s.x}, {{33, 33}});
  sizes_of({where(expand_dims(mask, 0), stack({s.x, s.x + 1}), 0)}, {s.x}, {{33, 33}});
}

TEST_CASE("conditions that are made of each other many times over are looked at once") {
  Square s;
  Expr mask = s.row < s.column;
  for (int k = 1; k < 40; ++k) mask = (mask & (s.column < 60 + k)) | (mask & (s.row > k - 50));
  const Expr masked = where(mask, s.x, 0);
  const CallSizes sizes = sizes_of({masked / sum(masked), where(mask, transpose(s.x), 1)}, {s.x}, {{70, 70}});
  CHECK(sizes.temporary_bytes <= 2 * 70 * 70 * 4 + 64);
}

TEST_CASE("a condition of a square that rolls both ways becomes two, and neither has an array") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "n"});
  const CallSizes sizes = sizes_of({roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - 4 * x}, {x}, {{120, 120}});
  CHECK(sizes.nests == 1);
  CHECK(sizes.temporary_bytes == 0);
}
