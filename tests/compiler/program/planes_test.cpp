// Results put together of planes: each is written where it is made. Against the interpreter, whatever is stacked, nested, read again and given.
#include "program/planes.h"

#include <weft/grad.h>
#include <weft/rearrange.h>

#include "bits.h"

using namespace weft;

namespace {

bool copies_rows(const Function& f) { return f.program().find("load index[") != std::string::npos; }        // asks which plane it is

}  // namespace

TEST_CASE("planes that are made in one loop are stored there, of any number and dtype") {
  for (const DType dtype : {f32, f64, f16, i32, u8})
    for (const int count : {2, 3, 7, 16, 17}) {
      CAPTURE(dtype);
      CAPTURE(count);
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w"}), y = g.input("y", dtype, {"h", "w"});
      std::vector<Expr> parts;
      for (int k = 0; k < count; ++k) parts.push_back(cast(k % 3 == 0 ? x + y * k : k % 3 == 1 ? x - k : maximum(x, y) + k, dtype));
      for (const Dims& size : {Dims{5, 7}, Dims{40, 33}, Dims{64, 64}}) {
        const Function f = check_bits({stack(parts, 0)}, {x, y}, {counted_by(dtype, size, [](Index k) { return static_cast<double>(k % 23); }), counted_by(dtype, size, [](Index k) { return static_cast<double>(k * 7 % 19); })}, 2);
        if (size[0] > 5) CHECK(copies_rows(f) == (count > 16));                  // of small ones planes are apart
      }
    }
}

TEST_CASE("planes of planes, the same plane twice, and constants beside them") {
  Graph g;
  const Expr x = g.input("x", f32, {2, 2, "n"}), t = g.input("t", f32, {2, "n"});
  const auto re = unstack(x.slice({Slice(0)}), 0), im = unstack(x.slice({Slice(1)}), 0), turn = unstack(t, 0);
  const Expr r = re[1] * turn[0] - im[1] * turn[1], m = re[1] * turn[1] + im[1] * turn[0];
  const Expr butterfly = stack({stack({re[0] + r, re[0] - r}, 0), stack({im[0] + m, im[0] - m}, 0)}, 0), twice = stack({r, m, r}, 0);
  for (const Index n : {1, 15, 64, 1000, 5000}) {
    const std::vector<Array> arrays{uneven(f32, {2, 2, n}), near_one(f32, {2, n})};
    const Function both = check_bits({butterfly}, {x, t}, arrays, 2), same = check_bits({twice}, {x, t}, arrays);
    if (n > 500) CHECK_FALSE(copies_rows(both));
    if (n > 500) CHECK_FALSE(copies_rows(same));
    check_bits({stack({r, m * 0.0f + 1.0f, re[0]}, 0), butterfly}, {x, t}, arrays);
  }
}

TEST_CASE("planes that are read again, folded, inputs, along other axes, in other orders, and of a gradient") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"}), y = g.input("y", f32, {"h", "w"});
  const Expr a = x * 2.0f + y, b = x - y * y, c = exp(x) * 0.01f;
  for (const Dims& size : {Dims{3, 5}, Dims{33, 70}, Dims{128, 48}})
    for (const Order order : {Order::c, Order::f}) {
      const std::vector<Array> arrays{uneven(f32, size).copy(order), near_one(f32, size)};
      check_bits({stack({a, b, c}, 0), sum(a), b * c}, {x, y}, arrays, 2);
      check_bits({stack({a, x, c}, 0)}, {x, y}, arrays);
      check_bits({stack({x, y}, 0)}, {x, y}, arrays);
      check_bits({stack({a, b}, 1), stack({a, b}, 2)}, {x, y}, arrays, 2);
      check_bits({concat({a, b}, 0), concat({a, b}, 1)}, {x, y}, arrays);
      check_bits({cumulative_sum(stack({a, b, c}, 0), 0), stack({a, b}, 0) * stack({b, c}, 0)}, {x, y}, arrays);
      check_bits(grad(sum(square(stack({a, b, c}, 0))), {x, y}), {x, y}, arrays);
      const Function f = compile({stack({a, b, c}, 0)}, {x, y}, {.threads = 2, .cache_bytes = 1, .verify = true});
      same_bits(f, arrays);
      const Array whole = f(arrays)[0], gap(f32, {3, size[0] + 2, size[1] + 1});
      f.run(arrays, {Array(gap.slice(1, 1, size[0]).slice(2, 0, size[1]))});
      CHECK(difference(Array(gap.slice(1, 1, size[0]).slice(2, 0, size[1])).copy(), whole) == "");
    }
}

TEST_CASE("a stack that lies upon an array of which it reads other planes") {
  Graph g;
  const Expr x = g.input("x", f32, {3, "n"});
  const auto planes = unstack(x, 0);
  const Function f = compile({stack({planes[1] + 1.0f, planes[2] * 2.0f, planes[0] - planes[1]}, 0)}, {x}, {.threads = 1, .verify = true});
  for (const Index n : {5, 100, 3000}) {
    const Array array = uneven(f32, {3, n}), expected = f({array})[0];
    f.run({array}, {array});
    CHECK(difference(array, expected) == "");
  }
}
