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
