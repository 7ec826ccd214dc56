// What a call refuses, in whole texts; nothing is written then.
#include <weft/function.h>
#include <weft/rearrange.h>
#include <weft/recurrence.h>

#include <error_text.h>

#include "compiled.h"

using namespace weft;

namespace {

constexpr double sentinel = 77;

// %y is x * w and %r the largest of each row.
struct Demo {
  Function f = compile_text("graph demo(%x: f32[n,m], %w: f32[m], %k: i64[3]) -> (%0, %1, %2) {\n%0: f32[i:n,j:m] = multiply(%x[i,j], %w[j])\n"
                            "%1: f32[i:n] = max(j:m) copy(%x[i,j])\n%2: i64[i:3] = negative(%k[i])\n}");
  Array x = counting(f32, {4, 3}), w = counting(f32, {3}), k = counting(i64, {3});
  Array y{f32, {4, 3}}, r{f32, {4}}, j{i64, {3}};

  // The text of what f.run throws, after a look at the outputs.
  std::string run(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const {
    for (const Array& output : outputs)
      if (output.is_writable()) output.fill(Scalar::of(output.dtype(), sentinel));
    const std::string text = error_text([&] { f.run(inputs, outputs); });
    for (const Array& output : outputs)
      for_each_element(output.shape(), [&](const Dims& index) {
        if (output.is_writable()) CHECK(output.get(index).as_double() == sentinel);
      });
    CHECK(error_text([&] { f.bind(inputs, outputs); }) == text);
    return text;
  }
  std::string with_inputs(const std::vector<Array>& inputs) const {
    const std::string text = run(inputs, {y, r, j});
    CHECK(error_text([&] { f(inputs); }) == text);
    return text;
  }
  std::string with_outputs(const std::vector<Array>& outputs) const { return run({x, w, k}, outputs); }
};

}  // namespace

TEST_CASE("the number of arguments") {
  const Demo d;
  CHECK(d.with_inputs({d.x}) == "usage: expected 3 arrays (%x, %w, %k), got 1");
  CHECK(d.with_inputs({}) == "usage: expected 3 arrays (%x, %w, %k), got 0");
  CHECK(d.with_inputs({d.x, d.w, d.k, d.k}) == "usage: expected 3 arrays (%x, %w, %k), got 4");
}

TEST_CASE("the dtype of an argument") {
  const Demo d;
  CHECK(d.with_inputs({Array(f64, {4, 3}), d.w, d.k}) == "dtype: input %x is f32 but got an array of f64\n"
                                                         "  nothing is cast implicitly: convert the array, or declare the input as f64");
  CHECK(d.with_inputs({d.x, d.w, Array(i32, {3})}) == "dtype: input %k is i64 but got an array of i32\n"
                                                      "  nothing is cast implicitly: convert the array, or declare the input as i32");
}

TEST_CASE("the rank of an argument") {
  const Demo d;
  CHECK(d.with_inputs({Array(f32, {4}), d.w, d.k}) == "shape: input %x has shape [n, m] but got an array of shape [4]");
  CHECK(d.with_inputs({d.x, Array(f32, {1, 3}), d.k}) == "shape: input %w has shape [m] but got an array of shape [1, 3]");
}

TEST_CASE("a static extent") {
  const Demo d;
  CHECK(d.with_inputs({d.x, d.w, Array(i64, {4})}) == "shape: axis 0 of %k has extent 3 but got 4 (an array of shape [4])");
}

TEST_CASE("a symbol of two sizes") {
  const Demo d;
  CHECK(d.with_inputs({d.x, Array(f32, {5}), d.k}) == "shape: symbol m is 3 on axis 1 of %x but 5 on axis 0 of %w");
  CHECK(d.with_inputs({d.x, Array(f32, {1}), d.k}) == "shape: symbol m is 3 on axis 1 of %x but 1 on axis 0 of %w");
}

TEST_CASE("an extent that is computed from symbols") {
  Graph g;
  const Expr y = g.input("y", f32, {parse_extent("2*n+1")}), z = g.input("z", f32, {"n"});
  const Function f = compile({y + 1}, {y, z});
  CHECK(error_text([&] { f({Array(f32, {5}), Array(f32, {3})}); }) == "shape: axis 0 of %y has extent 2*n+1 = 7 but got 5 (an array of shape [5])");
  CHECK(error_text([&] { f({Array(f32, {7}), Array(f32, {3})}); }) == "no error");
}

TEST_CASE("the number, shape and dtype of outputs") {
  const Demo d;
  CHECK(d.with_outputs({d.y}) == "usage: expected 3 output arrays, got 1");
  CHECK(d.with_outputs({}) == "usage: expected 3 output arrays, got 0");
  CHECK(d.with_outputs({Array(f32, {3, 4}), d.r, d.j}) == "shape: output 0 has shape [4, 3] but the array given for it has [3, 4]\n"
                                                          "  shapes of given arrays never change: pass an array of this shape");
  CHECK(d.with_outputs({d.y, Array(f32, {4, 1}), d.j}) == "shape: output 1 has shape [4] but the array given for it has [4, 1]\n"
                                                          "  shapes of given arrays never change: pass an array of this shape");
  CHECK(d.with_outputs({d.y, Array(f64, {4}), d.j}) == "dtype: output 1 has dtype f32 but the array given for it has f64");
  CHECK(d.with_outputs({d.y, d.r, Array(u64, {3})}) == "dtype: output 2 has dtype i64 but the array given for it has u64");
}

TEST_CASE("an output that cannot be written") {
  const Demo d;
  CHECK(d.with_outputs({d.y, d.r.read_only(), d.j}) == "usage: output 1 is given a read-only array\n  pass a writable one");
  const auto strided = [&](const Dims& strides) { return Array::borrow(View(d.y.View::data(), f32, {4, 3}, strides), d.y.owner()); };
  CHECK(d.with_outputs({strided({0, 1}), d.r, d.j}) == "usage: output 0 is given an array with strides [0, 1] in which two indices may name one element\n"
                                                       "  pass an array without zero strides");
  CHECK(d.with_outputs({strided({1, 1}), d.r, d.j}) == "usage: output 0 is given an array with strides [1, 1] in which two indices may name one element\n"
                                                       "  pass an array without zero strides");
}

TEST_CASE("the last of several wrong things is found before anything is written") {
  const Demo d;
  CHECK(d.with_outputs({d.y, d.r, d.j.read_only()}) == "usage: output 2 is given a read-only array\n  pass a writable one");
}

TEST_CASE("max over an axis without elements") {
  const Demo d;
  CHECK(d.run({Array(f32, {4, 0}), Array(f32, {0}), d.k}, {Array(f32, {4, 0}), d.r, d.j}) ==
        "shape: max over an axis of extent 0 has no identity; m = 0\n  %1: f32[i:n] = max(j:m) copy(%x[i,j])\n"
        "  make sure that the axis has an element, or concatenate an initial value");
  CHECK(error_text([&] { d.f({Array(f32, {0, 3}), d.w, d.k}); }) == "no error");
}

TEST_CASE("a slice that does not fit the size of the call") {
  Graph g;
  const Expr y = g.input("y", f32, {"n"});
  const Function tail = compile({y.slice({{3, {}}}) + 1}, {y}), third = compile({y.slice({-3}) + 1}, {y});
  CHECK(error_text([&] { tail({Array(f32, {2})}); }) == "shape: an axis cannot have extent n-3 = -1\n  %0: f32[i:n-3] = copy(%y[i+3])");
  CHECK(error_text([&] { third({Array(f32, {2})}); }) == "shape: index -1 is outside axis 0 of %y, which has extent n = 2\n"
                                                         "  %0: f32[] = copy(%y[n-3])\n                   ^~~~~~~");
  CHECK(tail({Array(f32, {3})})[0].size() == 0);
}

// The loops read through the first slice: they would find elements there.
TEST_CASE("a slice of a slice that reaches what the first one left out") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), tail = x.slice({{1, {}}}), head = x.slice({{{}, -1}});
  const auto refused = [&](const Expr& result, Index n) {
    CAPTURE(n);
    const std::string compiled = error_text([&] { compile({result}, {x})({Array(f32, {n})}); }), interpreted = error_text([&] { interpret({result}, {x}, {Array(f32, {n})}); });
    CHECK(compiled.substr(0, 6) == interpreted.substr(0, 6));
    return compiled.starts_with("shape:");
  };
  for (const Expr& result : {tail.slice({{-2, {}}}), sum(tail.slice({{-2, {}}})), tail.slice({-2}), (tail * 2).slice({{-2, {}}}), head.slice({1}), flip(tail).slice({-2}), cumulative_sum(tail.slice({{-2, {}}}))}) {
    CHECK(refused(result, 2));
    CHECK_FALSE(refused(result, 3));
  }
  const Expr padded = pad(x.slice({{2, {}}}) * 2, {{2, 0}}), joined = concat({x, x}).slice({{3, {}}}).slice({-2});
  CHECK(refused(padded, 1));
  CHECK_FALSE(refused(padded, 2));
  CHECK(refused(joined, 2));
  CHECK_FALSE(refused(joined, 3));
}

TEST_CASE("a refused call is refused in the same words by the interpreter") {
  const Demo d;
  const Graph& graph = d.f.final_graph();
  const auto interpreted = [&](const std::vector<Array>& inputs) { return error_text([&] { interpret(graph, graph.outputs, graph.inputs, inputs); }); };
  for (const auto& inputs : {std::vector<Array>{d.x}, {d.w, d.w, d.k}, {d.x, Array(f32, {5}), d.k}, {Array(f32, {4, 0}), Array(f32, {0}), d.k}})
    CHECK(interpreted(inputs) == error_text([&] { d.f(inputs); }));
}

TEST_CASE("a function works after a refused call") {
  const Demo d;
  CHECK(d.with_inputs({d.x}) != "no error");
  check_call(d.f, {d.x, d.w, d.k});
}
