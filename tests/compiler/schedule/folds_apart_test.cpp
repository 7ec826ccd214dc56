// Sums over rows that stand apart from nests which can slide then.
#include <algorithm>

#include <weft/grad.h>
#include <weft/rearrange.h>
#include <weft/text.h>

#include "bits.h"
#include "growth.h"
#include "schedule/schedule.h"

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

TEST_CASE("a number that its own nest reads stays there") {
  const Graph g = parse(R"(graph g(%x0: i32[2000], %x1: i32[17,2000]) -> (%2, %8, %6) {
  define last_set(0:i32) {
    graph step(%s0: i32[], %x0: i32[]) -> (%1, %1) {
      %0: bool[] = not_equal(%x0, 0)
      %1: i32[] = where(%0, %x0, %s0)
    }
    graph finish(%s0: i32[]) -> (%s0) {
    }
  }
  %0: i32[i:17,j:2000] = scan(j,i) last_set(%x1[i,j])
  %1: i32[] = max(j:17,k:2000) minimum(%0[j,654], %x0[k])
  %2: bool[i:17,j:2000] f = not_equal(%x1[i,j], %0[i,j])
  %3: i32[i:17] = max(k:2000) copy(%x1[i,k])
  %4: i32[i:17,j:2000] = add(%x1[i,j], %3[i])
  %5: f64[i:17,j:2000] f = cast(%4[i,j])
  %6: f64[i:17,j:2000] = multiply(%5[i,0], %5[i,j])
  %7: i32[i:17] = min(j:2000) copy(%x1[i,j])
  %8: i32[i:17] f = bitwise_xor(%1, %7[i])
})");
  check_call(compile(g, {.threads = 1, .verify = true}), {counted_by(i32, {2000}, [](Index k) { return static_cast<double>(k % 9 - 4); }), counted_by(i32, {17, 2000}, [](Index k) { return static_cast<double>(k * 7 % 11 - 5); })});
}

TEST_CASE("hundreds of sums are set apart in about linear time") {
  const auto chain = [](int links) {
    Graph g;
    Expr y = g.input("x", f32, {20000, 500});
    for (int k = 0; k < links; ++k) {
      y = y.slice({Slice(1, {})}) * y.slice({Slice({}, -1)});
      g.outputs.push_back(sum(sum(square(y), 1), 0).id());
    }
    return g;
  };
  const Graph small = chain(60), large = chain(600);
  const auto schedule = [](const Graph& graph, std::size_t sums) {
    const Schedule made = make_schedule(graph, {});
    CHECK(std::count_if(made.partings.begin(), made.partings.end(), [](const Parting& each) { return each.earlier == Refusal::slides; }) >= static_cast<std::ptrdiff_t>(sums) - 1);
  };
  check_grows_linearly([&] { schedule(small, 60); }, [&] { schedule(large, 600); });
}
