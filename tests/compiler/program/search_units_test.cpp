// argmax and its like leave out units without the extreme: wherever it stands, also several times, as NaN and as zeros of both signs.
#include "program/search_units.h"

#include <limits>

#include "bits.h"

using namespace weft;

namespace {

constexpr const char* searches = "searches units by";

int times_in(const std::string& text, const std::string& what) {
  int times = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

Function compiled(const std::vector<Expr>& results, const std::vector<Expr>& inputs, int threads = 1) { return compile(results, inputs, {.threads = threads, .verify = true}); }

// 10000 elements, which are three units.
std::vector<float> elements() {
  std::vector<float> x(10000);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>((k * 7919) % 9973) / 10000;
  return x;
}

std::int64_t found(const Function& f, const std::vector<float>& x) { return f({Array::from<float>(x)})[0].at<std::int64_t>({}); }

}  // namespace

TEST_CASE("the largest element is found in any unit, the first of several") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  for (const int threads : {1, 2}) {
    const Function f = compiled({argmax(x, 0)}, {x}, threads);
    for (const std::size_t at : {0, 1, 4095, 4096, 5000, 8191, 8192, 9999}) {
      std::vector<float> values = elements();
      values[at] = 2;
      CHECK(found(f, values) == static_cast<std::int64_t>(at));
      values[9999] = 2;
      CHECK(found(f, values) == static_cast<std::int64_t>(at));
    }
    CHECK(times_in(f.program(), searches) == 1);
    CHECK(times_in(f.report(), "left out") == 1);
  }
}

TEST_CASE("the first NaN is the extreme; zeros of both signs are the same") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function largest = compiled({argmax(x, 0)}, {x}), smallest = compiled({argmin(x, 0)}, {x});
  std::vector<float> values = elements();
  values[9000] = std::numeric_limits<float>::quiet_NaN();
  CHECK(found(largest, values) == 9000);
  values[4500] = -std::numeric_limits<float>::quiet_NaN();
  CHECK(found(largest, values) == 4500);
  CHECK(found(smallest, values) == 4500);
  std::vector<float> zeros(10000, -1.0f);
  zeros[5000] = -0.0f, zeros[9000] = 0.0f;
  CHECK(found(largest, zeros) == 5000);
  std::vector<float> infinite(10000, -std::numeric_limits<float>::infinity());
  CHECK(found(largest, infinite) == 0);
}

TEST_CASE("several extremes, of values that are computed, down columns, of all dtypes, along arrays of any length: the bits of the interpreter") {
  for (const DType dtype : {f32, f64, i32, i64, u8, f16, bf16}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n", "m"});
    const std::vector<std::vector<Expr>> cases{{argmax(x, 0), argmin(x, 0), max(x)}, {argmax(y, {0}), argmin(y, {0})}, {argmax(y)}, {argmax(x, 0), argmin(y, {0})}};
    for (const std::vector<Expr>& results : cases)
      for (const int threads : {1, 2}) {
        const Function f = compiled(results, {x, y}, threads);
        for (const Index n : {5000, 1, 1025, 8192, 20000}) same_bits(f, {uneven(dtype, {n}), uneven(dtype, {n, 5})});
      }
    const Expr z = x + x;
    const Function f = compiled({argmax(z, 0), z}, {x});
    for (const Index n : {5000, 12289, 3}) same_bits(f, {uneven(dtype, {n})});
  }
}

TEST_CASE("only what looks for an extreme along the same elements, and does nothing else") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const std::vector<Array> arrays{uneven(f32, {9000}), uneven(f32, {9000})};
  const auto count = [&](const std::vector<Expr>& results) {
    const Function f = compiled(results, {x, y});
    same_bits(f, arrays);
    return times_in(f.program(), searches);
  };
  const auto first_where = [&](const Expr& condition) { return min(where(condition, iota(g, x.shape()[0]), g.constant(std::numeric_limits<std::int64_t>::max()))); };
  CHECK(count({first_where(x == max(x))}) == 1);
  CHECK(count({first_where(max(x) == x)}) == 1);
  CHECK(count({first_where((x == max(x)) | isnan(x))}) == 1);
  CHECK(count({first_where((x == max(x)) | isnan(y))}) == 0);
  CHECK(count({first_where(y == max(x))}) == 0);
  CHECK(count({first_where(x >= max(x))}) == 0);
  CHECK(count({first_where(flip(x, {0}) == max(x))}) == 0);
  CHECK(count({first_where(x == sum(x))}) == 0);
  CHECK(count({min(where(x == max(x), iota(g, x.shape()[0]), g.constant(std::int64_t{20000})))}) == 0);
  CHECK(count({first_where(x == max(x)), sum(x / max(x))}) == 0);
  CHECK(count({first_where(x == max(x)), x / max(x)}) == 0);
}
