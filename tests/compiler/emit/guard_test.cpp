// Compiled code touches no byte outside its arrays: each array ends, or begins, where memory that cannot be read does.
#include <weft/weft.h>

#if defined(__linux__)
#include "bits.h"
#include "guarded.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k % 113) / 8; });
}

void check_guarded(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Array>& arrays,
                   const std::vector<Index>& caches = {0, 1}) {
  for (Index cache_bytes : caches) {
    const Function f = compile(outputs, inputs, {.threads = 1, .cache_bytes = cache_bytes});
    const std::vector<Array> expected = f(arrays);
    for (bool at_end : {false, true}) {
      std::vector<Array> in, out;
      for (const Array& array : arrays) in.push_back(guarded(array, at_end));
      for (const Array& array : expected) out.push_back(guarded(array, at_end));
      f.run(in, out);
      for (std::size_t k = 0; k < out.size(); ++k) CHECK(difference(out[k], expected[k]) == "");
    }
  }
}

}  // namespace

// Stores past the caches are on each other turn: two of the dtypes of each size, and each other size of a dtype.
TEST_CASE("vector loops, folds, tiles and thin folds stay inside their arrays") {
  Index turn = 0;
  for (DType dtype : {f32, f64, u8, f16}) {
    ++turn;
    for (Index n : {1, 17, 50})
      for (Index m : {1, 4, 7, 33}) {
        const std::vector<Index> caches{turn++ % 2};
        CAPTURE(to_text(dtype));
        CAPTURE(n);
        CAPTURE(m);
        Graph g;
        const Expr x = g.input("x", dtype, {n, m}), y = g.input("y", dtype, {m, n}), w = g.input("w", dtype, {m});
        const std::vector<Array> arrays{counted(dtype, {n, m}), counted(dtype, {m, n}), counted(dtype, {m})};
        check_guarded({x + w, permute_dims(y, {1, 0}) + x}, {x, y, w}, arrays, caches);
        check_guarded({sum(x, 1), max(x, 0), sum(y, 0), sum(x)}, {x, y}, {arrays[0], arrays[1]}, caches);
        check_guarded({cumulative_sum(x, 1), cumulative_sum(flip(x, 1), 1), x * w}, {x, w}, {arrays[0], arrays[2]}, caches);
        check_guarded({flip(x, 1) + w, sum(permute_dims(y, {1, 0}) * x, 1)}, {x, y, w}, arrays, caches);
      }
  }
}

TEST_CASE("windows of a row read no further than the last of them") {
  for (DType dtype : {f32, f64, i32})
    for (Index n : {1, 5})
      for (Index m : {18, 19, 33, 34, 50, 82}) {
        Graph g;
        const Expr x = g.input("x", dtype, {n, m});
        const auto at = [&](Index from, Index size) { return x.slice({Slice::all, Slice(from, from == size - 1 ? std::optional<Index>() : std::optional<Index>(from - size + 1))}); };
        check_guarded({at(0, 3) + at(1, 3) + at(2, 3), at(0, 2) - at(1, 2), at(0, 18) + at(17, 18) + at(9, 18)}, {x}, {counted(dtype, {n, m})});
        if (n > 2) check_guarded({x.slice({Slice(0, -2), Slice(0, -1)}) + x.slice({Slice(1, -1), Slice(1, {})}) + x.slice({Slice(2, {}), Slice(0, -1)}) + x.slice({Slice(1, -1), Slice(0, -1)}) + x.slice({Slice(2, {}), Slice(1, {})})}, {x}, {counted(dtype, {n, m})});
      }
}

TEST_CASE("parts that are joined, padding and gradients of slices read nothing beside their parts") {
  for (DType dtype : {f32, f64, u8, f16})
    for (Index n : {1, 3, 17})
      for (Index m : {1, 5, 16, 33, 100}) {
        CAPTURE(to_text(dtype));
        CAPTURE(n);
        CAPTURE(m);
        Graph g;
        const Expr x = g.input("x", dtype, {n, m}), y = g.input("y", dtype, {n, m});
        const std::vector<Array> arrays{counted(dtype, {n, m}), counted(dtype, {n, m})};
        check_guarded({concat({x, y}, 0), concat({x, y, x}, 1), pad(x, {{1, 2}, {3, 40}}), roll(x + y, 1, 1)}, {x, y}, arrays, {0});
        check_guarded({concat({permute_dims(x, {1, 0}), permute_dims(y, {1, 0})}, 1), pad(flip(x, {1}), {{0, 1}, {20, 0}})}, {x, y}, arrays, {0});
      }
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), d = x.slice({{}, {1, {}}}) - x.slice({{}, {{}, -1}}), e = x.slice({{{}, {}, 2}, {{}, {}, 3}});
  const std::vector<Expr> gradients = {grad(sum(d * d), {x})[0], grad(sum(exp(e)), {x})[0]};
  for (Index m : {2, 17, 50, 64}) check_guarded(gradients, {x}, {counted(f32, {6, m})}, {0});
}

TEST_CASE("one element left over of one or two bytes is stored as such, where extents are known too") {
  for (DType dtype : {bf16, f16, i16, u8, i8})
    for (Index n : {1, 15, 17, 18, 33, 49}) {
      CAPTURE(to_text(dtype));
      CAPTURE(n);
      Graph g;
      const Expr x = g.input("x", f32, {n, n}), k = g.input("k", i32, {n});
      const std::vector<Array> arrays{counted(f32, {n, n}), counted(i32, {n})};
      check_guarded({cast(x, dtype), cast(flip(x, 1), dtype), cast(permute_dims(x, {1, 0}) * 2, dtype), cast(k, dtype), cast(flip(k, 0), dtype)}, {x, k}, arrays, {1 << 20});
      if (n > 1) check_guarded({cast(grad(sum(prod(x, 0)), {x})[0], dtype), cast(grad(sum(prod(x, 1)), {x})[0], dtype)}, {x}, {arrays[0]}, {1 << 20});
    }
}

TEST_CASE("table lookups and repeating operands stay inside their arrays") {
  for (Index n : {1, 300, 769, 1600}) {
    Graph g;
    const Expr x = g.input("x", u8, {n, 3}), gain = g.input("gain", f32, {3});
    check_guarded({cast(sin(cast(x, f32) * gain) * 100.0f, u8)}, {x, gain}, {counted(u8, {n, 3}), counted(f32, {3})});
    check_guarded({cast(x, f32) * gain}, {x, gain}, {counted(u8, {n, 3}), counted(f32, {3})});
  }
}
#endif
