// Votes of the readers, from the outputs backwards: the layout in which a reader's own result is stored says how its loops
// will run, so it is decided first. Deciding twice changes nothing.
#include <algorithm>
#include <vector>

#include <weft/passes.h>

#include "rebuild.h"
#include "storage.h"

namespace weft {
namespace {

// Whether the reader runs through the operand's axes in falling order: x[j,i] over i, j. Folded axes do not count, they may
// run anywhere; nor do extents of 1.
bool reads_transposed(const Node& reader, const AxisMap& map) {
  int seen = 0, last = 0;
  for (const AxisRef& ref : map) {
    if (reader.kind != Kind::apply || ref.axis < 0 || ref.axis >= reader.kept || reader.domain[static_cast<std::size_t>(ref.axis)].is(1)) continue;
    if (seen++ > 0 && ref.axis > last) return false;
    last = ref.axis;
  }
  return seen > 1;
}

Order other(Order order) { return order == Order::c ? Order::f : Order::c; }

// `orders`: of the readers.
Order majority(const Graph& graph, NodeId id, bool is_output, const std::vector<Order>& orders) {
  const Order own = graph.node(id).order;
  if (graph.node(id).rank() < 2) return own;                  // both layouts are one
  int surplus = 0;                                            // votes for c less votes for f
  for (auto [edge, end] = boost::out_edges(id.value, graph.storage().list); edge != end; ++edge) {
    const NodeId reader{static_cast<std::uint32_t>(boost::target(*edge, graph.storage().list))};
    if (!is_output && graph.node(reader).kind == Kind::reshape) return own;       // names this memory: store_reshapes has decided
    Order vote = orders[reader.value];
    if (!is_output && reads_transposed(graph.node(reader), graph.storage().list[*edge].map)) vote = other(vote);
    surplus += vote == Order::c ? 1 : -1;
  }
  return surplus > 0 ? Order::c : surplus < 0 ? Order::f : own;
}

}  // namespace

Graph choose_layouts(const Graph& graph) {
  std::vector<Order> orders(graph.size());
  const std::vector<bool> is_output = output_marks(graph);
  for (std::size_t k = graph.size(); k-- > 0;) {
    const Node& node = graph.node(id_of(k));
    const bool stored = node.kind == Kind::apply || node.kind == Kind::update;
    orders[k] = stored ? majority(graph, id_of(k), is_output[k], orders) : node.order;
  }
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    Node node = graph.node(id);
    node.order = orders[id.value];
    return rebuild.to.add(std::move(node), std::move(operands));
  });
  return rebuild.finish();
}

}  // namespace weft
