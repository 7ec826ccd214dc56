// Variances in one pass, over every choice of axes, in any layout: the interpreter's bits, and the values of two passes.
#include <cmath>
#include <sstream>

#include "bits.h"
#include "layouts.h"

using namespace weft;

namespace {

// In f64, where the mean is used elsewhere: two passes.
std::vector<double> in_two_passes(const Array& x, const Axes& axes) {
  Graph g;
  Shape shape;
  for (Index extent : x.shape()) shape.push_back(extent);
  const Expr input = g.input("x", x.dtype(), shape), wide = cast(input, f64);
  return interpret({var(wide, axes), mean(wide, axes)}, {input}, {x}).at(0).to_vector<double>();
}

void check_variance(const Array& x, const Axes& axes, int threads) {
  Graph g;
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) shape.push_back(Extent(std::string(1, static_cast<char>('a' + d))));
  const Expr input = g.input("x", x.dtype(), shape);
  const Expr variance = var(input, axes);
  const Function f = compile({variance, cast(variance, f64)}, {input}, {.threads = threads, .verify = true});
  same_bits(f, {x});
  const std::vector<double> found = f({x}).at(1).to_vector<double>(), expected = in_two_passes(x, axes);
  const double epsilon = x.dtype() == f64 ? 1e-13 : x.dtype() == f16 ? 1e-3 : 3e-6;
  for (std::size_t k = 0; k < found.size(); ++k)
    CHECK((found[k] == doctest::Approx(expected[k]).epsilon(epsilon) || (x.dtype() == f16 && expected[k] >= 65519 && std::isinf(found[k]))));
}

}  // namespace

TEST_CASE("variances over any axes") {
  for (const DType dtype : {f32, f64, f16, u8})
    for (const Dims& shape : {Dims{5, 40, 36}, Dims{100, 3, 17}, Dims{1, 2000, 2}, Dims{33, 1, 1}, Dims{2, 1, 5000}})
      for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{0, 1}, Axes{0, 2}, Axes{1, 2}, Axes{0, 1, 2}}) check_variance(uneven(dtype, shape), axes, 2);
}

TEST_CASE("variances of arrays in any layout") {
  const Array x = uneven(f32, {70, 50});
  for (const auto& [name, view] : layouts(f32, x.shape())) {
    CAPTURE(name);
    for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 1}}) check_variance(filled_like(x, view), axes, 1);
  }
}

TEST_CASE("many rows, and many elements of one") {
  for (const Dims& shape : {Dims{3000, 100}, Dims{9000, 17}, Dims{20000, 4}, Dims{1 << 18, 1}})
    for (int threads : {1, 3}) check_variance(uneven(f32, shape), Axes{0}, threads);
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({var(x)}, {x}, {.threads = 2, .verify = true});
  for (Index n : {0, 1, 15, 16, 17, 1000, 100000}) same_bits(f, {uneven(f32, {n})});
}

TEST_CASE("columns are vectors in the loop over the sample and in that over all rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  for (const Expr& e : {var(x, 0), sum(x - mean(x.slice({{{}, {}, 16}}), 0), 0)}) {
    const Function f = compile({e}, {x}, {.threads = 1});
    f({Array(f32, {4096, 512})});
    const std::string program = f.program();
    CAPTURE(program);
    CHECK(program.find("in (n+15)/16, folds") != std::string::npos);
    std::istringstream lines(program);
    for (std::string line; std::getline(lines, line);)
      if (line.find(" lanes ") != std::string::npos) CHECK(line.find(" in d") != std::string::npos);
  }
}

TEST_CASE("variances of parts, from the last row to the first, and of what few ops compute") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"d"});
  const Function f = compile({var(x.slice({{1, {}}}), 0), var(x.slice({{{}, {}, -1}}), 0), var(exp(x / 100) * y, 0), var(x)}, {x, y}, {.threads = 2, .verify = true});
  for (const Dims& shape : {Dims{2, 5}, Dims{100, 33}, Dims{3000, 16}, Dims{1, 1}}) same_bits(f, {uneven(f32, shape), uneven(f32, {shape[1]})});
}
