#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <weft/passes.h>

#include "rebuild.h"
#include "storage.h"

namespace weft {
namespace {
// Operands before users: a node is finished once everything it needs is.
struct Postorder : boost::default_dfs_visitor {
  explicit Postorder(Rebuild& target) : rebuild(&target) {}
  template <class Vertex, class List> void finish_vertex(Vertex vertex, const List&) const { rebuild->copy(id_of(vertex)); }
  Rebuild* rebuild;
};
}  // namespace

Graph drop_dead(const Graph& graph) {
  Rebuild rebuild(graph);
  const auto needs = boost::make_reverse_graph(graph.storage().list);
  std::vector<boost::default_color_type> colors(graph.size(), boost::white_color);
  for (NodeId output : graph.outputs)
    if (colors[output.value] == boost::white_color)      // Boost's search keeps its own stack: no recursion
      boost::depth_first_visit(needs, output.value, Postorder(rebuild), colors.data());
  return rebuild.finish();
}

}  // namespace weft
