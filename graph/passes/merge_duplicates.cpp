#include <bit>
#include <unordered_map>

#include <weft/passes.h>
#include <weft/recurrence.h>

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
  Hash& operator()(const Array& array) { return (*this)(bytes(array)); }
  Hash& operator()(const Recurring& recurring) {
    return (*this)(recurring.recurrence->name)(static_cast<std::size_t>(recurring.output))(recurring.axes.size())(std::size_t{recurring.backwards});
  }
  Hash& operator()(const Along& along) { return (*this)(static_cast<std::size_t>(along.axis)); }
  Hash& operator()(std::monostate) { return *this; }
  std::size_t value() const { return value_; }

  // Array payloads are c-contiguous copies (Graph::constant).
  static std::string_view bytes(const Array& array) {
    return {static_cast<const char*>(array.data()), static_cast<std::size_t>(array.size()) * size_of(array.dtype())};
  }

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

struct SamePayload {
  template <class T> bool operator()(const T& a, const T& b) const { return a == b; }
  bool operator()(const Array& a, const Array& b) const {
    return a.dtype() == b.dtype() && a.shape() == b.shape() && Hash::bytes(a) == Hash::bytes(b);
  }
  template <class A, class B> bool operator()(const A&, const B&) const { return false; }
};

bool same(const Graph& graph, NodeId id, const Node& node, const std::vector<Operand>& operands) {
  const Node& other = graph.node(id);
  if (other.kind != node.kind || other.op != node.op || other.dtype != node.dtype || other.kept != node.kept ||
      other.accumulator != node.accumulator || other.domain != node.domain)
    return false;
  if (!std::visit(SamePayload{}, other.payload, node.payload)) return false;
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
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {      // inputs are never equal
    const Node& node = graph.node(id);
    const std::size_t hash = hash_of(node, operands);
    auto [candidate, end] = seen.equal_range(hash);
    while (candidate != end && !same(rebuild.to, candidate->second, node, operands)) ++candidate;
    return candidate != end ? candidate->second : seen.emplace(hash, rebuild.to.add(node, std::move(operands)))->second;
  });
  return rebuild.finish();
}

}  // namespace weft
