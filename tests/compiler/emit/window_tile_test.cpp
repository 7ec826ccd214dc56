// Windows that lie across the vectors, in tiles: whole rows are there or not. Shifted, concatenated and padded along other axes, the interpreter's bits, no byte
// beyond the array.
#include <weft/weft.h>

#if defined(__linux__)
#include "bits.h"
#include "code/features.h"
#include "guarded.h"

using namespace weft;

namespace {

struct Maker {
  const char* name;
  std::vector<Expr> (*make)(const Expr& x, const Expr& y);
};

// Of [n, m, c]: c is few, and vectors run along n or m.
const Maker makers[] = {
    {"before, all", [](const Expr& x, const Expr&) { return std::vector{sum(x - roll(x, 1, 1))}; }},
    {"before, by row", [](const Expr& x, const Expr& y) { return std::vector{max(x - roll(y, 1, 1), Axes{1, 2}), sum(x - roll(x, 1, 0), 1)}; }},
    {"channels turned, down the middle", [](const Expr& x, const Expr& y) { return std::vector{sum(flip(x, 2) - roll(x, 1, 2) * y, 1)}; }},
    {"channels beside others, by column", [](const Expr& x, const Expr& y) { return std::vector{concat({x + mean(y, 0, true), y}, 2)}; }},
    {"rows below others", [](const Expr& x, const Expr& y) { return std::vector{concat({x - mean(x, 0, true), y}, 0), permute_dims(concat({x, y}, 1), {1, 0, 2})}; }},
    {"between zeros", [](const Expr& x, const Expr& y) { return std::vector{permute_dims(pad(x, {{1, 2}, {2, 1}, {1, 0}}), {1, 0, 2}), sum(pad(x * y, {{0, 0}, {1, 1}, {0, 2}}), 1)}; }},
    {"one channel written", [](const Expr& x, const Expr& y) { return std::vector{sum(update(x, {Slice::all, Slice::all, Slice(1)}, y.slice({Slice::all, Slice::all, Slice(0)})), 1)}; }},
    {"every second", [](const Expr& x, const Expr& y) { return std::vector{sum(update(x, {Slice::all, Slice{0, {}, 2}}, y.slice({Slice::all, Slice{0, {}, 2}})), 0)}; }},
};

}  // namespace

TEST_CASE("every dtype and way to lie, sizes about those of vectors, from the first byte of memory to the last") {
  std::size_t turn = 0;
  for (const DType dtype : {f32, f64, u8, i32, f16})
    for (const Index few : {2, 3, 6, 9})
      for (const Maker& maker : makers) {
        CAPTURE(dtype);
        CAPTURE(few);
        CAPTURE(maker.name);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "m", few}), y = g.input("y", dtype, {"n", "m", few});
        const Function f = compile(maker.make(x, y), {x, y}, {.threads = 1 + static_cast<int>(turn % 2), .lanes = turn % 3 == 0 ? 8 : 0, .verify = true});
        const std::vector<Dims> shapes = {{100, 5, few}, {5, 70, few}, {33, 17, few}, {1, 16, few}, {0, 3, few}, {300, 1, few}};
        for (std::size_t k = 0; k < 3; ++k) {
          const Dims& shape = shapes[(turn + k) % shapes.size()];
          if (shape[0] == 0 && std::string(maker.name) == "before, by row") continue;        // a maximum of nothing
          same_bits(f, {guarded(uneven(dtype, shape), turn % 2 == 0), guarded(counting(dtype, shape), turn % 2 == 1)});
        }
        ++turn;
      }
}

TEST_CASE("sixteen of many channels, and what they leave over, of rows of the one before and the one after") {
  for (const Index channels : {16, 20, 40})
    for (const DType dtype : {f32, f64}) {
      CAPTURE(channels);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", channels});
      const Function f = compile({permute_dims(x - roll(x, 1, 1), {1, 0}), permute_dims(pad(x, {{2, 0}, {1, 3}}), {1, 0}), mean(x - roll(x, -1, 0), 1)}, {x}, checked());
      for (const Index n : {100, 16, 3, 1}) same_bits(f, {guarded(uneven(dtype, {n, channels}), n % 2 == 0)});
    }
}

TEST_CASE("few rows of matrices in F order, folded, that end within those worked on at once") {
  for (const Index rows : {2, 3, 5, 7, 13, 15, 18})
    for (const DType dtype : {f32, f64}) {
      CAPTURE(rows);
      Graph g;
      const Expr x = g.input("x", dtype, {rows, "m"});
      const Function f = compile({mean(x - roll(x, 1, 0), 1), max(pad(x, {{1, 1}, {0, 0}}), 1)}, {x}, checked());
      for (const Index m : {300, 17, 3}) {
        const Array columns = uneven(dtype, {m, rows});
        same_bits(f, {Array(columns.transpose())});
      }
    }
}

TEST_CASE("rows that are all there are transposed: nothing is gathered where code knows of which channels they are") {
  if (!has_feature(host_features(), "+avx512f")) return;
  Graph g;
  const Expr x = g.input("x", f32, {"n", 5, 6}), w = g.input("w", f32, {"n"}), by_row = expand_dims(expand_dims(w, 1), 2);
  for (const Expr& y : {sum(x - roll(x, 1, 1)), sum(concat({x * by_row, x}, 2), 1)}) {
    const Function f = compile({y}, {x, w}, checked());
    same_bits(f, {uneven(f32, {2000, 5, 6}), uneven(f32, {2000})});
    CHECK(f.assembly().find("gather") == std::string::npos);
  }
}
#endif
