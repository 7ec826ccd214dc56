// Variances in one pass over what varies: which sums become one, and their values where two passes differ most from one.
#include <weft/passes.h>

#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/interpret.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "values.h"

using namespace weft;

namespace {

// Reads of a part of an input: of a sample.
int samples(const Graph& graph) {
  int found = 0;
  for (std::size_t k = 0; k < graph.size(); ++k)
    for (int position = 0; position < graph.arity(id_of(k)); ++position)
      for (const AxisRef& ref : graph.map(id_of(k), position)) found += std::abs(ref.step) == 16 || ref.part;
  return found;
}
int samples_of(Graph& g, const std::vector<Expr>& outputs) {
  g.outputs.clear();
  for (const Expr& output : outputs) g.outputs.push_back(output.id());
  const Graph shifted = shift_variances(absorb_copies(simplify(g, RuleClass::real)));
  verify(shifted);
  return samples(shifted);
}

// The variance along the first axis of rows of one element, in one pass.
double variance(DType dtype, const std::vector<double>& values, double correction = 0) {
  Graph g;
  const Expr x = g.input("x", dtype, {"n", 1});
  g.outputs = {cast(var(x, {0}, false, correction), f64).id()};
  const Graph shifted = shift_variances(g);
  REQUIRE(samples(shifted) == 1);
  const Dims shape{static_cast<Index>(values.size()), 1};
  const Array array = dtype == f64 ? doubles(values, shape) : Array::from<float>(std::vector<float>(values.begin(), values.end()), shape);
  return interpret(shifted, shifted.outputs, shifted.inputs, {array}).at(0).to_vector<double>().at(0);
}
double exact_variance(const std::vector<double>& values) {
  long double mean = 0, squares = 0;
  for (double value : values) mean += value;
  mean /= static_cast<long double>(values.size());
  for (double value : values) squares += (value - mean) * (value - mean);
  return static_cast<double>(squares / static_cast<long double>(values.size()));
}

}  // namespace

TEST_CASE("a sum of squared deviations takes off the mean of every sixteenth row, and corrects the sum") {
  const Graph graph = shift_variances(parse(R"(graph t(%x: f32[n,d]) -> (%6) {
  %0: f32[i:d] = sum(k:n) copy(%x[k,i])
  %1: i64[] = extent(n)
  %2: f32[] = cast(%1)
  %3: f32[i:d] = divide(%0[i], %2)
  %4: f32[i:n,j:d] = subtract(%x[i,j], %3[j])
  %5: f32[i:n,j:d] = square(%4[i,j])
  %6: f32[i:d] = sum(j:n) copy(%5[j,i])
}
)"));
  verify(graph);
  CHECK(to_text(graph) == R"(graph t(%x: f32[n,d]) -> (%18) {
  %0: f32[i:d] = sum(j:(n+15)/16) copy(%x[16*j,i])
  %1: i64[] = extent((n+15)/16)
  %2: f32[] = cast(%1)
  %3: f32[i:d] = divide(%0[i], %2)
  %4: f32[i:n,j:d] = subtract(%x[i,j], %3[j])
  %5: f32[i:n,j:d] = square(%4[i,j])
  %6: f32[i:d] = sum(j:n) copy(%5[j,i])
  %7: bool[i:d] = isinf(%6[i])
  %8: f32[i:d] = sum(j:n) copy(%4[j,i])
  %9: f32[i:d] = multiply(0, %8[i])
  %10: f32[i:d] = add(%6[i], %9[i])
  %11: i64[] = extent(n)
  %12: f32[] = cast(%11)
  %13: f32[] = maximum(%12, 1)
  %14: f32[i:d] = divide(%8[i], %13)
  %15: f32[i:d] = multiply(%8[i], %14[i])
  %16: f32[i:d] = subtract(%6[i], %15[i])
  %17: f32[i:d] = maximum(%16[i], 0)
  %18: f32[i:d] = where(%7[i], %10[i], %17[i])
}
)");
}

TEST_CASE("variances of rows, of all elements, of integers and of what few ops compute are read once") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"n", "d"}), line = g.input("line", f64, {"n"}), counts = g.input("counts", u8, {"n", "d"});
  const Expr images = g.input("images", f16, {8, 3, "h", 56}), known = g.input("known", f32, {100, 7}), across = g.input("across", f32, {"n", "d"}, Order::f);
  CHECK(samples_of(g, {var(x, 0)}) == 1);
  CHECK(samples_of(g, {weft::std(x, 0, true)}) == 1);
  CHECK(samples_of(g, {var(x)}) == 1);
  CHECK(samples_of(g, {var(line)}) == 1);
  CHECK(samples_of(g, {var(counts, 0)}) == 1);
  CHECK(samples_of(g, {var(images, {0, 2, 3})}) == 1);
  CHECK(samples_of(g, {var(known, 0, false, 1)}) == 1);
  CHECK(samples_of(g, {var(across, 1)}) == 1);
  CHECK(samples_of(g, {var(x * y - 1, 0)}) == 2);
  CHECK(samples_of(g, {var(x.slice({{1, {}}}), 0)}) == 1);
  CHECK(samples_of(g, {var(x.slice({{{}, {}, -1}}), 0)}) == 1);
  CHECK(samples_of(g, {sum(square(x - mean(x, 0)), 0)}) == 1);
  CHECK(samples_of(g, {var(x, 0), var(y, 0)}) == 2);
  const Expr center = mean(x, 0, true), deviation = x - center, spread = mean(square(deviation), 0);
  CHECK(samples_of(g, {spread, center}) == 1);
  CHECK(samples_of(g, {deviation / sqrt(spread)}) == 1);
}

TEST_CASE("variances beside their deviations, of rows that stay in a cache and of few elements keep two passes") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"n", "d"}), few = g.input("few", f32, {31, 7}), line = g.input("line", f32, {4000});
  CHECK(samples_of(g, {var(x, 1)}) == 0);
  CHECK(samples_of(g, {var(few, 0)}) == 0);
  CHECK(samples_of(g, {var(line)}) == 0);
  const Expr deviation = x - mean(x, 0), squares = square(deviation);
  CHECK(samples_of(g, {sum(squares, 0), deviation}) == 0);
  CHECK(samples_of(g, {sum(squares, 0), squares}) == 0);
  CHECK(samples_of(g, {sum(squares)}) == 0);                                            // over more than the mean
  CHECK(samples_of(g, {sum(square(x - mean(x)), 0)}) == 0);                             // over less
  CHECK(samples_of(g, {sum(square(y - mean(x, 0)), 0)}) == 0);                          // of another
  CHECK(samples_of(g, {sum(square(x - sum(x, 0)), 0)}) == 0);
  CHECK(samples_of(g, {sum(square(x - sum(x, 0) / 7), 0)}) == 0);
  const Expr z = g.input("z", f32, {"n", "n"});
  CHECK(samples_of(g, {sum(square(z - mean(z, 1)), 0)}) == 0);                          // along the other axis
  CHECK(samples_of(g, {sum(square(z - mean(z, 0, true)), 0)}) == 1);
  CHECK(samples_of(g, {var(cumulative_sum(x, 0), 0)}) == 0);                                    // not computed of single elements
}

TEST_CASE("elements in order, far from zero or alone among equal ones lose no more than four bits") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto series = [](int count, const auto& value) {
    std::vector<double> values;
    for (int k = 0; k < count; ++k) values.push_back(static_cast<double>(static_cast<float>(value(k))));
    return values;
  };
  for (int count : {1, 2, 15, 16, 17, 33, 1000, 5000}) {
    const std::vector<std::vector<double>> all = {
        series(count, [](int k) { return k; }),                                          // in order
        series(count, [&](int k) { return k % 16 == 0 ? 1000 : normal(random); }),       // the sample is far from the others
        series(count, [&](int k) { return k == 0 ? 1e6 : normal(random); }),
        series(count, [&](int k) { return k == count - 1 ? 1e6 : normal(random); }),
        series(count, [&](int) { return 100 + normal(random); }),
        series(count, [](int k) { return std::sin(k * 0.39269908169872414); }),          // as long as the distance of the samples
    };
    for (const std::vector<double>& values : all) {
      const double exact = exact_variance(values);
      CAPTURE(count);
      CHECK(variance(f32, values) == doctest::Approx(exact).epsilon(16 * 4 * 0x1p-24));          // four bits of a few roundings
      CHECK(variance(f64, values) == doctest::Approx(exact).epsilon(16 * 4 * 0x1p-53));
    }
  }
}

TEST_CASE("equal elements vary by no more than the rounding of their mean, and never less than zero") {
  for (double value : {0.1, 3.3, 1e20, -7.7}) {
    const double rounded = static_cast<double>(static_cast<float>(value)), found = variance(f32, std::vector<double>(777, rounded));
    CHECK(found >= 0);
    CHECK(found <= rounded * rounded * 0x1p-44);
  }
}

TEST_CASE("infinities, NaN, overflow, one element and none give what two passes give") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(40, 1);
  for (std::size_t at : {0, 16, 17, 39})
    for (double special : {inf, -inf, nan}) {
      std::vector<double> changed = values;
      changed[at] = special;
      CHECK(std::isnan(variance(f32, changed)));
    }
  for (std::size_t at : {0, 16, 17, 39}) {
    std::vector<double> changed = values;
    changed[at] = 0x1p100;
    CHECK(variance(f32, changed) == inf);
    CHECK(variance(f64, changed) == doctest::Approx(0x1p200 / 40 * (1 - 1.0 / 40)));
  }
  CHECK(variance(f32, {5}) == 0);
  CHECK(std::isnan(variance(f32, {5}, 1)));
  CHECK(std::isnan(variance(f32, {})));
  Graph g;
  const Expr x = g.input("x", f32, {"n", 1});
  g.outputs = {cast(sum(square(x - mean(x, 0)), 0), f64).id()};
  const Graph shifted = shift_variances(g);
  REQUIRE(samples(shifted) == 1);
  CHECK(interpret(shifted, shifted.outputs, shifted.inputs, {Array(f32, {0, 1})}).at(0).to_vector<double>().at(0) == 0);
}

TEST_CASE("axes of one element, which what is computed once more does not name, are folded all the same") {
  Graph graph = parse(R"(graph t(%x: u8[n,6]) -> (%7) {
  %0: f64[i:n,j:6,k:1] = cast(%x[i,j])
  %1: f64[] = sum(i:n,j:6,k:1) copy(%0[i,j,k])
  %2: i64[] = extent(6*n)
  %3: f64[] = cast(%2)
  %4: f64[] = divide(%1, %3)
  %5: f64[i:n,j:6,k:1] = subtract(%0[i,j,k], %4)
  %6: f64[i:n,j:6,k:1] = square(%5[i,j,k])
  %7: f64[] = sum(i:n,j:6,k:1) copy(%6[i,j,k])
}
)");
  const Graph shifted = shift_variances(graph);
  verify(shifted);
  CHECK(samples(shifted) == 1);
  Array x(DType::u8, {40, 6});
  for (Index k = 0; k < x.size(); ++k) x.data<std::uint8_t>()[k] = static_cast<std::uint8_t>(k % 4);
  CHECK(interpret(shifted, shifted.outputs, shifted.inputs, {x})[0].to_vector<double>() == interpret(graph, graph.outputs, graph.inputs, {x})[0].to_vector<double>());
}
