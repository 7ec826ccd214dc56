// Reductions on Exprs: the bitwise ones.
#include <weft/elemwise.h>
#include <weft/expr.h>
#include <weft/text.h>

#include <cmath>

#include <doctest/doctest.h>

#include "error_text.h"
#include "values.h"

using namespace weft;
using V = std::vector<double>;

namespace {

Array numbers(DType dtype, const V& values, const Dims& shape) {
  Array array(dtype, shape);
  auto* bytes = static_cast<std::byte*>(array.View::data());
  for (std::size_t k = 0; k < values.size(); ++k) Scalar::of(dtype, values[k]).store(bytes + k * size_of(dtype));
  return array;
}

}  // namespace

// ---- bitwise

TEST_CASE("reduce_or, reduce_and and reduce_xor keep the dtype and fold bits") {
  Graph g;
  const Expr i = g.input("i", i8, {2, 3}), b = g.input("b", bool_, {3});
  const Array a = numbers(i8, {1, 2, 5, -1, 6, 12}, {2, 3}), t = numbers(bool_, {1, 1, 0}, {3});
  CHECK(values_of(reduce_or(i, 1), {i}, {a}) == V{7, -1});
  CHECK(values_of(reduce_and(i, 1), {i}, {a}) == V{0, 4});
  CHECK(values_of(reduce_xor(i, 1), {i}, {a}) == V{6, -11});
  CHECK(values_of(reduce_xor(i, 0, true), {i}, {a}) == V{-2, 4, 9});
  CHECK(values_of(reduce_or(b), {b}, {t}) == V{1});
  CHECK(values_of(reduce_and(b), {b}, {t}) == V{0});
  CHECK(values_of(reduce_xor(b), {b}, {t}) == V{0});
  CHECK(reduce_or(i).dtype() == i8);
  CHECK(reduce_xor(b).dtype() == bool_);
  CHECK(values_of(reduce(i, AccumulatorId::bitwise_or, 1), {i}, {a}) == V{7, -1});
  CHECK(values_of(reduce(i, reduce_and, 1), {i}, {a}) == V{0, 4});
  const Expr e = g.input("e", u8, {2, 0});
  CHECK(values_of(reduce_and(e, 1), {e}, {numbers(u8, {}, {2, 0})}) == V{255, 255});
  CHECK(values_of(reduce_or(e, 1), {e}, {numbers(u8, {}, {2, 0})}) == V{0, 0});
}

TEST_CASE("bitwise folds as text and as accumulators of elemwise") {
  Graph g("bits");
  const Expr x = g.input("x", u16, {"n", "m"}), y = g.input("y", u16, {"n"});
  const Expr folded = elemwise(x, y, Order::c, {accumulate(reduce_xor)}, [](Expr a, Expr b) { return a | b; });
  g.outputs = {folded.id(), reduce_or(x, 0).id()};
  const std::string text = to_text(g);
  CHECK(text == R"(graph bits(%x: u16[n,m], %y: u16[n]) -> (%1, %2) {
  %0: u16[i:n] = reduce_xor(j:m) copy(%x[i,j])
  %1: u16[i:n] = bitwise_or(%0[i], %y[i])
  %2: u16[i:m] = reduce_or(j:n) copy(%x[j,i])
}
)");
  CHECK(to_text(parse(text)) == text);
}

TEST_CASE("bits of floats are not folded") {
  Graph g;
  const Expr x = g.input("x", f32, {3});
  const std::size_t before = g.size();
  for (const auto& [name, function] : {std::pair<const char*, Reduction>{"reduce_or", reduce_or}, {"reduce_and", reduce_and}, {"reduce_xor", reduce_xor}})
    CHECK(error_text([&, f = function] { f(x, all_axes, false); }) ==
          concat("dtype: ", name, ": %x is f32, and bits are folded of integers and bool\n  cast it to an integer dtype"));
  CHECK(g.size() == before);
}
