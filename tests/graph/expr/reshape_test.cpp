// reshape, tile and repeat: NumPy's elements, -1, symbols, text, passes, gradients, errors.
#include <weft/grad.h>
#include <weft/rearrange.h>

#include "error_text.h"
#include "problem.h"

using namespace weft;

namespace {

struct Three {
  Graph g{"t"};
  Expr x = g.input("x", f64, {2, 3}), s = g.input("s", f64, {"n", 4}), u = g.input("u", f64, {2, 1, 3});
  Array xa = doubles({1, 2, 3, 4, 5, 6}, {2, 3}), ua = doubles({1, 2, 3, 4, 5, 6}, {2, 1, 3});
  Values operator()(const Expr& e, Index n = 3) const { return values_of(e, {x, s, u}, {xa, case_x({n, 4}), ua}); }
};

}  // namespace

TEST_CASE("reshape keeps the row-major order, or the column-major one") {
  Three t;
  CHECK(t(reshape(t.x, {3, 2})) == Values{1, 2, 3, 4, 5, 6});
  CHECK(t(reshape(transpose(t.x), {6})) == Values{1, 4, 2, 5, 3, 6});
  CHECK(t(reshape(t.x, {3, 2}, Order::f)) == Values{1, 5, 4, 3, 2, 6});
  CHECK(t(reshape(t.x, {6}, Order::f)) == Values{1, 4, 2, 5, 3, 6});
  CHECK(t(reshape(t.s, {-1})) == case_x({3, 4}).to_vector<double>());
  CHECK(t(sum(reshape(t.s, {2, -1}), 1), 2) == t(sum(t.s, 1), 2));
  CHECK(t(reshape(t.u, {1, 2, 3, 1})) == Values{1, 2, 3, 4, 5, 6});
  CHECK(t(reshape(t.s, {0, 7}), 0).empty());
}

TEST_CASE("-1 is what is left over") {
  Three t;
  CHECK(reshape(t.u, {2, -1}).shape() == Shape{2, 3});
  CHECK(reshape(t.s, {-1, 1, 4}).shape() == Shape{"n", 1, 4});
  CHECK(to_text(reshape(t.s, {-1}).shape()) == "[4*n]");
  CHECK(to_text(reshape(t.s, {-1, 2}).shape()) == "[2*n, 2]");
  CHECK(to_text(reshape(t.s, {8, -1}).shape()) == "[8, (4*n)/8]");
  CHECK(reshape(t.s, {2, -1, "n"}).shape() == Shape{2, 2, "n"});
}

TEST_CASE("reshape prints, parses and merges") {
  Three t;
  CHECK(text_of(t.g, {t.s}, {exp(reshape(reshape(t.s, {2, -1}), {-1}))}) ==
        "graph t(%s: f64[n,4]) -> (%1) {\n  %0: f64[4*n] = reshape(%s)\n  %1: f64[i:4*n] = exp(%0[i])\n}\n");
  CHECK(text_of(t.g, {t.x}, {exp(reshape(reshape(t.x, {6}), {2, 3}))}) == "graph t(%x: f64[2,3]) -> (%0) {\n  %0: f64[i:2,j:3] = exp(%x[i,j])\n}\n");
  CHECK(line_of(t.g, reshape(t.u, {1, 6, 1}).id()).find("= reshape(%u)") != std::string::npos);
  const std::string text = "graph g(%x: f64[n,m]) -> (%1, %2) {\n  %0: f64[(m)*(n)] = reshape(%x)\n  %1: f64[i:(m)*(n)] = copy(%0[i])\n"
                           "  %2: f64[1,1] = reshape(1.5:f64)\n}\n";
  CHECK(to_text(parse(text)) == text);
  CHECK(same(parse(text), parse(text)));
}

TEST_CASE("a constant is folded under its new shape; counts that only the call can compare stay") {
  const auto folded = [](const std::string& text) { return to_text(fold_constants(parse(text))); };
  CHECK(folded("graph t() -> (%2) {\n  %0: f64[2,2] = constant [1, 2, 3, 4]\n  %1: f64[4] = reshape(%0)\n  %2: f64[i:4] = exp(%1[i])\n}\n") ==
        "graph t() -> (%1) {\n  %0: f64[4] = constant [1, 2, 3, 4]\n  %1: f64[i:4] = exp(%0[i])\n}\n");
  CHECK(folded("graph t(%x: f64[n]) -> (%1) {\n  %0: f64[i:n,j:6] = copy(2:f64)\n  %1: f64[3*n,2] = reshape(%0)\n}\n").find("= copy(2:f64)") != std::string::npos);
  CHECK(folded("graph t(%x: f64[n]) -> (%1) {\n  %0: f64[i:n] = copy(2:f64)\n  %1: f64[n/2,2] = reshape(%0)\n}\n").find("reshape(%0)") != std::string::npos);
}

TEST_CASE("tile and repeat are NumPy's") {
  Three t;
  CHECK(t(tile(t.x, {2})) == Values{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(t(tile(t.x, {2, 1})) == Values{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(tile(t.x, {2, 1, 2}).shape() == Shape{2, 2, 6});
  CHECK(t(tile(t.x, {2, 1, 1})) == Values{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(tile(t.x, {0, 1}).shape() == Shape{0, 3});
  CHECK(to_text(tile(t.s, {3, 1}).shape()) == "[3*n, 4]");
  CHECK(t(repeat(t.x, 2, 1)) == Values{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  CHECK(t(repeat(t.x, 2, 0)) == Values{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(t(repeat(t.x, 0, 0)).empty());
}

TEST_CASE("gradients through reshape, tile and repeat agree with differences, twice") {
  using Make = Expr (*)(const Expr& x);
  const Make makes[] = {
      [](const Expr& x) { return reshape(x * x, {3, 2}); },
      [](const Expr& x) { return reshape(transpose(x), {6}) * reshape(x, {6}, Order::f) + reshape(x, {-1}); },
      [](const Expr& x) { return tile(x, {2, 2}) * repeat(repeat(x, 2, 0), 2, 1); },
      [](const Expr& x) { return sum(reshape(x, {3, 2}), 1); },
      [](const Expr& x) { return reshape(where(x > 0, log(x), 0), {6}); },
  };
  for (Make make : makes) {
    Problem p({doubles({0.3, -1.2, 0.8, 2.1, -0.4, 0.9}, {2, 3})});
    const Expr y = make(p.x[0]);
    p.check_twice(sum(sin(y) * (y + 0.5)));
    p.check_against_differences(sum(y));
  }
}

TEST_CASE("a Jacobian through a reshape") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3})});
  const Expr whole = jacobian(reshape(p.x[0] * p.x[0], {3, 2}), p.x[0]);
  CHECK(whole.shape() == Shape{3, 2, 2, 3});
  const Values got = p(whole);
  for (std::size_t k = 0; k < 36; ++k) CHECK(got[k] == (k / 6 == k % 6 ? 2.0 * static_cast<double>(k / 6 + 1) : 0.0));
}

TEST_CASE("counts that differ") {
  Three t;
  CHECK(error_text([&] { reshape(t.x, {4, 3}); }) == "shape: reshape: %x of shape [2, 3] has 6 elements but the target [4, 3] has 12");
  CHECK(error_text([&] { reshape(t.x, {-1, -1}); }) == "shape: reshape: the target [-1, -1] of %x has more than one -1");
  CHECK(error_text([&] { reshape(t.x, {-2, 3}); }) == "shape: reshape: the target [-2, 3] of %x has extent -2");
  CHECK(error_text([&] { reshape(t.x, {4, -1}); }) == "shape: reshape: %x of shape [2, 3] has 6 elements, which 4 in [4, -1] does not divide");
  CHECK(error_text([&] { reshape(t.x, {0, -1}); }) ==
        "shape: reshape: what -1 stands for in [0, -1] is not known beside an extent of 0\n  write the extent in place of -1");
  CHECK(error_text([&] { reshape(t.x, {"n", -1}); }) ==
        "unsupported: reshape: what -1 stands for in [n, -1] is not known: %x of shape [2, 3] has no axis of extent n\n"
        "  write the extent in place of -1");
  CHECK(error_text([&] { tile(t.x, {-1}); }) == "usage: tile: %x cannot be repeated -1 times");
  CHECK(error_text([&] { repeat(t.x, -1, 0); }) == "usage: repeat: %x cannot be repeated -1 times");
  CHECK(t.g.size() == 3);
  const Expr eight = reshape(t.s, {8, -1});
  CHECK(t(eight, 2).size() == 8);
  CHECK(error_text([&] { t(eight, 3); }) ==
        "shape: reshape: %s of shape [n, 4] has 4*n = 12 elements but the target [8, (4*n)/8] has 8*((4*n)/8) = 8\n  %0: f64[8,(4*n)/8] = reshape(%s)");
  Node node;
  node.kind = Kind::reshape;
  node.domain = {5};
  node.kept = 1;
  CHECK(error_text([&] { t.g.add(node, {}); }) == "usage: reshape: expected one operand, got 0");
  CHECK(error_text([&] { t.g.add(node, {Operand{t.x.id(), {}}}); }) == "usage: reshape: the operand's map is the identity");
  CHECK(error_text([&] { t.g.add(node, {Operand{t.x.id(), identity_map(2)}}); }) ==
        "shape: reshape: %x of shape [2, 3] has 6 elements but the target [5] has 5");
  node.dtype = f32;
  CHECK(error_text([&] { t.g.add(node, {Operand{t.x.id(), identity_map(2)}}); }) == "dtype: reshape: the operand is f64 but the result is f32");
}
