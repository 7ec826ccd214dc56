#include <weft/check_gradient.h>

#include <doctest/doctest.h>

#include <error_text.h>
#include <weft/expr.h>

#include "values.h"

using namespace weft;

TEST_CASE("check_gradient: right and wrong gradients") {
  Graph g;
  const Expr x = g.input("x", f64, {3}), y = g.input("y", f64, {2, 3});
  const Expr loss = sum(sin(x) * y * y);
  const std::vector<Array> arrays{doubles({0.5, -1, 2}, {3}), doubles({1, 2, 3, 4, 5, 6}, {2, 3})};
  const GradientReport right = check_gradient(loss, {x, y}, arrays);
  CHECK(right.ok);
  CHECK(right.elements == 9);
  CHECK(right.wrong == 0);
  CHECK(right.worst < 1e-9);
  const auto doubled = custom_gradient([](const std::vector<Expr>& xs) { return xs[0] * xs[0]; },
                                       [](const std::vector<Expr>& xs, const Expr&, const Expr& e) { return std::vector<Expr>{e * (2 * xs[0] + xs[0] * xs[0] * xs[0])}; });
  const GradientReport wrong = check_gradient(sum(doubled({x})).name("loss"), {x}, {arrays[0]});
  CHECK_FALSE(wrong.ok);
  CHECK(wrong.wrong == 3);
  CHECK(wrong.index == Dims{2});
  CHECK(wrong.text.find("d %loss / d %x[2]: 12 by the gradient, ") == 0);
  CHECK(wrong.text.find("by differences (3 of 3 elements differ)") != std::string::npos);
}

TEST_CASE("check_gradient: inputs that are not differentiated, f32, arrays left as they were") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), k = g.input("k", i32, {"n"});
  const Array xa = Array::from<float>({1, 2, 3}), ka = Array::from<std::int32_t>({3, 0, -1});
  const GradientReport report = check_gradient(sum(x * x * k), {x}, {x, k}, {xa, ka});
  CHECK(report.ok);
  CHECK(xa.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(check_gradient(sum(x * k), {x}, {x, k}, {Array(f32, {0}), Array(i32, {0})}).text == "no elements");
}

TEST_CASE("check_gradient: errors") {
  Graph g;
  const Expr x = g.input("x", f64, {3}), y = g.input("y", f64, {3});
  const Array a = doubles({1, 2, 3}, {3});
  CHECK(error_text([&] { check_gradient(sum(x * y), {x}, {y}, {a}); }).find("%x") != std::string::npos);
  CHECK(error_text([&] { check_gradient(sum(x), {x}, {}); }) == "usage: check_gradient: expected an array for each of 1 inputs, got 0");
  CHECK(error_text([&] { check_gradient(x, {x}, {a}); }).find("usage: grad: %x has shape [3], and a loss has rank 0") == 0);
}
