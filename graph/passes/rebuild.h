// How a pass builds its result: a new graph and the map from old ids to new ones.
//
//   Rebuild rebuild(graph);                                          // has every input already
//   rebuild.each([&](NodeId id, std::vector<Operand> operands) {     // the others, in id order
//     return rebuild.to.add(graph.node(id), std::move(operands));    // or something else that stands for it
//   });
//   return rebuild.finish();                                         // maps the outputs
#pragma once
#include <unordered_set>
#include <vector>

#include <weft/error.h>
#include <weft/graph.h>

namespace weft {

// By node: whether it is an output.
inline std::vector<bool> output_marks(const Graph& graph) {
  std::vector<bool> marks(graph.size(), false);
  for (NodeId output : graph.outputs) marks[output.value] = true;
  return marks;
}

// What computes something; other outputs become copies of what they were.
inline bool can_be_output(const Node& node) { return node.kind == Kind::apply || node.kind == Kind::update || node.kind == Kind::recurrence; }

class Rebuild {
 public:
  Graph to;

  explicit Rebuild(const Graph& from) : Rebuild(from, from.inputs) {}
  Rebuild(const Graph& from, const std::vector<NodeId>& inputs) : to(from.name), from_(from), now_(from.size()) {
    for (NodeId id : inputs) {
      const Node& node = from.node(id);
      set(id, to.input(node.name(), node.dtype, node.shape(), node.order).id());
    }
  }

  bool has(NodeId old) const { return now_[old.value].value != UINT32_MAX; }
  NodeId operator[](NodeId old) const {
    WEFT_ASSERT(has(old), "a node is rebuilt after its operands: %", old.value);
    return now_[old.value];
  }
  void set(NodeId old, NodeId now) { now_[old.value] = now; }

  std::vector<Operand> operands(NodeId old) const {          // as nodes of the new graph
    std::vector<Operand> result;
    const int arity = from_.arity(old);
    result.reserve(static_cast<std::size_t>(arity));
    for (int k = 0; k < arity; ++k) result.push_back(Operand{(*this)[from_.operand(old, k)], from_.map(old, k)});
    return result;
  }

  // For each node that has no counterpart yet, with its operands in the new graph: what the visitor returns is its counterpart.
  template <class Visitor> void each(Visitor visit) {
    for (std::size_t index = 0; index < from_.size(); ++index)
      if (const NodeId id = id_of(index); !has(id)) set(id, visit(id, operands(id)));
  }

  void copy(NodeId old) {
    if (!has(old)) set(old, to.add(from_.node(old), operands(old)));
  }

  Graph finish() { return finish(from_.outputs); }
  Graph finish(const std::vector<NodeId>& outputs) {
    std::unordered_set<NodeId> taken;
    for (NodeId old : outputs) {
      NodeId id = (*this)[old];
      if (!can_be_output(to.node(id)) || taken.contains(id)) id = own_copy(id);
      taken.insert(id);
      to.outputs.push_back(id);
    }
    return std::move(to);
  }

 private:
  NodeId own_copy(NodeId id) {
    const Node node = to.node(id);
    return to.apply(Op::copy, node.dtype, node.shape(), {Operand{id, identity_map(node.kept)}}, node.order);
  }

  const Graph& from_;
  std::vector<NodeId> now_;
};

}  // namespace weft
