// Joining, padding, rolling and writing: values by hand, every bit, symbols, empty parts, gradients, errors.
#include <weft/rearrange.h>

#include <cmath>

#include "error_text.h"
#include "problem.h"

using namespace weft;

namespace {

struct Two {
  Graph g{"t"};
  Expr x = g.input("x", f64, {2, 3}), y = g.input("y", f64, {2, 2}), s = g.input("s", f64, {"n"}), b = g.input("b", bool_, {3});
  Array xa = doubles({1, 2, 3, 4, 5, 6}, {2, 3}), ya = doubles({7, 8, 9, -0.0}, {2, 2}), ba = Array::from<bool>({true, false, true}, {3});
  Values operator()(const Expr& e, const Values& sa = {1, 2, 3}) const { return values_of(e, {x, y, s, b}, {xa, ya, vec(sa), ba}); }
};

}  // namespace

TEST_CASE("concat puts parts one after the other, empty ones included, and promotes") {
  Two t;
  CHECK(t(concat({t.x, t.y, t.x}, 1)) == Values{1, 2, 3, 7, 8, 1, 2, 3, 4, 5, 6, 9, 0, 4, 5, 6});
  CHECK(concat({t.x, t.y}, -1).shape() == Shape{2, 5});
  CHECK(std::signbit(t(concat({t.x, t.y}, 1))[9]));                            // -0.0 stays
  CHECK(std::signbit(t(concat({t.y, t.x}, 1))[6]));
  CHECK(t(concat({t.s, t.g.constant(f64, {2}, {8, 9}), t.s * 2})) == Values{1, 2, 3, 8, 9, 2, 4, 6});
  CHECK(t(concat({t.s, t.g.constant(f64, {2}, {8, 9}), t.s * 2}), {}) == Values{8, 9});
  CHECK(to_text(concat({t.s, t.s}).shape()) == "[2*n]");
  CHECK(concat({t.x}, 0).id() == t.x.id());
  CHECK(t(concat({zeros(t.g, f64, {0}), t.s})) == Values{1, 2, 3});
  CHECK(concat({t.b, t.g.constant(i32, {1}, {7})}).dtype() == promote(bool_, i32));
  CHECK(t(concat({t.b, t.b})) == Values{1, 0, 1, 1, 0, 1});
}

TEST_CASE("stack, unstack, moveaxis and broadcast_arrays") {
  Two t;
  const Expr u = t.s * 10;
  CHECK(t(stack({t.s, u, t.s})) == Values{1, 2, 3, 10, 20, 30, 1, 2, 3});
  CHECK(t(stack({t.s, u}, -1)) == Values{1, 10, 2, 20, 3, 30});
  CHECK(t(stack({t.s}, 1)) == Values{1, 2, 3});
  CHECK(t(unstack(t.x, -1)[2]) == Values{3, 6});
  CHECK(unstack(t.x).size() == 2);
  const Expr r = t.g.input("r", f64, {2, 3, 4, 5});
  CHECK(moveaxis(r, 0, -1).shape() == Shape{3, 4, 5, 2});
  CHECK(moveaxis(r, {0, 1}, {-1, 0}).shape() == Shape{3, 4, 5, 2});
  CHECK(moveaxis(r, 3, 1).shape() == Shape{2, 5, 3, 4});
  const auto both = broadcast_arrays({t.s, expand_dims(t.y.slice({0}), 1)});
  CHECK(to_text(both[0].shape()) == "[2, n]");
  CHECK(t(both[1]) == Values{7, 7, 7, 8, 8, 8});
}

TEST_CASE("pad fills with a value around each axis") {
  Two t;
  CHECK(t(pad(t.x, {{1, 0}, {0, 2}})) == Values{0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0});
  CHECK(t(pad(t.x, {{0, 1}, {1, 0}}, 0.5)) == Values{0.5, 1, 2, 3, 0.5, 4, 5, 6, 0.5, 0.5, 0.5, 0.5});
  CHECK(t(pad(t.s, {{"n", 1}}, sum(t.s))) == Values{6, 6, 6, 1, 2, 3, 6});
  CHECK(std::signbit(t(pad(t.s, {{1, 0}}, -0.0))[0]));
  CHECK(t(pad(t.b, {{1, 1}})) == Values{0, 1, 0, 1, 0});
  CHECK(pad(t.x, {{0, 0}, {0, 0}}).id() == t.x.id());
}

TEST_CASE("roll turns axes by any shift") {
  Two t;
  for (Index shift : {-7, -3, -2, -1, 0, 1, 2, 3, 4, 11}) {
    Values expected(6);
    for (Index row = 0; row < 2; ++row)
      for (Index k = 0; k < 3; ++k) expected[static_cast<std::size_t>(row * 3 + ((k + shift) % 3 + 3) % 3)] = static_cast<double>(row * 3 + k + 1);
    CHECK(t(roll(t.x, shift, 1)) == expected);
  }
  CHECK(t(roll(t.x, {1, -1}, {0, 1})) == Values{5, 6, 4, 2, 3, 1});
  CHECK(t(roll(t.s, 2, 0)) == Values{2, 3, 1});
  CHECK(t(roll(t.s, -2, 0)) == Values{3, 1, 2});
  CHECK(t(roll(t.s, -3, 0)) == Values{1, 2, 3});
}

TEST_CASE("update writes a value at a window and keeps every other bit") {
  Two t;
  CHECK(t(update(t.x, {Slice::all, Slice{1, {}}}, t.y)) == Values{1, 7, 8, 4, 9, 0});
  CHECK(std::signbit(t(update(t.x, {Slice::all, Slice{1, {}}}, t.y))[5]));
  CHECK(std::signbit(t(update(t.y, {0}, 5))[3]));
  CHECK(t(update(t.x, {1}, -1)) == Values{1, 2, 3, -1, -1, -1});
  CHECK(t(update(t.x, {Slice::all, Slice{{}, {}, -2}}, t.y)) == Values{8, 2, 7, 0, 5, 9});
  CHECK(t(update(t.x, {0, Slice{{}, {}, 2}}, t.y.slice({0}))) == Values{7, 2, 8, 4, 5, 6});
  CHECK(t(update(t.x, {}, t.g.constant(f64, {3}, {7, 8, 9}))) == Values{7, 8, 9, 7, 8, 9});
  CHECK(t(update(t.x, {}, 3)) == Values(6, 3));
  CHECK(t(update(t.x, {Slice::all, Slice{{}, 2}}, t.g.constant(f64, {2, 1}, {8, 9}))) == Values{8, 8, 3, 9, 9, 6});
  CHECK(t(update(t.s, {Slice{{}, -1}}, t.s.slice({Slice{1, {}}}))) == Values{2, 3, 3});
  CHECK(t(update(t.s, {-1}, 9)) == Values{1, 2, 9});
  CHECK(t(update(t.x, {Slice{1, 1}}, 7)) == Values{1, 2, 3, 4, 5, 6});
  CHECK(t(update(t.b, {1}, true)) == Values{1, 1, 1});
  CHECK(error_text([&] { t(update(t.s, {-1}, 9), {}); }).find("outside axis 0 of the updated array, which has extent n = 0") != std::string::npos);
}

TEST_CASE("diff, triangles and arrays made of their index") {
  Two t;
  CHECK(t(diff(t.s), {1, 4, 9, 16}) == Values{3, 5, 7});
  CHECK(t(diff(t.s, 2), {1, 4, 9, 16}) == Values{2, 2});
  CHECK(t(diff(t.x, 1, 0)) == Values{3, 3, 3});
  CHECK(diff(t.x, 5).shape() == Shape{2, 0});
  CHECK(t(diff(t.b)) == Values{1, 1});
  CHECK(t(tril(t.x)) == Values{1, 0, 0, 4, 5, 0});
  CHECK(t(triu(t.x, 1)) == Values{0, 2, 3, 0, 0, 6});
  CHECK(t(eye(t.g, i32, 2, 3, 1)) == Values{0, 1, 0, 0, 0, 1});
  CHECK(t(eye(t.g, f64, "n")) == Values{1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(t(full(t.g, i8, {"n"}, -3)) == Values{-3, -3, -3});
  CHECK(t(zeros(t.g, bool_, {2})) == Values{0, 0});
  CHECK(t(ones(t.g, f16, {2})) == Values{1, 1});
  CHECK(t(linspace(t.g, f64, 1, 3, 5)) == Values{1, 1.5, 2, 2.5, 3});
  CHECK(t(linspace(t.g, f64, 1, 3, 4, false)) == Values{1, 1.5, 2, 2.5});
  CHECK(t(linspace(t.g, f32, 0, 0.7, 8))[7] == static_cast<double>(0.7f));
}

TEST_CASE("arange is NumPy's") {
  struct Three {
    Graph g;
    Expr s = g.input("s", f64, {"n"});
    Values operator()(const Expr& e) const { return values_of(e, {s}, {vec({1, 2, 3})}); }
  } t;
  CHECK(t(arange(t.g, 2, 9, 3)) == Values{2, 5, 8});
  CHECK(arange(t.g, 2, 9, 3).dtype() == i64);
  CHECK(t(arange(t.g, 2, 8, 3, u8)) == Values{2, 5});
  CHECK(t(arange(t.g, 5, -2, -3, f16)) == Values{5, 2, -1});
  CHECK(arange(t.g, 3, 3).shape() == Shape{0});
  CHECK(arange(t.g, 5, 2).shape() == Shape{0});
  CHECK(arange(t.g, 2, 5, -1).shape() == Shape{0});
  CHECK(arange(t.g, 0, "n").shape() == Shape{"n"});
  CHECK(t(arange(t.g, "n", Extent(2) * "n" + 1, 2)) == Values{3, 5});
  CHECK(t(arange(t.g, 0, 1, 0.25)) == Values{0, 0.25, 0.5, 0.75});
  CHECK(t(arange(t.g, 1.0, -0.5, -0.5)) == Values{1, 0.5, 0});
  CHECK(arange(t.g, 1.0, 0.0).shape() == Shape{0});
  CHECK(arange(t.g, 0.0, 3.0, 1, f32).dtype() == f32);
}

TEST_CASE("gradients agree with differences, twice") {
  const auto xs = std::vector<Array>{doubles({0.3, -1.2, 0.8, 2.1, -0.4, 0.9}, {2, 3}), doubles({0.7, -0.9, 1.4, 0.2}, {2, 2})};
  using Make = Expr (*)(const Expr& x, const Expr& y);
  const Make makes[] = {
      [](const Expr& x, const Expr& y) { return concat({x * y.slice({0, 0}), y, x}, 1); },
      [](const Expr& x, const Expr& y) { return stack({x, x * x, x * y.slice({1, 1})}, 1); },
      [](const Expr& x, const Expr& y) { return pad(x, {{1, 0}, {2, 1}}, y.slice({0, 1})); },
      [](const Expr& x, const Expr& y) { return roll(x, 2, 1) * y.slice({0, 0}); },
      [](const Expr& x, const Expr& y) { return update(x * x, {Slice::all, Slice{{}, -1}}, y); },
      [](const Expr& x, const Expr& y) { return update(x * x, {Slice::all, Slice{{}, {}, 2}}, y.slice({Slice::all, Slice{0, 1}})); },
      [](const Expr& x, const Expr& y) { return update(x, {1}, y.slice({1, 0})); },
      [](const Expr& x, const Expr& y) { return diff(x, 2) * y; },
      [](const Expr& x, const Expr& y) { return tril(x, -1) + triu(x * x) * y.slice({0, 1}); },
  };
  for (Make make : makes) {
    CAPTURE(&make - makes);
    Problem p(xs);
    const Expr y = make(p.x[0], p.x[1]);
    p.check_twice(sum(sin(y) * (y + 0.5)));
  }
}

TEST_CASE("what cannot be joined, padded or written") {
  Two t;
  const std::size_t before = t.g.size();
  CHECK(error_text([&] { concat({}, 0); }) == "usage: concat: expected at least one operand");
  CHECK(error_text([&] { concat({t.x, t.s}, 0); }) == "shape: concat: %x has shape [2, 3] but %s has shape [n]\n  give all operands one rank");
  CHECK(error_text([&] { concat({t.x, t.y}, 0); }) == "shape: concat: axis 1 has extent 3 in %x but 2 in %y\n  slice or pad one of them");
  CHECK(error_text([&] { concat({t.x, t.y}, 2); }) == "shape: concat: axis 2 is outside %x of shape [2, 3]\n  axes run from -2 to 1");
  CHECK(error_text([&] { stack({t.s, t.b}, 0); }) == "shape: stack: axis 0 has extent n in %s but 3 in %b\n  if n is meant to be 3, declare that input with 3");
  CHECK(error_text([&] { stack({t.s}, 2); }) == "shape: stack: axis 2 is outside the result, which has rank 2\n  the new axis may be at -2 to 1");
  CHECK(error_text([&] { unstack(t.s); }) ==
        "unsupported: unstack: axis 0 of %s has extent n, which is symbolic\n  declare the axis with a number");
  CHECK(error_text([&] { moveaxis(t.x, {0, 1}, {0}); }) == "usage: moveaxis: 2 axes of %x move to 1 places");
  CHECK(error_text([&] { pad(t.x, {{1, 1}}); }) == "shape: pad: %x has rank 2 but 1 pairs of widths are given\n  give one for each axis");
  CHECK(error_text([&] { pad(t.s, {{-1, 0}}); }) == "shape: pad: axis 0 of %s is padded by -1\n  slice it to make it shorter");
  CHECK(error_text([&] { full(t.g, i32, {2}, 0.0); }) == "dtype: full: the number 0 is f64, expected an integer for i32\n  write an integer, or cast the operand");
  CHECK(error_text([&] { pad(t.b, {{1, 1}}, 2); }) == "dtype: pad: the number 2 does not fit bool\n  cast the operand to a wider dtype");
  CHECK(error_text([&] { pad(t.x, {{1, 1}, {0, 0}}, t.s); }) == "shape: pad: the value %s has shape [n], expected a scalar");
  CHECK(error_text([&] { roll(t.x, {1, 2, 3}, {0, 1}); }) == "usage: roll: 3 shifts are given for 2 axes of %x\n  give one for all, or one for each");
  CHECK(error_text([&] { update(t.x, {0, 0, 0}, 1); }) == "shape: update: %x of shape [2, 3] has 2 axes but 3 slices are given");
  CHECK(error_text([&] { update(t.x, {5}, 1); }) == "shape: update: index 5 is outside axis 0 of %x, which has extent 2");
  CHECK(error_text([&] { update(t.b, {0}, t.s); }).starts_with("dtype: update: the value %s is f64 and does not fit %b, which is bool"));
  CHECK(error_text([&] { diff(t.s, -1); }) == "usage: diff: expected an order of 0 or more, got -1");
  CHECK(error_text([&] { tril(t.s); }) == "shape: tril: expected rank 2 or more, got %s of rank 1");
  const std::size_t nodes = t.g.size();
  CHECK(error_text([&] { zeros(t.g, i8, {2, -3}); }) == "shape: full: an axis cannot have extent -3 in [2, -3]");
  CHECK(t.g.size() == nodes);
  CHECK(error_text([&] { full(t.g, i8, {2}, 300); }) == "dtype: full: the number 300 does not fit i8\n  cast the operand to a wider dtype");
  CHECK(error_text([&] { linspace(t.g, i32, 0, 1, 3); }) == "dtype: linspace: expected a floating dtype, got i32");
  CHECK(error_text([&] { linspace(t.g, f32, 0, 1, -3); }) == "usage: linspace: expected a count of 0 or more, got -3");
  CHECK(error_text([&] { arange(t.g, 0, 3, 0); }) == "usage: arange: the step from 0 to 3 is 0");
  CHECK(error_text([&] { arange(t.g, 0, 3, 1, bool_); }) == "dtype: arange: expected a numeric dtype, got bool");
  CHECK(error_text([&] { arange(t.g, 0.5, 3, 1, i32); }) == "dtype: arange: bounds that are not integers make a floating dtype, got i32");
  CHECK(error_text([&] { arange(t.g, 0.5, 3, 0); }) == "usage: arange: from 0.5 to 3 in steps of 0 is not a finite number of elements");
  CHECK(t.g.size() == before);
  const Expr u = t.g.input("u64s", u64, {"n"}), i = t.g.input("i64s", i64, {"n"});
  CHECK(error_text([&] { update(u, {Slice::all}, i); }) == "dtype: update: the value %i64s is i64 and does not fit %u64s, which is u64\n  cast it");
  CHECK(error_text([&] { concat({u, i}); }) == "dtype: concat: %i64s is i64 beside u64, which have no common dtype\n  cast one of them");
  CHECK(error_text([&] { roll(u, INT64_MIN, 0); }) == "shape: roll: %u64s is shifted by -9223372036854775808, which has no opposite");
}
