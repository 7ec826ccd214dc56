// Compiled reshapes: they name the memory of what was computed, whatever the layout of inputs and outputs.
#include <weft/function.h>

#include "compiled.h"

using namespace weft;

TEST_CASE("reshapes of inputs, of computed values, of folds and of windows, read by maps, folds and windows") {
  for (DType dtype : {f32, i32, bool_, f64}) {
    CAPTURE(to_text(dtype));
    Graph g("reshaped");
    const Expr x = g.input("x", dtype, {"n", 6});
    const Expr computed = is_boolean(dtype) ? !x : x + x * 2;
    const auto largest = [&](const Expr& e, int axis) { return is_boolean(dtype) ? any(e, axis) : max(e, axis); };
    const Expr folded = largest(x, 1), back = reshape(computed, {3, -1});
    const Function f = compile({reshape(x, {-1}), computed, back, reshape(computed, {6, -1}).slice({Slice::all, Slice{{}, {}, -1}}), largest(back, 0),
                                reshape(folded, {1, -1, 1}), reshape(transpose(x), {-1, 3}), reshape(x, {2, -1}, Order::f), tile(x, {2, 3}),
                                repeat(computed, 3, 1), pad(reshape(x, {-1, 2}), {{1, 0}, {0, 0}}), concat({reshape(x, {-1}), reshape(computed, {-1})})},
                               {x}, checked(2));
    for (Index n : {1, 2, 5, 37}) {
      CAPTURE(n);
      const Array a = counting(dtype, {n, 6});
      check_call(f, {a});
      check_call(f, {a.copy(Order::f)});
      check_call(f, {counting(dtype, {6, n}).transpose()});
      check_call(f, {counting(dtype, {2 * n, 12}).slice(0, 0, n, 2).slice(1, 0, 6, 2)});
    }
  }
}

TEST_CASE("a reshape costs no memory and no loop beside the value that it names") {
  Graph g("named");
  const Expr x = g.input("x", f32, {"n", 8});
  const Expr y = exp(flip(x, 1));
  const Function f = compile({sum(reshape(y, {-1, 4}), 1)}, {x}, checked());
  const Call call = f.bind({Array(f32, {16, 8})}, {Array(f32, {32})});
  CHECK(call.loop_nests() == 2);
  CHECK(call.temporary_bytes() == 16 * 8 * 4);
}

TEST_CASE("a reshape of an input costs nothing where that is row-major, else a copy before each run") {
  Graph g("named");
  const Expr x = g.input("x", f32, {"n", 8});
  const Function f = compile({max(reshape(x, {-1, 2, 4, 2}), {1, 3})}, {x}, checked());
  const Array input = uniform(f32, {16, 8}, 1), output(f32, {8, 4});
  const Call call = f.bind({input}, {output});
  CHECK(call.loop_nests() == 1);
  CHECK(call.temporary_bytes() == 0);
  const Array with_gaps = counting(f32, {16, 16}).slice(1, 0, 8, 2), other(f32, {8, 4});
  const Call copied = f.bind({with_gaps}, {other});
  CHECK(copied.temporary_bytes() == 16 * 8 * 4);
  for (int run : {0, 1}) {
    with_gaps.set({3, 1}, Scalar::of(f32, 1000.0 * run));
    copied();
    CHECK(difference(other, f({with_gaps.copy()})[0]) == "");
    check_call(f, {with_gaps});
  }
}

TEST_CASE("results upon an input that is read through a reshape") {
  Graph g("upon");
  const Expr x = g.input("x", f64, {"n", 4});
  const Expr reversed = reshape(reshape(x, {-1}).slice({Slice{{}, {}, -1}}), {"n", 4});
  const Function f = compile({x * 2 + reversed, sum(reshape(x, {4, -1}), {0})}, {x}, checked());
  for (const Index n : {1, 6, 70}) {
    const Array a = uniform(f64, {n, 4}, 3), sums(f64, {n});
    const std::vector<Array> expected = f({a});
    f.run({a}, {a, sums});
    CHECK(difference(a, expected[0]) == "");
    CHECK(difference(sums, expected[1]) == "");
  }
  Graph h("first");
  const Expr y = h.input("y", f64, {"n", 4});
  const Function rows = compile({sum(reshape(y, {4, -1}) * 3, {0})}, {y}, checked());
  const Array all = uniform(f64, {30, 4}, 5), expected = rows({all})[0];
  const Array over = Array::borrow(View(all.data(), f64, {30}));
  rows.run({all}, {over});
  CHECK(difference(over, expected) == "");
}

TEST_CASE("gradients through reshapes, in place and in f order") {
  Graph g("trained");
  const Expr x = g.input("x", f64, {"n", 4}, Order::f), w = g.input("w", f64, {8});
  const Expr pairs = reshape(x, {-1, 8});
  const Expr loss = sum(square(sum(pairs * w, 1))) + sum(reshape(x * x, {-1}));
  const auto gradients = grad(loss, {x, w});
  const Function f = compile({loss, gradients[0], gradients[1]}, {x, w}, checked());
  for (Index n : {2, 6, 20}) {
    check_call(f, {uniform(f64, {n, 4}, 1), uniform(f64, {8}, 2)});
    check_call(f, {uniform(f64, {n, 4}, 1).copy(Order::f), uniform(f64, {8}, 2)});
  }
  const Function in_place = compile({reshape(reshape(x, {-1}) * 2, {"n", 4})}, {x}, checked());
  const Array a = uniform(f64, {6, 4}, 3), expected = in_place({a})[0];
  in_place.run({a}, {a});
  CHECK(difference(a, expected) == "");
}

TEST_CASE("counts that differ are refused by the call") {
  Graph g("refused");
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"m"});
  const Function f = compile({reshape(x, {"m", 2}) + expand_dims(y, 1)}, {x, y}, checked());
  check_call(f, {uniform(f32, {6}, 1), uniform(f32, {3}, 2)});
  CHECK_THROWS_AS(f({uniform(f32, {6}, 1), uniform(f32, {4}, 2)}), Error);
}
