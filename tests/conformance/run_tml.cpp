// TML: nested tensors, strict comparisons, assignment, index access broadcasting, narrowing, text at configuration time.
#include <map>
#include <regex>

#include <weft/tml.h>

#include "evaluate.h"
#include "ops.h"
#include "registry.h"

namespace conformance {
namespace {

namespace tml = weft::tml;

Json as_json(const weft::Shape& shape) {
  Json list = Json::array();
  for (const weft::Extent& extent : shape) list.push_back(*extent.number());
  return list;
}

// type, nest, dtype and shape (of the outermost level) as the cases state them.
Json facts_of(const tml::Type& type) {
  Json facts = {{"type", tml::to_text(type)}, {"nest", Json::array()}, {"dtype", dtype_name(type.root(), "tml")}};
  for (const weft::Shape& level : type.nest()) facts["nest"].push_back(as_json(level));
  facts["shape"] = type.is_scalar() ? Json::array() : facts["nest"][0];
  return facts;
}

weft::Nesting nesting_of(const std::vector<Dims>& nest) {
  std::vector<weft::Shape> levels;
  for (const Dims& level : nest) levels.emplace_back(level.begin(), level.end());
  return weft::Nesting(std::move(levels));
}

// The inputs as tensors.
struct Tensors : Operands {
  explicit Tensors(const Case& test) : Operands(test) {
    for (std::size_t k = 0; k < exprs.size(); ++k) tensors.emplace_back(exprs[k], nesting_of(test.inputs[k].nest));
  }
  const tml::Tensor& at(std::size_t k) const {
    if (k >= tensors.size()) throw BadCase("needs " + std::to_string(k + 1) + " inputs");
    return tensors[k];
  }
  std::vector<tml::Tensor> tensors;
};

Answer value(const Operands& operands, const tml::Tensor& result) {
  Answer answer;
  answer.values = evaluate(operands, {result.expr()});
  answer.facts = facts_of(result.type());
  return answer;
}

std::vector<Index> indices_of(const Case& test) { return read_indices(test.attribute("index")); }

weft::Op op_of(const std::string& name) {
  const bool is_logical = name == "and" || name == "or" || name == "xor" || name == "not";
  const auto op = find_elementwise(name, is_logical ? weft::bool_ : weft::f64);
  if (!op) throw BadCase("unknown op '" + name + "'");
  return *op;
}

Answer run_elementwise(const Case& test) {
  const Tensors tensors(test);
  const weft::Op op = op_of(test.op);
  return value(tensors, weft::info(op).arity == 1 ? tml::elementwise(op, tensors.at(0)) : tml::elementwise(op, tensors.at(0), tensors.at(1)));
}

Answer run_assign(const Case& test) {
  Tensors tensors(test);
  const tml::Type type = tml::type(test.attribute("lhs_type").get<std::string>());
  Dims dims;
  for (const weft::Extent& extent : type.shape()) dims.push_back(*extent.number());
  const Expr lhs = tensors.add("lhs", Array(type.root(), dims));
  return value(tensors, tml::assign(tml::Tensor(lhs, weft::Nesting(type.nest())), tensors.at(0)));
}

// Both as a question about types and as an assignment of a tensor of that type.
Answer run_assignable(const Case& test) {
  const tml::Type lhs = tml::type(test.attribute("lhs_type").get<std::string>()), rhs = tml::type(test.attribute("rhs_type").get<std::string>());
  const bool possible = tml::assignable(lhs, rhs);
  weft::Graph graph;
  const tml::Tensor a = tml::input(graph, "a", lhs), b = tml::input(graph, "b", rhs);
  try {
    tml::assign(a, b);
  } catch (const weft::Error&) {
    if (possible) throw Failure("assignable, but the assignment is refused");
    throw;
  }
  Answer answer;
  answer.facts["assignable"] = possible;
  return answer;
}

Answer run_result_type(const Case& test) {
  const Tensors tensors(test);
  std::vector<tml::Type> types;
  if (test.has("types")) {
    for (const Json& text : test.attrs["types"]) types.push_back(tml::type(text.get<std::string>()));
  } else {
    for (const tml::Tensor& tensor : tensors.tensors) types.push_back(tensor.type());
  }
  if (types.size() != 2) throw BadCase("binary_result_type of " + std::to_string(types.size()) + " types");
  const tml::Type joined = tml::join(types[0], types[1]);
  if (tensors.tensors.size() == 2) {
    const tml::Type added = tml::elementwise(weft::Op::add, tensors.at(0), tensors.at(1)).type();
    if (added != joined) throw Failure("join is " + tml::to_text(joined) + ", but a sum is " + tml::to_text(added));
  }
  Answer answer;
  answer.facts = facts_of(joined);
  answer.facts["assign_ok"] = {tml::assignable(joined, types[0]), tml::assignable(joined, types[1])};
  return answer;
}

Answer run_index(const Case& test) {
  const Tensors tensors(test);
  return value(tensors, tml::index(tensors.at(0), indices_of(test)));
}

Answer run_index_assign(const Case& test) {
  const Tensors tensors(test);
  return value(tensors, tml::index_assign(tensors.at(0), indices_of(test), tensors.at(1)));
}

Answer run_narrow(const Case& test) {
  const Tensors tensors(test);
  tml::Tensor result = tensors.at(0);
  for (int turn = test.attrs.value("times", 1); turn > 0; --turn) result = tml::narrow(result);
  return value(tensors, result);
}

tml::Str indexed(const std::string& text, const std::vector<Index>& indices) {
  tml::Str result(text);
  for (const Index index : indices) result = result[index];
  return result;
}

Answer run_string_index(const Case& test) {
  Answer answer;
  answer.facts["char"] = indexed(test.attribute("string").get<std::string>(), indices_of(test)).text();
  return answer;
}

// expr: name[i]=="+" or !=. Text compares while the graph is built.
Answer run_string_compare(const Case& test) {
  const std::string expr = test.attribute("expr").get<std::string>();
  std::smatch parts;
  if (!std::regex_match(expr, parts, std::regex("(\\w+)(\\[\\w+\\])* *(==|!=) *[\"'](.*)[\"']"))) throw BadCase("unknown expr " + expr);
  const bool equal = indexed(test.attribute(parts[1].str().c_str()).get<std::string>(), indices_of(test)) == tml::Str(parts[4].str());
  Answer answer;
  answer.values = {Array::scalar(equal == (parts[3] == "=="))};
  return answer;
}

// loop: for i in 0:signs.len, if signs[i]=="+": x[i]+=y[i]. x is the first input, y the second.
Answer run_string_loop(const Case& test) {
  const Tensors tensors(test);
  const std::string loop = test.attribute("loop").get<std::string>();
  std::smatch parts;
  const std::regex form("for (\\w+) in 0:(\\w+)\\.len, *if (\\w+)\\[\\1\\] *(==|!=) *\"(.)\": *x\\[\\1\\] *([-+*])= *y\\[\\1\\]");
  if (!std::regex_match(loop, parts, form)) throw BadCase("unknown loop " + loop);
  const tml::Str signs(test.attribute(parts[3].str().c_str()).get<std::string>());
  const weft::Op op = parts[6] == "+" ? weft::Op::add : parts[6] == "-" ? weft::Op::subtract : weft::Op::multiply;
  tml::Tensor x = tensors.at(0);
  for (Index i = 0; i < signs.length(); ++i) {
    if ((signs[i] == tml::Str(parts[5].str())) != (parts[4] == "==")) continue;
    x = tml::index_assign(x, {i}, tml::elementwise(op, tml::index(x, {i}), tml::index(tensors.at(1), {i})));
  }
  return value(tensors, x);
}

}  // namespace

Handler find_tml(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {"assign", run_assign}, {"assignable", run_assignable}, {"binary_result_type", run_result_type}, {"index", run_index},
      {"index_assign", run_index_assign}, {"narrow", run_narrow}, {"string_index", run_string_index}, {"string_compare", run_string_compare},
      {"string_index_loop", run_string_loop}};
  const auto found = handlers.find(op);
  if (found != handlers.end()) return found->second;
  return find_elementwise(op, weft::bool_) ? run_elementwise : nullptr;
}

}  // namespace conformance
