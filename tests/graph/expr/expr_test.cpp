// Operators, elementwise functions, reductions and composites: dtypes, values, whole error texts, cost.
#include <weft/expr.h>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "error_text.h"
#include "growth.h"
#include "values.h"

using namespace weft;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Inputs {
  Graph g;
  Expr b = g.input("b", bool_, {2}), i8v = g.input("i8v", i8, {2}), i = g.input("i", i32, {2}), u = g.input("u", u8, {2}), ul = g.input("ul", u64, {2});
  Expr h = g.input("h", f16, {2}), x = g.input("x", f32, {2}), d = g.input("d", f64, {2});
};

void check_close(const std::vector<double>& got, const std::vector<double>& wanted, double relative = 1e-14) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k] == doctest::Approx(wanted[k]).epsilon(relative));
}

}  // namespace

TEST_CASE("Exprs are promoted to their common dtype") {
  Inputs in;
  CHECK((in.i8v + in.i).dtype() == i32);
  CHECK((in.u * in.i8v).dtype() == i16);
  CHECK((in.i - in.x).dtype() == f32);
  CHECK((in.x + in.d).dtype() == f64);
  CHECK((in.b * in.x).dtype() == f32);
  CHECK((in.i < in.x).dtype() == bool_);
  CHECK((in.i & in.i8v).dtype() == i32);
  CHECK((in.b & in.b).dtype() == bool_);
  CHECK(maximum(in.i8v, in.u).dtype() == i16);
  CHECK(where(in.b, in.i, in.x).dtype() == f32);
  CHECK(clip(in.i8v, in.i, 7).dtype() == i32);
}

TEST_CASE("numbers are weak: they take the dtype beside them and never narrow") {
  Inputs in;
  CHECK((in.x * 2).dtype() == f32);
  CHECK((0.5 * in.h).dtype() == f16);
  CHECK((in.i8v + 1).dtype() == i8);
  CHECK((in.u % 3u).dtype() == u8);
  CHECK((in.i * 0.5).dtype() == f64);
  CHECK((in.b * 0.5f).dtype() == f64);
  CHECK((in.b + 1).dtype() == i64);
  CHECK((in.i + true).dtype() == i32);
  CHECK((in.ul + UINT64_MAX).dtype() == u64);
  CHECK((in.i < 0.5).dtype() == bool_);
  CHECK(where(in.b, 1.0, 0).dtype() == f64);
  CHECK(where(in.b, 1, 0).dtype() == i64);
  CHECK(where(in.b, in.x, 0).dtype() == f32);
  CHECK(error_text([&] { in.i8v + 1000; }) == "dtype: add: the number 1000 does not fit i8\n  cast the other operand to a wider dtype");
  CHECK(error_text([&] { in.x + 1e300; }) == "dtype: add: the number 1e+300 is beyond f32\n  cast the other operand to a wider dtype, or write infinity");
  CHECK(error_text([&] { in.h * -70000; }).starts_with("dtype: multiply: the number -70000 is beyond f16"));
  CHECK(error_text([&] { in.x + infinity, in.h * 65504, in.d + 1e300, in.x - std::numeric_limits<double>::quiet_NaN(); }) == "no error");
  CHECK(error_text([&] { in.g.constant(i8, {2}, {100, 200}); }).starts_with("dtype: constant: 200 is no number of dtype i8"));
  CHECK(error_text([&] { in.g.constant(i32, {1}, {0.5}); }).starts_with("dtype: constant: 0.5 is no number of dtype i32"));
  CHECK(error_text([&] { pow(in.i, -1); }) == "usage: power: %i is i32, and the exponent -1 is negative\n  cast the base to a floating dtype");
  CHECK(error_text([&] { pow(in.x, -1), pow(in.i, -1.0), pow(in.i, in.i); }) == "no error");
  CHECK(error_text([&] { return in.u < -1; }) == "dtype: less: the number -1 does not fit u8\n  cast the other operand to a wider dtype");
  CHECK(error_text([&] { in.i * UINT64_MAX; }) ==
        "dtype: multiply: the number 18446744073709551615 does not fit i32\n  cast the other operand to a wider dtype");
}

TEST_CASE("float functions, true division and means of integers give f64") {
  Inputs in;
  CHECK((in.i / in.i).dtype() == f64);
  CHECK((in.i / 2).dtype() == f64);
  CHECK((in.x / 2).dtype() == f32);
  CHECK(exp(in.i).dtype() == f64);
  CHECK(sqrt(in.b).dtype() == f64);
  CHECK(mean(in.i).dtype() == f64);
  CHECK(mean(in.h).dtype() == f16);
  CHECK(softmax(in.i).dtype() == f64);
  CHECK(values_of(in.i / 2, {in.i}, {Array::from<std::int32_t>({1, -3})}) == std::vector<double>{0.5, -1.5});
}

TEST_CASE("every operator means its function") {
  Graph g;
  const Expr a = g.input("a", i64, {3}), b = g.input("b", i64, {3});
  const auto value = [&](const Expr& e) {
    return values_of(e, {a, b}, {Array::from<std::int64_t>({7, -7, 0}), Array::from<std::int64_t>({2, 2, 3})});
  };
  using V = std::vector<double>;
  CHECK(value(a + b) == V{9, -5, 3});
  CHECK(value(a - b) == V{5, -9, -3});
  CHECK(value(a * b) == V{14, -14, 0});
  CHECK(value(a / b) == V{3.5, -3.5, 0});
  CHECK(value(a % b) == V{1, 1, 0});
  CHECK(value(floor_divide(a, b)) == V{3, -4, 0});
  CHECK(value(-a) == V{-7, 7, 0});
  CHECK(value(+a) == V{7, -7, 0});
  CHECK(value(~a) == V{-8, 6, -1});
  CHECK(value(a & b) == V{2, 0, 0});
  CHECK(value(a | b) == V{7, -5, 3});
  CHECK(value(a ^ b) == V{5, -5, 3});
  CHECK(value(a << b) == V{28, -28, 0});
  CHECK(value(a >> b) == V{1, -2, 0});
  CHECK(value(a && b) == V{1, 1, 0});
  CHECK(value(a || b) == V{1, 1, 1});
  CHECK(value(!a) == V{0, 0, 1});
  CHECK(value(a < b) == V{0, 1, 1});
  CHECK(value(a <= 0) == V{0, 1, 1});
  CHECK(value(0 > a) == V{0, 1, 0});
  CHECK(value(a >= -7) == V{1, 1, 1});
  CHECK(value(a == b + 5) == V{1, 0, 0});
  CHECK(value(1 != a) == V{1, 1, 1});
  CHECK(value(10 - a) == V{3, 17, 10});
  CHECK(value(pow(b, 2)) == V{4, 4, 9});
  CHECK(value(clip(a, -1, b)) == V{2, -1, 0});
  CHECK(value(clip(a, std::nullopt, 1)) == V{1, -7, 0});
  CHECK(value(clip(a, b, std::nullopt)) == V{7, 2, 3});
  CHECK(value(clip(a, std::nullopt, std::nullopt)) == value(a));
  CHECK(value(fma(a, b, 1)) == V{15, -13, 1});
  CHECK(value(cast(a, bool_)) == V{1, 1, 0});
}

TEST_CASE("every row of the table can be built by name") {
  for (const OpInfo& row : op_table()) {
    if (row.rule == DTypeRule::conversion) continue;
    Graph g;
    const bool bools = row.rule == DTypeRule::logical, integers = row.rule == DTypeRule::bitwise;
    const Expr x = g.input("x", bools ? bool_ : integers ? i32 : f64, {2}), c = g.input("c", bool_, {2});
    std::vector<Value> operands(static_cast<std::size_t>(row.arity), x);
    if (row.rule == DTypeRule::select) operands[0] = c;
    const Expr y = elementwise(row.op, operands);
    CHECK_MESSAGE(y.shape() == Shape{2}, row.name);
    operands.push_back(x);
    CHECK(error_text([&] { elementwise(row.op, operands); }) ==
          concat("usage: ", row.name, ": expected ", row.arity, " operands, got ", row.arity + 1));
  }
}

TEST_CASE("operands that an operation does not take, with the remedy; the graph stays as it was") {
  Inputs in;
  Graph other("other");
  const Expr z = other.input("z", f32, {2});
  const std::size_t before = in.g.size();
  CHECK(error_text([&] { in.b + in.b; }) == "dtype: add: no such operation on bool %b, bool %b\n  cast an operand, as in cast(%b, i64)");
  CHECK(error_text([&] { in.x & in.i; }) ==
        "dtype: bitwise_and: no such operation on f32 %x, i32 %i\n  cast the operands to an integer dtype, as in cast(%x, i64)");
  CHECK(error_text([&] { where(in.i, in.x, 0); }) ==
        "dtype: where: no such operation on i32 %i, f32 %x, i64 0\n  the condition must be bool: compare it, as in %i != 0");
  CHECK(error_text([&] { in.i + in.ul; }) == "dtype: add: %i is i32 and %ul is u64, which have no common dtype\n  cast one of them");
  CHECK(error_text([&] { in.x + z; }) == "usage: add: %x is in graph \"graph\" but %z is in graph \"other\"\n  build both in one graph");
  Graph again;
  const Expr other_x = again.input("y", f32, {2});
  CHECK(error_text([&] { in.x + other_x; }) == "usage: add: %x is in graph \"graph\" but %y is in another graph of that name\n  build both in one graph");
  CHECK(error_text([&] { where(in.b, in.x, z); }) == "usage: where: %b is in graph \"graph\" but %z is in graph \"other\"\n  build both in one graph");
  CHECK(error_text([&] { in.x * Expr(); }) == "usage: multiply: operand 1 is an empty Expr");
  CHECK(error_text([&] { elementwise(Op::add, {1, 2}); }) == "usage: add: no operand is an Expr");
  CHECK(error_text([&] { elementwise(Op::cast, {in.x}); }) == "usage: cast: needs a dtype\n  write cast(x, dtype)");
  CHECK(error_text([&] { cast(Expr(), f32); }) == "usage: cast: the operand is an empty Expr");
  CHECK(in.g.size() == before);
}

TEST_CASE("reductions: axes, keepdims and values") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3});
  const Array a = doubles({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto value = [&](const Expr& e) { return values_of(e, {x}, {a}); };
  using V = std::vector<double>;
  CHECK(value(sum(x)) == V{21});
  CHECK(value(sum(x, 0)) == V{5, 7, 9});
  CHECK(value(sum(x, {-1})) == V{6, 15});
  CHECK(value(prod(x, {1, 0})) == V{720});
  CHECK(value(max(x, {1})) == V{3, 6});
  CHECK(value(min(x, {0})) == V{1, 2, 3});
  CHECK(value(any(x > 5, 1)) == V{0, 1});
  CHECK(value(all(x, {0})) == V{1, 1, 1});
  CHECK(value(mean(x)) == V{3.5});
  CHECK(value(mean(x, 1)) == V{2, 5});
  CHECK(value(var(x, 1, false, 1)) == V{1, 1});
  CHECK(value(weft::std(x, 0)) == V{1.5, 1.5, 1.5});
  CHECK(value(norm(x.slice({0, {1, {}}}) * 1.0)) == V{std::sqrt(13.0)});
  CHECK(value(count_nonzero(x > 2, 1)) == V{1, 3});
  CHECK(value(sum(x, std::vector<int>())) == V{1, 2, 3, 4, 5, 6});
  CHECK(sum(x, 1, true).shape() == Shape{2, 1});
  CHECK(sum(x, all_axes, true).shape() == Shape{1, 1});
  CHECK(value(x - mean(x, 1, true)) == V{-1, 0, 1, -1, 0, 1});
  CHECK(value(reduce(x, prod, 1)) == V{6, 120});
  CHECK(sum(sum(x)).shape() == Shape{});
  // axis 2 of the domain folds first: the axes keep their order behind the kept ones
  const Node& node = g.node(sum(g.input("y", f64, {2, 3, 4}), {0, 2}).id());
  CHECK(node.domain == Shape{3, 2, 4});
  CHECK(node.kept == 1);
}

TEST_CASE("reductions: dtypes and special values") {
  Inputs in;
  CHECK(sum(in.b).dtype() == i64);
  CHECK(sum(in.i8v).dtype() == i64);
  CHECK(prod(in.u).dtype() == u64);
  CHECK(sum(in.h).dtype() == f16);
  CHECK(sum(in.x).dtype() == f32);
  CHECK(sum(in.x, all_axes, false, f64).dtype() == f64);
  CHECK(sum(in.i, all_axes, false, f32).dtype() == f32);
  CHECK(max(in.u).dtype() == u8);
  CHECK(any(in.x).dtype() == bool_);
  CHECK(count_nonzero(in.x).dtype() == i64);
  const auto value = [&](const Expr& e, std::vector<double> v) { return values_of(e, {in.d}, {doubles(v, {2})})[0]; };
  CHECK(std::isnan(value(max(in.d), {NAN, 1})));
  CHECK(std::isnan(value(min(in.d), {1, NAN})));
  CHECK(std::signbit(value(sum(in.d), {-0.0, -0.0})));
  CHECK(value(any(in.d), {0, NAN}) == 1);
  const Expr e = in.g.input("e", f64, {0});
  CHECK(values_of(sum(e), {e}, {doubles({}, {0})}) == std::vector<double>{0});
  CHECK(std::isnan(values_of(mean(e), {e}, {doubles({}, {0})})[0]));
}

TEST_CASE("a symbolic mean divides by the extent of the call") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "m"});
  CHECK(values_of(mean(x), {x}, {doubles({1, 2, 3, 4, 5, 6}, {2, 3})}) == std::vector<double>{3.5});
  CHECK(values_of(mean(x, 0), {x}, {doubles({1, 2, 3, 4}, {4, 1})}) == std::vector<double>{2.5});
}

TEST_CASE("iota counts up to a number or a symbol") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  CHECK(values_of(iota(g, 3), {}, {}) == std::vector<double>{0, 1, 2});
  CHECK(values_of(x * iota(g, "n", f32), {x}, {doubles({5, 6, 7}, {3})}) == std::vector<double>{0, 6, 14});
  CHECK(iota(g, "n", f32).dtype() == f32);
  CHECK(error_text([&] { iota(g, 3, bool_); }) == "dtype: iota: expected a numeric dtype, got bool");
}

TEST_CASE("wrong axes and accumulation dtypes") {
  Inputs in;
  const Expr x = in.g.input("m", f32, {"n", 64}), s = in.g.input("s", f32, {});
  const std::size_t before = in.g.size();
  CHECK(error_text([&] { sum(x, 2); }) == "shape: sum: axis 2 is outside %m of shape [n, 64]\n  axes run from -2 to 1");
  CHECK(error_text([&] { max(x, {0, -2}); }) == "shape: max: axis 0 of %m is named twice");
  CHECK(error_text([&] { mean(s, 0); }) == "shape: mean: %s has rank 0 and no axis 0");
  CHECK(error_text([&] { softmax(x, -3); }) == "shape: softmax: axis -3 is outside %m of shape [n, 64]\n  axes run from -2 to 1");
  CHECK(error_text([&] { max(in.b); }) == "dtype: max: %b is bool\n  use any or all, or cast it to an integer dtype");
  CHECK(error_text([&] { sum(x, 0, false, f16); }) ==
        "dtype: sum: %m is f32 and accumulates in f32, which does not fit f16\n  cast the result instead");
  CHECK(error_text([&] { prod(in.u, 0, false, i64); }) ==
        "dtype: prod: %u is u8 and accumulates in u64, which does not fit i64\n  cast the result instead");
  CHECK(error_text([&] { reduce(x, AccumulatorId::none); }) ==
        "usage: reduce: expected an accumulator, got none\n  use one of sum, prod, max, min, any, all, reduce_or, reduce_and, reduce_xor");
  CHECK(error_text([&] { sum(Expr()); }) == "usage: sum: the operand is an empty Expr");
  CHECK(error_text([&] { logsumexp(in.b, 1); }) == "shape: logsumexp: axis 1 is outside %b of shape [2]\n  axes run from -1 to 0");
  CHECK(in.g.size() == before);
}

TEST_CASE("composites are stable and agree with their formulas") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3});
  const std::vector<double> v{1, 2, 3, 1000, 1001, 1002};
  const auto value = [&](const Expr& e) { return values_of(e, {x}, {doubles(v, {2, 3})}); };
  const double z = std::exp(-2) + std::exp(-1) + 1;
  check_close(value(softmax(x)), {std::exp(-2) / z, std::exp(-1) / z, 1 / z, std::exp(-2) / z, std::exp(-1) / z, 1 / z});
  check_close(value(log_softmax(x, 1)), {-2 - std::log(z), -1 - std::log(z), -std::log(z), -2 - std::log(z), -1 - std::log(z), -std::log(z)});
  check_close(value(logsumexp(x, 1)), {3 + std::log(z), 1002 + std::log(z)});
  CHECK(logsumexp(x, 1).shape() == Shape{2});
  CHECK(logsumexp(x, 1, true).shape() == Shape{2, 1});
  const auto at_infinity = values_of(logsumexp(x, 1), {x}, {doubles({-infinity, -infinity, -infinity, 1, infinity, 2}, {2, 3})});
  CHECK(at_infinity == std::vector<double>{-infinity, infinity});
  const Expr gamma = g.input("gamma", f64, {3}), beta = g.input("beta", f64, {3}), rows = g.input("rows", f64, {2});
  const double r = 1 / std::sqrt(2.0 / 3 + 1e-5);
  check_close(values_of(layer_norm(x, gamma, beta), {x, gamma, beta}, {doubles(v, {2, 3}), doubles({1, 2, 3}, {3}), doubles({0, 1, 0}, {3})}),
              {-r, 1, 3 * r, -r, 1, 3 * r});
  check_close(values_of(layer_norm(x, rows, rows, 0, 0), {x, rows}, {doubles({1, 2, 3, 3, 4, 5}, {2, 3}), doubles({1, 2}, {2})}),
              {0, 0, 0, 4, 4, 4});
  check_close(value(silu(x)), {1 / (1 + std::exp(-1)), 2 / (1 + std::exp(-2)), 3 / (1 + std::exp(-3)), 1000, 1001, 1002});
  check_close(value(gelu(x)), {0.5 * (1 + std::erf(std::sqrt(0.5))), 1 + std::erf(std::sqrt(2.0)), 1.5 * (1 + std::erf(3 * std::sqrt(0.5))), 1000, 1001, 1002});
  CHECK(error_text([&] { layer_norm(x, rows, beta); }) ==
        "shape: layer_norm: gamma %rows has shape [2] but %x has shape [2, 3] and is normalized along axis 1\n  give it the extent of that axis");
  const Expr mask = g.input("mask", bool_, {3});
  CHECK(error_text([&] { layer_norm(x, gamma, mask); }) == "dtype: layer_norm: beta %mask is bool\n  cast it to a floating dtype");
}

TEST_CASE("building twenty thousand nodes takes linear time") {
  const auto build = [](int nodes) {
    return [nodes] {
      Graph g;
      const Expr x = g.input("x", f64, {"n", "m"}), w = g.input("w", f64, {"m"});
      Expr y = x;
      for (int k = 0; k < nodes / 4; ++k) y = tanh(y * w) + 1;
      CHECK(static_cast<int>(g.size()) == nodes + 2);
    };
  };
  check_grows_linearly(build(2000), build(20000));
}

TEST_CASE("an empty Expr has nothing to ask for") {
  const Expr none;
  CHECK(error_text([&] { none.dtype(); }) == "usage: an empty Expr has no dtype");
  CHECK(error_text([&] { none.shape(); }) == "usage: an empty Expr has no shape");
  CHECK(error_text([&] { none.rank(); }) == "usage: an empty Expr has no rank");
  CHECK(error_text([&] { none.name(); }) == "usage: an empty Expr has no name");
  CHECK(error_text([&] { none.name("loss"); }) == "usage: an empty Expr cannot be named loss");
}
