// The XLA and OpenVINO rules compiled: maps like any other, and target shapes that are arguments.
#include <weft/broadcast.h>
#include <weft/recurrence.h>
#include <weft/xla.h>

#include "compiled.h"
#include "error_text.h"

using namespace weft;

namespace {
Array indices(const std::vector<Index>& values) { return Array::from<Index>(values, {static_cast<Index>(values.size())}); }
}  // namespace

TEST_CASE("InDim with extents of 1 in one loop nest") {
  Graph g;
  const Expr a = g.input("a", f32, {"n", 1}), b = g.input("b", f32, {37, 1, "m"}), p = g.input("p", bool_, {});
  const Expr y = xla::apply(Op::multiply, a, b, {1, 2});
  const Function f = compile({y, xla::select(p, y, xla::broadcast_in_dim(a, {37, "n", "m"}, {1, 2}))}, {a, b, p}, checked(2));
  for (const auto& [n, m] : {std::pair<Index, Index>(5, 19), {1, 64}, {3, 0}})
    for (const bool choice : {true, false}) check_call(f, {uniform(f32, {n, 1}), uniform(f32, {37, 1, m}, 2), Array::scalar(Scalar(choice))});
}

TEST_CASE("the three modes onto symbols") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 1}), c = g.input("c", f64, {"n"}), m = g.input("m", f64, {1});
  const Expr y = broadcast(x, {4, "n", 9}) + broadcast(c, {4, "n", 9}, BroadcastMode::explicit_axes, {1}) + broadcast(m, {1, "n", 1}, BroadcastMode::bidirectional);
  const Function f = compile({y}, {x, c, m}, checked());
  for (const Index n : {1, 7, 40}) check_call(f, {uniform(f64, {n, 1}), uniform(f64, {n}, 2), uniform(f64, {1}, 3)});
}

TEST_CASE("a target that is an argument: sizes change, axes repeat or not, JIT and interpreter agree") {
  for (const DType dtype : {i8, i32, u64, i64}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m"}), s = g.input("s", dtype, {3});
    const Expr y = broadcast(exp(x) * 0.5, s);
    const Expr loss = sum(y * y);
    const Function f = compile({y, grad(loss, {x})[0]}, {x, s}, checked(2));
    const struct { Dims data; Dims target; } calls[] = {{{3, 40}, {2, 3, 40}}, {{1, 40}, {2, 3, 40}}, {{3, 1}, {5, 3, 33}}, {{1, 1}, {2, 17, 3}},
                                                        {{4, 9}, {1, 4, 9}},   {{1, 1}, {1, 1, 1}},   {{1, 5}, {3, 0, 5}},  {{3, 40}, {7, 3, 40}}};
    for (const auto& call : calls) {
      CAPTURE(to_text(call.data));
      CAPTURE(to_text(call.target));
      Array target(dtype, {3});
      for (Index k = 0; k < 3; ++k)
        Scalar::of(dtype, call.target[static_cast<std::size_t>(k)]).store(static_cast<std::byte*>(target.data()) + k * item_bytes(dtype));
      const std::vector<Array> inputs{uniform(f32, call.data), target};
      CHECK(f(inputs)[0].shape() == call.target);
      check_call(f, inputs, 8);   // products of two exps, summed
    }
  }
}

TEST_CASE("bidirectional with an argument: either side repeats") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 4}), s = g.input("s", i64, {2});
  const Function f = compile({broadcast(x, s, BroadcastMode::bidirectional) * 2.0}, {x, s}, checked());
  for (const auto& [n, target] : std::vector<std::pair<Index, std::vector<Index>>>{{3, {3, 4}}, {3, {1, 1}}, {1, {5, 4}}, {1, {1, 1}}, {6, {6, 1}}})
    check_call(f, {uniform(f64, {n, 4}), indices(target)});
}

TEST_CASE("a scan over a target that is an argument") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), s = g.input("s", i64, {2});
  const Expr y = broadcast(x, s, BroadcastMode::bidirectional);
  const Function f = compile({cumulative_sum(y, 1), cumulative_max(y, 0)}, {x, s}, checked());
  for (const auto& [n, target] : std::vector<std::pair<Index, Index>>{{19, 19}, {1, 20}, {19, 1}, {1, 1}})
    check_call(f, {uniform(f64, {n}), indices({9, target})});
}

TEST_CASE("bind reads the target once; the shape of the given output is checked against it") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), s = g.input("s", i64, {2});
  const Function f = compile({broadcast(x, s)}, {x, s}, checked());
  Array target = indices({2, 3}), out(f64, {2, 3});
  const Array xa = uniform(f64, {3});
  const Call call = f.bind({xa, target}, {out});
  static_cast<Index*>(target.data())[0] = 5;
  call();
  for (Index k = 0; k < 6; ++k) CHECK(static_cast<const double*>(out.data())[k] == static_cast<const double*>(xa.data())[k % 3]);
  CHECK(error_text([&] { f.run({xa, target}, {out}); }) ==
        "shape: output 0 has shape [5, 3] but the array given for it has [2, 3]\n  shapes of given arrays never change: pass an array of this shape");
  static_cast<Index*>(target.data())[1] = 4;
  CHECK(error_text([&] { f({xa, target}); }) ==
        "shape: broadcast: axis 0 of %x has extent n = 3 but the target has s[1] = 4\n  %0: f64[s[1]] = broadcast(%x) to [s[1]]\n"
        "  only an axis of extent 1 is repeated");
  CHECK(error_text([&] { compile({broadcast(x, s)}, {x}, checked()); }).ends_with("\n  add the input %s: an integer vector of more than 1 elements"));
}

TEST_CASE("a graph whose broadcasts calls decide can be shown before it is called") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 3}), s = g.input("s", i64, {2});
  const Function f = compile({broadcast(x, s) + 1.0}, {x, s}, checked());
  CHECK(f.program().find("load") != std::string::npos);
  CHECK(f.schedule() != "");
  CHECK(f.report().find("1 nests") != std::string::npos);
}
