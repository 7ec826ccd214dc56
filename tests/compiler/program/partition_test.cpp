// Bodies for the parts of a loop: which there are, between which bounds, and what is left in them.
#include "bits.h"

#include <limits>

#include "program/partition.h"

using namespace weft;

namespace {

// lanes j in m of rows i in n: what `body` makes goes to buffer 1.
Program rows(std::vector<Item> body, const Extent& n, const Extent& m, int values) {
  Program program;
  program.axes = {{n, 0}, {m, 0}};
  Buffer x, y, number, index;
  x.dtype = y.dtype = f32;
  x.extents = {"n", "w"};
  y.place = Place::result;
  y.extents = {n, m};
  index.place = Place::index;
  number.place = Place::extent;
  index.dtype = number.dtype = i64;
  number.size = floor_div(Extent("m"), 2);
  program.buffers = {x, y, index, number};
  program.values.assign(static_cast<std::size_t>(values), f32);
  Loop lanes;
  lanes.mark = Mark::lanes;
  lanes.var.axis = 1;
  lanes.body = std::move(body);
  lanes.body.push_back(Store{1, {{0}, {1}}, {values - 1, {}}});
  program.root.mark = Mark::units;
  program.root.var.axis = 0;
  program.root.body = {std::move(lanes)};
  return program;
}
const Loop& lanes_of(const Program& program) { return std::get<Loop>(program.root.body.back()); }
const Load& first_load(const Loop& loop) { return std::get<Load>(loop.body[0]); }
Load window(const Extent& from) { return Load{0, 0, {{0, 0, 1, 0}, {1, from, 1, 1}}, true}; }
const Bindings sizes = {{"n", 100}, {"m", 1000}, {"w", 900}};

}  // namespace

TEST_CASE("a window near both ends: one part, of a plain load") {
  Program program = rows({window(3)}, "n", Extent("w") + 5, 1);
  partition_loops(program, sizes);
  const Loop& loop = lanes_of(program);
  REQUIRE(loop.parts.size() == 1);
  CHECK(loop.parts[0].bounded == 1);
  CHECK(loop.parts[0].from == std::vector<Bound>{{3}});
  CHECK(loop.parts[0].to == std::vector<Bound>{{Extent("w") + 3}});
  CHECK_FALSE(first_load(loop.parts[0]).guarded);
  CHECK(first_load(loop.parts[0]).at == std::vector<Subscript>{{0, 0, 1}, {1, -3, 1}});
  CHECK(first_load(loop).guarded);
}

TEST_CASE("a window that ends in the middle: a part inside, one that stores zero") {
  Program program = rows({window(0)}, "n", "m", 1);
  partition_loops(program, {{"n", 100}, {"m", 1000}, {"w", 400}});
  const Loop& loop = lanes_of(program);
  REQUIRE(loop.parts.size() == 2);
  CHECK(loop.parts[0].to == std::vector<Bound>{{"w"}});
  CHECK(loop.parts[1].from == std::vector<Bound>{{"w"}});
  CHECK(loop.parts[1].to.empty());
  REQUIRE(loop.parts[1].body.size() == 1);
  CHECK(std::get<Store>(loop.parts[1].body[0]).value.constant == Scalar::of(f32, 0.0));
}

TEST_CASE("a comparison with an extent, either way round, leaves one side of a selection") {
  for (bool turned : {false, true}) {
    const Arg index{1, {}}, bound{2, {}};
    const Compute asks{3, turned ? Op::greater : Op::less, turned ? std::vector{bound, index} : std::vector{index, bound}};
    Program program = rows({Load{0, 0, {{0}, {1}}}, Load{1, 2, {{1}}}, asks, Compute{4, Op::where, {{3, {}}, {0, {}}, {-1, Scalar::of(f32, 7.0)}}}}, "n", "m", 5);
    program.root.body.insert(program.root.body.begin(), Load{2, 3, {}});
    partition_loops(program, sizes);
    const Loop& loop = lanes_of(program);
    REQUIRE(loop.parts.size() == 2);
    CHECK(loop.parts[0].to == std::vector<Bound>{{floor_div(Extent("m"), 2)}});
    CHECK(loop.parts[0].body.size() == 2);                       // load and store
    CHECK(loop.parts[1].body.size() == 1);
    CHECK(loop.parts[0].weight == 1);
    CHECK(loop.parts[1].weight == 0);
  }
}

TEST_CASE("rows: cases of the loop outside, each with parts of its own") {
  Program program = rows({Load{0, 0, {{0, 1, 1, 0}, {1, 3, 1, 1}}, true}}, Extent("n") + 2, Extent("w") + 5, 1);
  partition_loops(program, sizes);
  const Loop& loop = lanes_of(program);
  REQUIRE(loop.parts.size() == 1);
  const Loop& inside = loop.parts[0];
  CHECK(inside.bounded == 0);
  CHECK(inside.from == std::vector<Bound>{{1}});
  CHECK(inside.to == std::vector<Bound>{{Extent("n") + 1}});
  CHECK(first_load(inside).guarded);
  REQUIRE(inside.parts.size() == 1);
  CHECK_FALSE(first_load(inside.parts[0]).guarded);
  CHECK(first_load(inside.parts[0]).at == std::vector<Subscript>{{0, -1, 1}, {1, -3, 1}});
}

TEST_CASE("a triangle: bounds that move with the index of the loop outside") {
  for (bool apart : {false, true}) {                             // column <= row + 2, or column - row <= 2
    const Arg row{1, {}}, column{2, {}}, two{-1, Scalar::of(i64, 2)}, shifted{3, {}};
    Program program = rows({Load{0, 0, {{0}, {1}}}, Load{2, 2, {{1}}}, apart ? Compute{3, Op::subtract, {column, row}} : Compute{3, Op::add, {row, two}},
                            Compute{4, Op::less_equal, apart ? std::vector{shifted, two} : std::vector{column, shifted}}, Compute{5, Op::where, {{4, {}}, {0, {}}, {-1, Scalar::of(f32, 0.0)}}}},
                           "n", "m", 6);
    program.root.body.insert(program.root.body.begin(), Load{1, 2, {{0}}});
    partition_loops(program, {{"n", 1000}, {"m", 1000}, {"w", 1000}});
    const Loop& loop = lanes_of(program);
    REQUIRE(loop.parts.size() == 2);
    CHECK(loop.parts[0].to == std::vector<Bound>{{3, 0}});
    CHECK(loop.parts[1].from == std::vector<Bound>{{3, 0}});
    CHECK(loop.parts[1].body.size() == 1);
  }
}

TEST_CASE("of known whole vectors every part has a body, be it one vector long") {
  const auto parts_of = [](const Extent& m, const Extent& from) {
    Program program = rows({window(from)}, "n", m, 1);
    program.buffers[0].extents = {"n", 16};
    partition_loops(program, {{"n", 100}, {"m", 32}, {"p", 16}});
    return lanes_of(program).parts.size();
  };
  CHECK(parts_of(32, 16) == 2);
  CHECK(parts_of(32, 0) == 2);
  CHECK(parts_of(48, 16) == 3);
  CHECK(parts_of("m", 16) < 2);
  CHECK(parts_of(32, "p") < 2);
  CHECK(parts_of(32, 12) == 3);                  // nor need they be whole of short rows
  CHECK(parts_of(32, 2) < 3);
  CHECK(parts_of(4000, 12) < 3);
}

TEST_CASE("rows of known elements that are put together of others have the bits of each") {
  Graph g;
  for (const Index m : {5, 8, 9, 12, 15, 20, 33, 100}) {
    const Expr x = g.input(concat("x", m), f32, {"n", m}), bytes = g.input(concat("y", m), u8, {"n", m}), y = cast(bytes, f32);
    const auto of_row = [&](const Expr& e, Index from, Index to) { return e.slice({Slice{}, Slice{from, to}}); };
    const std::vector<Expr> results{concat({x, x * 2}, 1), concat({x, y, x + y}, 1), roll(x, 4, 1) - 1, pad(x * y, {{0, 0}, {5, 6}}),
                                    concat({-of_row(x, m / 2, m), of_row(x, 0, m / 2)}, 1), update(x, {Slice{}, Slice{m / 4, m / 2}}, 0.5)};
    for (const int lanes : {0, 4, 8}) {
      CAPTURE(m);
      CAPTURE(lanes);
      const Function f = compile(results, {x, bytes}, {.threads = 2, .lanes = lanes, .verify = true});
      for (const Index n : {40, 0, 1, 3}) same_bits(f, {uneven(f32, {n, m}), uneven(u8, {n, m})});
    }
  }
}

TEST_CASE("short loops, many bounds, what is asked by steps and folds along rows that are asked for: no parts") {
  Program narrow = rows({window(3)}, "n", Extent("w") + 5, 1);
  partition_loops(narrow, {{"n", 100}, {"w", 20}});
  CHECK(lanes_of(narrow).parts.empty());
  Program steps = rows({Load{0, 0, {{0, 0, 1, 0}, {1, 3, 2, 1}}, true}}, "n", 2 * Extent("w") + 5, 1);
  partition_loops(steps, sizes);
  CHECK(lanes_of(steps).parts.empty());
  std::vector<Item> asks{Load{0, 2, {{1}}}};
  for (int k = 1; k < 20; ++k) asks.push_back(Compute{k, Op::less, {{0, {}}, {-1, Scalar::of(i64, 45 * k)}}});
  Program many = rows(asks, "n", "m", 20);
  partition_loops(many, sizes);
  CHECK(lanes_of(many).parts.empty());
  Program folds = rows({Load{0, 0, {{0, 1, 1, 0}, {1, 0, 1, 1}}, true}}, Extent("n") + 2, "w", 1);
  std::get<Loop>(folds.root.body.back()).folds = {0};
  partition_loops(folds, sizes);
  CHECK(lanes_of(folds).parts.empty());
}

TEST_CASE("comparisons of indices that wrap at 64 bits say nothing of where an index lies") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), i = iota(g, "n"), n = g.extent("n");
  constexpr Index least = std::numeric_limits<Index>::min(), most = std::numeric_limits<Index>::max();
  std::vector<Expr> outputs;
  for (const Expr& holds : {i + (most - 3) < n, i + (most - 3) < 0, i != most, least - i <= -3, i - most < 7, i + (most / 2) + (most / 2) < n, i < most, i > least})
    outputs.insert(outputs.end(), {where(holds, x, -x), sum(where(holds, x * 2, x))});
  check_bits(outputs, {x}, {counting(f32, {100})}, 1);
}
