#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weft/passes.h>
#include <weft/recurrence.h>

#include "maps.h"
#include "node_parts.h"
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
std::optional<int> product_position(const Graph& graph, NodeId id, const std::vector<bool>& is_output, const std::vector<bool>* among) {
  const Node& node = graph.node(id);
  const bool adds = (node.op == Op::add || node.op == Op::subtract) && (node.dtype == f32 || node.dtype == f64);
  if (node.kind != Kind::apply || !(adds || is_plain_sum(node))) return {};
  for (int position = 0; position < graph.arity(id); ++position) {
    std::vector<bool> mentioned(node.domain.size(), false);
    mark_axes(graph.map(id, position), mentioned);
    for (std::size_t axis = 0; axis < mentioned.size(); ++axis) mentioned[axis] = mentioned[axis] || node.domain[axis].is(1);
    const bool covers = std::all_of(mentioned.begin(), mentioned.end(), [](bool axis) { return axis; });
    if (among && !(*among)[graph.operand(id, position).value]) continue;
    if (covers && is_free_product(graph, graph.operand(id, position), is_output) && can_be_read_through(graph, id, position)) return position;
  }
  return {};
}

// Of a number it is another number.
Operand negative_of(Graph& to, const Operand& operand, const Node& over) {
  if (const Scalar* number = scalar_of(to.node(operand.node))) return {to.constant(evaluate(Op::negative, {number, 1}, over.dtype)).id(), operand.map};
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
    Operand& negated = position == 0 ? rest : factors[scalar_of(rebuild.to.node(factors[1].node)) ? 1 : 0];
    negated = negative_of(rebuild.to, negated, node);
  }
  node.op = Op::fma;
  rebuild.set(id, rebuild.to.add(std::move(node), {factors[0], factors[1], rest}));
}

// By node: the sum that takes a product, and which operand that is. among: the products that may be taken, if not all.
std::vector<std::optional<int>> chosen_products(const Graph& graph, const std::vector<bool>* among = nullptr) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<std::optional<int>> chosen;
  for (std::size_t k = 0; k < graph.size(); ++k) chosen.push_back(product_position(graph, id_of(k), is_output, among));
  return chosen;
}

std::vector<bool> absorbed_products(const Graph& graph, const std::vector<std::optional<int>>& chosen) {
  std::vector<bool> absorbed(graph.size(), false);
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (chosen[k]) absorbed[graph.operand(id_of(k), *chosen[k]).value] = true;
  return absorbed;
}

// Steps of recurrences, whose products of what was before wait less: an exponential average of floats takes 4 cycles an element, 6 as a product and a sum.
// Other products stay: a sum waits for none of them.
class Steps {
 public:
  std::shared_ptr<const Recurrence> contracted(const std::shared_ptr<const Recurrence>& what) {
    auto [entry, is_new] = made_.try_emplace(what.get(), what);
    if (is_new) {
      const std::vector<bool> later = after_states(*what);
      const auto chosen = chosen_products(what->step, &later);
      if (std::any_of(chosen.begin(), chosen.end(), [](const auto& each) { return each.has_value(); })) entry->second = with_step(*what, chosen);
    }
    return entry->second;
  }

 private:
  static std::vector<bool> after_states(const Recurrence& what) {
    const Graph& step = what.step;
    std::vector<bool> later(step.size(), false);
    for (std::size_t state = 0; state < what.states(); ++state) later[step.inputs[state].value] = true;
    for (std::size_t k = 0; k < step.size(); ++k)
      for (int p = 0; p < step.arity(id_of(k)); ++p)
        if (later[step.operand(id_of(k), p).value]) later[k] = true;
    return later;
  }
  static std::shared_ptr<const Recurrence> with_step(const Recurrence& what, const std::vector<std::optional<int>>& chosen) {
    auto made = std::make_shared<Recurrence>();                  // no gradients are taken of it any more
    made->name = what.name;
    made->start = what.start;
    made->step = with_fma(what.step, chosen);
    made->finish = with_fma(what.finish, std::vector<std::optional<int>>(what.finish.size()));
    return made;
  }
  static Graph with_fma(const Graph& graph, const std::vector<std::optional<int>>& chosen) {
    const std::vector<bool> absorbed = absorbed_products(graph, chosen);
    Rebuild rebuild(graph);
    for (std::size_t k = 0; k < graph.size(); ++k)
      if (chosen[k]) add_contracted(rebuild, graph, id_of(k), *chosen[k]);
      else if (!absorbed[k]) rebuild.copy(id_of(k));
    for (NodeId output : graph.outputs) rebuild.to.outputs.push_back(rebuild[output]);       // of a step a state may be what is emitted, too
    return std::move(rebuild.to);
  }
  std::unordered_map<const Recurrence*, std::shared_ptr<const Recurrence>> made_;
};

}  // namespace

Graph contract(const Graph& graph) {
  const auto chosen = chosen_products(graph);
  const std::vector<bool> absorbed = absorbed_products(graph, chosen);
  Rebuild rebuild(graph);
  Steps steps;
  for (std::size_t k = 0; k < graph.size(); ++k) {
    if (absorbed[k]) continue;
    if (chosen[k]) {
      add_contracted(rebuild, graph, id_of(k), *chosen[k]);
    } else if (Node node = graph.node(id_of(k)); node.kind == Kind::recurrence) {
      auto& what = std::get<Recurring>(node.payload).recurrence;
      what = steps.contracted(what);
      rebuild.set(id_of(k), rebuild.to.add(std::move(node), rebuild.operands(id_of(k))));
    } else {
      rebuild.copy(id_of(k));
    }
  }
  return rebuild.finish();
}

}  // namespace weft
