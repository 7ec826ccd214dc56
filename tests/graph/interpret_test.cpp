#include <weft/interpret.h>

#include <cmath>
#include <doctest/doctest.h>
#include <error_text.h>
#include <weft/text.h>

using namespace weft;

namespace {

// Outputs of a graph in text, called with its inputs in order.
std::vector<Array> run(const std::string& text, const std::vector<Array>& arrays, const Bindings& extra = {}) {
  const Graph graph = parse(text);
  return interpret(graph, graph.outputs, graph.inputs, arrays, extra);
}
std::vector<double> values(const Array& array) { return array.to_vector<double>(); }
using Values = std::vector<double>;
Array iota_array(Dims shape, Order order = Order::c) {
  Array array(f64, shape, order);
  Dims index(shape.size(), 0);
  for (Index k = 0; k < array.size(); ++k) {
    Index rest = k;
    for (std::size_t axis = shape.size(); axis-- > 0;) index[axis] = rest % shape[axis], rest /= shape[axis];
    array.at<double>(index) = static_cast<double>(k);
  }
  return array;
}

}  // namespace

TEST_CASE("least squares and its gradient, as in the documentation") {
  const auto out = run(R"(graph lsq(%x: f64[n,m], %w: f64[m], %y: f64[n]) -> (%2, %4) {
    %0: f64[i:n] = sum(j:m) multiply(%x[i,j], %w[j])
    %1: f64[i:n] = subtract(%0[i], %y[i])
    %2: f64[] = sum(i:n) multiply(%1[i], %1[i])
    %3: f64[i:n] = multiply(2, %1[i])
    %4: f64[i:m] = sum(j:n) multiply(%3[j], %x[j,i])
  })", {iota_array({2, 3}), Array::from<double>({1, 0, -1}), Array::from<double>({1, 2})});
  CHECK(values(out[0]) == Values{25});          // residuals -3 and -4
  CHECK(values(out[1]) == Values{-24, -38, -52});
}

TEST_CASE("a letter that an operand lacks repeats it") {
  const auto out = run("graph g(%x: f64[n], %y: f64[m]) -> (%0) { %0: f64[i:n,j:m] = subtract(%x[i], %y[j]) }",
                       {Array::from<double>({1, 2}), Array::from<double>({10, 20, 30})});
  CHECK(out[0].shape() == Dims{2, 3});
  CHECK(values(out[0]) == Values{-9, -19, -29, -8, -18, -28});
}

TEST_CASE("maps transpose, slice, flip and fix") {
  const auto out = run(
                       "graph g(%x: f64[2,3]) -> (%0, %1, %2, %3) {\n"
                       "%0: f64[i:3,j:2] = copy(%x[j,i])\n%1: f64[i:2,j:2] = copy(%x[1-i,2*j])\n"
                       "%2: f64[i:3] = copy(%x[1,2-i])\n%3: f64[] = copy(%x[1,0])\n}\n", {iota_array({2, 3})});
  CHECK(values(out[0]) == Values{0, 3, 1, 4, 2, 5});
  CHECK(values(out[1]) == Values{3, 5, 0, 2});
  CHECK(values(out[2]) == Values{5, 4, 3});
  CHECK(values(out[3]) == Values{3});
}

TEST_CASE("inputs may have any strides") {
  const std::string text = "graph g(%x: f64[n,m]) -> (%0, %1) { %0: f64[i:n,j:m] = add(%x[i,j], 0) %1: f64[i:n] = sum(j:m) copy(%x[i,j]) }";
  const Array base = iota_array({4, 6});
  for (const Array& x : {base, base.transpose(), base.flip(1), base.slice(1, 0, 3, 2), iota_array({4, 6}, Order::f), base.flip(0).transpose()}) {
    const auto out = run(text, {x});
    CHECK(values(out[0]) == x.to_vector<double>());
    CHECK(out[0].is_contiguous(Order::c));
    const auto dense = run(text, {x.copy()});
    CHECK(values(out[1]) == values(dense[1]));
  }
}

TEST_CASE("several folded axes fold the last one first, in the documented order") {
  Array x(f32, {3, 40, 50});
  for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] = std::sin(static_cast<float>(k)) * 1e3f;
  const auto out = run("graph g(%x: f32[n,m,l]) -> (%0) { %0: f32[i:n] = sum(j:m,k:l) copy(%x[i,j,k]) }", {x});
  for (Index i = 0; i < 3; ++i) {
    float rows[40], total = 0;
    for (Index j = 0; j < 40; ++j) fold_values(AccumulatorId::sum, f32, x.data<float>() + (i * 40 + j) * 50, 50, 4, &rows[j]);
    fold_values(AccumulatorId::sum, f32, rows, 40, 4, &total);
    CHECK(out[0].at<float>({i}) == total);
  }
}

TEST_CASE("products are added unrounded along the axis that is folded first, their sums as they are") {
  const auto vast = [](Index count, double offset) {
    Array x(f64, {count});
    for (Index k = 0; k < count; ++k) x.data<double>()[k] = std::sin(static_cast<double>(k) + offset) * 1e3;
    return x;
  };
  const Array a = vast(3 * 40 * 50, 0.25).reshape_view({3, 40, 50}), b = vast(50 * 40, 0.5).reshape_view({50, 40});
  const auto out = run("graph g(%a: f64[n,m,l], %b: f64[l,m]) -> (%0, %1) {\n%0: f64[i:n] = sum(j:m,k:l) multiply(%a[i,j,k], %b[k,j])\n"
                       "%1: f64[i:n] = sum(j:m,k:l) square(%a[i,j,k])\n}", {a, b});
  for (Index i = 0; i < 3; ++i) {
    double products[40], squares[40], total = 0;
    for (Index j = 0; j < 40; ++j) {
      const double* row = a.data<double>() + (i * 40 + j) * 50;
      fold_products(f64, row, 8, b.data<double>() + j, 320, 50, &products[j]);
      fold_products(f64, row, 8, row, 8, 50, &squares[j]);
    }
    fold_values(AccumulatorId::sum, f64, products, 40, 8, &total);
    CHECK(out[0].at<double>({i}) == total);
    fold_values(AccumulatorId::sum, f64, squares, 40, 8, &total);
    CHECK(out[1].at<double>({i}) == total);
  }
  const auto none = run("graph g(%a: f32[n,m], %b: f32[m]) -> (%0, %1) { %0: f32[i:n] = sum(j:m) multiply(%a[i,j], %b[j])\n%1: f32[i:m] = sum(j:n) square(%a[j,i])\n}",
                        {Array(f32, {2, 0}), Array(f32, {0})});
  CHECK((none[0].at<float>({0}) == 0 && none[0].at<float>({1}) == 0));
  CHECK(none[1].shape() == Dims{0});
}

TEST_CASE("axes of extent 0 and scalars") {
  const auto out = run("graph g(%x: f64[n,m]) -> (%0, %1, %2, %3) {\n"
                       "%0: f64[i:n] = sum(j:m) copy(%x[i,j])\n%1: f64[] = sum(i:n,j:m) copy(%x[i,j])\n"
                       "%2: f64[i:m] = prod(j:n) copy(%x[j,i])\n%3: f64[i:n,j:m] = exp(%x[i,j])\n}", {Array(f64, {2, 0})});
  CHECK(values(out[0]) == Values{0, 0});
  CHECK_FALSE(std::signbit(values(out[1])[0]));
  CHECK(out[2].shape() == Dims{0});
  CHECK(out[3].shape() == Dims{2, 0});
}

TEST_CASE("constants, iota, extents and updates") {
  const auto out = run("graph g(%x: f64[n]) -> (%0, %1, %2, %3, 2:i32, %x) {\n"
                       "%0: f64[2,2] = constant [1, 2, 3, 4]\n%1: i64[i:n,j:2] = iota(i)\n%2: i64[] = extent(2*n-1)\n"
                       "%3: f64[2*n+1] = update(%x[i]) at [2*n-2*i]\n}", {Array::from<double>({5, 6})});
  CHECK(values(out[0]) == Values{1, 2, 3, 4});
  CHECK(out[1].to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 1, 1});
  CHECK(out[2].to_vector<std::int64_t>() == std::vector<std::int64_t>{3});
  CHECK(values(out[3]) == Values{0, 0, 6, 0, 5});
  CHECK(out[4].to_vector<std::int32_t>() == std::vector<std::int32_t>{2});
  CHECK(values(out[5]) == Values{5, 6});
}

TEST_CASE("updates within leave out what lands outside") {
  const auto out = run("graph g(%x: f64[n]) -> (%0, %1, %2, %3, %4) {\n"
                       "%0: f64[3] = update(%x[i]) within [i-1]\n%1: f64[5] = update(%x[i]) within [i+3]\n%2: f64[3] = update(%x[i]) within [1-i]\n"
                       "%3: f64[2] = update(%x[i]) within [i+2]\n%4: f64[0] = update(%x[i]) within [i]\n}", {Array::from<double>({5, 6, 7})});
  CHECK(values(out[0]) == Values{6, 7, 0});
  CHECK(values(out[1]) == Values{0, 0, 0, 5, 6});
  CHECK(values(out[2]) == Values{6, 5, 0});
  CHECK(values(out[3]) == Values{0, 0});
  CHECK(out[4].size() == 0);
}

TEST_CASE("f16 folds in f32") {
  Array x(f16, {3000});
  for (Index k = 0; k < 3000; ++k) x.data<Eigen::half>()[k] = Eigen::half(1.0f);
  const auto out = run("graph g(%x: f16[n]) -> (%0) { %0: f16[] = sum(i:n) copy(%x[i]) }", {x});
  CHECK(static_cast<float>(out[0].data<Eigen::half>()[0]) == 3000.0f);
}

TEST_CASE("outputs do not share memory with inputs") {
  Graph g("share");
  const Expr x = g.input("x", f64, {2});
  const Array array = Array::from<double>({1, 2});
  const auto out = interpret({x, x}, {x}, {array});
  out[0].data<double>()[0] = 9;
  CHECK(values(array) == Values{1, 2});
  CHECK(values(out[1]) == Values{1, 2});
}

TEST_CASE("what a call gets wrong is said before anything is computed") {
  Graph g("first"), h("second");
  const Expr x = g.input("x", f64, {"n"}), y = h.input("y", f64, {"n"});
  const Expr e(g, g.apply(Op::exp, f64, {"n"}, {{x.id(), identity_map(1)}}));
  const Array a(f64, {2});
  CHECK(error_text([&] { interpret({e}, {y}, {a}); }) == "usage: interpret: %y belongs to graph second, not to graph first");
  CHECK(error_text([&] { interpret({e}, {}, {}); }) == "usage: the outputs need input %x, which is not among the inputs given");
  CHECK(error_text([&] { interpret(std::vector<Expr>{}, {x}, {a}); }) == "usage: interpret: expected at least one output");
  CHECK(error_text([&] { interpret({Expr()}, {x}, {a}); }) == "usage: interpret: got an empty Expr");
  CHECK(error_text([&] { interpret({e}, {e}, {a}); }) == "usage: %0 is not an input of graph first");
}
