#include "sum_of_products.h"

#include <algorithm>
#include <map>

#include <weft/expr.h>

#include "broadcast/align.h"

namespace weft {
namespace {

using LabeledOperands = std::vector<LabeledOperand>;

bool has(const Labels& labels, const std::string& label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// The common dtype. Error unless the operands are numbers of one graph.
DType check_operands(std::string_view what, const LabeledOperands& operands) {
  std::vector<Expr> values;
  for (const LabeledOperand& each : operands) values.push_back(each.value);
  check_one_graph(what, values);
  DType dtype = values[0].dtype();
  for (const Expr& value : values) {
    WEFT_REQUIRE(!is_boolean(value.dtype()), dtype, what, ": ", value.name(), " is bool, expected numbers\n  cast it, as in cast(", value.name(),
                 ", i64), or fold conditions with any(a & b)");
    const auto common = common_dtype(dtype, value.dtype());
    WEFT_REQUIRE(common, dtype, what, ": ", value.name(), " is ", value.dtype(), " beside ", dtype, ", which have no common dtype\n  cast one of them");
    dtype = *common;
  }
  return dtype;
}

// The extents of all labels, each longer than 1 if an operand's is.
class Extents {
 public:
  Extents(std::string_view what, const LabeledOperands& operands) {
    for (const LabeledOperand& operand : operands) {
      const Shape shape = operand.value.shape();
      for (std::size_t k = 0; k < shape.size(); ++k) take(what, operand.value, operand.labels[k], shape[k]);
    }
  }
  Shape of(const Labels& labels) const {
    Shape shape;
    for (const std::string& label : labels) shape.push_back(known_.at(label).extent);
    return shape;
  }

 private:
  struct Known {
    Extent extent;
    Expr source;
  };
  void take(std::string_view what, const Expr& value, const std::string& label, const Extent& extent) {
    Known& known = known_.try_emplace(label, Known{extent, value}).first->second;
    if (extent.is(1) || extent == known.extent) return;
    WEFT_REQUIRE(known.extent.is(1), shape, what, ": axis ", label, " has extent ", known.extent, " in ", known.source.name(), " but ", extent, " in ",
                 value.name(), "\n  ", mismatch_remedy(known.extent, extent, "extents must be equal, or one of them 1"));
    known = {extent, value};
  }
  std::map<std::string, Known> known_;
};

// One node: the operands multiplied, and what is not kept summed over, in order of appearance.
LabeledOperand combined(const LabeledOperands& operands, const Labels& kept, const Extents& extents) {
  Labels axes = kept;
  for (const LabeledOperand& operand : operands)
    for (const std::string& label : operand.labels)
      if (!has(axes, label)) axes.push_back(label);
  const Shape domain = extents.of(axes);
  std::vector<Operand> uses;
  for (const LabeledOperand& operand : operands) {
    std::vector<Index> places;
    for (const std::string& label : operand.labels) places.push_back(std::find(axes.begin(), axes.end(), label) - axes.begin());
    uses.push_back({operand.value.id(), follow_axes(operand.value.shape(), domain, places)});
  }
  Graph& graph = operands[0].value.graph();
  const Op op = operands.size() == 1 ? Op::copy : Op::multiply;
  const DType dtype = operands[0].value.dtype();
  const NodeId node = axes.size() == kept.size() ? graph.apply(op, dtype, domain, std::move(uses))
                                                 : graph.fold(AccumulatorId::sum, op, dtype, domain, static_cast<int>(kept.size()), std::move(uses));
  return {Expr(graph, node), kept};
}

// Those of `labels` that are kept or that an operand from `next` on has.
Labels needed(const Labels& labels, const Labels& kept, const LabeledOperands& operands, std::size_t next) {
  Labels result;
  for (const std::string& label : labels) {
    bool later = has(kept, label);
    for (std::size_t k = next; k < operands.size(); ++k) later = later || has(operands[k].labels, label);
    if (later) result.push_back(label);
  }
  return result;
}

Labels united(Labels labels, const Labels& others) {
  for (const std::string& label : others)
    if (!has(labels, label)) labels.push_back(label);
  return labels;
}

// What only one operand has is summed before it is multiplied.
void sum_alone(LabeledOperands& operands, const Labels& kept, const Extents& extents) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    Labels shared;
    for (const std::string& label : operands[k].labels) {
      bool elsewhere = has(kept, label);
      for (std::size_t other = 0; other < operands.size(); ++other) elsewhere = elsewhere || (other != k && has(operands[other].labels, label));
      if (elsewhere) shared.push_back(label);
    }
    if (shared.size() < operands[k].labels.size()) operands[k] = combined({operands[k]}, shared, extents);
  }
}

}  // namespace

Expr sum_of_products(std::string_view what, LabeledOperands operands, const Labels& kept) {
  const DType dtype = check_operands(what, operands);
  const Extents extents(what, operands);
  // Everything is checked: from here on nodes are added.
  for (LabeledOperand& operand : operands) operand.value = cast(operand.value, dtype);
  if (operands.size() == 1) return combined(operands, kept, extents).value;
  sum_alone(operands, kept, extents);
  LabeledOperand product = operands[0];
  for (std::size_t k = 1; k < operands.size(); ++k) {
    const bool last = k + 1 == operands.size();
    product = combined({product, operands[k]}, last ? kept : needed(united(product.labels, operands[k].labels), kept, operands, k + 1), extents);
  }
  return product.value;
}

}  // namespace weft
