// Arrays between nests, and those of the call. A graph is laid out before any array is seen (choose_layouts): its nodes are C unless somebody
// says otherwise. If most of what a call reads and writes lies the other way round than the graph's nodes say, what is stored in between
// does too: loops then run along memory everywhere. The softmax of rows of a column-major matrix takes two fifths of the time.
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "schedule.h"

namespace weft {
namespace {

// Nothing for arrays of one axis, and others that lie neither way.
std::optional<Order> order_of(const Dims& strides, const Dims& shape) {
  const auto falls = [&](auto first, auto last) {
    Index before = std::numeric_limits<Index>::max();
    int axes = 0;
    for (; first != last; ++first) {
      if (shape[static_cast<std::size_t>(*first)] <= 1) continue;
      const Index stride = std::abs(strides[static_cast<std::size_t>(*first)]);
      if (stride == 0 || stride >= before) return false;
      before = stride, ++axes;
    }
    return axes > 1;
  };
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (falls(axes.begin(), axes.end())) return Order::c;
  if (falls(axes.rbegin(), axes.rend())) return Order::f;
  return {};
}

}  // namespace

std::vector<bool> turned_arrays(const Graph& graph, const Hints& hints) {
  double surplus = 0;                           // bytes that lie the other way round, less those that do not
  const auto count = [&](NodeId id) {
    const Node& node = graph.node(id);
    const Dims shape = evaluate(node.shape(), hints.bindings);
    const auto order = order_of(hints.arrays.at(id).strides, shape);
    if (!order) return;
    double bytes = static_cast<double>(size_of(node.dtype));
    for (Index extent : shape) bytes *= static_cast<double>(extent);
    surplus += *order == node.order ? -bytes : bytes;
  };
  for (NodeId id : graph.inputs) count(id);
  for (NodeId id : results_of(graph)) count(id);
  if (surplus <= 0) return {};
  std::vector<bool> turned(graph.size());
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    turned[k] = is_scheduled(node);
    if (node.kind == Kind::reshape) turned[memory_of(graph, id_of(k)).value] = false;          // row-major by what it is
  }
  for (NodeId id : results_of(graph)) turned[id.value] = false;
  return turned;
}

}  // namespace weft
