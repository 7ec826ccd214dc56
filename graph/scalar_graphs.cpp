#include "scalar_graphs.h"

#include "maps.h"
#include "needed.h"
#include "node_parts.h"

namespace weft {

std::vector<Expr> inlined(Graph& to, const Graph& from, const std::vector<Expr>& inputs) {
  std::vector<NodeId> now(from.size());
  for (std::size_t k = 0; k < from.inputs.size(); ++k) now[from.inputs[k].value] = inputs[k].id();
  for (std::size_t k = 0; k < from.size(); ++k) {
    const Node& node = from.node(id_of(k));
    if (node.kind == Kind::input) continue;
    std::vector<Operand> operands;
    for (int p = 0; p < from.arity(id_of(k)); ++p) operands.push_back({now[from.operand(id_of(k), p).value], {}});
    now[k] = to.add(node, std::move(operands));
  }
  std::vector<Expr> outputs;
  for (NodeId id : from.outputs) outputs.emplace_back(to, now[id.value]);
  return outputs;
}

std::vector<Expr> add_inputs(Graph& graph, const char* prefix, const std::vector<DType>& dtypes) {
  std::vector<Expr> inputs;
  for (std::size_t k = 0; k < dtypes.size(); ++k) inputs.push_back(graph.input(prefix + std::to_string(k), dtypes[k], {}));
  return inputs;
}

Graph pruned(const Graph& graph, std::size_t fixed, std::vector<bool>& used) {
  const std::vector<bool> needed = needed_by(graph, graph.outputs);
  Graph to(graph.name);
  std::vector<NodeId> now(graph.size());
  used.assign(graph.inputs.size(), false);
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    const Node& node = graph.node(graph.inputs[k]);
    used[k] = k < fixed || needed[graph.inputs[k].value];
    if (used[k]) now[graph.inputs[k].value] = to.input(node.name(), node.dtype, {}).id();
  }
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (node.kind == Kind::input || !needed[k]) continue;
    std::vector<Operand> operands;
    for (int p = 0; p < graph.arity(id_of(k)); ++p) operands.push_back({now[graph.operand(id_of(k), p).value], {}});
    now[k] = to.add(node, std::move(operands));
  }
  for (NodeId id : graph.outputs) to.outputs.push_back(now[id.value]);
  return to;
}

std::vector<Operand> everywhere(Graph& graph, const Graph& scalars, const std::vector<Operand>& inputs, const Shape& domain) {
  std::vector<Operand> values(scalars.size());
  const std::vector<bool> needed = needed_by(scalars, scalars.outputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) values[scalars.inputs[k].value] = inputs[k];
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    const Node& node = scalars.node(id_of(k));
    if (!needed[k] || node.kind == Kind::input) continue;
    if (node.kind == Kind::constant) {
      values[k] = {graph.constant(std::get<Scalar>(node.payload)).id(), {}};
      continue;
    }
    std::vector<Operand> operands;
    for (int p = 0; p < scalars.arity(id_of(k)); ++p) operands.push_back(values[scalars.operand(id_of(k), p).value]);
    values[k] = apply_over_mentioned(graph, node.op, node.dtype, domain, std::move(operands));
  }
  std::vector<Operand> outputs;
  for (NodeId id : scalars.outputs) outputs.push_back(values[id.value]);
  return outputs;
}

ScalarGraph::ScalarGraph(const Graph& graph, OpLoops loops) : graph_(graph), loops_(loops), values_(graph.size()), results_(graph.outputs.size()) {
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (const Scalar* scalar = scalar_of(graph.node(id_of(k)))) values_[k] = *scalar;
}

const std::vector<Scalar>& ScalarGraph::operator()(const std::vector<Scalar>& inputs) {
  for (std::size_t k = 0; k < inputs.size(); ++k) values_[graph_.inputs[k].value] = inputs[k];
  std::vector<Scalar> operands;
  for (std::size_t k = 0; k < graph_.size(); ++k) {
    const Node& node = graph_.node(id_of(k));
    if (node.kind != Kind::apply) continue;
    operands.clear();
    for (int p = 0; p < graph_.arity(id_of(k)); ++p) operands.push_back(values_[graph_.operand(id_of(k), p).value]);
    values_[k] = evaluate(node.op, operands, node.dtype, loops_);
  }
  for (std::size_t k = 0; k < results_.size(); ++k) results_[k] = values_[graph_.outputs[k].value];
  return results_;
}

}  // namespace weft
