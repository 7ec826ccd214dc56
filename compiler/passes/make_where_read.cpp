// y = cast(x) read as y[i], y[i+1] and y[i+2] -> cast(x[i]), cast(x[i+1]), cast(x[i+2]): a value that is read at several indices of one element would be an
// array between two nests otherwise, or rows kept from one loop to the next. Weighted sums of three by three bytes in 16 bits take .57 to .85 of the time, of
// eight samples .37 to .7, limited slopes of neighbours .45 to .6 (Zen 5).
#include "pipeline.h"

#include <algorithm>
#include <optional>

#include <weft/passes.h>

#include "../../graph/maps.h"
#include "../../graph/node_parts.h"
#include "../../graph/passes/rebuild.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

class Making {
 public:
  explicit Making(const Graph& graph) : graph_(graph), costs_(graph.size(), 0), array_of_(graph.size()), is_made_(graph.size(), false), rebuild_(graph) {
    const std::vector<bool> is_output = output_marks(graph);
    for (std::size_t k = 0; k < graph.size(); ++k)
      if (const NodeId id = id_of(k); !is_output[k] && is_simple(id)) costs_[k] = cost_of(id);
    for (std::size_t k = 0; k < graph.size(); ++k) is_made_[k] = costs_[k] > 0 && pays(id_of(k));
  }

  Graph run() {
    rebuild_.each([&](NodeId id, std::vector<Operand> operands) {
      const Node& node = graph_.node(id);
      for (int k = 0; k < graph_.arity(id); ++k)
        if (is_made_[graph_.operand(id, k).value]) operands[static_cast<std::size_t>(k)] = made(graph_.operand(id, k), graph_.map(id, k), node);
      return rebuild_.to.add(node, std::move(operands));
    });
    const bool changed = std::find(is_made_.begin(), is_made_.end(), true) != is_made_.end();
    return changed ? merge_duplicates(drop_dead(rebuild_.finish())) : rebuild_.finish();
  }

 private:
  // An op on elements of one array that is given, on such values, and on numbers: several arrays would be read as often as the value.
  bool is_simple(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.kind != Kind::apply || node.mode != Mode::broadcast || node.kept == 0 || node.op == Op::copy) return false;
    std::optional<NodeId>& array = array_of_[id.value];
    std::vector<bool> follows(node.domain.size(), false);          // an axis that no operand has would be lost
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId operand = graph_.operand(id, k);
      if (scalar_of(graph_.node(operand))) continue;
      mark_axes(graph_.map(id, k), follows);
      if (!is_given(graph_, operand) && costs_[operand.value] == 0) return false;
      const NodeId own = is_given(graph_, operand) ? operand : *array_of_[operand.value];
      if (array && *array != own) return false;
      array = own;
    }
    return array && std::find(follows.begin(), follows.end(), false) == follows.end();
  }
  int cost_of(NodeId id) const {
    int cost = op_cost(graph_.node(id).op);
    for (int k = 0; k < graph_.arity(id); ++k) cost += costs_[graph_.operand(id, k).value];
    return cost <= made_where_read ? cost : 0;
  }

  // Whether ops alone read it, at several indices along its own axes: what is read across as well, as both factors of a product of a matrix with itself
  // are, had better be an array.
  bool pays(NodeId id) const {
    std::vector<AxisMap> maps;
    for (NodeId user : graph_.users(id)) {
      if (graph_.node(user).kind != Kind::apply) return false;
      for (int k = 0; k < graph_.arity(user); ++k) {
        if (graph_.operand(user, k) != id) continue;
        const AxisMap& map = graph_.map(user, k);
        int own = 0;                                   // fixed indices have no axis
        for (const AxisRef& ref : map) if (ref.axis >= 0 && ref.axis != own++) return false;
        if (std::find(maps.begin(), maps.end(), map) == maps.end()) maps.push_back(map);
        if (static_cast<int>(maps.size()) * costs_[id.value] > made_where_read_in_all) return false;
      }
    }
    return maps.size() > 1;
  }

  // The value at what the map reads, for the loops of a reader.
  Operand made(NodeId id, const AxisMap& map, const Node& reader) {
    const Node& node = graph_.node(id);
    std::vector<Operand> operands;
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId operand = graph_.operand(id, k);
      const AxisMap read = compose(graph_.map(id, k), map);
      operands.push_back(costs_[operand.value] > 0 ? made(operand, read, reader) : Operand{rebuild_[operand], read});
    }
    return apply_over_mentioned(rebuild_.to, node.op, node.dtype, reader.domain, std::move(operands), reader.order);
  }

  const Graph& graph_;
  std::vector<int> costs_;                      // by node: of making it from what is given; 0: it cannot be, or not cheaply
  std::vector<std::optional<NodeId>> array_of_; // by node that can be: what it reads
  std::vector<bool> is_made_;                   // by node: where it is read
  Rebuild rebuild_;
};

}  // namespace

bool reads_elements(const Graph& graph) {
  const auto is_fixed = [](const AxisRef& ref) { return ref.axis < 0; };
  for (std::size_t k = 0; k < graph.size(); ++k)
    for (int operand = 0; operand < graph.arity(id_of(k)) && graph.node(id_of(k)).kind == Kind::apply; ++operand) {
      const AxisMap& map = graph.map(id_of(k), operand);
      if (graph.node(graph.operand(id_of(k), operand)).kind == Kind::apply && std::any_of(map.begin(), map.end(), is_fixed)) return true;
    }
  return reads_in_part(graph);
}

Graph make_where_read(const Graph& graph) { return Making(graph).run(); }

}  // namespace weft
