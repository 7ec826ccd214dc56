#include <weft/passes.h>

#include "rebuild.h"
#include "stable_form.h"

namespace weft {
namespace {

void add_shifted(Rebuild& rebuild, const Graph& graph, NodeId id, const LogSum& found) {
  const Node log = graph.node(id);
  const auto [shift, exponential, total] = shifted_sum(rebuild.to, graph.node(found.sum), {rebuild[found.at.node], found.at.map}, false);
  const NodeId logarithm = rebuild.to.add(log, {{total.node, graph.map(id, 0)}});
  rebuild.set(id, rebuild.to.apply(Op::add, log.dtype, log.domain, {{logarithm, identity_map(log.kept)}, {shift.node, graph.map(id, 0)}}, log.order));
}

}  // namespace

Graph shift_log_sums(const Graph& graph) {
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const auto found = graph.node(id_of(k)).mode == Mode::broadcast ? log_sum(graph, id_of(k), [](NodeId) { return false; }) : std::nullopt;
    if (found) add_shifted(rebuild, graph, id_of(k), *found);
    else rebuild.copy(id_of(k));
  }
  return rebuild.finish();
}

}  // namespace weft
