// Accumulators of one's own and scans: what they compute, their dtypes, their text, their errors. tests/README.md, requirements 139, 140, T5, T8.
#include <weft/recurrence.h>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <error_text.h>
#include <moments.h>
#include <weft/elemwise.h>
#include <weft/passes.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "problem.h"

using namespace weft;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Accumulator horner() {
  return Accumulator::fold("horner", 0.0, [](Expr s, Expr x) { return 10 * s + x; });
}
// Numerically stable log of a sum of exponentials: (maximum, sum relative to it).
Accumulator online_logsumexp() {
  return Accumulator::monoid(
      "lse", std::tuple(-infinity, 0.0), [](Expr x) { return std::tuple(x, 1.0); },
      [](auto a, auto b) {
        const auto [m, s] = a;
        const auto [n, t] = b;
        const Expr top = maximum(m, n);
        return std::tuple(top, where(m == -infinity, 0, s * exp(m - top)) + where(n == -infinity, 0, t * exp(n - top)));
      },
      [](Expr m, Expr s) { return m + log(s); });
}

}  // namespace

TEST_CASE("a fold visits order c with the last index fastest, order f with the first") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3})});
  CHECK(p(reduce(p.x[0], horner())) == Values{123456});
  CHECK(p(reduce(p.x[0], horner(), all_axes, false, Order::f)) == Values{142536});
  CHECK(p(reduce(p.x[0], horner(), {1})) == Values{123, 456});
  CHECK(p(reduce(p.x[0], horner(), {0})) == Values{14, 25, 36});
  CHECK(reduce(p.x[0], horner(), {0}, true).shape() == Shape{1, 3});
  CHECK(p(reduce(p.x[0], horner(), std::vector<int>())) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a scan gives the value after every element") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3})});
  CHECK(p(scan(p.x[0], horner(), 1)) == Values{1, 12, 123, 4, 45, 456});
  CHECK(p(scan(p.x[0], horner(), 0)) == Values{1, 2, 3, 14, 25, 36});
  CHECK(p(cumulative_sum(p.x[0], 1)) == Values{1, 3, 6, 4, 9, 15});
  CHECK(p(cumulative_prod(p.x[0], 0)) == Values{1, 2, 3, 4, 10, 18});
  CHECK(p(cumulative_sum(p.x[0], -1, {.dtype = std::nullopt, .reverse = true, .include_initial = false})) == Values{6, 5, 3, 15, 11, 6});
}

TEST_CASE("cumulative sums and products with their initial value") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3})});
  const ScanOptions with{.dtype = std::nullopt, .reverse = false, .include_initial = true}, behind{.dtype = std::nullopt, .reverse = true, .include_initial = true};
  CHECK(p(cumulative_sum(p.x[0], 1, with)) == Values{0, 1, 3, 6, 0, 4, 9, 15});
  CHECK(p(cumulative_prod(p.x[0], 0, with)) == Values{1, 1, 1, 1, 2, 3, 4, 10, 18});
  CHECK(p(cumulative_sum(p.x[0], 1, behind)) == Values{6, 5, 3, 0, 15, 11, 6, 0});
  CHECK(error_text([&] { cumulative_max(p.x[0], 1, with); }) == "usage: cumulative_max: has no initial value\n  concatenate one");
}

TEST_CASE("cumulative maximum and minimum propagate NaN from where it stands") {
  const double nan = std::nan("");
  Problem p({vec({1, 3, 2, nan, 5})});
  const Values up = p(cumulative_max(p.x[0])), down = p(cumulative_min(p.x[0]));
  CHECK(Values(up.begin(), up.begin() + 3) == Values{1, 3, 3});
  CHECK((std::isnan(up[3]) && std::isnan(up[4])));
  CHECK(Values(down.begin(), down.begin() + 3) == Values{1, 1, 1});
  CHECK((std::isnan(down[3]) && std::isnan(down[4])));
}

TEST_CASE("tuple states, as tuples or spread out, and several values") {
  Problem p({vec({1, 4, 2, 7})});
  check_close(p(reduce(p.x[0], online_logsumexp())), {std::log(std::exp(1) + std::exp(4) + std::exp(2) + std::exp(7))});
  const std::vector<Expr> both = reduce_all({p.x[0]}, moments());
  REQUIRE(both.size() == 2);
  check_close(p(both[0]), {3.5});
  check_close(p(both[1]), {5.25});
  check_close(p(scan_all({p.x[0]}, moments(), 0)[0]), {1, 2.5, 7.0 / 3, 3.5});
}

TEST_CASE("several operands broadcast and are one element together") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3}), vec({10, 20, 30})});
  const auto dot = Accumulator::fold("dot", 0.0, [](Expr s, Expr x, Expr y) { return s + x * y; });
  CHECK(p(reduce(std::vector<Expr>{p.x[0], p.x[1]}, dot, {1})) == Values{140, 320});
  CHECK(p(scan(std::vector<Expr>{p.x[0], p.x[1]}, dot, 0)) == Values{10, 40, 90, 50, 140, 270});
}

TEST_CASE("no element: what the start finishes as") {
  Problem p({Array(f64, {2, 0})});
  const auto product = Accumulator::monoid("product", 1.0, [](Expr x) { return x; }, [](Expr a, Expr b) { return a * b; });
  CHECK(p(reduce(p.x[0], product, {1})) == Values{1, 1});
  CHECK(p(reduce(p.x[0], online_logsumexp())) == Values{-infinity});
  CHECK(p(cumulative_sum(p.x[0], 1)).empty());
}

TEST_CASE("dtypes: cumulative sums widen as sums do, states grow until the step gives them back") {
  Graph g;
  const Expr i = g.input("i", i8, {"n"}), u = g.input("u", u16, {"n"}), h = g.input("h", f16, {"n"}), b = g.input("b", bool_, {"n"});
  CHECK(cumulative_sum(i).dtype() == i64);
  CHECK(cumulative_prod(u).dtype() == u64);
  CHECK(cumulative_sum(h).dtype() == f16);
  CHECK(cumulative_sum(b).dtype() == i64);
  CHECK(cumulative_max(i).dtype() == i8);
  CHECK(cumulative_sum(h, 0, {.dtype = f32, .reverse = false, .include_initial = false}).dtype() == f32);
  const auto total = Accumulator::fold("total", 0, [](Expr s, Expr x) { return s + cast(x, i64); });
  CHECK(reduce(i, total).dtype() == i64);
  const auto wide = Accumulator::fold("wide", Scalar::of(f64, 0.0), [](Expr s, Expr x) { return s + x; });
  CHECK(reduce(h, wide).dtype() == f64);
  const auto weak = Accumulator::fold("weak", 0.0, [](Expr s, Expr x) { return s + x; });
  CHECK(reduce(h, weak).dtype() == f16);
}

TEST_CASE("f16 and bf16 are carried in f32 and rounded at each element") {
  Graph g;
  const Expr x = g.input("x", f16, {"n"});
  Array half(f16, {4096});
  for (Index k = 0; k < 4096; ++k) Scalar::of(f16, 1.0).store(static_cast<std::byte*>(half.data()) + 2 * k);
  const Array result = interpret({cumulative_sum(x)}, {x}, {half})[0];
  CHECK(Scalar::load(f16, static_cast<const std::byte*>(result.data()) + 2 * 4095).real() == 4096);
}
TEST_CASE("a scan that runs backwards begins at the last element, of every axis that carries") {
  const Graph g = parse(R"(graph g(%x: f64[n,m]) -> (%0, %1) {
  %0: f64[i:n,j:m] = scan(-j) sum(%x[i,j])
  %1: f64[i:n,j:m] = scan(-i,-j) sum(%x[i,j])
}
)");
  CHECK(same(parse(to_text(g)), g));
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3})});
  const auto backwards = [](const Problem& in, std::vector<int> axes) {
    const Expr x = in.x[0];
    return in(recur_scan(x.graph(), horner().recurrence({f64}), 0, x.shape(), std::move(axes), {{x.id(), identity_map(2)}}, Order::c, true));
  };
  CHECK(backwards(p, {1}) == Values{321, 32, 3, 654, 65, 6});
  CHECK(backwards(p, {0}) == Values{41, 52, 63, 4, 5, 6});
  CHECK(backwards(p, {0, 1}) == Values{654321, 65432, 6543, 654, 65, 6});
  CHECK(backwards(Problem({Array(f64, {2, 0})}), {0, 1}).empty());
  CHECK(merge_duplicates(parse("graph g(%x: f64[n]) -> (%0, %1) {\n  %0: f64[i:n] = scan(i) sum(%x[i])\n  %1: f64[i:n] = scan(-i) sum(%x[i])\n}\n")).size() == 3);
  CHECK(error_text([] { parse("graph g(%x: f64[n,n]) -> (%0) {\n  %0: f64[i:n,j:n] = scan(-i,j) sum(%x[i,j])\n}\n"); }) ==
        "text: line 2: a scan runs backwards along all its axes or none: j\n    %0: f64[i:n,j:n] = scan(-i,j) sum(%x[i,j])\n                               ^");
}

TEST_CASE("elemwise accumulates with an accumulator of one's own") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3}), vec({10, 20}), vec({1, 2, 3})});
  const auto product = [](Expr a, Expr b) { return a * b; };
  CHECK(p(elemwise(p.x[0], p.x[1], Order::c, {accumulate(horner())}, product)) == Values{1230, 9120});
  CHECK(p(elemwise(p.x[0], p.x[2], Order::f, {accumulate(horner())}, product)) == Values{14, 50, 108});
}

TEST_CASE("text: definitions come first, equal ones once, names that are taken get a number") {
  Graph g("g");
  const Expr x = g.input("x", f64, {"n", 3});
  const Expr a = reduce(x, horner(), {1}), b = scan(x, horner(), 0), c = reduce(x, Accumulator::fold("horner", 1.0, [](Expr s, Expr e) { return s * e; }));
  const Expr d = cumulative_sum(x, 1), e = reduce_all({x}, moments(), {0})[1];
  for (const Expr& out : {a, b, c, d, e}) g.outputs.push_back(out.id());
  const std::string text = to_text(g);
  CHECK(text == R"(graph g(%x: f64[n,3]) -> (%0, %1, %2, %3, %5) {
  define horner(0:f64) {
    graph step(%s0: f64[], %x0: f64[]) -> (%1, %1) {
      %0: f64[] = multiply(10, %s0)
      %1: f64[] = add(%0, %x0)
    }
    graph finish(%s0: f64[]) -> (%s0) {
    }
  }
)" + text.substr(text.find("  define horner_2")));
  CHECK(text.find("  %0: f64[i:n] = fold(j:3) horner(%x[i,j])\n") != std::string::npos);
  CHECK(text.find("  %1: f64[i:n,j:3] = scan(i) horner(%x[i,j])\n") != std::string::npos);
  CHECK(text.find("  %2: f64[] = fold(i:n,j:3) horner_2(%x[i,j])\n") != std::string::npos);
  CHECK(text.find("  %3: f64[i:n,j:3] = scan(j) sum(%x[i,j])\n") != std::string::npos);
  CHECK(text.find("  %5: f64[i:3] = fold(j:n) moments.1(%x[j,i])\n") != std::string::npos);
  const Graph again = parse(text);
  CHECK(same(again, g));
  CHECK(to_text(again) == text);
  verify(again);
  CHECK(to_text(merge_duplicates(extract(g, {x}, {a, reduce(x, horner(), {1})}))).find("fold(j:3)") != std::string::npos);
}

TEST_CASE("a gradient that the author gives is part of an accumulator, and of its text") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  const auto derived = Accumulator::fold("total", 0.0, [](Expr s, Expr e) { return s + e; });
  const auto given = derived.with_grad([](Expr, Expr, Expr cotangent) { return std::tuple{cotangent, 2 * cotangent}; });
  for (const Expr& out : {scan(x, derived), scan(x, given)}) g.outputs.push_back(out.id());
  const std::string text = to_text(g);
  CHECK(text.find("  define total_2(0:f64) {\n"
                  "    graph step(%s0: f64[], %x0: f64[]) -> (%0, %0) {\n"
                  "      %0: f64[] = add(%s0, %x0)\n"
                  "    }\n"
                  "    graph finish(%s0: f64[]) -> (%s0) {\n"
                  "    }\n"
                  "    graph gradient(%s0: f64[], %x0: f64[], %g0: f64[]) -> (%g0, %0) {\n"
                  "      %0: f64[] = multiply(2, %g0)\n"
                  "    }\n"
                  "  }\n") != std::string::npos);
  const Graph again = parse(text);
  CHECK(same(again, g));
  CHECK(to_text(again) == text);
  CHECK(merge_duplicates(again).outputs[0] != merge_duplicates(again).outputs[1]);
  Graph parsed = parse(text);
  const Expr y(parsed, parsed.inputs[0]);
  for (std::size_t k = 0; k < 2; ++k) {
    const Expr slope = grad(sum(Expr(parsed, parsed.outputs[k])), {y})[0];
    CHECK(values_of(slope, {y}, {doubles({5, 6, 7}, {3})}) == (k == 0 ? std::vector<double>{3, 2, 1} : std::vector<double>{6, 4, 2}));
  }
  std::string wrong = text;
  wrong.replace(wrong.find("-> (%g0, %0) {"), 14, "-> (%g0) {    ");
  CHECK(error_text([&] { parse(wrong); }).find("total_2: its gradient is not one of floating (states, elements, cotangents of new states)") != std::string::npos);
}

TEST_CASE("scans of truth give bool") {
  const auto scan_of = [](const std::string& dtype) { return "graph g(%x: f64[n]) -> (%0) {\n  %0: " + dtype + "[i:n] = scan(i) any(%x[i])\n}\n"; };
  const Graph g = parse(scan_of("bool"));
  CHECK(interpret(g, g.outputs, g.inputs, {doubles({0, 2, 0}, {3})})[0].to_vector<bool>() == std::vector<bool>{false, true, true});
  for (const char* dtype : {"f64", "i32", "u8"})
    CHECK(error_text([&] { parse(scan_of(dtype)); }).find(concat("dtype: scan: any gives bool, not ", dtype)) != std::string::npos);
}

TEST_CASE("elements that have no common dtype fold, unless a number asks for one") {
  Graph g;
  const Expr u = g.input("u", u64, {2}), i = g.input("i", i64, {2});
  const auto both = Accumulator::fold("both", Scalar::of(f64, 0.0), [](Expr s, Expr a, Expr b) { return s + cast(a, f64) * cast(b, f64); });
  const auto weak = Accumulator::fold("weak", 0, [](Expr s, Expr a, Expr b) { return s + cast(a, i64) * b; });
  CHECK(values_of(reduce({u, i}, both), {u, i}, {Array::from<std::uint64_t>({1, 2}), Array::from<std::int64_t>({3, -4})}) == std::vector<double>{-5});
  CHECK(error_text([&] { reduce({u, i}, weak); }) ==
        "dtype: weak: the number 0 takes the dtype of the elements, and u64 and a signed integer have none in common\n  cast one of them");
}

TEST_CASE("recurrences: errors") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 3}), i = g.input("i", i32, {3});
  CHECK(error_text([&] { cumulative_sum(x); }) == "usage: cumulative_sum: %x has rank 2\n  name the axis");
  CHECK(error_text([&] { cumulative_sum(x, 2); }) == "shape: cumulative_sum: axis 2 is outside %x of shape [n, 3]\n  axes run from -2 to 1");
  CHECK(error_text([&] { cumulative_sum(i, 0, {.dtype = i16, .reverse = false, .include_initial = false}); }) ==
        "dtype: cumulative_sum: %i is i32 and accumulates in i64, which does not fit i16\n  cast the result instead");
  CHECK(error_text([&] { cumulative_max(x, 0, {.dtype = f32, .reverse = false, .include_initial = false}); }) == "usage: cumulative_max: keeps the dtype of %x\n  cast the result");
  CHECK(error_text([&] { scan(x, horner(), 2); }) == "shape: horner: axis 2 is outside the shape [n, 3]");
  CHECK(error_text([&] { reduce(x, horner(), {0, 0}); }) == "shape: horner: axis 0 is named twice");
  CHECK(error_text([&] { reduce(std::vector<Expr>(), horner()); }) == "usage: horner: expected at least one operand");
  CHECK(error_text([&] { reduce(std::vector<Expr>{x, x}, horner()); }) == "usage: horner: its function does not take 2 elements");
  const auto foreign = Accumulator::fold("foreign", 0.0, [&](Expr s, Expr e) { return s + e + x; });
  CHECK(error_text([&] { reduce(i, foreign); }).find("usage: add: ") == 0);
  const auto pair = Accumulator::fold("pair", std::tuple(0.0, 0.0), [](Expr s, Expr, Expr e) { return s + e; });
  CHECK(error_text([&] { reduce(x, pair); }) == "usage: pair: the start has 2 states but step gives 1");
  const auto narrow = Accumulator::fold("narrow", Scalar::of(i32, 0), [](Expr s, Expr e) { return s + e; });
  CHECK(error_text([&] { reduce(x, narrow); }) ==
        "dtype: narrow: step turns state 0 of i32 into f64\n  cast it, or give the start value as a Scalar of the wider dtype");
  CHECK(error_text([] { Accumulator::fold("2", 0.0, [](Expr s, Expr) { return s; }); }) ==
        "usage: Accumulator: expected a name of letters, digits and _ that does not start with a digit, got \"2\"");
  CHECK(g.size() == 2);
}
