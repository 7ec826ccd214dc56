// The invariants of a graph. G1 to G7 are those of node.h, each checked by check_node; the rest concern the whole graph.
//
//   G1  operands precede users, so id order is a topological order
//   G2  operands are stored in position order: 0, 1, 2
//   G3  a map has one reference per operand axis, names each domain axis at most once and stays in bounds
//   G4  mapped extents agree: step 1 and start 0 need equal extents, unless the reference reads a part
//   G5  dtype is what the op row's rule gives, and the accumulator takes it
//   G6  mode broadcast iff no axis is folded
//   G7  every folded axis is mentioned by some operand
//   G8  `inputs` lists every input node once, and their names differ; `outputs` are nodes
//   G9  every symbol is the whole extent of an axis of some input, an element of an integer input, or a parameter: then every
//       call binds it
#include <weft/verify.h>

#include <algorithm>
#include <unordered_set>

#include "check.h"
#include "text/print.h"
#include "storage.h"

namespace weft {
namespace {

void check_positions(const Graph& graph, NodeId id) {
  int expected = 0;
  auto [edge, end] = boost::in_edges(id.value, graph.storage().list);
  for (; edge != end; ++edge, ++expected) {
    const int position = graph.storage().list[*edge].position;
    WEFT_REQUIRE(position == expected, internal, "verify: G2: operand ", expected, " of ", name_of(graph, id), " is stored as operand ", position);
  }
}

void check_inputs_and_outputs(const Graph& graph) {
  std::unordered_set<std::string> names;
  std::vector<bool> listed(graph.size(), false);
  for (NodeId id : graph.inputs) {
    WEFT_REQUIRE(id.value < graph.size() && graph.node(id).kind == Kind::input, internal, "verify: G8: node ", id.value, " is listed as an input but is none");
    WEFT_REQUIRE(!listed[id.value], internal, "verify: G8: input ", name_of(graph, id), " is listed twice");
    WEFT_REQUIRE(names.insert(graph.node(id).name()).second, internal, "verify: G8: two inputs are called ", name_of(graph, id));
    listed[id.value] = true;
  }
  for (std::size_t k = 0; k < graph.size(); ++k)
    WEFT_REQUIRE(graph.node(id_of(k)).kind != Kind::input || listed[k], internal, "verify: G8: input ", name_of(graph, id_of(k)), " is not listed");
  for (NodeId id : graph.outputs)
    WEFT_REQUIRE(id.value < graph.size(), internal, "verify: G8: output ", id.value, " is not a node");
}

class Symbols {
 public:
  Symbols(const Graph& graph, const std::vector<std::string>& parameters) : graph_(graph), bound_(parameters.begin(), parameters.end()) {
    std::vector<std::string> symbols;
    for (NodeId id : graph.inputs)
      for (const Extent& extent : graph.node(id).domain) {
        symbols.clear();
        extent.collect_symbols(symbols);
        if (symbols.size() == 1 && extent.is_symbol(symbols[0])) bound_.insert(symbols[0]);
      }
  }
  void check(NodeId id) {
    for_each_extent(graph_.node(id), operands_of(graph_, id), [&](const Extent& extent) { check(extent, id); });
  }

 private:
  // s[0] is bound by %s: an integer vector of a length that is a number above 0.
  bool is_element(const std::string& symbol) const {
    const auto element = element_symbol(symbol);
    if (!element) return false;
    for (NodeId id : graph_.inputs) {
      const Node& node = graph_.node(id);
      if (node.name() == element->input)
        return is_integer(node.dtype) && node.kept == 1 && node.domain[0].is_number() && element->element < node.domain[0].constant();
    }
    return false;
  }
  void check(const Extent& extent, NodeId id) {
    if (extent.is_number()) return;
    symbols_.clear();
    extent.collect_symbols(symbols_);
    for (const std::string& symbol : symbols_) {
      const auto element = element_symbol(symbol);
      WEFT_REQUIRE(bound_.contains(symbol) || is_element(symbol), shape, "symbol ", symbol, " is not bound by any input", show(graph_, id), "\n  ",
                   element ? concat("add the input %", element->input, ": an integer vector of more than ", element->element, " elements")
                           : concat("add an input with an axis of extent ", symbol, ", or write a number"));
    }
  }
  const Graph& graph_;
  std::unordered_set<std::string> bound_;
  std::vector<std::string> symbols_;
};

}  // namespace

void check_symbols(const Graph& graph, const std::vector<std::string>& parameters) {
  Symbols symbols(graph, parameters);
  for (std::size_t k = 0; k < graph.size(); ++k) symbols.check(id_of(k));
}

void verify(const Graph& graph, const std::vector<std::string>& parameters) {
  check_inputs_and_outputs(graph);
  Symbols symbols(graph, parameters);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    check_positions(graph, id);
    check_node(graph, graph.node(id), operands_of(graph, id), id);
    symbols.check(id);
  }
}

}  // namespace weft
