#include <bit>
#include <optional>
#include <unordered_map>

#include <weft/passes.h>
#include <weft/recurrence.h>

#include "payload.h"
#include "rebuild.h"

namespace weft {
namespace {

class Hash {
 public:
  Hash& operator()(std::size_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
    return *this;
  }
  Hash& operator()(const std::string& text) { return (*this)(std::string_view(text)); }
  Hash& operator()(std::string_view text) { return (*this)(std::hash<std::string_view>{}(text)); }
  Hash& operator()(const Extent& extent) {
    return extent.is_number() ? (*this)(static_cast<std::size_t>(extent.constant())) : (*this)(to_text(extent));
  }
  Hash& operator()(const AxisMap& map) {
    for (const AxisRef& ref : map) (*this)(static_cast<std::size_t>(ref.axis))(ref.start)(static_cast<std::size_t>(ref.step))(ref.part);
    return *this;
  }
  Hash& operator()(const Fit& fit) {
    for (const Extent& extent : fit.target) (*this)(extent);
    return (*this)(std::size_t{fit.both_ways});
  }
  Hash& operator()(const Scalar& scalar) {
    if (!is_floating(scalar.dtype())) return (*this)(scalar.unsigned_integer());
    const double real = scalar.real();
    return (*this)(std::bit_cast<std::uint64_t>(real != real ? 0.0 : real));
  }
  // Array payloads are c-contiguous copies (Graph::constant). One with other NaNs may be the same and stay beside it.
  Hash& operator()(const Array& array) {
    return (*this)(std::string_view(static_cast<const char*>(array.data()), static_cast<std::size_t>(array.size()) * size_of(array.dtype())));
  }
  Hash& operator()(const Recurring& recurring) {
    return (*this)(recurring.recurrence->name)(static_cast<std::size_t>(recurring.output))(recurring.axes.size())(std::size_t{recurring.backwards});
  }
  Hash& operator()(const Along& along) { return (*this)(static_cast<std::size_t>(along.axis)); }
  Hash& operator()(std::monostate) { return *this; }
  std::size_t value() const { return value_; }

 private:
  std::size_t value_ = 0;
};

std::size_t hash_of(const Node& node, const std::vector<Operand>& operands) {
  Hash hash;
  hash(static_cast<std::size_t>(node.kind))(static_cast<std::size_t>(node.op))(static_cast<std::size_t>(node.dtype));
  hash(static_cast<std::size_t>(node.kept))(static_cast<std::size_t>(node.accumulator))(node.payload.index());
  for (const Extent& extent : node.domain) hash(extent);
  std::visit([&](const auto& payload) { hash(payload); }, node.payload);
  for (const Operand& operand : operands) hash(operand.node.value)(operand.map);
  return hash.value();
}

// Orders do not count, but of results: a caller sees theirs.
bool same(const Graph& graph, NodeId id, const Node& node, const std::vector<Operand>& operands, bool is_output) {
  const Node& other = graph.node(id);
  if (is_output && other.order != node.order) return false;
  if (other.kind != node.kind || other.op != node.op || other.dtype != node.dtype || other.kept != node.kept ||
      other.accumulator != node.accumulator || other.domain != node.domain)
    return false;
  if (!same_payload(other.payload, node.payload)) return false;
  if (graph.arity(id) != static_cast<int>(operands.size())) return false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const int position = static_cast<int>(k);
    if (graph.operand(id, position) != operands[k].node || graph.map(id, position) != operands[k].map) return false;
  }
  return true;
}

}  // namespace

Graph merge_duplicates(const Graph& graph) {
  Rebuild rebuild(graph);
  std::unordered_multimap<std::size_t, NodeId> seen;
  const std::vector<bool> is_output = output_marks(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {      // inputs are never equal
    const Node& node = graph.node(id);
    const std::size_t hash = hash_of(node, operands);
    std::optional<NodeId> first;                                    // of those that are the same
    for (auto [candidate, end] = seen.equal_range(hash); candidate != end; ++candidate)
      if ((!first || candidate->second < *first) && same(rebuild.to, candidate->second, node, operands, is_output[id.value])) first = candidate->second;
    return first ? *first : seen.emplace(hash, rebuild.to.add(node, std::move(operands)))->second;
  });
  return rebuild.finish();
}

}  // namespace weft
