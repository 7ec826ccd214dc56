#include <weft/verify.h>

#include <doctest/doctest.h>
#include <error_text.h>
#include <weft/text.h>

#include "storage.h"

using namespace weft;

namespace {

const std::string text = R"(graph g(%x: f64[n,m], %y: f64[m]) -> (%1) {
  %0: f64[i:n,j:m] = multiply(%x[i,j], %y[j])
  %1: f64[i:n] = sum(j:m) copy(%0[i,j])
}
)";

// Breaks a finished graph behind its back, as no caller can.
template <class Damage> std::string after(const Damage& damage) {
  Graph graph = parse(text);
  damage(graph);
  return error_text([&] { verify(graph); });
}
Node& node(Graph& graph, std::uint32_t id) { return const_cast<Node&>(graph.node(NodeId{id})); }
AxisMap& map(Graph& graph, std::uint32_t id, int p) { return const_cast<AxisMap&>(graph.map(NodeId{id}, p)); }

}  // namespace

TEST_CASE("a graph that was built is sound") {
  CHECK(after([](Graph&) {}) == "no error");
}

TEST_CASE("G1: operands precede users") {
  CHECK(after([](Graph& g) {
          auto& list = const_cast<Graph::Storage&>(g.storage()).list;
          boost::clear_in_edges(2, list);
          boost::add_edge(3, 2, Use{0, identity_map(1)}, list);
          boost::add_edge(1, 2, Use{1, {{1, 0, 1}}}, list);
        }) == "usage: multiply: operands come before their users");
}

TEST_CASE("G2: operands are stored in position order") {
  CHECK(after([](Graph& g) {
          auto& list = const_cast<Graph::Storage&>(g.storage()).list;
          list[*boost::in_edges(2, list).first].position = 1;
        }) == "internal: verify: G2: operand 0 of %0 is stored as operand 1");
}

TEST_CASE("G3: a map fits its operand and names an axis once") {
  CHECK(after([](Graph& g) { map(g, 2, 0).pop_back(); }) ==
        "shape: multiply: %x has rank 2 but its map names 1 axes\n  %0: f64[i:n,j:m] = multiply(%x[i], %y[j])\n                              ^~~~~");
  CHECK(after([](Graph& g) { map(g, 3, 0)[1].axis = 7; }) == "shape: copy: the map of %0 names axis 7 of a domain of rank 2");
}

TEST_CASE("G4: mapped extents agree") {
  CHECK(after([](Graph& g) { node(g, 1).domain[0] = "k"; }) ==
        "shape: multiply: axis j has extent m in %x[i,j] but k in %y[j]\n  %0: f64[i:n,j:m] = multiply(%x[i,j], %y[j])\n"
        "                                       ^~~~~\n  if k is meant to equal m, declare both inputs with the same symbol");
}

TEST_CASE("G5: the dtype is what the rule gives") {
  CHECK(after([](Graph& g) { node(g, 2).dtype = f32; }) ==
        "dtype: multiply: operands of f64, f64 give f64, not f32\n  %0: f32[i:n,j:m] = multiply(%x[i,j], %y[j])");
}

TEST_CASE("G6: a node accumulates exactly if it folds an axis") {
  CHECK(after([](Graph& g) { node(g, 3).mode = Mode::broadcast; }) == "usage: copy: a node accumulates exactly if it folds an axis");
  CHECK(after([](Graph& g) { node(g, 3).kept = 5; }) == "shape: copy: keeps 5 of 2 axes");
}

TEST_CASE("G7: a folded axis is an axis of some operand") {
  CHECK(after([](Graph& g) { node(g, 3).domain.push_back(4); }) ==
        "shape: copy: folded axis k of extent 4 is not an axis of any operand\n  %1: f64[i:n] = sum(j:m,k:4) copy(%0[i,j])");
}

TEST_CASE("G8: the lists of inputs and outputs are right") {
  CHECK(after([](Graph& g) { g.inputs.pop_back(); }) == "internal: verify: G8: input %y is not listed");
  CHECK(after([](Graph& g) { g.inputs.push_back(g.inputs[0]); }) == "internal: verify: G8: input %x is listed twice");
  CHECK(after([](Graph& g) { g.inputs.push_back(g.outputs[0]); }) == "internal: verify: G8: node 3 is listed as an input but is none");
  CHECK(after([](Graph& g) { node(g, 1).payload = std::string("x"); }) == "internal: verify: G8: two inputs are called %x");
  CHECK(after([](Graph& g) { g.outputs.push_back(id_of(99)); }) == "internal: verify: G8: output 99 is not a node");
}

TEST_CASE("G9: every symbol is bound by an input or is a parameter") {
  const Graph graph = parse("graph g(%x: f64[n+1]) -> (%0) {\n  %0: f64[i:n+1] = exp(%x[i])\n}\n");
  CHECK(error_text([&] { verify(graph); }) ==
        "shape: symbol n is not bound by any input\n  %x: f64[n+1]\n  add an input with an axis of extent n, or write a number");
  CHECK(error_text([&] { verify(graph, {"n"}); }) == "no error");
}
