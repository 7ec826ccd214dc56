#include "passes/pipeline.h"
#include "program/pipeline.h"

#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>

#include <weft/passes.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "compiled.h"
#include "error_text.h"
#include "random_graph.h"

using namespace weft;

namespace {

// Whole numbers throughout, so that no pass may change a bit of the results.
constexpr const char* example = R"(graph example(%x: f64[n,m], %w: f64[m], %k: i32[n]) -> (%5, %8, %9, %10) {
  %0: f64[i:n,j:m] = multiply(%x[i,j], 1)
  %1: f64[i:m,j:n] = copy(%0[j,i])
  %2: f64[i:n,j:m] = multiply(%1[j,i], %w[j])
  %3: f64[i:n,j:m] = add(%2[i,j], %w[j])
  %4: f64[i:n,j:m] = multiply(%1[j,i], %w[j])
  %5: f64[] = sum(i:n,j:m) copy(%3[i,j])
  %6: f64[] = add(2:f64, 3:f64)
  %7: f64[i:n,j:m] = multiply(%4[i,j], %6)
  %8: f64[i:n] = max(j:m) copy(%7[i,j])
  %9: i32[i:n] = add(%k[i], 0)
  %10: f64[i:n,j:m] = update(%4[i,j]) at [i,j]
  %11: f64[i:n] = exp(%8[i])
})";

// What `action` prints to stderr.
template <class Action> std::string printed(const Action& action) {
  std::ostringstream text;
  std::streambuf* before = std::cerr.rdbuf(text.rdbuf());
  action();
  std::cerr.rdbuf(before);
  return text.str();
}
Options traced(const std::string& names) { return {.threads = 1, .executor = nullptr, .verify = true, .trace = names}; }

}  // namespace

TEST_CASE("passes have distinct names and a purpose each") {
  std::set<std::string> names;
  for (const GraphPass& pass : graph_passes()) {
    CHECK(names.insert(pass.name).second);
    CHECK(std::string(pass.purpose) != "");
    CHECK(std::string(pass.name).find_first_of(" ,") == std::string::npos);     // WEFT_TRACE is a list of names
    CHECK(std::string(pass.name) != "all");
  }
}

TEST_CASE("each pass gives a valid graph with the same inputs, outputs and values") {
  Graph graph = parse(example);
  const std::vector<Array> arrays{counting(f64, {5, 4}), counting(f64, {4}), counting(i32, {5})};
  const auto expected = interpret(graph, graph.outputs, graph.inputs, arrays);
  for (const GraphPass& pass : graph_passes()) {
    CAPTURE(std::string(pass.name));
    Graph next = pass.run(graph);
    verify(next);
    REQUIRE(next.inputs.size() == graph.inputs.size());
    for (std::size_t k = 0; k < graph.inputs.size(); ++k) CHECK(next.node(next.inputs[k]).name() == graph.node(graph.inputs[k]).name());
    const auto got = interpret(next, next.outputs, next.inputs, arrays);
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
    graph = std::move(next);
  }
}

TEST_CASE("a pass that a graph does not concern changes nothing in it") {
  std::set<std::string> left_out;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SeededSource random(seed);
    Graph graph = drop_dead(random_case(random, Recipe()).graph);
    for (const GraphPass& pass : graph_passes()) {
      Graph next = drop_dead(pass.run(graph));
      if (!pass.may_change(graph)) {
        CAPTURE(seed);
        CAPTURE(std::string(pass.name));
        left_out.insert(pass.name);
        CHECK(to_text(next) == to_text(graph));
      }
      graph = std::move(next);
    }
  }
  for (const GraphPass& pass : graph_passes()) CHECK(left_out.contains(pass.name) == (pass.concerns != nullptr));
}

TEST_CASE("running the passes on their own result changes nothing") {
  const Graph once = run_graph_passes(parse(example), checked());
  CHECK(to_text(run_graph_passes(parse(to_text(once)), checked())) == to_text(once));
}

TEST_CASE("a trace prints the graph after each named pass that changes it") {
  const std::string text = "graph g(%x: f64[n]) -> (%1) {\n%0: f64[i:n] = multiply(%x[i], 1)\n%1: f64[i:n] = exp(%0[i])\n}";
  const std::string after = "--- simplify\ngraph g(%x: f64[n]) -> (%0) {\n  %0: f64[i:n] = exp(%x[i])\n}\n";
  CHECK(printed([&] { run_graph_passes(parse(text), traced("simplify")); }) == after);
  CHECK(printed([&] { run_graph_passes(parse(text), traced("contract, simplify ,split_folds")); }) == after);
  CHECK(printed([&] { run_graph_passes(parse(text), traced("all")); }).find(after) != std::string::npos);
  CHECK(printed([&] { run_graph_passes(parse(text), traced("contract")); }) == "");
  CHECK(error_text([&] { compile(parse(text), traced("contract,simpl")); }).find("there is no pass simpl\n") != std::string::npos);
  CHECK(printed([&] { run_graph_passes(parse(text), checked()); }) == "");
}

TEST_CASE("WEFT_TRACE is used where the options name no pass") {
  const std::string text = "graph g(%x: f64[n,m]) -> (%0) { %0: f64[] = sum(i:n,j:m) copy(%x[i,j]) }";
  const std::string after = "--- split_folds\ngraph g(%x: f64[n,m]) -> (%1) {\n  %0: f64[i:n] = sum(j:m) copy(%x[i,j])\n"
                            "  %1: f64[] = sum(i:n) copy(%0[i])\n}\n";
  setenv("WEFT_TRACE", "split_folds", 1);
  CHECK(printed([&] { compile(parse(text), checked()); }) == after);
  CHECK(printed([&] { compile(parse(text), traced("contract")); }) == "");
  unsetenv("WEFT_TRACE");
  CHECK(printed([&] { compile(parse(text), checked()); }) == "");
}

TEST_CASE("a trace prints the programs after each named pass that changes them") {
  const Graph graph = parse("graph g(%x: f64[n]) -> (%0) {\n  %0: f64[] = sum(i:n) copy(%x[i])\n}");
  const auto run = [&](const char* names) {
    return printed([&] { compile(graph, traced(names))({Array(f64, {10})}); });
  };
  CHECK(run("run_as_one_unit").starts_with("--- run_as_one_unit\nprogram g_0 {\n"));
  CHECK(run("run_as_one_unit").find("one unit") != std::string::npos);
  CHECK(run("join_results,simplify") == "");
  std::set<std::string> names;
  for (const GraphPass& pass : graph_passes()) names.insert(pass.name);
  for (const ProgramPass& pass : program_passes()) names.insert(pass.name);
  CHECK(names.size() == graph_passes().size() + program_passes().size());      // a trace can name each
}
