// Sums over rows that stand apart from nests which can slide then.
#include <weft/grad.h>
#include <weft/rearrange.h>

#include "bits.h"
#include "schedule/cost_model.h"

using namespace weft;

namespace {

Expr neighbours(const Expr& x) {
  return x.slice({Slice({}, -2), Slice(1, -1)}) + x.slice({Slice(2, {}), Slice(1, -1)}) * 0.5f + x.slice({Slice(1, -1), Slice({}, -2)}) - x.slice({Slice(1, -1), Slice(2, {})}) * 0.25f;
}

Index between(const Function& f, const Array& x) { return f.bind({x}, f({x})).temporary_bytes(); }

}  // namespace

TEST_CASE("a loss over stencils and its gradient have a number for each row, and no array, between their nests") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const Expr loss = sum(square(neighbours(neighbours(x)))), gradient = grad(loss, {x})[0];
  for (const Dims& shape : {Dims{1500, 400}, Dims{2100, 300}}) {
    const Array array = near_one(f32, shape);
    const Function f = check_bits({loss, gradient}, {x}, {array}, 1);
    CHECK(f.report().find("apart from it, nests can slide") != std::string::npos);
    CHECK(between(f, array) < 64 * shape[0]);
  }
}

TEST_CASE("sums of several things over the same rows share a nest") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const Expr y = neighbours(exp(neighbours(x) * 0.01f));
  const Array array = near_one(f32, {1200, 500});
  const Function f = check_bits({sum(y), sum(y * y), max(y)}, {x}, {array}, 2);
  const Call call = f.bind({array}, f({array}));
  CHECK(call.loop_nests() == 3);
  CHECK(call.temporary_bytes() < 64 * 1200);
}

TEST_CASE("sums stay where they are beside arrays that stay near, and in nests that are no stencils of each other") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const auto is_apart = [&](const std::vector<Expr>& outputs, const Dims& shape) {
    return check_bits(outputs, {x}, {near_one(f32, shape)}, 1).report().find("apart from it") != std::string::npos;
  };
  CHECK_FALSE(is_apart({sum(square(neighbours(neighbours(x))))}, {100, 200}));
  CHECK_FALSE(is_apart({sum(square(x)), x / sum(square(x))}, {1000, 500}));
  CHECK(is_apart({sum(square(neighbours(neighbours(x))))}, {1000, 500}));
}
