// Reductions on Exprs: bitwise folds, where=, initial= and dtype=, the statistical laws, argmax and argmin; gradients.
#include <weft/elemwise.h>
#include <weft/expr.h>
#include <weft/text.h>

#include <cmath>

#include <doctest/doctest.h>

#include "error_text.h"
#include "problem.h"

using namespace weft;
using V = std::vector<double>;
constexpr double inf = INFINITY;

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

// ---- where, initial, dtype

TEST_CASE("where selects the elements that take part") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3}), m = g.input("m", bool_, {2, 3}), row = g.input("row", bool_, {3}), column = g.input("column", bool_, {2, 1});
  const Array a = doubles({1, 2, 3, 4, 5, NAN}, {2, 3});
  const Array mask = numbers(bool_, {1, 0, 1, 1, 1, 0}, {2, 3}), rows = numbers(bool_, {0, 1, 0}, {3}), columns = numbers(bool_, {1, 0}, {2, 1});
  const auto value = [&](const Expr& e) { return values_of(e, {x, m, row, column}, {a, mask, rows, columns}); };
  CHECK(value(sum(x, all_axes, {.where = m})) == V{13});
  CHECK(value(sum(x, 1, {.where = m})) == V{4, 9});
  CHECK(value(sum(x, 0, {.keepdims = true, .where = m})) == V{5, 5, 3});
  CHECK(value(prod(x, 1, {.where = m})) == V{3, 20});
  CHECK(value(sum(x, 1, {.where = row})) == V{2, 5});
  CHECK(value(sum(x, 0, {.where = row})) == V{0, 7, 0});
  CHECK(value(sum(x, 1, {.where = column})) == V{6, 0});
  CHECK(value(sum(x, 0, {.where = column})) == V{1, 2, 3});
  CHECK(value(sum(x, all_axes, {.where = row})) == V{7});
  CHECK(value(sum(x, 1, {.where = g.constant(false)})) == V{0, 0});
  CHECK(value(max(x, 1, {.initial = 0, .where = m})) == V{3, 5});
  CHECK(value(min(x, 1, {.initial = 2, .where = m})) == V{1, 2});
  CHECK(value(any(x > 4, 1, {.where = m})) == V{0, 1});
  CHECK(value(all(x < 4, 1, {.where = m})) == V{1, 0});
  CHECK(value(all(x > 9, 1, {.where = column})) == V{0, 1});
  CHECK(value(count_nonzero(x, 1, {.where = m})) == V{2, 2});
  CHECK(value(mean(x, 1, {.where = m})) == V{2, 4.5});
  CHECK(value(mean(x, all_axes, {.where = row})) == V{3.5});
  CHECK(value(var(x, 1, {.where = m})) == V{1, 0.25});
  CHECK(value(var(x, 1, {.where = m}, 1)) == V{2, 0.5});
  CHECK(value(weft::std(x, 1, {.keepdims = true, .where = m})) == V{1, 0.5});
  CHECK(value(norm(x, 1, {.where = m}))[1] == std::sqrt(41.0));
  check_close(value(logsumexp(x, 1, {.where = m})), {3 + std::log1p(std::exp(-2.0)), 5 + std::log1p(std::exp(-1.0))});
  CHECK(weft::std(x, 1, {.keepdims = true, .where = m}).shape() == Shape{2, 1});
  CHECK(mean(x, 0, {.where = column}).shape() == Shape{3});
}

TEST_CASE("where that selects nothing gives what a fold over nothing gives") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), i = g.input("i", i8, {"n"}), m = g.input("m", bool_, {"n"});
  const auto value = [&](const Expr& e) {
    return values_of(e, {x, i, m}, {doubles({1, -0.0, NAN}, {3}), numbers(i8, {1, 2, 3}, {3}), numbers(bool_, {0, 0, 0}, {3})})[0];
  };
  CHECK(value(sum(x, 0, {.where = m})) == 0);
  CHECK_FALSE(std::signbit(value(sum(x, 0, {.where = m}))));
  CHECK(std::signbit(value(sum(x, 0, {.initial = -0.0, .where = m}))));
  CHECK(value(prod(x, 0, {.where = m})) == 1);
  CHECK(value(max(x, 0, {.initial = -5, .where = m})) == -5);
  CHECK(value(any(x, 0, {.where = m})) == 0);
  CHECK(value(all(x, 0, {.where = m})) == 1);
  CHECK(value(reduce_and(i, 0, {.where = m})) == -1);
  CHECK(value(reduce_or(i, 0, {.where = m})) == 0);
  CHECK(value(count_nonzero(x, 0, {.where = m})) == 0);
  CHECK(std::isnan(value(mean(x, 0, {.where = m}))));
  CHECK(std::isnan(value(var(x, 0, {.where = m}))));
  CHECK(std::isnan(value(var(x, 0, {.where = m}, 1))));
  CHECK(value(norm(x, 0, {.where = m})) == 0);
  CHECK_FALSE(std::signbit(value(norm(x, 0, {.where = m}))));
  CHECK(value(logsumexp(x, 0, {.where = m})) == -inf);
}

TEST_CASE("a sum of selected -0.0 keeps its sign, whatever is left out") {
  Graph g;
  const Expr x = g.input("x", f64, {3}), m = g.input("m", bool_, {3});
  const V result = values_of(sum(x, 0, {.where = m}), {x, m}, {doubles({-0.0, 5, -0.0}, {3}), numbers(bool_, {1, 0, 1}, {3})});
  CHECK(std::signbit(result[0]));
}

TEST_CASE("initial joins the result, and is the result over nothing") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 2}), i = g.input("i", i32, {"n"}), u = g.input("u", u8, {2}), s = g.input("s", f32, {});
  const std::vector<Expr> inputs{x, i, u, s};
  const auto value = [&](const Expr& e, const V& rows) {
    const Index n = static_cast<Index>(rows.size() / 2);
    return values_of(e, inputs, {doubles(rows, {n, 2}), numbers(i32, V(rows.begin(), rows.begin() + n), {n}), numbers(u8, {200, 100}, {2}), numbers(f32, {2.5}, {})});
  };
  const V full{1, 2, 3, 4}, none;
  CHECK(value(sum(x, 0, {.initial = 10}), full) == V{14, 16});
  CHECK(value(sum(x, 0, {.keepdims = true, .initial = s}), full) == V{6.5, 8.5});
  CHECK(value(prod(x, 0, {.initial = 2}), full) == V{6, 16});
  CHECK(value(max(x, 0, {.initial = 3.5}), full) == V{3.5, 4});
  CHECK(value(min(x, 0, {.initial = 1.5}), full) == V{1, 1.5});
  CHECK(value(max(x, all_axes, {.initial = -inf}), none) == V{-inf});
  CHECK(value(min(x, 0, {.initial = 7}), none) == V{7, 7});
  CHECK(value(max(i, 0, {.initial = -3}), none) == V{-3});
  CHECK(value(sum(i, 0, {.initial = true}), full) == V{4});
  CHECK(value(sum(u, 0, {.initial = 1000}), full) == V{1300});
  CHECK(value(max(u, 0, {.initial = 255}), full) == V{255});
  CHECK(value(any(x, 0, {.initial = 0.5}), none) == V{1, 1});
  CHECK(value(all(x, 0, {.initial = s}), none) == V{1, 1});
  CHECK(value(all(x, 0, {.initial = 0}), full) == V{0, 0});
  CHECK(value(reduce_xor(i, 0, {.initial = 7}), full) == V{4});
  CHECK(value(count_nonzero(x, 0, {.initial = 5}), full) == V{7, 7});
  CHECK(value(norm(x, 1, {.initial = 2}), {1, 2, 4, 4}) == V{3, 6});
  check_close(value(logsumexp(x, 0, {.initial = 0}), {0, 1000, 0, -1000}), {std::log(3.0), 1000});
  CHECK(value(logsumexp(x, 0, {.initial = 3}), none) == V{3, 3});
  CHECK(value(max(x, 0, {.initial = NAN}), full).size() == 2);
  CHECK(std::isnan(value(max(x, 0, {.initial = NAN}), full)[0]));
  CHECK(value(reduce(x, sum, 0, {.initial = 1}), full) == V{5, 7});
  CHECK(value(reduce(x, AccumulatorId::supremum, 0), none) == V{-inf, -inf});
}

TEST_CASE("half precision sums join their initial value before the one rounding") {
  Graph g;
  const Expr h = g.input("h", f16, {2});
  const Array a = numbers(f16, {2048, 0.5}, {2});
  CHECK(values_of(sum(h, 0, {.initial = 1}), {h}, {a}) == V{2050});            // 2049.5; in two roundings 2048 + 1 = 2048
  CHECK(sum(h, 0, {.initial = 1}).dtype() == f16);
  CHECK(values_of(sum(h, 0, {.dtype = f32, .initial = 1}), {h}, {a}) == V{2049.5});
}

TEST_CASE("dtype chooses the accumulation dtype and that of the result") {
  Graph g;
  const Expr i = g.input("i", i8, {2}), h = g.input("h", f16, {2}), x = g.input("x", f32, {2});
  CHECK(sum(i, 0, {.dtype = f64}).dtype() == f64);
  CHECK(prod(x, 0, {.dtype = f64}).dtype() == f64);
  CHECK(mean(x, 0, {.dtype = f64}).dtype() == f64);
  CHECK(var(h, 0, {.dtype = f32}).dtype() == f32);
  CHECK(weft::std(i, 0).dtype() == f64);
  CHECK(norm(x, 0, {.dtype = f64}).dtype() == f64);
  CHECK(logsumexp(h, 0, {.dtype = f32}).dtype() == f32);
  CHECK(values_of(norm(x, 0, {.dtype = f64}), {x}, {numbers(f32, {3e30, 4e30}, {2})})[0] == doctest::Approx(5e30));
  CHECK(values_of(norm(x, 0), {x}, {numbers(f32, {3e30, 4e30}, {2})}) == V{inf});
}

TEST_CASE("wrong options, before any node is added") {
  Graph g("mine"), other("theirs");
  const Expr x = g.input("x", f32, {"n", 3}), i = g.input("i", i32, {"n"}), u = g.input("u", u8, {3}), m = g.input("m", bool_, {"n", 3}), v = g.input("v", f64, {});
  const Expr foreign = other.input("z", bool_, {}), k = g.input("k", i64, {}), row = g.input("row", f32, {3});
  const Expr large = g.input("large", bool_, {2, 1, 3}), four = g.input("four", bool_, {4}), one = g.input("one", f32, {"n", 1}), wide = g.input("wide", u64, {3});
  const std::size_t before = g.size();
  const auto error = [&](const auto& make) { return error_text([&] { make(); }); };
  CHECK(error([&] { max(x, 0, {.where = m}); }) == "usage: max: where may select no element of %x, and max of nothing has no value\n  give an initial value");
  CHECK(error([&] { min(i, 0, {.where = i > 0}); }).find("usage: min: where may select no element of %i, and min of nothing has no value") == 0);
  CHECK(error([&] { sum(x, 0, {.where = x}); }) == "dtype: sum: where %x is f32, expected bool\n  compare it, as in %x != 0");
  CHECK(error([&] { mean(x, 0, {.where = foreign}); }) ==
        "usage: mean: %x is in graph \"mine\" but where %z is in graph \"theirs\"\n  build both in one graph");
  CHECK(error([&] { prod(x, 0, {.where = large}); }) ==
        "shape: prod: where: %large has rank 3 but the target [n, 3] has rank 2\n  squeeze or reduce the surplus axes first");
  CHECK(error([&] { sum(x, 0, {.where = four}); }) ==
        "shape: sum: where: axis 0 of %four has extent 4 but the target [n, 3] has 3\n  only an axis of extent 1 is repeated");
  CHECK(error([&] { sum(one, 0, {.where = m}); }) ==
        "shape: sum: where: axis 1 of %m has extent 3 but the target [n, 1] has 1\n  only an axis of extent 1 is repeated");
  CHECK(error([&] { max(u, 0, {.initial = 256}); }) ==
        "dtype: max: the initial value 256 does not fit u8, in which %u is folded\n  cast the operand to a wider dtype");
  CHECK(error([&] { min(u, 0, {.initial = -1}); }) ==
        "dtype: min: the initial value -1 does not fit u8, in which %u is folded\n  cast the operand to a wider dtype");
  CHECK(error([&] { sum(i, 0, {.initial = 0.5}); }) ==
        "dtype: sum: the initial value 0.5 does not fit i64, in which %i is folded\n  cast the operand to a wider dtype");
  CHECK(error([&] { reduce_or(m, 0, {.initial = 1}); }) ==
        "dtype: reduce_or: the initial value 1 does not fit bool, in which %m is folded\n  cast the operand to a wider dtype");
  CHECK(error([&] { sum(x, 0, {.initial = v}); }) ==
        "dtype: sum: the initial value %v is f64, which does not fit f32, in which %x is folded\n  cast one of them");
  CHECK(error([&] { sum(wide, 0, {.initial = k}); }) ==
        "dtype: sum: the initial value %k is i64, which does not fit u64, in which %wide is folded\n  cast one of them");
  CHECK(error([&] { sum(x, 0, {.initial = row}); }) ==
        "shape: sum: the initial value %row has shape [3], expected a number or rank 0\n  combine the result with it instead");
  CHECK(error([&] { any(x, 0, {.initial = foreign}); }) ==
        "usage: any: %x is in graph \"mine\" but the initial value %z is in graph \"theirs\"\n  build both in one graph");
  CHECK(error([&] { sum(x, 0, {.initial = Expr()}); }) == "usage: sum: the initial value is an empty Expr");
  for (const auto& [name, make] : {std::pair<const char*, Expr (*)(const Expr&)>{"mean", [](const Expr& a) { return mean(a, 0, {.initial = 1}); }},
                                   {"var", [](const Expr& a) { return var(a, 0, {.initial = 1}); }},
                                   {"std", [](const Expr& a) { return weft::std(a, 0, {.initial = 1}); }}})
    CHECK(error([&, f = make] { f(x); }) ==
          concat("usage: ", name, ": takes no initial value\n  sum, prod, max, min, any, all, count_nonzero, logsumexp and norm do"));
  CHECK(error([&] { max(x, 0, {.dtype = f64}); }) == "usage: max: takes no dtype\n  cast the operand or the result");
  CHECK(error([&] { count_nonzero(x, 0, {.dtype = i64}); }) == "usage: count_nonzero: takes no dtype\n  cast the operand or the result");
  CHECK(error([&] { sum(x, 0, {.dtype = f16}); }) == "dtype: sum: %x is f32 and accumulates in f32, which does not fit f16\n  cast the result instead");
  CHECK(error([&] { mean(i, 0, {.dtype = f32}); }) == "dtype: mean: %i is i32 and accumulates in f64, which does not fit f32\n  cast the result instead");
  CHECK(error([&] { norm(x, 0, {.dtype = i64}); }) == "dtype: norm: %x is f32 and accumulates in f32, which does not fit i64\n  cast the result instead");
  CHECK(error([&] { sum(Expr(), 0, {.keepdims = true}); }) == "usage: sum: the operand is an empty Expr");
  CHECK(g.size() == before + 2);                              // i > 0 is 2 nodes; the rest added none
}

// ---- statistical laws

TEST_CASE("means, variances and norms of integers are f64; of half precision computed in f32 and rounded once") {
  Graph g;
  const Expr i = g.input("i", i8, {3}), h = g.input("h", f16, {4}), b = g.input("b", bool_, {4});
  const Array ints = numbers(i8, {100, 100, 101}, {3}), halves = numbers(f16, {60000, 60000, 60000, 60000}, {4});
  for (const Expr& e : {mean(i), var(i), weft::std(i), norm(i), logsumexp(i)}) CHECK(e.dtype() == f64);
  for (const Expr& e : {mean(h), var(h), weft::std(h), norm(h), logsumexp(h)}) CHECK(e.dtype() == f16);
  CHECK(values_of(mean(i), {i}, {ints}) == V{301.0 / 3});
  CHECK(values_of(mean(b), {b}, {numbers(bool_, {1, 0, 1, 1}, {4})}) == V{0.75});
  CHECK(values_of(mean(h), {h}, {halves}) == V{60000});       // the sum would overflow in f16
  CHECK(values_of(var(h), {h}, {halves}) == V{0});
  // std: sqrt(1e6 / 2) = 707.1; the variance 500000 is beyond f16
  CHECK(values_of(weft::std(h), {h}, {numbers(f16, {1000, -1000, 0, 0}, {4})}) == V{707});
  CHECK(values_of(norm(h), {h}, {numbers(f16, {3000, 4000, 0, 0}, {4})}) == V{5000});
}

TEST_CASE("var and std: corrections, and NaN where nothing is left to divide by") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), s = g.input("s", f64, {2});
  const auto value = [&](const Expr& e, const V& v) { return values_of(e, {x}, {doubles(v, {static_cast<Index>(v.size())})})[0]; };
  CHECK(value(var(x), {1, 2, 3, 4}) == 1.25);
  CHECK(value(var(x, 0, false, 1), {1, 2, 3, 4}) == 5.0 / 3);
  CHECK(value(var(x, 0, false, 0.5), {1, 3}) == 2 / 1.5);
  CHECK(value(var(x, 0, false, -2), {1, 3}) == 0.5);
  for (const double correction : {2.0, 3.0}) {
    CHECK(std::isnan(value(var(x, 0, false, correction), {1, 3})));
    CHECK(std::isnan(value(weft::std(x, 0, false, correction), {1, 3})));
    CHECK(std::isnan(values_of(var(s, 0, false, correction), {s}, {doubles({1, 3}, {2})})[0]));
  }
  CHECK(std::isnan(value(var(x), {})));
  CHECK(std::isnan(value(var(x, 0, false, -1), {NAN, 1})));
  CHECK(value(var(x), {1e9 + 1, 1e9 + 2, 1e9 + 3}) == doctest::Approx(2.0 / 3));   // two passes: nothing cancels
}

TEST_CASE("count_nonzero counts NaN, and true") {
  Graph g;
  const Expr x = g.input("x", f32, {4}), h = g.input("h", bf16, {3}), b = g.input("b", bool_, {3}), u = g.input("u", u64, {2});
  CHECK(values_of(count_nonzero(x), {x}, {numbers(f32, {NAN, -0.0, 0, 1e-45}, {4})}) == V{2});
  CHECK(values_of(count_nonzero(h), {h}, {numbers(bf16, {0, inf, NAN}, {3})}) == V{2});
  CHECK(values_of(count_nonzero(b), {b}, {numbers(bool_, {1, 0, 1}, {3})}) == V{2});
  CHECK(values_of(count_nonzero(u), {u}, {numbers(u64, {1e19, 0}, {2})}) == V{1});
}

TEST_CASE("logsumexp of infinities, NaN, nothing and half precision") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), h = g.input("h", f16, {2}), r = g.input("r", f32, {2, 0});
  const auto value = [&](const V& v) { return values_of(logsumexp(x), {x}, {doubles(v, {static_cast<Index>(v.size())})})[0]; };
  CHECK(value({-inf, -inf}) == -inf);
  CHECK(value({1, inf, -inf}) == inf);
  CHECK(value({-inf, 3}) == 3);
  CHECK(std::isnan(value({1, NAN, inf})));
  CHECK(value({}) == -inf);
  CHECK(value({1e308, 1e308}) == doctest::Approx(1e308));
  CHECK(values_of(logsumexp(r, 1), {r}, {numbers(f32, {}, {2, 0})}) == V{-inf, -inf});
  CHECK(values_of(logsumexp(h), {h}, {numbers(f16, {11, 11}, {2})}) == V{11.6953125});   // 11.693 rounded; e^11 is near the limit of f16
}

// ---- argmax, argmin

TEST_CASE("argmax and argmin give the first index of the extreme") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3});
  const Array a = doubles({3, 7, 7, -1, -1, -5}, {2, 3});
  const auto value = [&](const Expr& e) { return values_of(e, {x}, {a}); };
  CHECK(value(argmax(x)) == V{1});
  CHECK(value(argmin(x)) == V{5});
  CHECK(value(argmax(x, 1)) == V{1, 0});
  CHECK(value(argmax(x, 0)) == V{0, 0, 0});
  CHECK(value(argmin(x, -1)) == V{0, 2});
  CHECK(value(argmin(x, {0, 1})) == V{5});
  CHECK(argmax(x).dtype() == i64);
  CHECK(argmax(x).shape() == Shape{});
  CHECK(argmax(x, 1, true).shape() == Shape{2, 1});
  CHECK(value(argmax(x, 1, true)) == V{1, 0});
  CHECK(argmax(x, all_axes, true).shape() == Shape{1, 1});
  CHECK(value(argmax(x, std::vector<int>())) == V{0, 0, 0, 0, 0, 0});
  CHECK(value(argmin(x.slice({0, 1}))) == V{0});
  CHECK(value(argmax(transpose(x))) == V{2});                 // 3 -1 7 -1 7 -5
}

TEST_CASE("argmax over several axes counts in row-major order among them") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3, "n"});
  const Array a = doubles({0, 1, 9, 2, 3, 4, 0, 5, 8, 6, 9, 1, 1, 2, 7, 7, 0, 0, 3, 3, 1, 2, 0, 4}, {2, 3, 4});
  const auto value = [&](const Expr& e) { return values_of(e, {x}, {a}); };
  CHECK(value(argmax(x)) == V{2});
  CHECK(value(argmax(x, {1, 2})) == V{2, 2});
  CHECK(value(argmax(x, {0, 2})) == V{2, 3, 2});
  CHECK(value(argmax(x, {0, 1})) == V{2, 2, 0, 3});
  CHECK(value(argmin(x, {0, 1})) == V{0, 4, 1, 2});
}

TEST_CASE("in argmax and argmin the first NaN wins, signed zeros tie, and every dtype is ordered") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), m = g.input("m", f32, {2, 2});
  const auto value = [&](const Expr& e, const V& v) { return values_of(e, {x}, {doubles(v, {static_cast<Index>(v.size())})})[0]; };
  for (const Expr& e : {argmax(x), argmin(x)}) {
    CHECK(value(e, {1, NAN, inf, NAN, -inf}) == 1);
    CHECK(value(e, {-0.0, 0.0}) == 0);
    CHECK(value(e, {0.0, -0.0}) == 0);
  }
  CHECK(value(argmax(x), {-inf, -inf}) == 0);
  CHECK(value(argmin(x), {inf, inf, 3}) == 2);
  CHECK(values_of(argmax(m), {m}, {numbers(f32, {1, 5, NAN, NAN}, {2, 2})}) == V{2});
  for (DType dtype : {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64}) {
    Graph h;
    const Expr y = h.input("y", dtype, {4});
    CAPTURE(std::string(to_text(dtype)));
    const Array a = numbers(dtype, is_boolean(dtype) ? V{0, 1, 1, 0} : V{1, 3, 3, 0}, {4});
    CHECK(values_of(argmax(y), {y}, {a}) == V{1});
    CHECK(values_of(argmin(y), {y}, {a}) == V{is_boolean(dtype) ? 0.0 : 3.0});
  }
}

TEST_CASE("argmax over an empty axis is an error at the call, as max is") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 2});
  const Array none = doubles({}, {0, 2});
  CHECK(error_text([&] { values_of(argmax(x, 0), {x}, {none}); }) ==
        "shape: max over an axis of extent 0 has no identity; n = 0\n  %0: f64[i:2] = max(j:n) copy(%x[j,i])\n"
        "  make sure that the axis has an element, or concatenate an initial value");
  CHECK(values_of(argmax(x, 1), {x}, {none}) == V{});
  CHECK(error_text([&] { argmax(x, 2); }) == "shape: argmax: axis 2 is outside %x of shape [n, 2]\n  axes run from -2 to 1");
  CHECK(error_text([&] { argmin(Expr()); }) == "usage: argmin: the operand is an empty Expr");
}

// ---- gradients

TEST_CASE("gradients of reductions with where and initial agree with differences, twice") {
  using Make = std::function<Expr(const std::vector<Expr>&)>;
  const std::vector<std::pair<const char*, Make>> makes{
      {"sum", [](auto& x) { return sum(square(sum(sin(x[0]), 1, {.initial = 0.5, .where = x[0] > -0.5}))); }},
      {"sum of nothing", [](auto& x) { return sum(exp(sum(x[0], 1, {.where = x[0] > 1}))); }},
      {"prod", [](auto& x) { return sum(square(prod(x[0], 1, {.initial = sum(x[1]), .where = x[0] > -0.5}))); }},
      {"max", [](auto& x) { return sum(square(max(x[0] * x[1], 1, {.initial = 0.5, .where = x[0] < 1}))); }},
      {"min", [](auto& x) { return sum(exp(min(x[0], 0, {.initial = x[1].slice({0})}))); }},
      {"mean", [](auto& x) { return sum(square(mean(x[0], 1, {.where = x[0] > -0.5}))); }},
      {"mean, mask of columns", [](auto& x) { return sum(square(mean(x[0], {0, 1}, {.where = x[1] > 0}))); }},
      {"var", [](auto& x) { return sum(x[1].slice({0}) * var(x[0], 1, {.where = x[0] > -0.7}, 1)); }},
      {"std", [](auto& x) { return sum(weft::std(x[0] * x[1], {0, 1}, {.where = x[0] > -0.7})); }},
      {"norm", [](auto& x) { return sum(norm(x[0], 1, {.initial = x[1].slice({1}), .where = x[0] > -0.7})); }},
      {"logsumexp", [](auto& x) { return sum(square(logsumexp(x[0], 1, {.initial = x[1].slice({2}), .where = x[0] > -0.7}))); }},
  };
  for (const auto& [name, make] : makes) {
    CAPTURE(std::string(name));
    Problem p({doubles({0.3, -1.2, 0.8, 2.1, -0.4, 0.9, 1.7, -0.6}, {2, 4}), doubles({0.7, -0.9, 1.4, 0.2}, {4})});
    p.check_twice(make(p.x));
  }
}

TEST_CASE("what where leaves out gets gradient 0, whatever it computes") {
  Problem p({doubles({0, 4, -1, 9}, {4})});
  const Expr x = p.x[0], selected = x > 0;
  CHECK(p.gradients(sum(sqrt(x), 0, {.where = selected}))[0] == V{0, 0.25, 0, 1.0 / 6});
  CHECK(p.gradients(sum(log(x), 0, {.initial = 1, .where = selected}))[0] == V{0, 0.25, 0, 1.0 / 9});
  CHECK(p.gradients(max(log(x), 0, {.initial = 0, .where = selected}))[0] == V{0, 0, 0, 1.0 / 9});
  CHECK(p.gradients(mean(sqrt(x), 0, {.where = selected}))[0] == V{0, 0.125, 0, 1.0 / 12});
  CHECK(p.gradients(sum(sqrt(x), 0, {.where = x > 100}))[0] == V{0, 0, 0, 0});
  CHECK(p.gradients(logsumexp(log(x), 0, {.where = selected}))[0][2] == 0);
}

TEST_CASE("indices have gradient zero and are connected; ties of max with its initial value share") {
  Problem p({doubles({2, 5, 5, 1}, {4})});
  const Expr x = p.x[0];
  CHECK(p(grad(sum(cast(argmax(x), f64) * 1.0), {x})[0]) == V{0, 0, 0, 0});
  CHECK(p(grad(cast(argmin(x), f64) + sum(x), {x})[0]) == V{1, 1, 1, 1});
  CHECK(p.gradients(max(x, 0, {.initial = 0}))[0] == V{0, 0.5, 0.5, 0});
  CHECK(p.gradients(max(x, 0, {.initial = 5}))[0] == V{0, 0.25, 0.25, 0});
  CHECK(p.gradients(max(x, 0, {.initial = 9}))[0] == V{0, 0, 0, 0});
}
