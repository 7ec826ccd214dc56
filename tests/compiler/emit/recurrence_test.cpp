// Compiled scans and folds with accumulators of one's own: the interpreter's bits, whatever the axis, layout and threads.
#include <weft/recurrence.h>

#include <moments.h>

#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Accumulator decay() {
  return Accumulator::fold("decay", 0.5, [](Expr s, Expr x) { return s * 0.25 + x; });
}

Function compiled(Graph& g, const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, int threads = 1) {
  static_cast<void>(g);
  return compile(outputs, inputs, checked(threads));
}

}  // namespace

// Any two of dtype, axis and function meet; not all three, which would be three times the code, in each of eight variants.
TEST_CASE("scans along each axis of a rank-3 array, every dtype") {
  Expr (*const functions[])(const Expr&, int) = {[](const Expr& x, int axis) { return cumulative_sum(x, axis); }, [](const Expr& x, int axis) { return cumulative_max(x, axis); },
                                                 [](const Expr& x, int axis) { return cumulative_prod(x, axis); }};
  int turn = 0;
  for (const DType dtype : loop_dtypes) {
    if (is_boolean(dtype)) continue;
    CAPTURE(to_text(dtype));
    Graph g;
    const Expr x = g.input("x", dtype, {"a", "b", "c"});
    std::vector<Expr> outputs;
    for (int axis = 0; axis < 3; ++axis) outputs.push_back(functions[(axis + turn) % 3](x, axis));
    ++turn;
    const Function f = compiled(g, outputs, {x});
    for (const Dims& shape : {Dims{3, 5, 19}, Dims{1, 33, 2}, Dims{0, 2, 3}, Dims{2, 0, 3}, Dims{4, 4, 1}}) {
      CAPTURE(to_text(shape));
      check_call(f, {uniform(dtype, shape)});
      check_call(f, {counting(dtype, {shape[2], shape[1], shape[0]}).transpose()});
    }
  }
}

TEST_CASE("a scan of a vector, with what comes before and after it") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  const Expr s = cumulative_sum(x * x);
  const Function f = compiled(g, {s, s / sum(x * x), cumulative_sum(s - 1), cumulative_sum(x, 0, {.dtype = std::nullopt, .reverse = true, .include_initial = false})}, {x});
  for (const Index n : {0, 1, 2, 15, 16, 17, 1000, 5000}) check_call(f, {uniform(f64, {n})});
}

TEST_CASE("folds over every subset of axes, both visiting orders") {
  Graph g;
  const Expr x = g.input("x", f64, {"a", "b", "c"});
  std::vector<Expr> outputs;
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    for (const Order order : {Order::c, Order::f}) outputs.push_back(reduce(x, decay(), axes, false, order));
  for (const Function& f : {compiled(g, outputs, {x}), compiled(g, outputs, {x}, 3)})
    for (const Dims& shape : {Dims{3, 5, 37}, Dims{1, 2, 1}, Dims{4, 0, 3}, Dims{70, 3, 2}}) {
      CAPTURE(to_text(shape));
      check_call(f, {uniform(f64, shape)});
      check_call(f, {uniform(f64, {shape[2], shape[1], shape[0]}).transpose()});
    }
}

TEST_CASE("values of one tuple state share its chain") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const std::vector<Expr> rows = reduce_all({x}, moments(), {1}), columns = reduce_all({x}, moments(), {0});
  const std::vector<Expr> along = scan_all({x}, moments(), 1);
  const Function f = compiled(g, {rows[0], rows[1], columns[0], columns[1], along[0], along[1], rows[0] / sqrt(rows[1] + 1)}, {x});
  for (const Dims& shape : {Dims{5, 40}, Dims{40, 5}, Dims{1, 1}, Dims{3, 0}}) check_call(f, {uniform(f32, shape)});
  const std::string text = f.program();
  std::size_t chains = 0;
  for (std::size_t at = 0; (at = text.find(", carries ", at)) != std::string::npos; ++at) ++chains;
  CHECK(chains == 2);
}

TEST_CASE("kept axes run as vectors and over threads, with the same bits") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const std::vector<Expr> outputs{scan(x, decay(), 0), reduce(x, decay(), {0}), cumulative_sum(x * x, 0)};
  const Function one = compiled(g, outputs, {x}), four = compiled(g, outputs, {x}, 4);
  const Array a = uniform(f32, {50, 3000});
  CHECK(one.program().find("lanes") != std::string::npos);
  const std::vector<Array> left = one({a}), right = four({a});
  for (std::size_t k = 0; k < left.size(); ++k) CHECK(difference(left[k], right[k]) == "");
  check_call(one, {a});
}

TEST_CASE("a scan of one element, and an axis of extent one") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 1}), s = g.input("s", f64, {1});
  const Function f = compiled(g, {scan(x, decay(), 1), reduce(x, decay(), {1}), scan(s, decay(), 0), reduce(s, decay()), reduce(x, decay(), std::vector<int>())}, {x, s});
  check_call(f, {uniform(f64, {20, 1}), uniform(f64, {1})});
  check_call(f, {uniform(f64, {0, 1}), uniform(f64, {1})});
}

TEST_CASE("a scan from the last element shares a loop that runs backwards with what reads it") {
  Graph g("products");
  const Expr x = g.input("x", f32, {"n", 80});
  const Function f = compiled(g, {prod(x, 1), grad(sum(prod(x, 1)), {x})[0]}, {x});
  for (const Index n : {1, 15, 16, 40, 200}) check_call(f, {uniform(f32, {n, 80})});
  const std::string text = f.program();
  CHECK(text.find("load row7(%x)[79-j,i]") != std::string::npos);      // what the first loop has transposed
  CHECK(text.find("[i,79-j] = t") != std::string::npos);
  std::size_t loops = 0;
  for (std::size_t at = 0; (at = text.find("serial j in 80", at)) != std::string::npos; ++at) ++loops;
  CHECK(loops == 2);                                                     // one forwards, one backwards
  CHECK(f.schedule().find("serial j:80 backwards {") != std::string::npos);
}

TEST_CASE("a scan of what is computed in place runs sixteen rows side by side, as a scan of an array does") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compiled(g, {cumulative_sum(x * 0.5f, 1), cumulative_sum(flip(x, {1}) + x, 1)}, {x});
  for (const Index n : {200, 16, 33, 5, 1}) check_call(f, {uniform(f32, {n, 50})});
  check_call(f, {uniform(f32, {200, 50})});
  CHECK(f.schedule().find("lanes i:n") != std::string::npos);
}

TEST_CASE("states of one vector go from row to row in registers, and of three and a part where they have 64 bytes") {
  const Index most = has_feature(host_features(0), "+avx512f") ? 63 : 16;
  for (const DType dtype : {f32, f64, i32, u8})
    for (const Index columns : {1, 2, 3, 5, 8, 15, 16, 17, 33, 63, 64}) {
      CAPTURE(to_text(dtype));
      CAPTURE(columns);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", columns}), y = g.input("y", dtype, {"n", "m"});
      const Expr sums = cumulative_sum(x, 0);
      const Function known = compiled(g, {sums, sums * x + 1, flip(cumulative_max(flip(x, {0}), 0), {0})}, {x}), any = compiled(g, {cumulative_prod(y, 0)}, {y});
      for (const Index n : {0, 1, 7, 8, 9, 15, 16, 17, 100, 700}) {
        const Array array = uniform(dtype, {n, columns});
        check_call(known, {array});
        check_call(any, {array});
      }
      if (dtype == f32 && columns > 1) CHECK((known.report().find(" elements of i together") != std::string::npos) == (columns <= most));
    }
}

TEST_CASE("long functions beside a scan run as vectors: in tiles of eight, or in nests of their own") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), s = cumulative_sum(x * 0.25f, 1);
  const Function rows = compiled(g, {exp(s * 0.01f) * x}, {x}), several = compiled(g, {exp(s * 0.01f), tanh(s), sum(s, 1)}, {x});
  for (const Dims& shape : {Dims{200, 40}, Dims{16, 17}, Dims{33, 8}, Dims{7, 70}, Dims{1, 300}, Dims{3, 1}}) {
    same_bits(rows, {uniform(f32, shape)});
    same_bits(several, {uniform(f32, shape)});
  }
  same_bits(rows, {uniform(f32, {200, 40})});
  CHECK(rows.report().find("tiles of 8 elements of j") != std::string::npos);

  const Expr v = g.input("v", f32, {"k"}), positive = exp(v);
  const Function line = compiled(g, {exp(cumulative_sum(v, 0)), log(cumulative_sum(positive, 0)), grad(sum(exp(cumulative_sum(v, 0) * 0.01f)), {v})[0]}, {v});
  for (const Index k : {1, 63, 64, 100, 1000}) same_bits(line, {uniform(f32, {k})});
  const Function of_one = compiled(g, {exp(cumulative_sum(v, 0))}, {v});
  same_bits(of_one, {uniform(f32, {1000})});
  CHECK(of_one.report().find("one element at a time") != std::string::npos);
}

TEST_CASE("scans down wide matrices run along whole rows, with what is made of them") {
  for (const auto& [rows, columns, threads] : std::vector<std::tuple<Index, Index, int>>{{5, 5000, 1}, {40, 3001, 2}, {700, 4096, 1}, {3, 70000, 2}}) {
    CAPTURE(columns);
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", u8, {"n", "m"});
    const Function f = compiled(g, {1 - x / cumulative_max(x, 0), cast(cumulative_sum(y, 0), i32)}, {x, y}, threads);
    check_call(f, {uniform(f32, {rows, columns}), uniform(u8, {rows, columns})});
  }
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compiled(g, {1 - x / cumulative_max(x, 0)}, {x});
  f({uniform(f32, {700, 4096})});
  CHECK(f.report().find("1 nests") != std::string::npos);
  CHECK(f.program().find("parallel j in m by 4096") != std::string::npos);
}

TEST_CASE("scans of long rows in both directions need an array between nests, not rows of scratch as long") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compiled(g, {grad(sum(prod(x, 1)), {x})[0]}, {x});
  check_call(f, {uniform(f32, {3, 200})});
  CHECK(f.report().find("1 nests") != std::string::npos);
  const Function of_long = compiled(g, {grad(sum(prod(x, 1)), {x})[0]}, {x});
  of_long({uniform(f32, {4, 50000})});
  CHECK(of_long.report().find("2 nests") != std::string::npos);
  CHECK(of_long.bind({uniform(f32, {4, 50000})}, {Array(f32, {4, 50000})}).scratch_bytes() < 100000);
}

TEST_CASE("products of rows and their gradients: thin rows, tiles of eight and sixteen, more than a leaf") {
  for (DType dtype : {f32, f64, f16})
    for (const Index m : {1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 31, 32, 40, 64, 1100}) {
      CAPTURE(m);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", m < 100 ? Extent(m) : Extent("m")});
      const Function f = compiled(g, {prod(x, 1), grad(sum(prod(x, 1)), {x})[0], cumulative_sum(x, 1, {.dtype = std::nullopt, .reverse = true, .include_initial = false}) * x}, {x}, 2);
      for (const Index n : {5, 37, 1040})
        if (n * m <= 40000) check_call(f, {uniform(dtype, {n, m})});
    }
}

TEST_CASE("gradients of folds and scans: states kept by a scan over several axes") {
  Graph g;
  const Expr x = g.input("x", f64, {"a", "b", "c"});
  const auto acc = Accumulator::fold("mulplus", 1.0, [](Expr s, Expr e) { return s * e + e; });
  std::vector<Expr> outputs;
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {2}, {0, 1}, {0, 2}, {0, 1, 2}})
    for (const Order order : {Order::c, Order::f}) outputs.push_back(grad(sum(reduce(x, acc, axes, false, order)), {x})[0]);
  outputs.push_back(grad(sum(prod(x, {0, 2})), {x})[0]);
  outputs.push_back(grad(sum(cumulative_prod(x, 1)), {x})[0]);
  const Function f = compiled(g, outputs, {x});
  for (const Dims& shape : {Dims{3, 2, 5}, Dims{1, 4, 18}, Dims{2, 0, 3}, Dims{20, 1, 2}}) {
    CAPTURE(to_text(shape));
    check_call(f, {uniform(f64, shape)});
  }
}

TEST_CASE("what reads a scan along rows at another index has a nest of its own, so that the scan runs in tiles") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Expr sums = cumulative_sum(x, 1);
  const Function f = compile({(sums.slice({{}, {3, {}}}) - sums.slice({{}, {{}, -3}})) * 0.5f}, {x}, {.threads = 1, .verify = true});
  for (const auto& [n, d] : {std::pair<Index, Index>{40, 50}, {5, 50}, {300, 20}, {1, 4}, {3, 3}}) same_bits(f, {uneven(f32, {n, d})});
  CHECK(f.bind({Array(f32, {40, 50})}, {Array(f32, {40, 47})}).loop_nests() == 2);
}
