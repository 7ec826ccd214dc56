// What is needed for some results.
#pragma once
#include <vector>

#include <weft/graph.h>

namespace weft {

// By node: whether one of these is computed from it, or is it. Operands precede their users: one sweep downwards finds all.
inline std::vector<bool> needed_by(const Graph& graph, const std::vector<NodeId>& wanted) {
  std::vector<bool> needed(graph.size(), false);
  for (NodeId id : wanted) needed[id.value] = true;
  for (std::size_t k = graph.size(); k-- > 0;)
    if (needed[k])
      for (int p = 0; p < graph.arity(id_of(k)); ++p) needed[graph.operand(id_of(k), p).value] = true;
  return needed;
}

}  // namespace weft
