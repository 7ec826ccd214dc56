// Large graphs: chains and random DAGs are built, differentiated, compiled and run without recursion, in about linear time.
// 500 and 2,000 nodes in the normal run; with WEFT_PROPERTY set 2,000, 5,000 and 20,000, which takes some minutes.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include <weft/weft.h>

#include "random_source.h"

using namespace weft;

namespace {

struct Times {
  double build = 0, differentiate = 0, compile = 0, run = 0;
  double total() const { return build + differentiate + compile + run; }
};

Expr chain(const Expr& x, int nodes) {
  Expr y = x;
  for (int k = 0; k < nodes; ++k) y = k % 3 == 0 ? y * 0.999 : k % 3 == 1 ? y + x : tanh(y);
  return sum(y);
}

// Any two earlier values, near ones mostly: many uses per value, and long paths.
Expr dag(const Expr& x, int nodes) {
  SeededSource random(static_cast<std::uint64_t>(nodes));
  std::vector<Expr> values{x, x * 0.5};
  const auto pick = [&] { return values[values.size() - 1 - random.small(std::min<std::size_t>(values.size(), random.chance(80) ? 8 : 200))]; };
  for (int k = 0; k < nodes; ++k) {
    const Expr a = pick(), b = pick();
    const auto choice = random.small(6);
    values.push_back(choice == 0 ? a * b : choice == 1 ? a - b * 0.3 : choice == 2 ? maximum(a, b) : choice == 3 ? sin(a) : 0.5 * (a + b));
    if (k % 500 == 499) values.push_back(values.back() / (1 + sum(abs(values.back()))));     // folds cut the loops apart
  }
  return sum(values.back());
}

Times measure(Expr (*make)(const Expr&, int), int nodes, bool with_gradient) {
  Times times;
  auto last = std::chrono::steady_clock::now();
  const auto lap = [&] {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  };
  Graph graph;
  const Expr x = graph.input("x", f64, {"n"});
  const Expr loss = make(x, nodes);
  std::vector<Expr> outputs{loss};
  times.build = lap();
  if (with_gradient) outputs.push_back(grad(loss, {x}).at(0));
  times.differentiate = lap();
  const Function f = compile(outputs, {x}, {.threads = 1, .executor = nullptr, .verify = false, .trace = ""});
  const Array at = Array::from<double>({0.3, -0.7, 0.1, 0.9, -0.2, 0.05, 1.1});
  const std::vector<Array> got = f({at});
  times.compile = lap();
  f({at});
  times.run = lap();
  const Graph& final_graph = f.final_graph();
  const std::vector<Array> expected = interpret(final_graph, final_graph.outputs, final_graph.inputs, {at});
  for (std::size_t k = 0; k < got.size(); ++k)
    for (Index e = 0; e < got[k].size(); ++e) {
      const double a = static_cast<const double*>(got[k].View::data())[e], b = static_cast<const double*>(expected[k].View::data())[e];
      CHECK(std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)));
    }
  return times;
}

void check_growth(const std::string& name, Expr (*make)(const Expr&, int), bool with_gradient) {
  const bool all = std::getenv("WEFT_PROPERTY") != nullptr;
  const std::vector<int> sizes = all ? std::vector<int>{2000, 5000, 20000} : std::vector<int>{500, 2000};
  double small = 0;
  for (int nodes : sizes) {
    const Times t = measure(make, nodes, with_gradient);
    MESSAGE(name, " of ", nodes, " nodes", std::string(with_gradient ? " and its gradient" : ""), ": build ", t.build, " s, gradient ", t.differentiate, " s, compile and first call ", t.compile,
            " s, call ", t.run, " s");
    if (nodes == sizes[0]) small = t.total();
    else CHECK(t.total() < small * nodes / sizes[0] * 4 + 1);      // linear would be a factor of 1; the machine is shared
  }
}

}  // namespace

TEST_CASE("a chain of thousands of nodes compiles in about linear time") { check_growth("a chain", chain, false); }
TEST_CASE("a random graph of thousands of nodes compiles in about linear time") { check_growth("a random graph", dag, false); }
TEST_CASE("a chain of thousands of nodes and its gradient compile in about linear time") { check_growth("a chain", chain, true); }
TEST_CASE("a random graph of thousands of nodes and its gradient compile in about linear time") { check_growth("a random graph", dag, true); }
