// Outputs that are reshapes: they are made in the memory of the output, whatever that is.
#include <weft/function.h>
#include <weft/rearrange.h>

#include "bits.h"

using namespace weft;

namespace {

int nests(const Function& f, const std::vector<Array>& inputs) { return f.bind(inputs, f(inputs)).loop_nests(); }

// What the graph as it was built has, interpreted.
Array expected_of(const Expr& y, const Expr& x, const Array& input) { return interpret({y}, {x}, {input})[0]; }

}  // namespace

TEST_CASE("a reshape at the end costs no loop and no memory") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), cube = g.input("c", f32, {4, 6, "n", 8});
  const Array a = uneven(f32, {24, 100}), c = uneven(f32, {4, 6, 10, 8});
  for (const Expr& y : {reshape(x * 2, {-1}), reshape(x - 1, {"m", "n"}), reshape(cumulative_sum(x, 1), {-1}), tile(x, {2, 3}), repeat(x, 3, 1), reshape(pad(x, {{1, 1}, {0, 0}}), {-1}), reshape(concat({x, x * 2}), {-1})}) {
    const Function f = check_bits({y}, {x}, {a});
    CHECK(nests(f, {a}) == 1);
    CHECK(f.bind({a}, f({a})).temporary_bytes() == 0);
  }
  const Function merged = check_bits({reshape(permute_dims(cube * 2, {0, 2, 1, 3}), {4, "n", 48})}, {cube}, {c});
  CHECK(nests(merged, {c}) == 1);
  const Function folded = check_bits({reshape(sum(cube, 2), {-1, 16})}, {cube}, {c});
  CHECK(nests(folded, {c}) == 1);
  CHECK(folded.graph().find("reshape") != std::string::npos);
}

TEST_CASE("given outputs may lie in any way, or upon inputs and each other") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Expr flat = reshape(x * 2 + 1, {-1}), turned = reshape(transpose(x) * 3, {"n", "m"});
  const Function f = compile({flat, turned}, {x}, {.threads = 2, .verify = true});
  for (const auto& [n, m] : {std::pair<Index, Index>{5, 7}, {1, 9}, {40, 33}, {0, 4}}) {
    const Array a = uneven(f32, {n, m});
    const std::vector<Array> expected{expected_of(flat, x, a), expected_of(turned, x, a)};
    const auto check = [&](const Array& input, const Array& first, const Array& second) {
      for (int run = 0; run < 2; ++run) {                        // a second one may be like the first
        if (input.data() != a.data()) copy_elements(a, input);
        f.run({input}, {first, second});
        CHECK(difference(second, expected[1]) == "");
        if (!first.overlaps(second)) CHECK(difference(first, expected[0]) == "");
      }
    };
    check(a, Array(f32, {n * m}), Array(f32, {n, m}));
    check(a, Array(f32, {2 * n * m}).slice(0, 0, n * m, 2), Array(f32, {n, m}));                         // with gaps
    check(a, Array(f32, {n * m}), Array(f32, {m, n}).transpose());
    check(a, Array(f32, {n * m}).flip(0), Array(f32, {2 * n, 2 * m}).slice(0, 0, n, 2).slice(1, 0, m, 2));
    const Array upon = a.copy();
    check(upon, Array::borrow(upon.reshape_view({n * m}), upon.owner()), Array(f32, {n, m}));            // the input itself
    check(upon, Array(f32, {n * m}), upon);
    const Array both(f32, {n * m});
    check(a, both, Array::borrow(both.reshape_view({n, m}), both.owner()));                              // the last one is seen
  }
}

TEST_CASE("values that are read elsewhere too, or reshaped twice, or are outputs themselves") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 12}), y = exp(x) * 2, flat = reshape(y, {-1});
  const Array a = uneven(f32, {37, 12});
  for (const auto& outputs : {std::vector<Expr>{flat, y}, {y, flat}, {flat, flat}, {flat, reshape(y, {-1, 3, 2})}, {flat, sum(y, 1)}, {flat, sum(reshape(y, {-1, 3}), 1)}, {flat, flat + 1, reshape(flat + 1, {12, "n"})},
                              {reshape(x, {-1}), reshape(transpose(x), {-1})}, {flat, g.constant(near_one(f32, {5})) * 2}}) {
    check_bits(outputs, {x}, {a});
    check_bits(outputs, {x}, {a.copy(Order::f)});
  }
}

TEST_CASE("rows that begin no lines, past the caches") {
  for (const Index m : {37, 64, 100}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m"}), t = g.input("t", f32, {"m", "n"});
    const std::vector<Expr> outputs{reshape(x * 2, {-1}), reshape(x + transpose(t), {-1, 1, 2}), reshape(x * 3, {"m", "n"})};
    const Function f = compile(outputs, {x, t}, {.threads = 2, .cache_bytes = 1, .verify = true});
    for (const Index n : {2, 64, 90}) same_bits(f, {uneven(f32, {n, m}), uneven(f32, {m, n})});
  }
}

TEST_CASE("calls alike share what was found out once, whatever arrays they have") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = reshape(x * 2, {-1});
  const Function f = compile({y}, {x}, {.threads = 1, .verify = true});
  for (int k = 0; k < 5; ++k) {
    const Array a = counted_by(f32, {6, 5}, [&](Index i) { return static_cast<double>(i + k); }), given(f32, {30}), expected = expected_of(y, x, a);
    f.run({a}, {given});
    CHECK(difference(given, expected) == "");
    CHECK(difference(f({a})[0], expected) == "");
    CHECK(f({a})[0].shape() == Dims{30});
  }
}

TEST_CASE("axes of few elements, which have code of their own") {
  Graph g;
  const Expr x = g.input("x", u8, {"n", "c"}), y = reshape(cast(x, f32) / 255, {-1});
  const Function f = compile({y, reshape(max(x, 1), {-1, 4})}, {x}, {.threads = 2, .verify = true});
  for (const Index c : {3, 4, 1, 7})
    for (const Index n : {40000, 8}) same_bits(f, {uneven(u8, {n, c})});
}
