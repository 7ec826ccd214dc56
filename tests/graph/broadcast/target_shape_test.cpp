// The Broadcast-3 rules: three modes, targets from numbers, symbols and vectors; the examples of the source and what errors say.
#include <weft/target_shape.h>

#include <weft/broadcast.h>
#include <weft/expr.h>

#include "error_text.h"
#include "problem.h"

using namespace weft;

namespace {
constexpr auto numpy = BroadcastMode::numpy, along = BroadcastMode::explicit_axes, both = BroadcastMode::bidirectional;

std::string line(const Shape& data, const Shape& target, BroadcastMode mode) {
  Graph g;
  return line_of(g, broadcast(g.input("x", f64, data), target, mode).id());
}
std::string line(const Shape& data, const Shape& target, const std::vector<Index>& axes) {
  Graph g;
  return line_of(g, broadcast(g.input("x", f64, data), target, along, axes).id());
}
std::string error(const Shape& data, const Shape& target, BroadcastMode mode) { return error_text([&] { line(data, target, mode); }); }
std::string error(const Shape& data, const Shape& target, const std::vector<Index>& axes) { return error_text([&] { line(data, target, axes); }); }
}  // namespace

TEST_CASE("the four examples of the source") {
  CHECK(line({16, 1, 1}, {1, 16, 50, 50}, numpy) == "%0: f64[i:1,j:16,k:50,l:50] = copy(%x[j,0,0])");
  CHECK(line({16}, {1, 16, 50, 50}, {1}) == "%0: f64[i:1,j:16,k:50,l:50] = copy(%x[j])");
  CHECK(line({50, 50}, {1, 50, 50, 16}, {1, 2}) == "%0: f64[i:1,j:50,k:50,l:16] = copy(%x[j,k])");
  CHECK(line({16, 1, 1}, {1, 1, 50, 50}, both) == "%0: f64[i:1,j:16,k:50,l:50] = copy(%x[j,0,0])");
  CHECK(line({16, 1, 1}, {1, 16, 50, 50}, BroadcastMode()) == line({16, 1, 1}, {1, 16, 50, 50}, numpy));
}

TEST_CASE("numpy: the target is the shape of the result") {
  CHECK(line({}, {}, numpy) == "%0: f64[] = copy(%x)");
  CHECK(line({1, 3}, {0, 3}, numpy) == "%0: f64[i:0,j:3] = copy(%x[0,j])");
  CHECK(line({"n", 1}, {2, "n", "m"}, numpy) == "%0: f64[i:2,j:n,k:m] = copy(%x[j,0])");
  CHECK(error({2, 3}, {1, 3}, numpy) ==
        "shape: broadcast: axis 0 of %x has extent 2 but the target [1, 3] has 1\n  only an axis of extent 1 is repeated");
  CHECK(error({1, 16, 5, 5}, {16, 1, 1}, numpy) ==
        "shape: broadcast: %x has rank 4 but the target [16, 1, 1] has rank 3\n  squeeze or reduce the surplus axes first");
  CHECK(error({3}, {"n"}, numpy) ==
        "shape: broadcast: axis 0 of %x has extent 3 but the target [n] has n\n  if n is meant to be 3, declare that input with 3");
  CHECK(error({3}, {-1, 3}, numpy) == "shape: broadcast: extent -1 in the target [-1, 3] is negative");
}

TEST_CASE("explicit: axes keep their order and their extents") {
  CHECK(line({1, 3}, {2, 4, 3}, {1, 2}) == "%0: f64[i:2,j:4,k:3] = copy(%x[0,k])");
  CHECK(line({}, {2, 3}, std::vector<Index>{}) == "%0: f64[i:2,j:3] = copy(%x)");
  CHECK(line({"h", "w"}, {"n", "h", "w", "c"}, {1, 2}) == "%0: f64[i:n,j:h,k:w,l:c] = copy(%x[j,k])");
  CHECK(error({5}, {2, 4}, {1}) ==
        "shape: broadcast: axis 0 of %x has extent 5 but axis 1 of the target [2, 4] has 4\n  only an axis of extent 1 is repeated");
  CHECK(error({5, 4}, {2, 4, 5}, {2, 1}) ==
        "shape: broadcast: axes_mapping (2, 1) is not strictly increasing\n  axes keep their order and go to one axis each: permute_dims changes the order");
  CHECK(error({4, 4}, {2, 4, 4}, {1, 1}) ==
        "shape: broadcast: axes_mapping (1, 1) is not strictly increasing\n  axes keep their order and go to one axis each: permute_dims changes the order");
  CHECK(error({3, 1}, {2, 3, 1}, {1, 3}) == "shape: broadcast: axes_mapping (1, 3) names axis 3 of a target of rank 3");
  CHECK(error({3}, {2, 3}, {0, 1}) ==
        "shape: broadcast: axes_mapping (0, 1) has 2 entries but %x has rank 1\n  give one axis of the target for each axis of %x");
}

TEST_CASE("bidirectional: the data may have the longer axis, or the higher rank") {
  CHECK(line({4, 1, 3}, {5, 1}, both) == "%0: f64[i:4,j:5,k:3] = copy(%x[i,0,k])");
  CHECK(line({2}, {}, both) == "%0: f64[i:2] = copy(%x[i])");
  CHECK(line({"n", 1}, {1, "m"}, both) == "%0: f64[i:n,j:m] = copy(%x[i,0])");
  CHECK(line({"n"}, {2, "n"}, both) == "%0: f64[i:2,j:n] = copy(%x[j])");
  CHECK(line({1}, {0}, both) == "%0: f64[i:0] = copy(%x[0])");
  CHECK(error({2, 3}, {2, 4}, both) == "shape: broadcast: axis j has extent 3 in %x[i,j] but 4 in [2, 4]\n  extents must be equal, or one of them 1");
  CHECK(error({"n"}, {"m"}, both) ==
        "shape: broadcast: axis i has extent n in %x[i] but m in [m]\n  if m is meant to equal n, declare both inputs with the same symbol");
}

TEST_CASE("equal shapes are copied in every mode") {
  for (const std::string& text : {line({2, 3}, {2, 3}, numpy), line({2, 3}, {2, 3}, both), line({2, 3}, {2, 3}, {0, 1})})
    CHECK(text == "%0: f64[i:2,j:3] = copy(%x[i,j])");
}

TEST_CASE("modes by name, and axes_mapping with mode explicit only") {
  for (const auto mode : {numpy, along, both}) CHECK(broadcast_mode(to_text(mode)) == mode);
  CHECK(error_text([] { broadcast_mode("foo"); }) == "usage: broadcast_mode: expected numpy, explicit or bidirectional, got \"foo\"");
  CHECK(error({16}, {1, 16}, along) == "usage: broadcast: mode explicit needs axes_mapping\n  give one axis of the target for each axis of the data");
  Graph g;
  const Expr x = g.input("x", f64, {16, 1, 1});
  CHECK(error_text([&] { broadcast(x, {1, 16, 5, 5}, numpy, {1, 2, 3}); }) ==
        "usage: broadcast: mode numpy takes no axes_mapping\n  leave it out, or use mode explicit");
  CHECK(error_text([&] { broadcast(x, {1, 16, 5, 5}, both, {1, 2, 3}); }) ==
        "usage: broadcast: mode bidirectional takes no axes_mapping\n  leave it out, or use mode explicit");
  CHECK(error_text([] { broadcast(Expr(), {1}); }) == "usage: broadcast: the data is an empty Expr");
  CHECK(g.size() == 1);
}

TEST_CASE("a target and axes_mapping may be constant integer vectors of any integer dtype") {
  for (const DType dtype : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    Graph g;
    const Expr x = g.input("x", f32, {3, 1}), target = g.constant(dtype, {3}, {2, 3, 6}), axes = g.constant(dtype, {2}, {0, 1});
    CHECK(broadcast(x, target).shape() == Shape{2, 3, 6});
    CHECK(broadcast(x, g.constant(dtype, {2}, {3, 4}), along, axes).shape() == Shape{3, 4});
    CHECK(broadcast(x, target + g.constant(dtype, {3}, {1, 0, 1}), both).shape() == Shape{3, 3, 7});
  }
}

TEST_CASE("what vectors must be") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 4}), n = g.input("n", i64, {2}), target = g.constant(i64, {2}, {2, 4});
  CHECK(error_text([&] { broadcast(x, g.constant(2)); }) == "shape: broadcast: the target 2:i32 has rank 0, expected rank 1");
  CHECK(error_text([&] { broadcast(x, g.constant(i64, {1, 2}, {2, 4}).name("t")); }) == "shape: broadcast: the target %t has rank 2, expected rank 1");
  CHECK(error_text([&] { broadcast(x, g.constant(f32, {2}, {2, 4}).name("f")); }) == "dtype: broadcast: the target %f is f32, expected an integer dtype");
  CHECK(error_text([&] { broadcast(x, target, along, g.constant(f32, {2}, {0, 1}).name("a")); }) ==
        "dtype: broadcast: axes_mapping %a is f32, expected an integer dtype");
  CHECK(error_text([&] { broadcast(x, target, along, g.constant(0)); }) == "shape: broadcast: axes_mapping 0:i32 has rank 0, expected rank 1");
  CHECK(error_text([&] { broadcast(x, target, along, n); }) ==
        "unsupported: broadcast: axes_mapping %n depends on the input %n\n  it must be known when the graph is built, or a target be an input itself");
  CHECK(error_text([&] { broadcast(x, g.input("long", i64, {"k"})); }) ==
        "shape: broadcast: the target %long has length k, which is not a number\n  the rank of the result must be known when the graph is built");
  CHECK(error_text([&] { broadcast(x, Expr()); }) == "usage: broadcast: operand 1 is an empty Expr");
}

TEST_CASE("shapes known in part, by mode") {
  const auto parts = [](const std::vector<std::string>& sizes) {
    PartialShape shape;
    for (const auto& size : sizes) shape.push_back(size_range(size));
    return shape;
  };
  const auto infer = [&](const std::vector<std::string>& data, const std::vector<std::string>& target, BroadcastMode mode) {
    return to_text(infer_broadcast(parts(data), parts(target), mode).value());
  };
  CHECK(infer({"?", "3", "?"}, {"1", "2", "3", "4"}, numpy) == "[1, 2, 3, 4]");
  CHECK(infer({"5", "?"}, {"5", "?"}, numpy) == "[5, ?]");
  CHECK(infer({"?", "?", "?", "?"}, {"8", "6", "4"}, both) == "[?, 8, 6, 4]");
  CHECK(infer({"?", "?", "?", "?"}, {"8", "6", "1", "5", "1"}, both) == "[8, 6, ?, 5, ?]");
  CHECK(infer({"?", "2", "1..10", "4..8", "1"}, {"?", "?", "?"}, both) == "[?, 2, ?, 4..8, ?]");
  CHECK(infer_broadcast(std::nullopt, parts({"1", "2"}), along) == parts({"1", "2"}));
  CHECK(infer_broadcast(parts({"3"}), parts({"?", "3"}), along, std::vector<Index>{1}) == parts({"?", "3"}));
  CHECK(infer_broadcast(std::nullopt, parts({"1", "2"}), both) == std::nullopt);
  CHECK(infer_broadcast(parts({"1"}), std::nullopt, numpy) == std::nullopt);
  CHECK(error_text([&] { infer({"?", "999", "3", "4"}, {"1", "2", "3", "4"}, numpy); }) ==
        "shape: infer_broadcast: axis 1 of data of shape [?, 999, 3, 4] cannot become 2 of the target [1, 2, 3, 4]");
  CHECK(error_text([&] { infer({"5"}, {"<=3"}, numpy); }) == "shape: infer_broadcast: axis 0 of data of shape [5] cannot become <=3 of the target [<=3]");
  CHECK(error_text([&] { infer({"5", "1"}, {"5"}, numpy); }) == "shape: infer_broadcast: data of shape [5, 1] has a higher rank than the target [5]");
}

TEST_CASE("PDPD: the second operand follows axes of the first from a given one on") {
  CHECK(broadcast_shapes_pdpd({2, 3, 4, 5}, {3, 1}, 1) == Shape{2, 3, 4, 5});
  CHECK(broadcast_shapes_pdpd({2, 3, 4, 5}, {4, 5}) == Shape{2, 3, 4, 5});
  CHECK(broadcast_shapes_pdpd({2, 3}, {3, 1, 1}, 1) == Shape{2, 3});
  CHECK(error_text([] { broadcast_shapes_pdpd({8, 1, 6, 1}, {7, 1, 5}, 1); }) ==
        "shape: broadcast_shapes_pdpd: axis 0 of [7, 1, 5] has extent 7 but axis 1 of the target [8, 1, 6, 1] has 1\n"
        "  only an axis of extent 1 is repeated");
  CHECK(error_text([] { broadcast_shapes_pdpd({3}, {2, 3}); }) ==
        "shape: broadcast_shapes_pdpd: [2, 3] from axis -1 on does not fit [3]\n  the second shape follows axes of the first one");
  Graph g;
  const Expr a = g.input("a", f64, {2, 3, 4}), b = g.input("b", f32, {3, 1});
  CHECK(line_of(g, broadcast_pdpd(b, {2, 3, 4}, 1).id()) == "%0: f32[i:2,j:3,k:4] = copy(%b[j,0])");
  CHECK(elementwise_pdpd(Op::add, a, b, 1).shape() == Shape{2, 3, 4});
  CHECK(error_text([&] { elementwise_pdpd(Op::fma, a, b); }) ==
        "usage: elementwise_pdpd(fma): expected an op of two operands, fma has 3");
}

TEST_CASE("gradients of the three modes agree with differences") {
  Problem p({case_x({3, 1}), case_y({3}, 0.25), case_y({2, 3, 4}, 0.125)});
  const Expr wide = broadcast(tanh(p.x[0]), {2, 3, 4}) * broadcast(p.x[1], {2, 3, 4}, along, {1});
  p.check_twice(sum(wide * broadcast(p.x[2], {1, 4}, both)));
}
