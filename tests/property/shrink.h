// The smallest graph that still fails: outputs dropped, nodes replaced by inputs that hold their values, extents kept.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <weft/interpret.h>
#include <weft/passes.h>

#include "random_graph.h"

struct SmallCase {
  weft::Graph graph;
  std::vector<weft::Array> inputs;
};

// A copy with the nodes in `cut` as inputs; unused inputs go, unless they alone bind a symbol.
inline SmallCase rebuilt(const weft::Graph& graph, const std::vector<weft::Array>& arrays, const std::vector<weft::NodeId>& outputs, const std::vector<weft::NodeId>& cut,
                         bool drop_inputs) {
  using namespace weft;
  const std::vector<NodeId> live = live_nodes(graph, outputs);
  const std::vector<Array> values = cut.empty() ? std::vector<Array>() : interpret(graph, cut, graph.inputs, arrays);
  SmallCase result{Graph(graph.name), {}};
  std::vector<NodeId> at(graph.size());
  std::vector<bool> is_live(graph.size(), false);
  for (NodeId id : live) is_live[id.value] = true;
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    const NodeId id = graph.inputs[k];
    if (drop_inputs && !is_live[id.value]) continue;
    at[id.value] = result.graph.input(graph.node(id).name(), graph.node(id).dtype, graph.node(id).domain, graph.node(id).order).id();
    result.inputs.push_back(arrays[k]);
  }
  int fresh = 0;
  for (NodeId id : live) {
    const Node& node = graph.node(id);
    if (node.kind == Kind::input) continue;
    std::size_t position = 0;
    while (position < cut.size() && cut[position] != id) ++position;
    if (position < cut.size()) {
      at[id.value] = result.graph.input(concat("c", fresh++, "_", id.value), node.dtype, node.shape(), node.order).id();
      result.inputs.push_back(values[position]);
      continue;
    }
    std::vector<Operand> operands;
    for (int p = 0; p < graph.arity(id); ++p) operands.push_back({at[graph.operand(id, p).value], graph.map(id, p)});
    at[id.value] = result.graph.add(node, operands);
  }
  for (NodeId id : outputs) result.graph.outputs.push_back(at[id.value]);
  return result;
}

// `fails` is run on candidates; it must not crash (isolate.h).
inline SmallCase shrunk(SmallCase best, const std::function<bool(const SmallCase&)>& fails, int budget = 400) {
  using namespace weft;
  const auto attempt = [&](const std::vector<NodeId>& outputs, const std::vector<NodeId>& cut, bool drop_inputs) {
    if (--budget < 0) return false;
    try {
      SmallCase candidate = rebuilt(best.graph, best.inputs, outputs, cut, drop_inputs);
      if (!fails(candidate)) return false;
      best = std::move(candidate);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (bool better = true; better && budget > 0;) {
    better = false;
    for (std::size_t k = 0; best.graph.outputs.size() > 1 && k < best.graph.outputs.size();) {
      std::vector<NodeId> outputs = best.graph.outputs;
      outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(k));
      if (attempt(outputs, {}, false)) better = true;
      else ++k;
    }
    // An inner node alone as the output: the last ones are dropped.
    for (std::size_t k = 0; k < best.graph.size() && k < 200; ++k) {
      const Node& node = best.graph.node(id_of(k));
      if (node.kind == Kind::input || node.kind == Kind::constant) continue;
      if (best.graph.outputs == std::vector{id_of(k)}) continue;
      if (live_nodes(best.graph, {id_of(k)}).size() < live_nodes(best.graph, best.graph.outputs).size() && attempt({id_of(k)}, {}, false)) better = true;
    }
    for (std::size_t k = best.graph.size(); k-- > 0;) {
      if (k >= best.graph.size()) continue;
      const Node& node = best.graph.node(id_of(k));
      if (node.kind == Kind::input || node.kind == Kind::constant) continue;
      if (best.graph.outputs == std::vector{id_of(k)}) continue;
      if (attempt(best.graph.outputs, {id_of(k)}, false)) better = true;
    }
    attempt(best.graph.outputs, {}, true);
  }
  return best;
}
