// Two axes that become one: windows of arrays along the outer one too, of given arrays and of those between nests, in every layout, against the interpreter.
#include <weft/rearrange.h>

#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 101) / 4; });
}

// The element k rows and l pixels on, of three each.
Expr window(const Expr& x, Index k, Index l) {
  const auto part = [](Index from) { return Slice(from, from == 2 ? std::optional<Index>() : std::optional<Index>(from - 2)); };
  return x.slice({part(k), part(l)});
}

Expr weighted(const Expr& x) { return window(x, 0, 0) * 2 - window(x, 0, 2) + window(x, 1, 1) * 3 - window(x, 2, 1) + window(x, 2, 2); }

bool merges(const Function& f) { return f.report().find("no array has a gap between them") != std::string::npos; }

}  // namespace

TEST_CASE("windows of an image run through pixels and channels at once, whatever the number of both") {
  for (const DType dtype : {f32, f64, u8, i16})
    for (const Index channels : {2, 3, 4, 5, 16, 33}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w", channels});
      for (const Dims& size : {Dims{5, 9}, Dims{3, 3}, Dims{4, 4}, Dims{7, 70}}) {
        const Function f = check_bits({cast(weighted(x), dtype)}, {x}, {counted(dtype, {size[0], size[1], channels})}, 2);
        CHECK(merges(f) == (size[1] > 3));
      }
    }
}

TEST_CASE("windows of arrays with gaps, of parts of channels and of pixels by steps: only what has no gap is one axis") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w", 4});
  const Array wide = counted(f32, {6, 40, 8}), whole = counted(f32, {6, 40, 4});
  CHECK(merges(check_bits({weighted(x)}, {x}, {whole})));
  CHECK_FALSE(merges(check_bits({weighted(x)}, {x}, {wide.slice(2, 0, 4)})));
  CHECK(merges(check_bits({weighted(x)}, {x}, {wide.slice(2, 0, 4, 2)})));          // every second element: no other gap
  CHECK_FALSE(merges(check_bits({x.slice({Slice::all, Slice(1, {}), Slice({}, 2)}) * 2}, {x}, {whole})));
  CHECK_FALSE(merges(check_bits({x.slice({Slice::all, Slice(1, {}, 2)}) * 2}, {x}, {whole})));
  CHECK_FALSE(merges(check_bits({flip(x, {1}) * 2}, {x}, {whole})));
  for (const Order order : {Order::c, Order::f}) check_bits({weighted(x), window(x, 1, 0) - 1}, {x}, {whole.copy(order)});
}

TEST_CASE("windows of arrays between nests, parts of which are read") {
  for (const Order order : {Order::c, Order::f}) {
    Graph g;
    const Expr x = g.input("x", f64, {"h", "w", 3});
    const Expr shares = cumulative_sum(x, 2), part = shares.slice({Slice::all, Slice::all, Slice({}, 2)});
    for (const Dims& size : {Dims{5, 9}, Dims{40, 50}}) {
      const Array array = counted(f64, {size[0], size[1], 3}).copy(order);
      check_bits({weighted(shares)}, {x}, {array});
      check_bits({weighted(exp(shares)), part * 2, shares}, {x}, {array});
      check_bits({weighted(permute_dims(shares, {1, 0, 2}))}, {x}, {array}, 2);
    }
  }
}

TEST_CASE("windows beside what repeats for each pixel, or stays for its channels, in registers of every width") {
  for (const Index channels : {2, 3, 4, 6, 8, 16, 24})
    for (const int lanes : {4, 8, 16}) {
      Graph g;
      const Expr x = g.input("x", f32, {"h", "w", channels}), filter = g.input("filter", f32, {3, 3, channels}), mask = g.input("mask", f32, {"h", "w"});
      Expr sum;
      for (Index k = 0; k < 3; ++k)
        for (Index l = 0; l < 3; ++l) {
          const Expr term = window(x, k, l) * filter.slice({k, l});
          sum = k + l == 0 ? term : sum + term;
        }
      for (const Index width : {4, 7, 12, 31, 66}) {
        const std::vector<Array> arrays{counted(f32, {5, width, channels}), counted(f32, {3, 3, channels}), counted(f32, {5, width})};
        const Function f = check_bits({sum}, {x, filter}, {arrays[0], arrays[1]}, 1, lanes);
        if (lanes == 16 && has_feature(host_features(), "+avx512f") && channels <= 16) CHECK(f.llvm().find("masked.gather") == std::string::npos);
        check_bits({window(x, 1, 1) * expand_dims(window(mask, 1, 1), 2)}, {x, mask}, {arrays[0], arrays[2]}, 1, lanes);
      }
    }
}

TEST_CASE("padded images, and what is asked of a pixel's place, run through pixels and channels at once") {
  for (const DType dtype : {f32, f64, u8})
    for (const Index channels : {2, 3, 4, 16, 17}) {
      CAPTURE(dtype);
      CAPTURE(channels);
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w", channels}), two = g.constant(dtype, {}, {2});
      const std::vector<std::pair<const char*, Expr>> bodies{
          {"zeros", pad(x, {{1, 2}, {2, 3}, {0, 0}})},
          {"sevens", pad(x, {{2, 1}, {3, 2}, {0, 0}}, 7)},
          {"of what is made", pad(x * two, {{0, 0}, {3, 2}, {0, 0}}, 1)},
          {"beside each other", concat({x, x * two}, 1)},
          {"one after the other", concat({x * two, x}, 0)},
          {"in place", update(x, {Slice::all, Slice(1, -1)}, two)},
          {"stencil", window(pad(x, {{1, 1}, {1, 1}, {0, 0}}), 0, 2) + window(pad(x, {{1, 1}, {1, 1}, {0, 0}}), 2, 0)}};
      for (const auto& [name, y] : bodies) {
        CAPTURE(name);
        for (const Dims& size : {Dims{5, 9}, Dims{3, 70}, Dims{1, 3}}) {
          const Array whole = counted(dtype, {size[0], size[1], channels}), wide = counted(dtype, {size[0], size[1], channels + 1});
          const Function f = check_bits({y}, {x}, {whole}, 2);
          CHECK(merges(f) == (channels <= 16));
          check_bits({y}, {x}, {wide.slice(2, 0, channels)});
          check_bits({y, sum(y)}, {x}, {whole});
        }
      }
    }
}

TEST_CASE("windows along the outermost of several axes, at one place of it, and gradients of slices") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 3, 4}), row = g.input("row", f32, {3, 4});
  for (const Index n : {1, 5, 40}) {
    const std::vector<Array> arrays{counted(f32, {n, 3, 4}), counted(f32, {3, 4})};
    check_bits({pad(x, {{2, 1}, {0, 0}, {0, 0}}, 5), update(x, {n / 2}, row)}, {x, row}, arrays);
    check_bits({pad(x, {{1, 0}, {1, 0}, {0, 0}})}, {x, row}, arrays);
    check_bits({concat({x, expand_dims(row, 0)}, 0)}, {x, row}, arrays);
    if (n > 1) check_bits({grad(sum(square(x.slice({Slice(1, {})}) - x.slice({Slice(0, -1)}))), {x})}, {x, row}, arrays);
  }
}

TEST_CASE("windows beside rows whose length no code knows, or that are long") {
  for (const Extent& m : {Extent("m"), Extent(5), Extent(16), Extent(17), Extent(100)}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", m}), row = g.input("row", f32, {m});
    const Expr gradient = grad(sum(x.slice({Slice(3)}) * row), {x})[0];
    for (const Index n : {4, 5, 40}) {
      const Index length = m.is_number() ? m.constant() : 20;
      const std::vector<Array> arrays{counted(f32, {n, length}), counted(f32, {length})};
      check_bits({gradient}, {x, row}, arrays);
      check_bits({gradient + x * x, gradient}, {x, row}, arrays);
      check_bits({update(x, {Slice(2)}, row) * 2}, {x, row}, arrays);
      check_bits({pad(x, {{2, 1}, {0, 0}}), pad(x, {{0, 1}, {0, 0}}) * 3}, {x, row}, arrays);
      check_bits({concat({x, expand_dims(row, 0), x}, 0)}, {x, row}, arrays);
    }
  }
}

TEST_CASE("conditions on an index that count other things than its elements") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 3}), place = iota(g, Extent("n")), k = g.input("k", i64, {});
  const auto ask = [&](const Expr& condition) { return where(expand_dims(condition, 1), x, -x); };
  for (const Index n : {1, 4, 16, 100}) {
    const std::vector<Array> arrays{counted(f32, {n, 3}), Array::scalar(std::int64_t{3})};
    for (const Expr& condition : {place < 2, place >= 3, place > 2, place == 2, (place < 4) & (place >= 1), (place < 2) | (place >= 5), place + 1 < 4, 2 * place < 5, place < k, !(place < 2), place < (Index{1} << 50)})
      check_bits({ask(condition)}, {x, k}, arrays);
    check_bits({ask(place < 2), place < 2}, {x, k}, arrays);
    check_bits({ask(place < 2) * expand_dims(cast(place, f32), 1)}, {x, k}, arrays);
  }
}

TEST_CASE("a fold is not made again for every element of a merged axis: means before themselves, of a few channels") {
  for (const Index channels : {2, 5, 8}) {
    Graph g;
    const Expr x = g.input("x", f64, {"n", "m", channels}), less = x - mean(x, 1, true);
    const Function f = compile({concat({less, x}, 1)}, {x}, {.threads = 2, .verify = true});
    for (const Dims& shape : {Dims{6, 2000, channels}, Dims{20, 3, channels}, Dims{1, 1, channels}}) same_bits(f, {counted(f64, shape)});
    CHECK(f.program().find(concat("load %x[i,k,j mod ", channels)) == std::string::npos);
  }
}
