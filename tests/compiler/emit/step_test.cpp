// Arrays with steps of a few elements are read by whole vectors: the same bits as the interpreter gives, no byte outside of what the
// elements span, none by itself.
#include <weft/weft.h>

#if defined(__linux__)
#include <cstdlib>

#include "bits.h"
#include "guarded.h"

using namespace weft;

namespace {

constexpr Index steps[] = {2, 3, 4, -2, -3, -4};

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 37 % 113) / 4 - 3; });
}

// These values with a step along the last axis, in memory of which they are the first and the last element, next to a page that cannot be read.
Array apart(const Array& values, Index step, bool at_end = true) {
  const int last = values.rank() - 1;
  Dims shape = values.shape();
  shape.back() = (shape.back() - 1) * std::abs(step) + 1;
  Array memory(values.dtype(), shape);
  memory.fill(Scalar::of(values.dtype(), 77.0));
  const Array forwards = guarded(memory, at_end).slice(last, 0, values.shape().back(), std::abs(step)), view = step < 0 ? forwards.flip(last) : forwards;
  copy_elements(values, view);
  return view;
}

// Whether what lies beside each element but the last of its row is what `apart` put there.
bool is_blank_between(const Array& view) {
  const Index size = item_bytes(view.dtype()), beside = view.strides()[1] > 0 ? size : -size;
  for (Index i = 0; i < view.shape()[0]; ++i)
    for (Index j = 0; j + 1 < view.shape()[1]; ++j)
      if (!(Scalar::load(view.dtype(), element_address(view, {i, j}) + beside) == Scalar::of(view.dtype(), 77.0))) return false;
  return true;
}

void check_on(const Function& f, const std::vector<Array>& arrays) {
  const Graph& graph = f.final_graph(arrays);
  const std::vector<Array> results = f(arrays), expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
}

void check_all_extents(DType dtype, int lanes) {
  Graph g;
  const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", f64, {"n"});
  const Function f = compile({cast(x, f64) + y, sum(cast(x, f64) * y)}, {x, y}, {.threads = 1, .lanes = lanes, .verify = true});
  for (Index step : steps)
    for (Index n = 1; n <= 51; ++n) {
      CAPTURE(step);
      CAPTURE(n);
      for (bool at_end : {false, true}) check_on(f, {apart(counted(dtype, {n}), step, at_end), counted(f64, {n})});
    }
}

}  // namespace

TEST_CASE("elements a step of two to four apart, forwards and backwards: every dtype, width and small extent") {
  for (DType dtype : loop_dtypes)
    for (int lanes : {4, 8, 16}) {
      const bool one_of_its_size = dtype == u8 || dtype == f16 || dtype == f32 || dtype == f64;
      if (lanes < 16 && !one_of_its_size) continue;
      CAPTURE(lanes);
      CAPTURE(to_text(dtype));
      check_all_extents(dtype, lanes);
    }
}

TEST_CASE("slices with steps inside a graph, of arrays with steps and of arrays between nests") {
  for (DType dtype : {f32, f64, u8})
    for (Index by : {2, 3, -2}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"m", "n"}), y = g.input("y", dtype, {"m", "n"});
      const Expr part = x.slice({Slice::all, {{}, {}, by}}), sums = cumulative_sum(cast(y, f32), 0).slice({Slice::all, {{}, {}, by}});
      const Function f = compile({part, cast(part, f32) + sums, sum(part, 1), max(sums, 0)}, {x, y}, {.threads = 1, .verify = true});
      for (Index n : {1, 2, 31, 65, 130})
        for (Index step : {1, -1, 2}) {
          CAPTURE(by);
          CAPTURE(step);
          CAPTURE(n);
          const Array values = counted(dtype, {3, n});
          check_on(f, {apart(values, step), apart(values, 2, false)});
        }
    }
}

TEST_CASE("tiles, scans and folds of arrays with steps") {
  for (DType dtype : {f32, f64, u8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"m", "n"});
    const Function f = compile({permute_dims(x, {1, 0}) + y}, {x, y}, checked());
    const Function h = compile({permute_dims(x, {1, 0}), cumulative_sum(x, 1), sum(x, 0), sum(x, 1)}, {x}, checked());
    for (Index step : {2, 3, -2, -4})
      for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 40}, {16, 16}, {33, 47}, {70, 5}}) {
        CAPTURE(to_text(dtype));
        CAPTURE(step);
        check_on(f, {apart(counted(dtype, {n, m}), step), counted(dtype, {m, n})});
        check_on(h, {apart(counted(dtype, {n, m}), step, false)});
      }
  }
}

TEST_CASE("thin folds of arrays with steps") {
  for (DType dtype : {f32, u8})
    for (Index width : {2, 3, 4, 8}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", width});
      const Function f = compile({sum(x, 1), max(x, 0)}, {x}, checked());
      for (Index step : {2, 3, 4})
        for (Index n : {16, 33, 70}) check_on(f, {apart(counted(dtype, {n, width}), step)});
    }
}

// Of vectors one element each would be picked by so many shuffles that LLVM took most of a second.
TEST_CASE("elements further apart than half a vector are loads of their own") {
  const auto shuffles = [](const Function& f) {
    const std::string code = f.llvm();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = code.find("shufflevector", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  for (DType dtype : {f32, f64, u8})
    for (const auto& [rows, columns] : {std::pair<Index, Index>{3, 3}, {5, 3}, {2, 8}, {5, 2}}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", rows, columns});
      const Function middle = compile({sum(x, 1)}, {x}, checked()), others = compile({max(x, {0, 2}), sum(x, {0, 1})}, {x}, checked());
      for (Index n : {1, 16, 33, 500})
        for (const Function* f : {&middle, &others}) {
          check_on(*f, {counted(dtype, {n, rows, columns})});
          for (Index step : {1, -1, 2}) check_on(*f, {apart(counted(dtype, {n, rows, columns}), step)});
        }
      if (dtype == f32 && rows * columns == 15) CHECK(shuffles(middle) < 100);
    }
}

TEST_CASE("every second and fourth of rows of a few elements without gaps: pixels of a smaller picture") {
  for (DType dtype : {u8, f16, i32, f32, f64})
    for (int lanes : {8, 16})
      for (Index channels : {2, 3, 4})
        for (Index w : {3, 65, 131}) {
          CAPTURE(to_text(dtype));
          CAPTURE(lanes);
          CAPTURE(channels);
          CAPTURE(w);
          Graph g;
          const Expr x = g.input("x", dtype, {3, w, channels});
          const Expr even = x.slice({Slice{}, Slice{{}, {}, 2}}), odd = x.slice({Slice{}, Slice{1, {}, 2}}), fourth = x.slice({Slice{}, Slice{{}, {}, 4}});
          const Function f = compile({even, cast(odd, f32) + cast(even.slice({Slice{}, Slice{{}, -1}}), f32), sum(fourth, 1), permute_dims(even, {2, 0, 1}), odd.slice({Slice{}, Slice{}, 1})},
                                     {x}, {.threads = 1, .lanes = lanes, .verify = true});
          for (bool at_end : {false, true}) check_on(f, {guarded(counted(dtype, {3, w, channels}), at_end)});
        }
}

TEST_CASE("long bodies that read elements by steps have a loop without masks") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 4});
  Expr all = x.slice({Slice{}, 0});
  for (Index k = 1; k < 24; ++k) all = all * 0.5f + x.slice({Slice{}, k % 4});
  const Function f = compile({all}, {x}, {.threads = 1, .lanes = 16, .verify = true});
  check_on(f, {counted(f32, {1000, 4})});
  if (f.llvm().find("+avx512f") != std::string::npos) CHECK(f.llvm().find("masked.gather") == std::string::npos);
}

TEST_CASE("functions of bytes that lie apart are tables") {
  for (Index step : steps)
    for (Index n : {1, 300, 769, 1600}) {
      Graph g;
      const Expr x = g.input("x", u8, {n, 3}), gain = g.input("gain", f32, {3}), z = g.input("z", u8, {n});
      const auto curve = [](const Expr& bytes) { return cast(sin(cast(bytes, f32)) * 100.0f, u8); };
      check_bits({cast(sin(cast(x, f32) * gain) * 100.0f, u8)}, {x, gain}, {apart(counted(u8, {n, 3}), step), counted(f32, {3})});
      const Function f = check_bits({curve(z)}, {z}, {apart(counted(u8, {n}), step)}, 1);
      CHECK((f.llvm().find("lookups") != std::string::npos) == (n > 1));
    }
}

TEST_CASE("results with steps leave what lies between alone") {
  for (DType dtype : {f32, f64, u8, f16, bool_})
    for (Index step : steps) {
      Graph g;
      const Expr x = g.input("x", dtype, {"m", "n"});
      const Function f = compile({cast(x, dtype), permute_dims(x, {1, 0})}, {x}, {.threads = 1, .verify = true});
      for (Index n : {1, 17, 40}) {
        const Dims across{n, 5};
        const Array values = counted(dtype, {5, n}), blank(dtype, values.shape()), plain = apart(blank, step), turned = apart(Array(dtype, across), step);
        f.run({apart(values, -step)}, {plain, turned});
        CHECK(difference(plain, values) == "");
        CHECK(difference(turned, values.transpose()) == "");
        CHECK(is_blank_between(plain));
        CHECK(is_blank_between(turned));
      }
    }
}

TEST_CASE("known steps need no loads of single elements, others do") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 128}), y = g.input("y", f32, {"n", 128});
  const Function f = compile({sum(x * y, 1)}, {x, y}, checked());
  const Array values = counted(f32, {40, 128});
  for (Index step : {1, 2, 3, 4, -1, -2, -3, -4, 5}) {
    f({apart(values, step), values});
    const std::string code = f.llvm();
    const bool singly = code.find("masked.gather") != std::string::npos || code.find("insertelement <16 x float> %") != std::string::npos;
    CHECK(singly == (step == 5));
  }
}

TEST_CASE("each known step compiles once; the others are one") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({x * 2.0f}, {x}, checked());
  double seconds = 0;
  const auto compiles = [&](Index step, Index n) {
    f({apart(counted(f32, {n}), step)});
    const bool more = f.compile_seconds() > seconds;
    seconds = f.compile_seconds();
    return more;
  };
  for (Index step : {1, 2, 3, 4, 5, -1, -2, -3, -4}) {
    CHECK(compiles(step, 100));
    CHECK_FALSE(compiles(step, 20));
  }
  for (Index step : {6, 7, 100, -5, -6}) CHECK_FALSE(compiles(step, 100));
}
#endif
