// Folds over a few elements: what the next loop takes of them stays in registers, and has the interpreter's bits.
#include "bits.h"

using namespace weft;

namespace {

bool takes(const Function& f) { return f.report().find("with the folds before it") != std::string::npos; }

Array strange(DType dtype, const Dims& shape) {
  const double odd[] = {1.5, -0.0, 0.0, std::numeric_limits<double>::quiet_NaN(), -3, std::numeric_limits<double>::infinity(), 1e-30, -1e30, 2, -1, 0.25};
  return counted_by(dtype, shape, [&](Index k) { return odd[static_cast<std::size_t>(k * 7 + k / 11) % 11]; });
}

}  // namespace

TEST_CASE("results of folds over few elements go on in registers") {
  for (const DType dtype : {f32, f64, f16})
    for (const Index few : {2, 3, 4, 7, 12})
      for (const int axis : {0, 1}) {
        CAPTURE(dtype);
        CAPTURE(few);
        CAPTURE(axis);
        Graph g;
        const Expr x = g.input("x", dtype, axis == 0 ? Shape{few, "n"} : Shape{"n", few}), y = g.input("y", dtype, {"n"});
        const auto shape = [&](Index n) { return axis == 0 ? Dims{few, n} : Dims{n, few}; };
        const Function plain = compile({sum(x, axis)}, {x, y}, {.threads = 2, .verify = true}),
                       used = compile({mean(x, axis) * y + 1, max(x, axis) - y}, {x, y}, {.threads = 2, .verify = true}),
                       root = compile({sqrt(sum(abs(x), axis)) / y, prod(x, axis)}, {x, y}, {.threads = 1, .verify = true}),
                       past = compile({sum(x * x, axis) * y}, {x, y}, {.threads = 2, .cache_bytes = 1, .verify = true});
        same_bits(plain, {uneven(dtype, shape(4096)), near_one(dtype, {4096})});
        if (few <= 4 && dtype != f16) CHECK(takes(plain));
        same_bits(past, {uneven(dtype, shape(4096)), near_one(dtype, {4096})});
        if (few <= 4 && dtype == f32) CHECK(takes(past));
        for (const Index n : {4096, 0, 1, 15, 16, 17, 64, 100, 1023, 1025, 5000}) {
          const Array ys = near_one(dtype, {n});
          for (const Function* f : {&plain, &used, &root, &past}) {
            same_bits(*f, {uneven(dtype, shape(n)), ys});
            same_bits(*f, {strange(dtype, shape(n)), ys});
          }
        }
      }
}

TEST_CASE("two elements of a slot stay in registers too") {
  for (const DType dtype : {f32, f64, f16, i32})
    for (const Index few : {16, 17, 23, 31, 32, 33}) {
      CAPTURE(dtype);
      CAPTURE(few);
      Graph g;
      const Expr x = g.input("x", dtype, {few, "n"}), y = g.input("y", dtype, {few, "n"});
      const Function sums = compile({sum(x, 0), sum(x * y, 0), prod(x, 0)}, {x, y}, {.threads = 2, .verify = true}),
                     extremes = compile({max(x, 0), min(x + y, 0)}, {x, y}, {.threads = 2, .verify = true}),
                     beside = compile({sum(x * x, 0) + y}, {x, y}, {.threads = 1, .verify = true});
      for (const Index n : {1, 15, 16, 17, 100, 1025, 4096}) {
        const auto whole = [](Index k) { return static_cast<double>(k * 7919 % 1009 - 500); };
        const Array a = dtype == i32 ? counted_by(dtype, {few, n}, whole) : uneven(dtype, {few, n}), b = dtype == i32 ? a : near_one(dtype, {few, n});
        for (const Function* f : {&sums, &extremes, &beside}) {
          same_bits(*f, {a, b});
          if (dtype != i32) same_bits(*f, {strange(dtype, {few, n}), b});
        }
      }
      if (dtype == f32) CHECK((sums.report().find(concat(", ", few, " elements of j together")) != std::string::npos) == (few <= 32));
    }
}

TEST_CASE("results that are read elsewhere too are kept") {
  Graph g;
  const Expr x = g.input("x", f32, {4, "n"}), s = sum(x, 0);
  for (const auto& outputs : {std::vector<Expr>{s, sum(s)}, {s * 2, x - s}, {s + flip(s, {0})}, {cumulative_sum(s, 0), s + 1}}) {
    const Function f = compile(outputs, {x}, {.threads = 2, .verify = true});
    for (const Index n : {1, 16, 100, 1024, 3000}) same_bits(f, {uneven(f32, {4, n})});
  }
}

TEST_CASE("operands that repeat along merged axes are read before a loop of their own") {
  Graph g;
  const Expr x = g.input("x", f32, {4, "n", 3}), gain = g.input("gain", f32, {3});
  const Function f = compile({sum(x, 0) * gain}, {x, gain}, {.threads = 2, .verify = true});
  for (const Index n : {2000, 1, 5, 16, 341}) same_bits(f, {uneven(f32, {4, n, 3}), near_one(f32, {3})});
  CHECK_FALSE(takes(f));
}

TEST_CASE("results into memory of operands") {
  Graph g;
  const Expr x = g.input("x", f32, {4, "n"});
  const Function f = compile({sum(x, 0) + 1}, {x}, {.threads = 2, .verify = true});
  for (const Index n : {16, 100, 3000})
    for (const Index row : {0, 2, 3}) {
      const Array a = uneven(f32, {4, n}), expected = f({a})[0];
      const Array into(a.slice(0, row, 1).squeeze(0));
      f.run({a}, {into});
      CHECK(difference(Array(into), expected) == "");
    }
}

TEST_CASE("a row that is left by itself, of every second to fourth element") {
  for (const char* dtype : {"i64", "i32"}) {
    const Graph graph = parse(concat("graph g(%x: ", dtype, "[n,33]) -> (%4, %5) {\n  %0: ", dtype, "[i:33] = min(j:n) copy(%x[j,i])\n  %1: bool[i:n,j:33] = equal(%x[i,j], %0[j])\n  %2: i64[i:n] = iota(i)\n"
                                     "  %4: i64[i:33] = min(j:n) where(%1[j,i], %2[j], 9223372036854775807)\n  %5: ", dtype, "[i:n,j:33] f = ceil(%x[i,j])\n}"));
    for (const Index n : {9, 10, 11, 12, 13, 14, 15})
      for (const Index step : {2, 3, 4}) {
        CAPTURE(dtype);
        CAPTURE(n);
        CAPTURE(step);
        const DType type = dtype == std::string("i64") ? DType::i64 : DType::i32;
        const Function f = compile(graph, {.threads = 1, .verify = true});
        const auto all = std::make_shared<Array>(counted_by(type, {33 * step * n}, [&](Index k) { return static_cast<double>(k % step == 0 ? k * 7 % 13 : 777777); }));
        const Array x = Array::borrow(View(all->data(), type, {n, 33}, {step, step * n}), all), copied(type, {n, 33}, Order::f);
        f.run({x}, {Array(DType::i64, {33}), copied});
        CHECK(difference(copied, x) == "");
        same_bits(f, {x});
      }
  }
}
