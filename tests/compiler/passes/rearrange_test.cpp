// Joined, padded, rolled and written arrays: the compiled loops give the interpreter's bits, on any dtype, size and layout.
#include <weft/function.h>

#include "bits.h"

using namespace weft;

namespace {

Function rearranged(DType dtype) {
  Graph g("rearranged");
  const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "k"});
  const Expr computed = is_boolean(dtype) ? !x : x + x;
  return compile({concat({x, y, computed}, 1), pad(x, {{1, 2}, {0, 3}}, is_boolean(dtype) ? Value(true) : Value(5)), stack({x, computed}, 2),
                  update(concat({x, y}, 1), {Slice::all, Slice{-2, {}}}, x.slice({Slice::all, Slice{{}, {}, -1}}).slice({Slice::all, Slice{-1, {}}})),
                  update(x, {Slice{{}, {}, 2}}, is_boolean(dtype) ? Value(true) : Value(7)), triu(x, 1)},
                 {x, y}, checked(2));
}

}  // namespace

TEST_CASE("every dtype, odd sizes and empty parts") {
  // Each of the last three has code of its own: a third of the dtypes, of all sizes of elements, takes one.
  const std::vector<std::array<Index, 3>> all = {{5, 3, 2}, {3, 37, 18}}, some = {{1, 1, 1}, {0, 4, 2}, {4, 33, 0}};
  std::size_t turn = 0;
  for (DType dtype : loop_dtypes) {
    CAPTURE(to_text(dtype));
    const Function f = rearranged(dtype);
    std::vector<std::array<Index, 3>> sizes = all;
    sizes.push_back(some[turn++ % some.size()]);
    for (const auto& [n, m, k] : sizes) {
      CAPTURE(n);
      CAPTURE(m);
      check_call(f, {counting(dtype, {n, m}), counting(dtype, {n, k})});
    }
  }
}

TEST_CASE("zeros of both signs and NaN keep their place, in f order and with strides") {
  const Function f = rearranged(f32);
  const Array x = special(f32, {9, 20}, 1), y = special(f32, {9, 7}, 2);
  check_call(f, {x, y});
  check_call(f, {x.copy(Order::f), y.copy(Order::f)});
  check_call(f, {special(f32, {20, 9}, 3).transpose(), special(f32, {18, 7}, 4).slice(0, 0, 9, 2)});
  check_call(f, {x.flip(1), y.flip(0)});
}

TEST_CASE("rolled symbols, differences and gradients") {
  Graph g("rolled");
  const Expr x = g.input("x", f32, {"n", 5}), y = g.input("y", f32, {3, 5});
  const Expr rolled = roll(x, {2, -1}, {0, 1}), joined = concat({x, y, x * x}), written = update(x, {Slice{{}, -1}}, y.slice({1}));
  const Expr loss = sum(square(rolled) * x) + sum(sqrt(abs(joined))) + sum(written * x) + sum(square(diff(x, 1, 0)));
  const std::vector<Expr> gradients = grad(loss, {x, y});
  const Function f = compile({rolled, joined, written, loss, gradients[0], gradients[1]}, {x, y}, checked());
  for (Index n : {2, 3, 17, 40}) {
    CAPTURE(n);
    check_call(f, {uniform(f32, {n, 5}, 1), uniform(f32, {3, 5}, 2)});
    check_call(f, {uniform(f32, {5, n}, 1).transpose(), uniform(f32, {5, 3}, 2).transpose()});
  }
}

TEST_CASE("parts that are inputs are joined in one nest without arrays between") {
  Graph g("joined");
  const Expr x = g.input("x", f32, {"n", 8}), y = g.input("y", f32, {"m", 8});
  const Function f = compile({concat({x, y, x}) * 2}, {x, y}, checked());
  const Call call = f.bind({Array(f32, {4, 8}), Array(f32, {3, 8})}, {Array(f32, {11, 8})});
  CHECK(call.loop_nests() == 1);
  CHECK(call.temporary_bytes() == 0);
}

TEST_CASE("arrays are rolled in one loop, and compiled updates within leave out what the interpreter does") {
  for (DType dtype : {f32, f64, u8})
    for (const Dims& shape : {Dims{40, 70}, Dims{3, 5}, Dims{17, 16}, Dims{70, 3}}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"});
      const Function f = compile({roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1), roll(x, {2, -3}, {0, 1})}, {x}, {.threads = 1, .verify = true});
      same_bits(f, {uneven(dtype, shape)});
      same_bits(f, {uneven(dtype, {shape[1], shape[0]}).transpose()});
    }
  const Function f = compile_text("graph g(%x: f32[n,m]) -> (%0, %1, %2, %3) {\n%0: f32[n,m] = update(%x[i,j]) within [i-2,j+3]\n%1: f32[m,n] = update(%x[i,j]) within [j-1,n-2-i]\n"
                                  "%2: f32[50,m] = update(%x[i,j]) within [i+100,j]\n%3: f32[n,m] = update(%x[i,j]) within [i,m-3-j]\n}");
  for (const Dims& shape : {Dims{40, 70}, Dims{3, 5}, Dims{64, 64}, Dims{1, 2}, Dims{0, 4}}) {
    CAPTURE(to_text(shape));
    same_bits(f, {uneven(f32, shape)});
  }
}

TEST_CASE("slices that are longer than the array are refused, though updates read through them") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"m"});
  const auto last = [&](Index count) { return x.slice({Slice{-count, {}}}); };
  const Expr all_but_two = x.slice({Slice{{}, -2}});
  for (const Expr& e : {pad(last(2), {{0, 3}}), pad(all_but_two, {{3, 0}}), concat({last(2), y}), concat({y, all_but_two}), roll(x, 2, 0), pad(last(2), {{0, 0}})}) {
    const Function f = compile({e, y}, {x, y}, {.threads = 1, .verify = true});
    for (const Index n : {2, 3, 40}) same_bits(f, {uneven(f32, {n}), uneven(f32, {5})});
    CHECK_THROWS_AS(f({uneven(f32, {1}), uneven(f32, {5})}), Error);
  }
}
