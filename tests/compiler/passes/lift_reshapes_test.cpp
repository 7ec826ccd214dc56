// What is computed of inputs and then reshaped is computed of reshaped inputs: no array is between them.
#include <weft/function.h>
#include <weft/rearrange.h>

#include "nests.h"

using namespace weft;

TEST_CASE("ops on whole inputs, on axes that stay, on scalars and on groups of axes that trade places") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 12, "m"}), b = g.input("b", f32, {"m"}), r = g.input("r", f32, {"n"}), c = g.input("c", f32, {12}), s = g.input("s", f32, {});
  const std::vector<Expr> inputs{x, b, r, c, s};
  const std::vector<Array> arrays{near_one(f32, {5, 12, 7}), near_one(f32, {7}), near_one(f32, {5}), near_one(f32, {12}), near_one(f32, {})};
  const auto turned = [](const Expr& y) { return permute_dims(y, {1, 0, 2, 3}); };       // reads what is reshaped
  const Shape split{"n", 3, 4, "m"};
  check_nests(turned(reshape(x * 2 + s, split)), inputs, arrays);
  check_nests(turned(reshape((x - b) * abs(x), split)), inputs, arrays);
  check_nests(turned(reshape(x * expand_dims(expand_dims(r, 1), 2), split)), inputs, arrays);
  check_nests(turned(reshape(x + expand_dims(c, 1), split)), inputs, arrays);
  check_nests(turned(reshape(where(x > 1, x, -b), split)), inputs, arrays, 2);          // -b
  check_nests(turned(reshape(cast(cast(x * 100, i32), f32), split)), inputs, arrays);
  check_nests(permute_dims(reshape(permute_dims(x * 3, {1, 0, 2}), {2, 6, "n", "m"}), {2, 1, 0, 3}), inputs, arrays);
  check_nests(sum(reshape(square(x), split), 2), inputs, arrays);
  check_nests(max(reshape(reshape(x - 1, {"n", -1}) * 2, {"n", 6, 2, "m"}), 1), inputs, arrays);
  check_nests(transpose(reshape(x + 1, {-1, "m"})), inputs, arrays);
  check_nests(sum(reshape(expand_dims(x, 1) + 1, split), 2), inputs, arrays);
  check_nests(flip(reshape(x * iota(g, Extent("m"), f32), {"n", 4, 3, "m"}), 1), inputs, arrays, 2);          // the iota
}

TEST_CASE("arrays stay between where a value is read elsewhere, folded, cut or turned, or its input is not row-major") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 12}), y = g.input("y", f32, {"n", 12}, Order::f);
  const std::vector<Array> arrays{near_one(f32, {10, 12}), near_one(f32, {10, 12}).copy(Order::f)};
  const auto read = [](const Expr& e) { return transpose(reshape(e, {-1, 4})); };
  const Expr shared = x * 2;
  check_nests(read(shared) + sum(shared), {x, y}, arrays, 3);
  check_nests(read(cumulative_sum(x, 1)), {x, y}, arrays, 2);
  check_nests(read(flip(x, 1) * 2), {x, y}, arrays, 2);
  check_nests(read(y * 2), {x, y}, arrays, 2);
  check_nests(read(x * iota(g, 12, f32)), {x, y}, arrays, 3);
  check_nests(read(transpose(transpose(x) * 3)), {x, y}, arrays);
}

TEST_CASE("extents of zero and one, long chains, and counts that only a call knows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {6, 4}, {1, 12}, {0, 3}, {3, 0}}) {
    const std::vector<Array> arrays{near_one(f32, {n, m})};
    for (const Expr& y : {reshape(exp(x), {"m", "n"}), reshape(x + 1, {1, "n", 1, "m", 1}), reshape(expand_dims(x * 2, 1), {-1, 1}), reshape(x * 2, {-1})}) {
      const Function f = check_bits({sum(y, 0)}, {x}, arrays);
      CHECK(difference(f(arrays)[0], interpret({sum(y, 0)}, {x}, arrays)[0]) == "");
    }
  }
  Expr chain = x;
  for (int k = 0; k < 1000; ++k) chain = chain * 0.999f + 0.001f;
  check_bits({sum(reshape(chain, {-1}))}, {x}, {near_one(f32, {5, 6})});
  const Function halves = compile({sum(reshape(x * 2, {"n", 2, Extent("k")}), 1)}, {x, g.input("z", f32, {"k"})}, {.threads = 1, .verify = true});
  same_bits(halves, {near_one(f32, {4, 6}), near_one(f32, {3})});
  CHECK_THROWS_AS(halves({near_one(f32, {4, 6}), near_one(f32, {4})}), Error);
}

TEST_CASE("what calls check of reshapes in between is checked") {
  const auto all = [](const Expr& x) {
    const Expr split = reshape(x, {3, -1});                       // [3, n/3]
    return std::vector<Expr>{reshape(split, {"n"}), reshape(split * 2.0f, {"n"}), reshape(exp(reshape(x * 3.0f, {3, -1})), {"n"}), sum(reshape(square(split), {"n"})), reshape(flip(split, 0), {"n"}) + 1, reshape(exp(split), {-1}),
                             reshape(reshape(flip(split, 0) * 2, {"n"}), {1, "n"}) + 1};
  };
  for (std::size_t k = 0; k < 7; ++k) {
    CAPTURE(k);
    Graph g;
    const Expr x = g.input("x", f32, {"n"}), y = all(x)[k];
    const Function f = compile({y}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {near_one(f32, {6})});
    CHECK_THROWS_AS(f({near_one(f32, {5})}), Error);
    CHECK_THROWS_AS(interpret({y}, {x}, {near_one(f32, {5})}), Error);
  }
}

TEST_CASE("a tile of a stack, whose operands repeat along axes of different numbers") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), a = expand_dims(reshape(x, {-1, 3}), 2) + x;
  const Function f = compile({tile(stack({a, a}, 0), {1, 2, 2, 3})}, {x}, {.threads = 1, .verify = true});
  for (const Index n : {3, 12, 33}) {
    same_bits(f, {near_one(f32, {n})});
    const Array given(f32, {2, 2 * n / 3, 6, 3 * n}, Order::f);
    f.run({near_one(f32, {n})}, {given});
    CHECK(difference(given, f({near_one(f32, {n})})[0]) == "");
  }
}

TEST_CASE("gradients through them") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 12}), w = g.input("w", f64, {4});
  const Expr loss = sum(square(reshape(tanh(x) * 2, {-1, 4}) * w));
  const auto gradients = grad(loss, {x, w});
  const std::vector<Array> arrays{near_one(f64, {10, 12}), near_one(f64, {4})};
  const Function f = check_bits({loss, gradients[0], gradients[1]}, {x, w}, arrays);
  for (std::size_t k = 0; k < 2; ++k) CHECK(f(arrays)[k + 1].shape() == arrays[k].shape());
}

TEST_CASE("rows that are no whole vectors, beside operands that repeat along them") {
  for (const DType dtype : {f32, f64, u8})
    for (const Index channels : {2, 3, 4, 5, 7})
      for (const Index pixels : {5, 8, 11, 16}) {
        CAPTURE(channels);
        CAPTURE(pixels);
        Graph g;
        const Expr x = g.input("x", dtype, {4, 6, pixels, channels}), b = g.input("b", dtype, {channels});
        const Function f = compile({permute_dims((x - b) * 2, {1, 0, 2, 3})}, {x, b}, {.threads = 1, .verify = true});
        same_bits(f, {uneven(dtype, {4, 6, pixels, channels}), uneven(dtype, {channels})});
        same_bits(f, {uneven(dtype, {4, 6, pixels, channels}), uneven(dtype, {2 * channels}).slice(0, 0, channels, 2)});
      }
}
