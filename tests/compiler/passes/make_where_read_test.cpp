// Cheap values that are read at several indices: no array is between, and the bits are those of the graph as it was built.
#include <weft/passes.h>

#include "nests.h"
#include "passes/pipeline.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) - 100; });
}
Array bytes(const Dims& shape) {
  return counted_by(u8, shape, [](Index k) { return static_cast<double>(k * 7919 % 256); });
}

Expr at(const Expr& x, Index from, Index to) { return x.slice({Slice(from, to == 0 ? std::optional<Index>() : std::optional<Index>(to))}); }

}  // namespace

TEST_CASE("bytes that are made wider and weighed with their neighbours are one nest") {
  Graph g;
  const Expr x = g.input("x", u8, {"h", "w"}), wide = cast(x, u16);
  const auto along = [&](Index i, Index j) { return wide.slice({Slice(i, i == 2 ? std::optional<Index>() : std::optional<Index>(i - 2)), Slice(j, j == 2 ? std::optional<Index>() : std::optional<Index>(j - 2))}); };
  const Expr rows = along(0, 0) + along(0, 1) * 2 + along(0, 2) + (along(1, 0) + along(1, 1) * 2 + along(1, 2)) * 2 + along(2, 0) + along(2, 1) * 2 + along(2, 2);
  for (const Dims& shape : {Dims{3, 3}, Dims{20, 70}, Dims{33, 200}}) check_nests(cast(floor_divide(rows + 8, 16), u8), {x}, {bytes(shape)});
}

TEST_CASE("pairs, neighbours, and values of two ops") {
  Graph g;
  const Expr x = g.input("x", u8, {"n"}), y = g.input("y", f32, {"n"}), wide = cast(x, DType::i16), negative = y < 0, scaled = cast(x, f32) * 0.5f;
  const std::vector<Array> of_x{bytes({1000})}, of_y{counted(f32, {1000})};
  const Expr even = g.input("even", u8, {1000}), pairs = cast(even, DType::i16);
  check_nests(pairs.slice({Slice({}, {}, 2)}) - pairs.slice({Slice(1, {}, 2)}), {even}, of_x);
  check_nests(cast(not_equal(at(negative, 1, 0), at(negative, 0, -1)), u8), {y}, of_y);
  check_nests(at(scaled, 0, -2) + at(scaled, 1, -1) * 3 + at(scaled, 2, 0), {x}, of_x);
  check_nests(wide * flip(wide, {0}), {x}, of_x);
  const Expr steps = at(y, 1, 0) - at(y, 0, -1);
  check_nests(where(at(steps, 1, 0) * at(steps, 0, -1) > 0, minimum(at(steps, 1, 0), at(steps, 0, -1)), 0), {y}, of_y);
}

TEST_CASE("an array may be given in another shape") {
  Graph g;
  const Expr x = g.input("x", u8, {600}), wide = cast(reshape(x, {20, 30}), DType::i16);
  check_nests(wide.slice({Slice(1, {})}) - wide.slice({Slice({}, -1)}), {x}, {bytes({600})});
}

TEST_CASE("the value itself may be asked as well, by one op where it is made") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), away = abs(x);
  const std::vector<Array> arrays{counted(f32, {500})};
  check_bits({away, at(away, 1, 0) - at(away, 0, -1)}, {x}, arrays);
  check_bits({away * 2, at(away, 1, 0) - at(away, 0, -1), sum(away)}, {x}, arrays);
}

TEST_CASE("what is dear, made of several arrays, read at one index or by what reads memory is made once") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const auto pairs = [](const Expr& v) { return at(v, 1, 0) - at(v, 0, -1); };
  const auto changes = [&](const Expr& result) {
    const Graph before = absorb_copies(drop_dead(extract(g, {x, y}, {result})));
    return to_text(make_where_read(before)) != to_text(before);
  };
  CHECK(changes(pairs(abs(x))));
  CHECK(changes(pairs(abs(x) * 2)));
  CHECK_FALSE(changes(pairs(exp(x))));
  CHECK_FALSE(changes(pairs(abs(x) * 2 + 1)));                    // three ops
  CHECK_FALSE(changes(pairs(x - y)));
  CHECK_FALSE(changes(at(abs(x), 1, 0) * 2));                     // of which a part is made anyway
  CHECK_FALSE(changes(cumulative_sum(abs(x)) + abs(x)));
  const Expr z = g.input("z", f32, {"m", "m"}), larger = abs(z);
  const Graph squares = absorb_copies(drop_dead(extract(g, {x, y, z}, {matmul(larger, transpose(larger)) + transpose(larger)})));
  CHECK(to_text(make_where_read(squares)) == to_text(squares));
}

TEST_CASE("channels of one value, read one by one, are made where they are read, first axis or last") {
  Graph g;
  const Expr x = g.input("x", u8, {"h", "w", 3}), planes = g.input("planes", u8, {3, "h", "w"});
  const auto last = [](const Expr& y, Index k) { return y.slice({Slice::all, Slice::all, Slice(k)}); };
  const auto first = [](const Expr& y, Index k) { return y.slice({Slice(k)}); };
  for (const DType wide : {DType::i32, DType::u16, f32}) {
    const Expr pixels = cast(x, wide), rows = cast(planes, wide);
    for (const Dims& size : {Dims{1, 3}, Dims{20, 70}, Dims{64, 64}}) {
      check_nests(last(pixels, 0) * 3 + last(pixels, 1) * 6 + last(pixels, 2), {x, planes}, {bytes({size[0], size[1], 3}), bytes({3, size[0], size[1]})});
      check_nests(first(rows, 0) * 3 + first(rows, 1) * 6 + first(rows, 2), {x, planes}, {bytes({size[0], size[1], 3}), bytes({3, size[0], size[1]})});
    }
  }
  const Expr pixels = cast(x, DType::i32);
  const Function f = compile({cast((last(pixels, 0) * 77 + last(pixels, 1) * 150 + last(pixels, 2) * 29) >> 8, u8)}, {x}, {.threads = 1});
  same_bits(f, {bytes({64, 64, 3})});
  CHECK(f.program().find("row") == std::string::npos);           // no rows of scratch between the cast and its readers
}
