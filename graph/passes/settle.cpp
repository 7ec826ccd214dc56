#include <weft/settle.h>

#include <algorithm>
#include <map>

#include "node_parts.h"

namespace weft {
namespace {

using Replacements = std::map<std::string, Extent, std::less<>>;

// How the extent d of the data and t of the target meet on one axis. Where they fit in no way (sizes made up to show code)
// they are taken to be equal.
enum class Meeting : char { equal = '=', data_is_one = '1', target_is_one = 't' };

Shape data_shape(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.mode == Mode::broadcast ? graph.node(graph.operand(id, 0)).shape() : node.shape();
}

std::vector<Meeting> meetings(const Graph& graph, NodeId id, const Bindings& bindings) {
  const Shape data = data_shape(graph, id);
  const Fit& fit = std::get<Fit>(graph.node(id).payload);
  std::vector<Meeting> result;
  for (std::size_t k = 0; k < data.size(); ++k) {
    const Index d = data[k].evaluate(bindings), t = fit.target[k].evaluate(bindings);
    result.push_back(data[k] == fit.target[k] || d == t ? Meeting::equal : d == 1 ? Meeting::data_is_one
                     : t == 1 && fit.both_ways          ? Meeting::target_is_one
                                                        : Meeting::equal);
  }
  return result;
}

// The extents of one call that are known to agree, as replacements of symbols.
class Agreement {
 public:
  Agreement(const Graph& graph, const Bindings& bindings, const Bindings& numbers) {
    for (const auto& [symbol, value] : numbers) replacements_.emplace(symbol, value);
    for (std::size_t k = 0; k < graph.size(); ++k) {
      if (graph.node(id_of(k)).kind != Kind::fit) continue;
      const std::vector<Meeting> meet = meetings(graph, id_of(k), bindings);
      for (std::size_t axis = 0; axis < meet.size(); ++axis) {
        const Extent data = data_shape(graph, id_of(k))[axis];
        const Extent& target = std::get<Fit>(graph.node(id_of(k)).payload).target[axis];
        if (meet[axis] == Meeting::equal) agree(target, data);
        else agree(meet[axis] == Meeting::data_is_one ? data : target, 1);
      }
    }
  }
  Extent operator()(const Extent& extent) const { return extent.is_number() ? extent : replace(extent, replacements_); }
  Shape operator()(const Shape& shape) const {
    Shape result;
    for (const Extent& extent : shape) result.push_back((*this)(extent));
    return result;
  }
  AxisMap operator()(AxisMap map) const {
    for (AxisRef& ref : map) ref.start = (*this)(ref.start);
    return map;
  }

 private:
  // The first of the two that is one symbol is replaced by the other.
  void agree(const Extent& left, const Extent& right) {
    const Extent a = (*this)(left), b = (*this)(right);
    if (!(a == b) && !replaced(a, b)) replaced(b, a);
  }
  bool replaced(const Extent& symbol, const Extent& by) {
    std::vector<std::string> names, others;
    symbol.collect_symbols(names);
    by.collect_symbols(others);
    if (names.size() != 1 || !symbol.is_symbol(names[0]) || std::find(others.begin(), others.end(), names[0]) != others.end()) return false;
    for (auto& [name, extent] : replacements_) extent = replace(extent, {{names[0], by}});
    replacements_[names[0]] = by;
    return true;
  }
  Replacements replacements_;
};

class Settling {
 public:
  Settling(const Graph& graph, const Bindings& bindings, const Bindings& numbers)
      : from_(graph), bindings_(bindings), agreed_(graph, bindings, numbers), to_(graph.name) {}

  Graph run() {
    for (std::size_t k = 0; k < from_.size(); ++k) {
      const Node& node = from_.node(id_of(k));
      if (node.kind == Kind::input) to_.input(node.name(), node.dtype, agreed_(node.domain), node.order);
      else if (node.kind == Kind::fit) add_fit(id_of(k));
      else add(id_of(k));
    }
    to_.inputs = from_.inputs;
    to_.outputs = from_.outputs;
    return std::move(to_);
  }

 private:
  void add(NodeId id) {
    Node node = from_.node(id);
    node.domain = agreed_(node.domain);
    if (auto* extent = std::get_if<Extent>(&node.payload)) *extent = agreed_(*extent);
    if (auto* places = std::get_if<AxisMap>(&node.payload)) *places = agreed_(*places);
    std::vector<Operand> operands = operands_of(from_, id);
    for (Operand& operand : operands) operand.map = agreed_(std::move(operand.map));
    if (node.kind == Kind::apply || node.kind == Kind::recurrence || node.kind == Kind::others) mark_parts(operands);
    to_.add(std::move(node), std::move(operands));
  }

  // A slice may have come to start at 0, and extents that are equal may not be written alike: then the loop need not be seen
  // to cover the axis. Graph::add drops the mark where it is.
  static void mark_parts(std::vector<Operand>& operands) {
    for (Operand& operand : operands)
      for (AxisRef& ref : operand.map) ref.part = ref.is_direct();
  }

  // Repeated axes: index 0 of the data; of an adjoint, a folded axis. The others are followed.
  void add_fit(NodeId id) {
    const Node& node = from_.node(id);
    const NodeId operand = from_.operand(id, 0);
    const Shape from = agreed_(from_.node(operand).shape()), kept = agreed_(node.domain);
    const std::vector<Meeting> meet = meetings(from_, id, bindings_);
    Shape domain = kept;
    AxisMap map(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (meet[k] != Meeting::data_is_one) map[k].axis = static_cast<int>(k);
      else if (node.mode == Mode::accumulate) {
        map[k].axis = static_cast<int>(domain.size());
        domain.push_back(from[k]);
      }
    }
    std::vector<Operand> operands{{operand, std::move(map)}};
    mark_parts(operands);
    to_.fold(AccumulatorId::sum, Op::copy, node.dtype, std::move(domain), node.kept, std::move(operands), node.order);
  }

  const Graph& from_;
  const Bindings& bindings_;
  Agreement agreed_;
  Graph to_;
};

}  // namespace

bool has_fits(const Graph& graph) {
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (graph.node(id_of(k)).kind == Kind::fit) return true;
  return false;
}

std::string fit_key(const Graph& graph, const Bindings& bindings) {
  std::string key;
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (graph.node(id_of(k)).kind == Kind::fit)
      for (const Meeting meeting : meetings(graph, id_of(k), bindings)) key += static_cast<char>(meeting);
  return key;
}

Graph settle(const Graph& graph, const Bindings& bindings, const Bindings& numbers) { return Settling(graph, bindings, numbers).run(); }

}  // namespace weft
