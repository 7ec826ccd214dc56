#include "thin_extents.h"

#include <algorithm>
#include <set>

#include <weft/text.h>

#include "cost_model.h"

namespace weft {
namespace {

std::string symbol_of(const Extent& extent) {
  std::vector<std::string> symbols;
  extent.collect_symbols(symbols);
  return symbols.size() == 1 && extent.is_symbol(symbols[0]) ? symbols[0] : std::string();
}

using Candidate = ThinExtents::Candidate;

// Each symbol and shape once: calls look at all of them.
class Candidates {
 public:
  void add(const Shape& shape, std::size_t axis, bool is_fastest, Shape inside) {
    std::string symbol = symbol_of(shape[axis]);
    if (!symbol.empty() && seen_.insert(concat(symbol, ' ', is_fastest, to_text(inside), to_text(shape))).second) all.push_back({std::move(symbol), shape, std::move(inside), is_fastest});
  }
  std::vector<Candidate> all;

 private:
  std::set<std::string> seen_;
};

void add_folded(Candidates& candidates, const Graph& graph) {
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (node.kind != Kind::apply || node.mode == Mode::broadcast || node.domain.size() < 2) continue;
    for (auto axis = static_cast<std::size_t>(node.kept); axis < node.domain.size(); ++axis) candidates.add(node.domain, axis, false, {});
  }
}

double elements_of(const Shape& shape, const Bindings& bindings) {
  double elements = 1;
  for (const Extent& extent : shape) elements *= static_cast<double>(extent.evaluate(bindings));
  return elements;
}

}  // namespace

ThinExtents::ThinExtents(const Graph& graph) {
  Candidates candidates;
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (NodeId id : *ids)
      if (const Node& node = graph.node(id); node.rank() > 1) {
        const Shape shape = node.shape();
        Shape inside;
        for (std::size_t k = 0; k < shape.size(); ++k) {
          const std::size_t axis = node.order == Order::c ? shape.size() - 1 - k : k;
          candidates.add(shape, axis, k == 0, inside);
          inside.push_back(shape[axis]);
        }
      }
  add_folded(candidates, graph);
  candidates_ = std::move(candidates.all);
}

Bindings ThinExtents::in(const Bindings& bindings, bool is_first_call) const {
  Bindings thin;
  for (const Candidate& candidate : candidates_) {
    const auto value = bindings.find(candidate.symbol);
    if (value == bindings.end() || thin.contains(candidate.symbol)) continue;
    const auto inside = static_cast<Index>(elements_of(candidate.inside, bindings));
    if (thin_extent_pays(value->second, inside, candidate.is_fastest, elements_of(candidate.shape, bindings), is_first_call)) thin.insert(*value);
  }
  return thin;
}

}  // namespace weft
