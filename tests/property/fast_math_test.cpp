// Random graphs with Options::fast_math: within the bounds that weft/options.h states where the graph lets them be seen, the same
// bits in any order of units and on any number of threads, and no error.
#include <doctest/doctest.h>

#include "compiled_property.h"
#include "seed_batches.h"

namespace {

using namespace weft;

// As comparable(), where quotients too are right to a few ULP only.
std::vector<int> comparable_with_fast_math(const Graph& graph) {
  std::vector<int> result = comparable(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    const bool relaxed = node.kind == Kind::apply && is_floating(node.dtype) && node.op == Op::divide;
    const bool picks = node.accumulator == AccumulatorId::none || node.accumulator == AccumulatorId::max || node.accumulator == AccumulatorId::min;
    if (relaxed) result[k] = std::max(result[k], picks ? 1 : 2);
    for (int p = 0; p < graph.arity(id_of(k)); ++p) {
      const int from = result[graph.operand(id_of(k), p).value];
      const bool kept = node.kind == Kind::apply && picks && keeps_ulps(node.op, static_cast<std::size_t>(p));
      result[k] = std::max(result[k], from == 0 ? 0 : kept ? from : 2);
    }
  }
  return result;
}

// The failure, or nothing; `compared` counts the outputs that had a bound.
std::string check_fast(const Graph& graph, const std::vector<Array>& inputs, Index& compared) {
  auto executor = std::make_shared<SwitchExecutor>();
  const Function f = compile(graph, {.threads = 2, .fast_math = true, .executor = executor, .verify = true, .trace = ""});
  const Graph& last = f.final_graph(inputs);
  const std::vector<Array> got = f(inputs), expected = interpret(last, last.outputs, last.inputs, inputs);
  const std::vector<int> classes = comparable_with_fast_math(last);
  std::vector<double> bounds;
  for (NodeId id : last.outputs) {
    const int kind = classes[id.value];
    bounds.push_back(kind == 0 ? 0.0 : kind == 2 ? -1.0 : size_of(last.node(id).dtype) == 2 ? 1.0 : 5.0);   // 4, and what libm may be off
    compared += is_floating(last.node(id).dtype) && kind < 2;
  }
  if (const std::string text = compare_all(got, expected, bounds, "fast_math against interpreted"); !text.empty()) return text + "\nfinal " + to_text(last);
  const std::vector<double> exact(got.size(), 0.0);
  executor->current = std::make_shared<HostileExecutor>();
  if (const std::string text = compare_all(f(inputs), got, exact, "another order of units"); !text.empty()) return text + "\nfinal " + to_text(last);
  executor->current = make_executor(7);
  if (const std::string text = compare_all(f(inputs), got, exact, "threads"); !text.empty()) return text + "\nfinal " + to_text(last);
  return "";
}

}  // namespace

TEST_CASE("with fast_math random graphs keep the stated bounds, and the same bits in any order of units and on 1 and 7 threads") {
  const std::uint64_t count = from_environment("WEFT_PROPERTY", 300), first = from_environment("WEFT_PROPERTY_SEED", 1);
  const SeedRun run = run_seeds(first, count, from_environment("WEFT_PROPERTY_JOBS", 2), 50, 60, [](std::uint64_t seed, std::string& note) {
    SeededSource random(seed);
    const RandomCase c = random_case(random, Recipe());
    Index compared = 0;
    const std::string failure = check_fast(c.graph, c.inputs, compared);
    note = std::to_string(compared);
    return failure;
  });
  Index compared = 0;
  for (const std::string& note : run.notes) compared += std::stol(note);
  for (const Finding& finding : run.findings) FAIL_CHECK(concat("seed ", finding.seed, ": ", finding.failure));
  CHECK(compared > static_cast<Index>(count) / 10);
}
