#include "thin_extents.h"

#include "cost_model.h"

namespace weft {
namespace {

std::string symbol_of(const Extent& extent) {
  std::vector<std::string> symbols;
  extent.collect_symbols(symbols);
  return symbols.size() == 1 && extent.is_symbol(symbols[0]) ? symbols[0] : std::string();
}

}  // namespace

ThinExtents::ThinExtents(const Graph& graph) {
  const auto add = [&](const Shape& shape, std::size_t axis) {
    std::string symbol = symbol_of(shape[axis]);
    if (!symbol.empty()) candidates_.push_back({std::move(symbol), shape});
  };
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (NodeId id : *ids)
      if (const Node& node = graph.node(id); node.rank() > 1) add(node.shape(), node.order == Order::c ? node.shape().size() - 1 : 0);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (node.kind != Kind::apply || node.mode == Mode::broadcast || node.domain.size() < 2) continue;
    for (auto axis = static_cast<std::size_t>(node.kept); axis < node.domain.size(); ++axis) add(node.domain, axis);
  }
}

Bindings ThinExtents::in(const Bindings& bindings) const {
  Bindings thin;
  for (const Candidate& candidate : candidates_) {
    const auto value = bindings.find(candidate.symbol);
    if (value == bindings.end() || thin.contains(candidate.symbol)) continue;
    double elements = 1;
    for (const Extent& extent : candidate.shape) elements *= static_cast<double>(extent.evaluate(bindings));
    if (thin_extent_pays(value->second, elements)) thin.insert(*value);
  }
  return thin;
}

}  // namespace weft
