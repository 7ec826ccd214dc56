#include <unordered_set>
#include <utility>

#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <weft/passes.h>

#include "rebuild.h"
#include "storage.h"

namespace weft {
namespace {

// Operands before users: a node is finished once everything it needs is.
template <class Finish> struct Postorder : boost::default_dfs_visitor {
  explicit Postorder(Finish& finish) : finish(&finish) {}
  template <class Vertex, class List> void finish_vertex(Vertex vertex, const List&) const { (*finish)(id_of(vertex)); }
  Finish* finish;
};

template <class Finish> void each_live(const Graph& graph, Finish finish) {
  const auto needs = boost::make_reverse_graph(graph.storage().list);
  std::vector<boost::default_color_type> colors(graph.size(), boost::white_color);
  for (NodeId output : graph.outputs)
    if (colors[output.value] == boost::white_color)      // Boost's search keeps its own stack: no recursion
      boost::depth_first_visit(needs, output.value, Postorder<Finish>(finish), colors.data());
}

}  // namespace

Graph drop_dead(const Graph& graph) {
  Rebuild rebuild(graph);
  each_live(graph, [&](NodeId id) { rebuild.copy(id); });
  return rebuild.finish();
}

// Most passes change few graphs, and what they leave as it was is numbered already: a search takes a tenth of a copy.
Graph drop_dead(Graph&& graph) { return is_numbered(graph) ? std::move(graph) : drop_dead(std::as_const(graph)); }

bool is_numbered(const Graph& graph) {
  const std::size_t inputs = graph.inputs.size();
  for (std::size_t k = 0; k < inputs; ++k)
    if (graph.inputs[k] != id_of(k)) return false;
  std::unordered_set<NodeId> outputs;
  for (NodeId output : graph.outputs)
    if (!can_be_output(graph.node(output)) || !outputs.insert(output).second) return false;
  std::size_t next = inputs;
  bool in_order = true;
  each_live(graph, [&](NodeId id) {
    if (id.value >= inputs) in_order &= id.value == next++;
  });
  return in_order && next == graph.size();
}

}  // namespace weft
