#include <algorithm>
#include <optional>
#include <vector>

#include <weft/passes.h>

#include "maps.h"
#include "rebuild.h"

namespace weft {
namespace {

// multiply(a, b), or square(a) as a times a, that only one node uses and no output names.
bool is_free_product(const Graph& graph, NodeId id, const std::vector<bool>& is_output) {
  const Node& node = graph.node(id);
  return node.kind == Kind::apply && (node.op == Op::multiply || node.op == Op::square) &&
         node.kept == static_cast<int>(node.domain.size()) && graph.user_count(id) == 1 && !is_output[id.value];
}

bool can_be_read_through(const Graph& graph, NodeId id, int position) {
  const NodeId product = graph.operand(id, position);
  const Node& node = graph.node(id);
  std::vector<Operand> operands;
  for (int k = 0; k < graph.arity(id); ++k)
    if (k != position) operands.push_back({graph.operand(id, k), graph.map(id, k)});
  for (int k = 0; k < graph.arity(product); ++k)
    operands.push_back({graph.operand(product, k), compose(graph.map(product, k), graph.map(id, position))});
  return mentions_all(operands, node.kept, static_cast<int>(node.domain.size()));   // G7: the product may alone have a folded axis
}

// A sum of what it reads: it adds products as they are, once it multiplies itself.
bool is_plain_sum(const Node& node) { return node.op == Op::copy && adds_products(node.accumulator, Op::multiply, node.dtype); }

// Which operand of an add, a subtract or a sum is the product. One that is broadcast stays: its rounding is shared, and inside
// the loop two operands would be read in place of one. Along an axis of one element nothing is shared: a sum that keeps its axis is the same bits.
std::optional<int> product_position(const Graph& graph, NodeId id, const std::vector<bool>& is_output) {
  const Node& node = graph.node(id);
  const bool adds = (node.op == Op::add || node.op == Op::subtract) && (node.dtype == f32 || node.dtype == f64);
  if (node.kind != Kind::apply || !(adds || is_plain_sum(node))) return {};
  for (int position = 0; position < graph.arity(id); ++position) {
    std::vector<bool> mentioned(node.domain.size(), false);
    mark_axes(graph.map(id, position), mentioned);
    for (std::size_t axis = 0; axis < mentioned.size(); ++axis) mentioned[axis] = mentioned[axis] || node.domain[axis].is(1);
    const bool covers = std::all_of(mentioned.begin(), mentioned.end(), [](bool axis) { return axis; });
    if (covers && is_free_product(graph, graph.operand(id, position), is_output) && can_be_read_through(graph, id, position)) return position;
  }
  return {};
}

const Scalar* number_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.kind == Kind::constant && node.kept == 0 ? std::get_if<Scalar>(&node.payload) : nullptr;
}

// Of a number it is another number.
Operand negative_of(Graph& to, const Operand& operand, const Node& over) {
  if (const Scalar* number = number_of(to, operand.node)) return {to.constant(evaluate(Op::negative, {number, 1}, over.dtype)).id(), operand.map};
  return apply_over_mentioned(to, Op::negative, over.dtype, over.domain, {operand}, over.order);
}

void add_contracted(Rebuild& rebuild, const Graph& graph, NodeId id, int position) {
  Node node = graph.node(id);
  const NodeId product = graph.operand(id, position);
  std::vector<Operand> factors = rebuild.operands(product);
  for (Operand& factor : factors) factor.map = compose(factor.map, graph.map(id, position));
  if (is_plain_sum(node)) {
    node.op = graph.node(product).op;
    rebuild.set(id, rebuild.to.add(std::move(node), std::move(factors)));
    return;
  }
  if (factors.size() == 1) factors.push_back(factors[0]);    // square
  Operand rest{rebuild[graph.operand(id, 1 - position)], graph.map(id, 1 - position)};
  if (node.op == Op::subtract) {                             // a b - c = fma(a, b, -c); c - a b = fma(-a, b, c)
    Operand& negated = position == 0 ? rest : factors[number_of(rebuild.to, factors[1].node) ? 1 : 0];
    negated = negative_of(rebuild.to, negated, node);
  }
  node.op = Op::fma;
  rebuild.set(id, rebuild.to.add(std::move(node), {factors[0], factors[1], rest}));
}

}  // namespace

Graph contract(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<bool> absorbed(graph.size(), false);
  std::vector<std::optional<int>> chosen(graph.size());
  for (std::size_t k = 0; k < graph.size(); ++k) {
    chosen[k] = product_position(graph, id_of(k), is_output);
    if (chosen[k]) absorbed[graph.operand(id_of(k), *chosen[k]).value] = true;
  }
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    if (absorbed[k]) continue;
    if (chosen[k]) add_contracted(rebuild, graph, id_of(k), *chosen[k]);
    else rebuild.copy(id_of(k));
  }
  return rebuild.finish();
}

}  // namespace weft
