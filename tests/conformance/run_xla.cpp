// XLA: binary ops with broadcast_dimensions, broadcast, broadcast_in_dim, select, clamp, shape inference, short programs.
#include <algorithm>
#include <map>

#include <weft/xla.h>

#include "evaluate.h"
#include "ops.h"
#include "registry.h"

namespace conformance {
namespace {

weft::Shape as_shape(const Dims& dims) { return {dims.begin(), dims.end()}; }

std::vector<Index> dimensions_of(const Case& test) {
  return test.has("broadcast_dimensions") ? read_indices(test.attrs["broadcast_dimensions"]) : std::vector<Index>();
}

weft::Op binary_op(const std::string& name, DType dtype) {
  const auto op = find_elementwise(name, dtype, "xla");
  if (!op || weft::info(*op).arity != 2) throw BadCase("'" + name + "' is no binary op");
  return *op;
}

Answer values(const Operands& operands, const Expr& output) {
  Answer answer;
  answer.values = evaluate(operands, {output});
  return answer;
}

Answer run_binary(const Case& test) {
  Operands operands(test);
  const Expr a = operands[0], b = operands[1];
  const std::vector<Index> dimensions = dimensions_of(test);
  const char* const direction = test.has("direction") ? "direction" : "comparison_direction";
  const std::string name = test.op == "compare" ? test.attribute(direction).get<std::string>() : test.op;
  const Expr result = weft::xla::apply(binary_op(name, a.dtype()), a, b, dimensions);
  if (test.has("intermediate_shape_of_lower_rank")) {
    const weft::Shape expected = as_shape(read_dims(test.attrs["intermediate_shape_of_lower_rank"])), got = weft::xla::in_dim_shape(a.shape(), b.shape(), dimensions);
    if (got != expected) throw Failure("intermediate shape: expected " + weft::to_text(expected) + ", got " + weft::to_text(got));
  }
  return values(operands, result);
}

Answer run_unary(const Case& test) {
  Operands operands(test);
  return values(operands, apply_elementwise(test.op, operands.exprs, test.attrs, test.dialect));
}

Answer run_broadcast(const Case& test) {
  Operands operands(test);
  return values(operands, weft::xla::broadcast(operands[0], as_shape(read_dims(test.attribute("broadcast_sizes")))));
}

Answer run_broadcast_in_dim(const Case& test) {
  Operands operands(test);
  const char* key = test.has("out_dims") ? "out_dims" : "shape";
  return values(operands, weft::xla::broadcast_in_dim(operands[0], as_shape(read_dims(test.attribute(key))), dimensions_of(test)));
}

Answer run_select(const Case& test) {
  Operands operands(test);
  return values(operands, weft::xla::select(operands[0], operands[1], operands[2]));
}

Answer run_clamp(const Case& test) {
  Operands operands(test);
  return values(operands, weft::xla::clamp(operands[0], operands[1], operands[2]));
}

weft::PartialShape read_partial(const Json& json) {
  weft::PartialShape shape;
  for (const Json& size : json) shape.push_back(weft::size_range(size.is_string() ? size.get<std::string>() : size.dump()));
  return shape;
}

// lhs and rhs: lists of sizes as text, "2", "?", "<=8".
Answer run_infer_binary_shape(const Case& test) {
  Answer answer;
  answer.facts["shape"] = Json::array();
  for (const auto& size : weft::xla::infer_binary_shape(read_partial(test.attribute("lhs")), read_partial(test.attribute("rhs")), dimensions_of(test))) {
    answer.facts["shape"].push_back(weft::to_text(size));
  }
  return answer;
}

// Stored with the axes in the order that minor_to_major gives, the fastest one first.
Array in_memory_order(const Array& array, const std::vector<int>& minor_to_major) {
  if (static_cast<int>(minor_to_major.size()) != array.rank()) return array;
  const std::vector<int> major_first(minor_to_major.rbegin(), minor_to_major.rend());
  std::vector<int> back(major_first.size());
  for (std::size_t k = 0; k < back.size(); ++k) back[static_cast<std::size_t>(major_first[k])] = static_cast<int>(k);
  return array.permute(major_first).copy(weft::Order::c).permute(back);
}

// steps: [op, operand, operand, broadcast_dimensions]. Operands are inputs (in0 or a is the first, ..), t0, t1, .. (the result of
// that step), r (the last result; before the first step the last input) and numbers. `repeat` runs the steps again, `then` is
// one more step. minor_to_major is the layout of the inputs.
class StepRunner {
 public:
  explicit StepRunner(const Case& test) : operands_(test) {
    for (std::size_t k = 0; k < operands_.exprs.size(); ++k) {
      for (const std::string& name : {operands_.names[k], "in" + std::to_string(k), std::string(1, static_cast<char>('a' + k))}) names_.emplace(name, operands_.exprs[k]);
      if (test.has("minor_to_major")) operands_.arrays[k] = in_memory_order(operands_.arrays[k], test.attrs["minor_to_major"].get<std::vector<int>>());
    }
    if (operands_.exprs.empty()) throw BadCase("a program needs inputs");
    names_.insert_or_assign("r", operands_.exprs.back());
    for (int turn = test.attrs.value("repeat", 1); turn > 0; --turn) {
      int number = 0;
      for (const Json& step : test.attribute("steps")) names_.insert_or_assign("t" + std::to_string(number++), run(step));
    }
    if (test.has("then")) run(test.attrs["then"]);
  }

  Answer answer() const { return values(operands_, names_.at("r")); }

 private:
  Expr operand(const Json& json, const Json& other) {
    if (json.is_number()) return operands_.graph.constant(read_scalar(json, operand(other, Json()).dtype()));
    const auto found = names_.find(json.is_string() ? json.get<std::string>() : "");
    if (found == names_.end()) throw BadCase("unknown operand " + json.dump());
    return found->second;
  }

  Expr run(const Json& step) {
    if (!step.is_array() || step.size() < 3) throw BadCase("not a step: " + step.dump());
    const Expr a = operand(step[1], step[2]), b = operand(step[2], step[1]);
    const std::vector<Index> dimensions = step.size() > 3 ? read_indices(step[3]) : std::vector<Index>();
    const Expr result = weft::xla::apply(binary_op(step[0].get<std::string>(), a.dtype()), a, b, dimensions);
    names_.insert_or_assign("r", result);
    return result;
  }

  Operands operands_;
  std::map<std::string, Expr> names_;
};

Answer run_steps(const Case& test) { return StepRunner(test).answer(); }

}  // namespace

Handler find_xla(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {"broadcast", run_broadcast}, {"broadcast_in_dim", run_broadcast_in_dim}, {"select", run_select}, {"clamp", run_clamp},
      {"infer_binary_shape", run_infer_binary_shape}, {"program", run_steps}, {"compare", run_binary}};
  const auto found = handlers.find(op);
  if (found != handlers.end()) return found->second;
  const auto row = find_elementwise(op, weft::f32, "xla");
  if (!row) return nullptr;
  return weft::info(*row).arity == 2 ? run_binary : run_unary;
}

}  // namespace conformance
