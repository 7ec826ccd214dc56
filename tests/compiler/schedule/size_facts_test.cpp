// What the first call's sizes are, its code takes for granted: whole vectors, folds of one leaf, nothing empty. Another call for which that
// does not hold compiles code for all sizes, once. Both give the interpreter's bits.
#include "bits.h"
#include "layouts.h"
#include "code/features.h"
#include "schedule/size_facts.h"

#include <weft/rearrange.h>
#include <weft/recurrence.h>

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 8 - 13; });
}

bool relies_on(const Function& f, const std::string& fact) {
  const std::string report = f.report();
  const std::size_t at = report.find("code relies on");
  return at != std::string::npos && report.substr(at, report.find('\n', at) - at).find(fact) != std::string::npos;
}

}  // namespace

TEST_CASE("sizes of whole vectors first, then others: two variants serve all") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const Function f = compile({x * 2 + y, sum(x * y)}, {x, y}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {5120}), counted(f32, {5120})});
  CHECK(relies_on(f, "n a multiple of"));
  const double first = f.compile_seconds();
  for (const Index n : {128, 512, 1024, 0}) same_bits(f, {counted(f32, {n}), counted(f32, {n})});
  CHECK(f.compile_seconds() == first);
  same_bits(f, {counted(f32, {500}), counted(f32, {500})});
  CHECK_FALSE(relies_on(f, ""));
  const double both = f.compile_seconds();
  CHECK(both > first);
  for (const Index n : {1, 16, 17, 512, 1000, 1025, 0}) same_bits(f, {counted(f32, {n}), counted(f32, {n})});
  CHECK(f.compile_seconds() == both);
}

TEST_CASE("other sizes first: one variant serves all") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({exp(x)}, {x}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {500})});
  const double seconds = f.compile_seconds();
  for (const Index n : {512, 16, 3}) same_bits(f, {counted(f32, {n})});
  CHECK_FALSE(relies_on(f, ""));
  CHECK(f.compile_seconds() == seconds);
}

TEST_CASE("a short call of a small body is one slice, and longer ones are others' code") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  for (const Index first : {256, 250}) {
    const Function f = compile({x * 2 + y}, {x, y}, {.threads = 2, .verify = true});
    same_bits(f, {counted(f32, {first}), counted(f32, {first})});
    CHECK(relies_on(f, "n at most 1024"));
    const double seconds = f.compile_seconds();
    for (const Index n : {0, 64, 256, 1024}) same_bits(f, {counted(f32, {n}), counted(f32, {n})});
    CHECK(f.compile_seconds() == seconds);
    for (const Index n : {1, 3, 1088, 300000}) same_bits(f, {counted(f32, {n}), counted(f32, {n})});
    CHECK_FALSE(relies_on(f, "n at most"));
    CHECK(f.compile_seconds() > seconds);
  }
}

TEST_CASE("code relies on what it uses alone") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function f = compile({softmax(x, 1)}, {x}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {32, 1024})});
  const char* whole_steps = has_feature(host_features(0), "+avx512f") ? "d a multiple of 64" : "d a multiple of 32";       // four vectors, or two
  for (const char* fact : {whole_steps, "d not 0", "d at most 1024"}) CHECK(relies_on(f, fact));
  for (const char* fact : {"n a", "n not"}) CHECK_FALSE(relies_on(f, fact));
  const double seconds = f.compile_seconds();
  for (const auto& [n, d] : {std::pair<Index, Index>{28, 1024}, {24, 704}, {40, 960}}) same_bits(f, {counted(f32, {n, d})});
  CHECK(f.compile_seconds() == seconds);
  same_bits(f, {counted(f32, {28, 1088})});             // longer than a leaf
  CHECK(f.compile_seconds() > seconds);
  CHECK_FALSE(relies_on(f, ""));
}

TEST_CASE("sums over nothing, after sums over something") {
  for (const DType dtype : {f32, f64, f16}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "d"});
    const Function f = compile({sum(x, 1), sum(x, 0), sum(x), prod(x, 1), mean(x, 1)}, {x}, {.threads = 2, .verify = true});
    for (const auto& [n, d] : {std::pair<Index, Index>{5, 7}, {5, 0}, {0, 7}, {0, 0}, {1, 2000}, {2000, 1}}) same_bits(f, {counted(dtype, {n, d})});
  }
}

TEST_CASE("rows of a unit are no longer than a short axis in all calls") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "h", "c"});
  const Expr centred = x - mean(x, {0, 1}, true);
  const Function f = compile({centred * rsqrt(mean(square(centred), {0, 1}, true) + 1e-5), sum(x, {0, 1})}, {x}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {5, 30, 48})});
  CHECK(relies_on(f, "c at most 64"));
  const double seconds = f.compile_seconds();
  same_bits(f, {counted(f32, {5, 7, 64})});
  CHECK(f.compile_seconds() == seconds);
  for (const Index channels : {80, 16, 100, 48, 1040, 2100, 0}) same_bits(f, {counted(f32, {5, 18, channels})});
}

TEST_CASE("facts of calls, and what follows from them") {
  const Facts facts = facts_of_call({{"n", 4096}, {"d", 48}, {"k", 7}, {"z", 0}, {"l", 1025}});
  CHECK(facts.at("n") == SizeFacts{128, 1, most_in_32_bits});
  CHECK(facts.at("d") == SizeFacts{16, 1, 64});
  CHECK(facts.at("k") == SizeFacts{1, 1, 16});
  CHECK(facts.at("l") == SizeFacts{1, 1, most_in_32_bits});
  CHECK_FALSE(facts.contains("z"));
  CHECK(hold_for(facts, {{"n", 128}, {"d", 64}, {"k", 1}, {"z", 3}, {"l", 5}}));
  CHECK_FALSE(hold_for(facts, {{"n", 64}, {"d", 64}, {"k", 1}, {"l", 5}}));
  CHECK_FALSE(hold_for(facts, {{"n", 128}, {"d", 80}, {"k", 1}, {"l", 5}}));
  CHECK_FALSE(hold_for(facts, {{"n", 0}, {"d", 16}, {"k", 1}, {"l", 5}}));
  CHECK_FALSE(hold_for(facts, {{"n", 128}}));
  CHECK(facts_of(Extent("n") * "d", facts).multiple == 2048);
  CHECK(facts_of(Extent("n") * "d", facts).least == 0);
  CHECK(facts_of(Extent("n") - "d", facts).multiple == 16);
  CHECK(facts_of(Extent(20), facts) == SizeFacts{20, 20, 20});
  CHECK(facts_of(Extent("z"), facts) == SizeFacts{});
  CHECK(facts_of_merged(facts.at("n"), facts.at("d"), Extent("n") * "d", facts).least == 1);
  CHECK(facts_of_merged(facts.at("n"), SizeFacts{}, Extent("n") * "z", facts).least == 0);

  ReliedFacts relied;
  relied.whole("n", 64);
  relied.whole("n", 32);
  relied.some("n");
  relied.whole(Extent("d") * "z", 16);
  relied.at_most("k", fold_leaf);
  CHECK(relied.of(facts) == Facts{{"d", {16, 0, std::numeric_limits<Index>::max()}}, {"k", {1, 0, 1024}}, {"n", {64, 1, std::numeric_limits<Index>::max()}}});
  CHECK(to_text(relied.of(facts)) == "d a multiple of 16, k at most 1024, n a multiple of 64, n not 0");
  relied.some("z");
  CHECK_THROWS_AS(relied.of(facts), Error);
}

TEST_CASE("whole or not, results have the same bits") {
  for (const DType dtype : {f32, f64, i16})
    for (const int lanes : {0, 4, 8})
      for (const auto& [n, d] : {std::pair<Index, Index>{16, 16}, {48, 64}, {64, 272}, {128, 1024}, {256, 2048}, {33, 96}, {96, 33}, {512, 80}}) {
        CAPTURE(dtype);
        CAPTURE(n);
        CAPTURE(d);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "d"}), v = g.input("v", dtype, {"d"}), u = g.input("u", dtype, {"n"});
        const Function f = compile({x * v + x, sum(x * v, 1), sum(x, 0), max(x, 1), prod(x, 0), sum(x * x), transpose(x) * u, flip(x, {1}) + v, cumulative_sum(x, 1)}, {x, v, u},
                                   {.threads = 2, .lanes = lanes, .verify = true});
        const auto arrays = [&](Index rows, Index columns) { return std::vector<Array>{counted(dtype, {rows, columns}), counted(dtype, {columns}), counted(dtype, {rows})}; };
        for (const auto& [rows, columns] : {std::pair(n, d), {2 * n, d}, {n, 2 * d}, {n + 1, d}, {n, d + 1}, {n, d}}) same_bits(f, arrays(rows, columns));
      }
}

TEST_CASE("sizes that are sums and products of symbols") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"m", "d"});
  const Function f = compile({exp(concat({x, y}, 0)), sum(tanh(concat({x, y}, 0)), 0)}, {x, y}, {.threads = 2, .verify = true});
  for (const auto& [n, m, d] : {std::tuple<Index, Index, Index>{64, 32, 48}, {64, 16, 48}, {16, 16, 16}, {64, 33, 48}, {64, 32, 47}, {0, 32, 48}, {0, 0, 16}})
    same_bits(f, {counted(f32, {n, d}), counted(f32, {m, d})});
}

TEST_CASE("arrays laid out in any way, of whole vectors") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"n", "d"});
  const Function f = compile({x + y * 2, sum(x * y, 0), sum(exp(x), 1)}, {x, y}, {.threads = 2, .verify = true});
  const Array a = counted(f32, {64, 96}), b = counted(f32, {64, 96});
  for (const auto& [name, view] : layouts(f32, {64, 96})) {
    CAPTURE(name);
    same_bits(f, {filled_like(a, view), b});
    same_bits(f, {filled_like(a, view), filled_like(b, layouts(f32, {64, 96}).back().second)});
  }
}
