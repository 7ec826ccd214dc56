// Products of all other elements: the order of weft/accumulator.h, what is refused, text, derivatives of every order.
#include <algorithm>

#include <weft/interpret.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "../../graph/others.h"
#include "problem.h"

using namespace weft;

namespace {

std::vector<float> floats(Index count) {
  std::vector<float> values;
  for (Index k = 0; k < count; ++k) values.push_back(0.75f + static_cast<float>(k * 7919 % 101) / 200);
  return values;
}

// The order as it is written, one product after the other.
std::vector<float> by_hand(const std::vector<float>& x) {
  const auto count = static_cast<Index>(x.size());
  const auto at = [&](Index k) { return k < count ? x[static_cast<std::size_t>(k)] : 1.0f; };
  std::vector<float> t(16, 1.0f), u(16, 1.0f), result;
  for (Index slot = 0; slot < 16; ++slot)
    for (Index k = slot; k < count; k += 16) t[static_cast<std::size_t>(slot)] *= at(k);
  for (const std::size_t d : {8, 4, 2, 1}) {
    const std::vector<float> before = t;
    for (std::size_t slot = 0; slot < 16; ++slot) u[slot] *= before[slot ^ d], t[slot] *= before[slot ^ d];
  }
  for (Index k = 0; k < count; ++k) {
    float first = 1, last = 1;
    for (Index j = k % 16; j < k; j += 16) first *= at(j);
    Index end = k;
    while (end + 16 < count) end += 16;
    for (Index j = end; j > k; j -= 16) last *= at(j);
    result.push_back(first * last * u[static_cast<std::size_t>(k % 16)]);
  }
  return result;
}

}  // namespace

TEST_CASE("the order of the products, for every number of elements") {
  for (Index count = 1; count <= most_others; ++count) {
    CAPTURE(count);
    const std::vector<float> x = floats(count);
    std::vector<float> got(x.size());
    products_of_others(f32, x.data(), count, sizeof(float), got.data(), sizeof(float));
    CHECK(got == by_hand(x));
    // t[0], which is the product of all, is the fold by prod.
    float product = 0;
    fold_values(AccumulatorId::prod, f32, x.data(), count, sizeof(float), &product);
    double exact = 1;
    for (const float value : x) exact *= value;
    CHECK(product == doctest::Approx(exact).epsilon(1e-5));
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(got[k] == doctest::Approx(exact / x[k]).epsilon(1e-5));
  }
}

TEST_CASE("a gradient of prod along few elements is such a node, along an unknown number or many a prefix and a suffix") {
  Graph g;
  const Expr few = g.input("few", f32, {"n", 64}), many = g.input("many", f32, {"n", 65}), unknown = g.input("unknown", f32, {"n", "m"}), halves = g.input("halves", f16, {"n", 8});
  const auto text = [&](const Expr& x, int axis) {
    Graph own;
    const Expr copy = own.input("x", x.dtype(), x.shape());
    own.outputs = {grad(sum(prod(copy, {axis})), {copy})[0].id()};
    verify(own);
    return to_text(own);
  };
  CHECK(text(few, 1).find("others(j) prod(%x[i,j])") != std::string::npos);
  for (const Expr& x : {many, unknown, halves}) CHECK(text(x, 1).find("product_before") != std::string::npos);
  CHECK(text(few, 0).find("product_before") != std::string::npos);
}

TEST_CASE("text, and what is refused") {
  const std::string text = "graph g(%x: f64[n,4], %y: f64[4,n]) -> (%0, %1) {\n"
                           "  %0: f64[i:n,j:4] = others(j) prod(%x[i,j])\n"
                           "  %1: f64[i:n,j:4] = others(j) prod(%y[3-j,i])\n"
                           "}\n";
  const Graph g = parse(text);
  CHECK(to_text(g) == text);
  verify(g);
  const auto refused = [](const std::string& line) {
    try {
      parse("graph \"g\"(%x: f64[n,4], %h: f16[n,4], %l: f64[n,65]) -> (%0) {\n  %0: " + line + "\n}\n");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refused("f64[i:n,j:4] = others(j) sum(%x[i,j])").find("others takes prod, not sum") != std::string::npos);
  CHECK(refused("f64[i:n,j:4] = others(k) prod(%x[i,j])").find("k is not an axis of the result") != std::string::npos);
  CHECK(refused("f64[i:n,j:4] = others(i) prod(%x[i,j])").find("expected f32 or f64 along 2 to 64 elements, got f64 along n") != std::string::npos);
  CHECK(refused("f64[i:n,j:65] = others(j) prod(%l[i,j])").find("along 65") != std::string::npos);
  CHECK(refused("f16[i:n,j:4] = others(j) prod(%h[i,j])").find("got f16 along 4") != std::string::npos);
  CHECK(refused("f32[i:n,j:4] = others(j) prod(%x[i,j])").find("the operand is f64 but the result is f32") != std::string::npos);
  CHECK(refused("f64[i:n,j:4] = others(j) prod(%x[i,j], %x[i,j])").find("expected one operand, got 2") != std::string::npos);
}

TEST_CASE("derivatives of first, second and third order, of elements computed and read as they are") {
  const Array x = doubles({1.5, 0.5, 2, -1, 0.75, 3, 0, 1.25, -0.5, 1, 2, 4}, {3, 4});
  Problem p({x, doubles({1, -2, 0.5, 3}, {4})});
  const Expr rows = prod(p.x[0], {1}), columns = prod(p.x[0], {0}), computed = prod(sin(p.x[0]) * p.x[1] + 2, {1});
  p.check_twice(sum(rows * rows) + sum(square(columns) * p.x[1]) + sum(computed));
  Problem q({doubles({1, 2, 3}, {3})});
  const Expr first = grad(prod(q.x[0]), {q.x[0]})[0], second = grad(sum(first), {q.x[0]})[0], third = grad(sum(second), {q.x[0]})[0];
  CHECK(q(first) == Values{6, 3, 2});
  CHECK(q(second) == Values{5, 4, 3});
  CHECK(q(third) == Values{2, 2, 2});
  Problem z({doubles({0, 2, 0, 3, 5, 7}, {2, 3})});
  CHECK(z(grad(sum(prod(z.x[0], {1})), {z.x[0]})[0]) == Values{0, 0, 0, 35, 21, 15});
  CHECK(z(grad(sum(grad(sum(prod(z.x[0], {1})), {z.x[0]})[0]), {z.x[0]})[0]) == Values{2, 0, 2, 12, 10, 8});
}

TEST_CASE("tangents of the gradient") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3}), t = g.input("t", f64, {2, 3});
  const Expr slope = grad(sum(prod(x, {1})), {x})[0];
  const Expr moved = jvp({slope}, {x}, {t})[0];
  const Array at = doubles({2, 3, 4, 0, 5, 6}, {2, 3}), along = doubles({1, 0, -1, 2, 1, 0}, {2, 3});
  const Values got = values_of(moved, {x, t}, {at, along});
  // of (bc, ac, ab): (b'c + bc', a'c + ac', a'b + ab')
  CHECK(got == Values{-3, 2, 3, 6, 12, 10});
}

TEST_CASE("batched: the axis moves with the others") {
  Graph g;
  const Expr x = g.input("x", f64, {4});
  const Expr jacobian = hessian(prod(x), x);
  const Array at = doubles({1, 2, 3, 4}, {4});
  CHECK(values_of(jacobian, {x}, {at}) == Values{0, 12, 8, 6, 12, 0, 4, 3, 8, 4, 0, 2, 6, 3, 2, 0});
}
