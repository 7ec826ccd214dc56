// maximum and minimum of every pair of special numbers: NaN wins, and +0 lies above -0, also where the code knows that an operand is never -0.
#include "bits.h"

#include <cmath>
#include <limits>

using namespace weft;

namespace {

const double numbers[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN(), 1e-40, -1e-40, 1e30, -1e30};
constexpr Index count = std::size(numbers);

Array all_pairs(DType dtype, bool first, Index repeated) {
  return counted_by(dtype, {count * count * repeated}, [&](Index k) { return numbers[first ? k % count : k / count % count]; });
}

bool is_negative_zero(double x) { return x == 0 && std::signbit(x); }

}  // namespace

TEST_CASE("extremes of special numbers, of values that are never -0 as well") {
  for (const DType dtype : {f32, f64, f16})
    for (const int lanes : {0, 4, 8})
      for (const Index repeated : {1, 7}) {
        CAPTURE(dtype);
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n"});
        std::vector<Expr> outputs;
        for (const auto& [a, b] : std::vector<std::pair<Expr, Expr>>{
                 {x, y}, {1 - x, y}, {x, 1 - y}, {abs(x), y}, {x, abs(y)}, {x + 1, y}, {x, 0.5 + y}, {x * x, y}, {x, y * y}, {abs(x), abs(y)}, {1 - x * 0.5, y}, {x, 2 - y * x},
                 {x * y + 1, x}, {(x + 1) + y, y}, {x - y, y}, {x, x}, {-x, y}}) {
          outputs.push_back(maximum(a, b));
          outputs.push_back(minimum(a, b));
        }
        check_bits(outputs, {x, y}, {all_pairs(dtype, true, repeated), all_pairs(dtype, false, repeated)}, 1, lanes);
      }
}

TEST_CASE("the signs of zero and NaN are what they should be") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), y = g.input("y", f64, {"n"});
  const std::vector<Array> arrays{all_pairs(f64, true, 1), all_pairs(f64, false, 1)};
  const std::vector<Array> results = compile({maximum(x, y), minimum(x, y), maximum(abs(x), y), minimum(abs(x), y)}, {x, y}, {.threads = 1})(arrays);
  for (Index k = 0; k < count * count; ++k) {
    const double b = numbers[k / count % count];
    for (std::size_t which = 0; which < results.size(); ++which) {
      const double a = which < 2 ? numbers[k % count] : std::abs(numbers[k % count]), got = results[which].data<double>()[k];
      if (std::isnan(a) || std::isnan(b)) {
        CHECK(std::isnan(got));
      } else if (a == 0 && b == 0) {
        CHECK(is_negative_zero(got) == (which % 2 == 0 ? is_negative_zero(a) && is_negative_zero(b) : is_negative_zero(a) || is_negative_zero(b)));
      } else {
        CHECK(got == (which % 2 == 0 ? std::max(a, b) : std::min(a, b)));
      }
    }
  }
}

TEST_CASE("extremes of rows and columns: NaN wherever it stands, zeros of either sign, infinities") {
  for (const DType dtype : {f32, f64, f16})
    for (const int lanes : {0, 4, 8})
      for (const Index length : {1, 7, 16, 17, 32, 33, 64, 100, 300}) {
        CAPTURE(dtype);
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", length > 64 ? Extent("m") : Extent(length)});
        std::vector<Expr> outputs;
        for (const int axis : {0, 1}) outputs.insert(outputs.end(), {max(x, axis), min(x, axis), max(x, axis) - min(x, axis)});
        const Function f = compile(outputs, {x}, {.threads = 1, .lanes = lanes, .verify = true});
        same_bits(f, {special(dtype, {19, length})});
        same_bits(f, {counted_by(dtype, {19, length}, [&](Index k) { return k % length == k / length ? 0.0 : -0.0; })});      // one +0 in each row
        same_bits(f, {counted_by(dtype, {19, length}, [&](Index k) { return k % length == k / length ? -0.0 : 0.0; })});
        same_bits(f, {counted_by(dtype, {19, length}, [&](Index k) { return k % length == k / length ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(k % 7) - 3; })});
        same_bits(f, {counted_by(dtype, {19, length}, [&](Index k) { return k % 2 == 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity(); })});
        same_bits(f, {counted_by(dtype, {19, length}, [](Index) { return -std::numeric_limits<double>::infinity(); })});
      }
}

TEST_CASE("extremes of many rows of a few, of long rows by several threads, and over all axes") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compile({max(x, 1), min(x, 1), max(x, 0), min(x, 0), max(x), min(x), max(abs(x), 0), max(where(x > 0, x, -x), 1)}, {x}, {.threads = 2, .verify = true});
  for (const auto& [n, m] : {std::pair<Index, Index>{5000, 3}, {3, 5000}, {2000, 10}, {10, 70000}, {600, 700}, {1, 1}}) {
    same_bits(f, {special(f32, {n, m})});
    same_bits(f, {uneven(f32, {n, m})});
    same_bits(f, {counted_by(f32, {n, m}, [](Index) { return -0.0; })});
  }
}

TEST_CASE("more extremes in one loop than there are registers") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  std::vector<Expr> outputs;
  for (int k = 1; k <= 40; ++k) outputs.insert(outputs.end(), {max(abs(x - 0.1 * k)), min(abs(x + 0.1 * k))});
  for (const int lanes : {0, 4, 8}) {
    const Function f = compile(outputs, {x}, {.threads = 1, .lanes = lanes, .verify = true});
    for (const Index length : {1, 100, 1000}) same_bits(f, {uneven(f32, {length})});
  }
}

TEST_CASE("extremes down columns of a few elements, whose rows go as whole vectors: the same special numbers anywhere, with sums and conditions beside them") {
  for (const DType dtype : {f32, f64})
    for (const int lanes : {0, 8})
      for (const Index columns : {2, 3, 5, 7, 10, 15}) {
        CAPTURE(dtype);
        CAPTURE(lanes);
        CAPTURE(columns);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", columns});
        const Options options{.threads = 2, .lanes = lanes, .verify = true};
        const Function extremes = compile({max(x, 0), min(x, 0)}, {x}, options), beside = compile({max(x, 0), sum(x, 0), any(x > 1, 0), min(abs(x), 0)}, {x}, options),
                       both = compile({max(x, 0), max(x, 1)}, {x}, options);
        for (const Index n : {1, 3, 15, 16, 17, 47, 64, 1000, 5000})
          for (const Index period : {1, 3, 5, 14}) {
            const Array plain = uneven(dtype, {n, columns}), zeros = counted_by(dtype, {n, columns}, [&](Index k) { return numbers[k * 7 % period]; });
            const Array rare = counted_by(dtype, {n, columns}, [&](Index k) { return k == n * columns * period / 15 ? std::nan("") : static_cast<double>(k % 97) - 40; });
            for (const Function* f : {&extremes, &beside, &both})
              for (const Array& array : {plain, zeros, rare}) same_bits(*f, {array});
          }
      }
}
