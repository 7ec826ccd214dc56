// Rows of results whose windows of arrays overlap, several at once: of every number of rows and columns, in any order of terms, of any dtype, on threads and past
// the caches, against the interpreter.
#include "program/loop_choices.h"

#include <weft/rearrange.h>

#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Slice part(Index from, Index size) { return Slice(from, from == size - 1 ? std::optional<Index>() : std::optional<Index>(from - size + 1)); }

Expr at(const Expr& x, Index row, Index column, Index size = 3) { return x.slice({part(row, size), part(column, size)}); }

Expr box(const Expr& x, Index size = 3) {
  Expr sum;
  for (Index k = 0; k < size * size; ++k) sum = k == 0 ? at(x, 0, 0, size) : sum + at(x, k / size, k % size, size) * static_cast<float>(k % 4 + 1);
  return sum;
}
Expr cross(const Expr& x) { return at(x, 0, 1) + at(x, 2, 1) + at(x, 1, 0) + at(x, 1, 2) - 4.0f * at(x, 1, 1); }

int rows_together(const Function& f) {
  const std::string report = f.report();
  const std::size_t found = report.find(" elements of i together");
  return found == std::string::npos ? 1 : report[found - 1] - '0';
}
bool has_many_registers() { return has_feature(host_features(), "+avx512f"); }

Array pixels(DType dtype, const Dims& shape) { return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 8; }); }

}  // namespace

TEST_CASE("rows together, and what is left of them and of their columns") {
  for (const DType dtype : {f32, f64, f16, i32, u8})
    for (const int threads : {1, 3}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w"});
      const Function boxes = compile({cast(box(cast(x, dtype)), dtype)}, {x}, checked(threads)), crosses = compile({cast(cross(x), dtype)}, {x}, checked(threads));
      for (const auto& [h, w] : {std::pair<Index, Index>{30, 50}, {3, 3}, {4, 20}, {5, 18}, {6, 35}, {7, 19}, {9, 130}, {40, 4}})
        for (const Function* f : {&boxes, &crosses}) {
          same_bits(*f, {pixels(dtype, {h, w})});
          if (h == 30 && dtype == f32 && has_many_registers()) CHECK(rows_together(*f) == 4);
        }
    }
}

TEST_CASE("windows of bytes fill registers, and so does what is left of columns and of rows") {
  for (const DType dtype : {DType::u8, i8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"h", "w"});
    Expr least, sum;
    for (Index k = 0; k < 9; ++k) {
      const Expr each = at(x, k / 3, k % 3), wide = cast(each, i16);
      least = k == 0 ? each : minimum(least, each);
      sum = k == 0 ? wide : sum + wide;
    }
    for (const Expr& result : {least, cast(sum >> 3, dtype)}) {
      const Function f = compile({result}, {x}, checked(2));
      for (const auto& [h, w] : {std::pair<Index, Index>{30, 200}, {9, 66}, {8, 65}, {7, 67}, {5, 130}, {6, 34}, {3, 3}, {13, 20}, {12, 1030}}) same_bits(f, {pixels(dtype, {h, w})});
      f({pixels(dtype, {30, 200})});
      if (has_many_registers()) CHECK(rows_together(f) == 4);
    }
  }
}

TEST_CASE("windows along an axis inside, by steps, of several arrays and beside operands of all rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "h", "w"}), y = g.input("y", f32, {"n", "h", "w"}), gain = g.input("gain", f32, {"w"});
  Expr points, halved;
  for (Index k = 0; k < 27; ++k) {
    const Expr point = x.slice({part(k / 9, 3), part(k / 3 % 3, 3), part(k % 3, 3)}) * static_cast<float>(k % 5);
    points = k == 0 ? point : points + point;
  }
  for (Index k = 0; k < 5; ++k) {
    const Expr row = x.slice({Slice::all, Slice(k, k == 4 ? std::optional<Index>() : std::optional<Index>(k - 4), 2)});
    halved = k == 0 ? row : halved + row * static_cast<float>(k);
  }
  const Expr both = x.slice({Slice::all, part(0, 2)}) - x.slice({Slice::all, part(1, 2)}) + y.slice({Slice::all, part(1, 2)}) * gain;
  for (const Expr& result : {points, halved, both}) {
    const Function f = compile({result}, {x, y, gain}, checked(2));
    for (const auto& [n, h, w] : {std::tuple<Index, Index, Index>{3, 21, 40}, {3, 13, 40}, {5, 5, 17}, {4, 25, 16}}) same_bits(f, {uneven(f32, {n, h, w}), near_one(f32, {n, h, w}), near_one(f32, {w})});
  }
}

TEST_CASE("results that lie upon what other rows still read, and past the caches") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  for (const Index cache_bytes : {Index{1} << 30, Index{1}})
    for (const Index width : {66, 64, 131}) {
      const Function f = compile({box(x), cross(x)}, {x}, {.threads = 2, .lanes = 16, .cache_bytes = cache_bytes, .verify = true});
      Array array = uneven(f32, {41, width});
      same_bits(f, {array});
      const std::vector<Array> expected = f({array});
      Array second(f32, {39, width - 2});
      f.run({array}, {Array(array.slice(0, 1, 39).slice(1, 1, width - 2)), second});
      CHECK(difference(Array(array.slice(0, 1, 39).slice(1, 1, width - 2)).copy(), expected[0]) == "");
      CHECK(difference(second, expected[1]) == "");
    }
}

TEST_CASE("long functions, many arrays and windows of which little is shared go row by row") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const auto together = [&](const Expr& result) {
    const Function f = compile({result}, {x}, checked());
    f({uneven(f32, {60, 60})});
    return rows_together(f);
  };
  if (!has_many_registers()) return;
  CHECK(together(box(x)) == 4);
  CHECK(together(box(x, 5)) == 4);
  CHECK(together(exp(cross(x))) == 1);
  CHECK(together(at(x, 0, 0) + at(x, 0, 1) + at(x, 0, 2)) == 1);
  CHECK(together(x * 2.0f + 1.0f) == 1);
}

TEST_CASE("turns are by rows of windows, and for each element in order") {
  const auto load = [](int result, Index row, Index step = 1) { return Item(Load{result, 0, {{0, row, step}, {1, 0, 1}}}); };
  Loop lanes;
  lanes.body = {load(0, 0), load(1, 1), Item(Compute{2, Op::add, {{0, {}}, {1, {}}}, {}}), load(3, 0), load(4, 2), Item(Store{1, {{0, 0, 1}, {1, 0, 1}}, {4, {}}})};
  const auto text = [&](const std::vector<Turn>& turns) {
    std::string all;
    for (const Turn& turn : turns) all += concat(turn.element, ":", turn.first, "-", turn.last, " ");
    return all;
  };
  CHECK(text(turns_of(lanes, 0, 2)) == "0:0-1 0:1-4 1:0-1 0:4-6 1:1-4 1:4-6 ");
  lanes.body = {load(0, 0, 2), load(1, 2, 2)};
  CHECK(text(turns_of(lanes, 0, 2)) == "0:0-1 0:1-2 1:0-1 1:1-2 ");
  CHECK(window_of(std::get<Load>(lanes.body[1]), 0, 1).at[0].start.is(4));
}
