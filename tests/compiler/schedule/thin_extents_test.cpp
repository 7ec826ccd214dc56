// Axes of few elements: known to the graph, or by the call alone, which then has a variant of its own. Folds along and across
// them, results that lie across, every layout, against the interpreter.
#include "bits.h"
#include "layouts.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 8 - 13; });
}

bool knows(const Function& f, const Array& array, Index extent) {
  const Graph& graph = f.final_graph({array});
  return graph.node(graph.inputs[0]).domain.back().is(extent);
}

}  // namespace

TEST_CASE("an axis that the call makes thin is a number in the variant, in large arrays of up to four vectors and of up to sixteen that are not whole") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const auto fresh = [&] { return compile({sum(x, 1), sum(x, 0)}, {x}); };
  const auto called = [&] {
    const Function f = fresh();
    f({Array(f32, {3, 5})});
    return f;
  };
  for (Index d = 1; d <= 15; ++d) CHECK(knows(called(), Array(f32, {4096 / d + 1, d}), d));
  CHECK(knows(called(), Array(f32, {256, 16}), 16));
  CHECK(!knows(called(), Array(f32, {4096 / 4 - 1, 4}), 4));
  CHECK(!knows(called(), Array(f32, {4095, 1}), 1));
  for (Index d : {17, 31, 32, 33, 47, 48, 63, 64, 65, 100, 200, 255}) {
    CHECK(knows(called(), Array(f32, {65536 / d + 1, d}), d));
    CHECK(!knows(called(), Array(f32, {65536 / d - 1, d}), d));
  }
  for (Index d : {80, 96, 128, 256, 257, 300}) CHECK(!knows(fresh(), Array(f32, {10000, d}), d));
  CHECK(!knows(fresh(), Array(f32, {10000, 0}), 0));
}

TEST_CASE("the first call, which compiles anyway, makes numbers of axes in small arrays as well") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const auto fresh = [&] { return compile({sum(x, 1), sum(x, 0)}, {x}, {.threads = 1, .verify = true}); };
  for (Index d = 1; d <= 16; ++d) {
    CHECK(knows(fresh(), Array(f32, {64 / d + 1, d}), d));
    CHECK(!knows(fresh(), Array(f32, {63 / d, d}), d));
  }
  for (Index d : {17, 31, 63, 200}) {
    CHECK(knows(fresh(), Array(f32, {(1 << 14) / d + 1, d}), d));
    CHECK(!knows(fresh(), Array(f32, {(1 << 14) / d - 1, d}), d));
  }
  const Function f = fresh();
  same_bits(f, {counted(f32, {100, 1})});
  same_bits(f, {counted(f32, {100, 3})});
  same_bits(f, {counted(f32, {101, 7})});          // by now for all that are small
  const double seconds = f.compile_seconds();
  for (Index d : {2, 3, 5}) same_bits(f, {counted(f32, {101, d})});
  CHECK(f.compile_seconds() == seconds);
  same_bits(f, {counted(f32, {101, 1})});
  CHECK(!knows(f, Array(f32, {101, 2}), 2));
}

TEST_CASE("an axis of one element is a number where it is folded or the fastest, or between such") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", "c"}), y = g.input("y", f32, {"a", "b", "c"}, Order::f);
  const Function f = compile({x * 2, sum(y, 1), softmax(x, 0)}, {x, y}, {.threads = 2, .verify = true});
  for (const Dims& shape : {Dims{1, 70, 90}, Dims{70, 1, 90}, Dims{70, 90, 1}, Dims{1, 1, 5000}, Dims{5000, 1, 1}, Dims{1, 5000, 1}}) {
    CAPTURE(to_text(shape));
    const Array row_major = counted(f32, shape), column_major = row_major.copy(Order::f);
    const Graph& graph = f.final_graph({row_major, column_major});
    for (NodeId input : graph.inputs)
      for (std::size_t k = 0; k < 3; ++k) CHECK(graph.node(input).domain[k].is_number() == (shape[k] == 1));
    const std::vector<Array> results = f({row_major, column_major}), expected = interpret(graph, graph.outputs, graph.inputs, {row_major, column_major}, {}, compiled_math);
    for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
  }
}

TEST_CASE("a call that is too short for a variant of its own runs one that is there") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function f = compile({sum(x, 1), sum(x, 0)}, {x}, {.threads = 1, .verify = true});
  const auto run = [&](Index n, Index d) { same_bits(f, {counted(f32, {n, d})}); };
  run(2000, 100);
  const double seconds = f.compile_seconds();
  run(20, 100);
  run(10, 100);
  CHECK(f.compile_seconds() == seconds);
  CHECK(knows(f, Array(f32, {10, 100}), 100));
  run(10, 99);                                     // has the graph itself compiled, which runs all short calls from then on
  CHECK(f.compile_seconds() > seconds);
  CHECK(!knows(f, Array(f32, {10, 100}), 100));
  CHECK(knows(f, Array(f32, {2000, 100}), 100));
  run(2000, 100);
}

TEST_CASE("a folded axis may be thin wherever it lies; others of more than one element only where they are the fastest") {
  Graph g;
  const Expr x = g.input("x", f32, {"c", "n"});
  const Function folded = compile({sum(x, 0)}, {x}), not_folded = compile({x + 1.0f}, {x});
  const Array three(f32, {3, 5000});
  CHECK(folded.final_graph({three}).node(folded.final_graph({three}).inputs[0]).domain[0].is(3));
  CHECK(!not_folded.final_graph({three}).node(not_folded.final_graph({three}).inputs[0]).domain[0].is(3));
}

TEST_CASE("both axes of small matrices are numbers, if together they are so few") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "a", "b"}), y = g.input("y", f32, {"n", "a", "b"}, Order::f);
  const Function f = compile({sum(x, 0), softmax(x, 0), cumulative_sum(x, 0), x - mean(x, {0, 2}, true)}, {x}, {.threads = 2, .verify = true});
  const auto known = [&](const Dims& shape) {
    const Graph& graph = f.final_graph({Array(f32, shape)});
    const Shape& domain = graph.node(graph.inputs[0]).domain;
    return std::pair(domain[1].is_number(), domain[2].is_number());
  };
  f({counted(f32, {1, 2, 3})});
  CHECK(known({100, 5, 3}) == std::pair(false, false));
  CHECK(known({1000, 5, 3}) == std::pair(true, true));
  CHECK(known({1000, 4, 4}) == std::pair(true, true));
  CHECK(known({2000, 20, 3}) == std::pair(true, true));
  CHECK(known({1000, 20, 3}) == std::pair(false, true));
  CHECK(known({2000, 5, 13}) == std::pair(false, true));
  CHECK(known({1000, 25, 3}) == std::pair(false, true));
  CHECK(known({1000, 5, 0}) == std::pair(false, false));
  for (const Dims& shape : {Dims{1000, 5, 3}, Dims{700, 2, 7}, Dims{513, 4, 4}, Dims{1100, 20, 3}, Dims{1200, 5, 11}}) same_bits(f, {counted(f32, shape)});
  const Function along_columns = compile({sum(y, 2)}, {y}, {.verify = true});
  const Array array = counted(f32, {5, 3, 1000}).transpose();
  same_bits(along_columns, {counted(f32, {5, 3, 7}).transpose()});
  const Graph& graph = along_columns.final_graph({array});
  CHECK(graph.node(graph.inputs[0]).domain[1].is_symbol("a"));
  same_bits(along_columns, {array});
}

TEST_CASE("calls alternate between thin axes and others; many of them share the variant of all") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"e", "c"});
  const Function f = compile({sum(x, 1), softmax(x), sum(y, 0)}, {x, y}, {.threads = 2, .verify = true});
  const Graph& graph = f.final_graph();
  for (Index d : {3, 40, 4, 3, 1, 2, 16, 17, 64, 70})
    for (Index e : {2, 5, 40, 9}) {
      const std::vector<Array> arrays{counted(f32, {700 + 3000 / d, d}), counted(f32, {e, 1500})};
      const std::vector<Array> results = f(arrays), expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
      for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
    }
}

TEST_CASE("what is shown is the variant of the last call") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function f = compile({sum(x, 1)}, {x});
  f({Array(f32, {2000, 4})});
  CHECK(f.schedule().find("j:4") != std::string::npos);
  f({Array(f32, {2000, 400})});
  CHECK(f.schedule().find("j:d") != std::string::npos);
  f({Array(f32, {2000, 4})});                      // as before: what is known of its layout is shown as well
  CHECK(f.schedule().find("j:4") != std::string::npos);
  f({Array(f32, {2000, 400})});
  CHECK(f.schedule().find("j:d") != std::string::npos);
}

TEST_CASE("errors of a call with a thin axis are those of any call") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), w = g.input("w", f32, {"d"});
  const Function f = compile({x * w}, {x, w});
  CHECK_THROWS_WITH_AS(f({Array(f32, {5000, 4}), Array(f32, {3})}), doctest::Contains("d"), Error);
  CHECK_THROWS_AS(f({Array(f32, {5000, 4})}), Error);
}

TEST_CASE("folds along, across and over all of a thin axis, of every dtype, have the bits of the interpreter") {
  for (DType dtype : {f32, f64, f16, u8, i32})
    for (Index d : {2, 3, 4, 5, 7, 8, 12, 16})
      for (Index n : {1, 15, 16, 33, 1100}) {
        CAPTURE(d);
        CAPTURE(dtype);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", d});
        check_bits({sum(x, 1), sum(x, 0), sum(x), max(x, 1), max(x, 0)}, {x}, {counted(dtype, {n, d})});
      }
}

TEST_CASE("several loops over a thin axis, results that lie across, values by row and by column") {
  for (Index d : {2, 3, 4, 6, 8})
    for (Index n : {1, 14, 16, 50, 1030}) {
      CAPTURE(d);
      Graph g;
      const Expr x = g.input("x", f32, {"n", d}), y = g.input("y", f64, {"n", d}), w = g.input("w", f32, {d}), v = g.input("v", f32, {"n"});
      const std::vector<Array> arrays{counted(f32, {n, d}), counted(f64, {n, d}), counted(f32, {d}), counted(f32, {n})};
      check_bits({softmax(x), sum(x * w, 1) * v}, {x, w, v}, {arrays[0], arrays[2], arrays[3]});
      check_bits({layer_norm(x, w, w, 1), var(x, 0), cast(x, f64) * y}, {x, y, w}, {arrays[0], arrays[1], arrays[2]}, 3);
      check_bits({expand_dims(v, 1) * w, x * expand_dims(v, 1) + w, cumulative_sum(x, 1), cumulative_sum(x, 0)}, {x, w, v}, {arrays[0], arrays[2], arrays[3]});
      const Expr loss = sum(softplus(x * w) * expand_dims(v, 1));
      const std::vector<Expr> slopes = grad(loss, {x, w, v});
      check_bits({loss, slopes[0], slopes[1], slopes[2]}, {x, w, v}, {arrays[0], arrays[2], arrays[3]});
    }
}

TEST_CASE("thin axes of arrays laid out in any way") {
  for (Index d : {3, 4})
    for (Index n : {31}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", d}), w = g.input("w", f32, {"n"});
      const Function f = compile({softmax(x), sum(x, 0), exp(x) * expand_dims(w, 1)}, {x, w}, {.threads = 2, .verify = true});
      const Graph& graph = f.final_graph();
      const Array values = counted(f32, {n, d}), weights = counted(f32, {n});
      const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, {values, weights}, {}, compiled_math);
      for (const auto& [name, view] : layouts(f32, {n, d}))
        for (const auto& [result_name, result] : layouts(f32, {n, d})) {
          CAPTURE(name);
          CAPTURE(result_name);
          const Array other = result.copy();
          std::vector<Array> results{result, Array(f32, {d}), other};
          f.run({filled_like(values, view.copy()), weights}, results);
          for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
          f.run({filled_like(values, view), weights}, results);
          for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
        }
    }
}

TEST_CASE("long functions of few elements: softmax over classes, in whole vectors of rows and in parts") {
  for (const DType dtype : {f32, f64})
    for (Index d = 2; d <= 16; ++d)
      for (const Index rows : {4096 / d + 1, Index{4096}}) {
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "d"}), e = exp(x - max(x, 1, true)), centred = x - mean(x, 1, true);
        check_bits({e / sum(e, 1, true), centred / sqrt(mean(square(centred), 1, true) + 1), sum(erf(tanh(x)), 1)}, {x}, {counted(dtype, {rows, d})});
      }
}

TEST_CASE("rows of few elements that are read from the last, lie apart, or are of two bytes") {
  for (const Index d : {3, 5, 7, 10, 15})
    for (const DType dtype : {f32, f16, DType::i16, DType::u8}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "d"}), backwards = flip(x, 1);
      check_bits({sum(backwards, 1), x + expand_dims(max(x, 1), 1), cumulative_sum(x, 1)}, {x}, {counted(dtype, {1500, d})});
      const Array wide = counted(dtype, {1500, 16});
      check_bits({sum(x, 1), x - expand_dims(min(x, 1), 1)}, {x}, {Array::borrow(View(const_cast<void*>(wide.data()), dtype, {1500, d}, Dims{16, 1}))});
    }
}
