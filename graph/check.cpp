#include "check.h"

namespace weft {
namespace {

std::string describe(const Graph& graph, NodeId id) { return Expr(const_cast<Graph&>(graph), id).name(); }

// G3, G4: the map of one operand fits the operand's shape and the user's domain.
void check_map(const Graph& graph, const Node& node, const Operand& operand, std::string_view op) {
  const Shape shape = graph.node(operand.node).shape();
  const std::string name = describe(graph, operand.node);
  WEFT_REQUIRE(operand.map.size() == shape.size(), shape, op, ": operand ", name, " has rank ", shape.size(), " but its map names ",
               operand.map.size(), " axes");
  std::vector<bool> named(node.domain.size(), false);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const AxisRef& ref = operand.map[k];
    if (ref.axis < 0) {
      if (ref.start.is_number() && shape[k].is_number())
        WEFT_REQUIRE(ref.start.constant() >= 0 && ref.start.constant() < shape[k].constant(), shape, op, ": index ", ref.start, " is outside axis ", k,
                     " of ", name, ", which has extent ", shape[k]);
      continue;
    }
    WEFT_REQUIRE(ref.axis < static_cast<int>(node.domain.size()), shape, op, ": map of ", name, " names axis ", ref.axis, " of a domain of rank ",
                 node.domain.size());
    const auto axis = static_cast<std::size_t>(ref.axis);
    WEFT_REQUIRE(!named[axis], shape, op, ": map of ", name, " names axis ", ref.axis, " twice");
    named[axis] = true;
    const Extent& extent = node.domain[axis];
    if (ref.is_identity()) {
      WEFT_REQUIRE(extent == shape[k], shape, op, ": axis ", k, " of ", name, " has extent ", shape[k], " but the loop over it has extent ", extent,
                   "\n  if they are meant to be equal, declare both inputs with the same symbol");
    } else if (extent.is_number() && shape[k].is_number() && ref.start.is_number() && extent.constant() > 0) {
      const Index first = ref.start.constant(), last = first + ref.step * (extent.constant() - 1);
      WEFT_REQUIRE(std::min(first, last) >= 0 && std::max(first, last) < shape[k].constant(), shape, op, ": indices ", first, " to ", last,
                   " are outside axis ", k, " of ", name, ", which has extent ", shape[k]);
    }
  }
}

void check_apply(const Graph& graph, const Node& node, const std::vector<Operand>& operands) {
  const OpInfo& row = info(node.op);
  WEFT_REQUIRE(static_cast<int>(operands.size()) == row.arity, usage, row.name, ": expected ", row.arity, " operands, got ", operands.size());
  std::vector<DType> dtypes;
  for (const Operand& operand : operands) {
    WEFT_REQUIRE(operand.node.value < graph.size(), usage, row.name, ": operand %", operand.node.value, " does not exist yet");   // G1
    dtypes.push_back(graph.node(operand.node).dtype);
    check_map(graph, node, operand, row.name);
  }
  const auto result = result_dtype(node.op, dtypes, node.dtype);                                                                // G5
  if (!result || *result != node.dtype) {
    std::string got;
    for (DType dtype : dtypes) got += (got.empty() ? "" : ", ") + std::string(to_text(dtype));
    fail(ErrorKind::dtype, result ? concat(row.name, ": operands of ", got, " give ", *result, ", not ", node.dtype)
                                  : concat(row.name, ": no such operation on ", got, "\n  cast the operands"));
  }
  const bool folds = node.kept < static_cast<int>(node.domain.size());                                                          // G6
  WEFT_REQUIRE(node.kept >= 0 && node.kept <= static_cast<int>(node.domain.size()), shape, row.name, ": keeps ", node.kept, " of ",
               node.domain.size(), " axes");
  WEFT_REQUIRE(folds == (node.mode == Mode::accumulate) && folds == (node.accumulator != AccumulatorId::none), usage, row.name,
               ": a node accumulates exactly if it folds an axis");
  for (std::size_t axis = static_cast<std::size_t>(node.kept); axis < node.domain.size(); ++axis) {                            // G7
    bool mentioned = false;
    for (const Operand& operand : operands)
      for (const AxisRef& ref : operand.map) mentioned |= ref.axis == static_cast<int>(axis);
    WEFT_REQUIRE(mentioned, shape, row.name, ": folded axis ", axis, " of extent ", node.domain[axis], " is not an axis of any operand");
  }
}

// update: every window axis lands on one axis of the result, within its bounds where they are known.
void check_update(const Graph& graph, const Node& node, const std::vector<Operand>& operands) {
  WEFT_REQUIRE(operands.size() == 1 && operands[0].node.value < graph.size(), usage, "update: expected one earlier operand, got ", operands.size());
  const Shape window = graph.node(operands[0].node).shape();
  const auto& map = std::get<AxisMap>(node.payload);
  WEFT_REQUIRE(graph.node(operands[0].node).dtype == node.dtype, dtype, "update: the window is ", graph.node(operands[0].node).dtype,
               " but the result is ", node.dtype);
  WEFT_REQUIRE(operands[0].map == identity_map(static_cast<int>(window.size())), usage, "update: the operand's map is the identity");
  WEFT_REQUIRE(map.size() == node.domain.size() && node.kept == static_cast<int>(node.domain.size()), shape, "update: a result of rank ",
               node.domain.size(), " needs that many references, got ", map.size());
  std::vector<int> named(window.size(), 0);
  for (std::size_t k = 0; k < map.size(); ++k) {
    const AxisRef& ref = map[k];
    WEFT_REQUIRE(ref.axis < static_cast<int>(window.size()) && ref.step != 0, shape, "update: axis ", k, " names window axis ", ref.axis, " of ", window.size(),
                 " with step ", ref.step);
    if (ref.axis >= 0) ++named[static_cast<std::size_t>(ref.axis)];
    const Extent count = ref.axis < 0 ? Extent(1) : window[static_cast<std::size_t>(ref.axis)];
    if (!ref.start.is_number() || !count.is_number() || !node.domain[k].is_number() || count.is(0)) continue;
    const Index first = ref.start.constant(), last = first + (ref.axis < 0 ? 0 : ref.step * (count.constant() - 1));
    WEFT_REQUIRE(std::min(first, last) >= 0 && std::max(first, last) < node.domain[k].constant(), shape, "update: indices ", first, " to ", last,
                 " are outside axis ", k, " of extent ", node.domain[k]);
  }
  for (std::size_t axis = 0; axis < named.size(); ++axis)
    WEFT_REQUIRE(named[axis] == 1, shape, "update: window axis ", axis, " is named ", named[axis], " times");
}

}  // namespace

void check_node(const Graph& graph, const Node& node, const std::vector<Operand>& operands) {
  for (const Extent& extent : node.domain)
    WEFT_REQUIRE(!extent.is_number() || extent.constant() >= 0, shape, "an axis cannot have extent ", extent);
  if (node.kind == Kind::apply) return check_apply(graph, node, operands);
  if (node.kind == Kind::update) return check_update(graph, node, operands);
  WEFT_REQUIRE(operands.empty(), usage, "only an op has operands, got ", operands.size());
  WEFT_REQUIRE(node.kept == static_cast<int>(node.domain.size()), shape, "only an op folds axes");
}

}  // namespace weft
