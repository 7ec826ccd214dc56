// The power rule: a product that has x several times passes one term to x.
#include <functional>

#include <doctest/doctest.h>

#include "problem.h"

using namespace weft;

namespace {

int count(const Expr& y, Op op) {
  int found = 0;
  for (std::size_t k = 0; k < y.graph().size(); ++k) {
    const Node& node = y.graph().node(NodeId{static_cast<std::uint32_t>(k)});
    found += node.kind == Kind::apply && node.op == op;
  }
  return found;
}

}  // namespace

TEST_CASE("powers, alone and in products and sums, agree with differences, twice") {
  using Make = std::function<Expr(const std::vector<Expr>&)>;
  const std::vector<std::pair<const char*, Make>> makes{
      {"square", [](auto& x) { return sum(x[0] * x[0]); }},
      {"cube", [](auto& x) { return sum(x[0] * x[0] * x[0]); }},
      {"cube from the right", [](auto& x) { return sum(x[0] * (x[0] * x[0])); }},
      {"fourth power of a square", [](auto& x) { return sum(square(x[0]) * square(x[0])); }},
      {"with a constant inside", [](auto& x) { return sum(0.3 * x[0] * x[0] * x[0] + x[0]); }},
      {"of a step in between", [](auto& x) { Expr u = exp(x[0] * 0.1); return sum(u * u * u); }},
      {"beside another x", [](auto& x) { return sum(x[1] * x[0] * x[0]); }},
      {"x twice, another x twice", [](auto& x) { return sum(x[0] * x[1] * x[0] * x[1]); }},
      {"the product read elsewhere too", [](auto& x) { Expr p = x[0] * x[0]; return sum(p * x[0]) + sum(exp(p * 0.1)); }},
      {"flipped", [](auto& x) { return sum(flip(x[0]) * x[0] * x[0]); }},
      {"gelu", [](auto& x) { return sum(0.5 * x[0] * (1 + tanh(0.8 * (x[0] + 0.045 * x[0] * x[0] * x[0])))); }},
      {"tenth power", [](auto& x) { Expr p = x[0]; for (int k = 1; k < 10; ++k) p = p * x[0]; return sum(p); }},
      {"a row's powers", [](auto& x) { Expr s = sum(x[0]); return sum(s * x[1] * s); }},
  };
  for (const auto& [name, make] : makes) {
    CAPTURE(std::string(name));
    Problem p({vec({0.7, -0.9, 1.4, 0.2}), vec({0.3, -1.2, 0.8, 2.1})});
    p.check_twice(make(p.x));
  }
}

TEST_CASE("zeros, and factors so large that the product overflows but the derivative does not") {
  Problem p({vec({0, -0.0, 1e103, -2})});
  const Values gradient = p(grad(sum(p.x[0] * p.x[0] * p.x[0]), p.x)[0]);
  check_close(gradient, {0, 0, 3e206, 12}, 1e-15);
  CHECK(p.gradients(sum(1e-150 * p.x[0] * p.x[0] * p.x[0]))[0][3] == doctest::Approx(12e-150));
}

TEST_CASE("one term, one product: not one for each factor") {
  Problem p({vec({0.7, -0.9})});
  const Expr loss = sum(0.3 * p.x[0] * p.x[0] * p.x[0]);
  const int before = count(loss, Op::multiply);
  grad(loss, p.x);
  CHECK(count(loss, Op::multiply) - before <= 2);
  CHECK(count(loss, Op::add) == 0);
}

TEST_CASE("a factor that is an x itself has its own gradient") {
  Problem p({vec({0.7, -0.9})});
  const Expr x = p.x[0], twice = 2 * x, y = twice * x;
  const std::vector<Expr> gradients = grad(sum(y), {x, twice});
  check_close(p(gradients[0]), {2.8, -3.6});
  check_close(p(gradients[1]), {0.7, -0.9});
}
