#include "ops.h"

#include <algorithm>
#include <map>

namespace conformance {
namespace {

// Other names of rows of ops.def.
const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> names = {
      {"plus", "add"}, {"sub", "subtract"}, {"minus", "subtract"}, {"mul", "multiply"}, {"times", "multiply"}, {"div", "divide"},
      {"truediv", "divide"}, {"truedivide", "divide"}, {"floordiv", "floor_divide"}, {"intdiv", "floor_divide"}, {"mod", "remainder"},
      {"pow", "power"}, {"floatpower", "power"}, {"neg", "negative"}, {"negate", "negative"}, {"absolute", "abs"}, {"fabs", "abs"},
      {"lt", "less"}, {"le", "less_equal"}, {"lte", "less_equal"}, {"lessorequal", "less_equal"}, {"gt", "greater"}, {"ge", "greater_equal"},
      {"gte", "greater_equal"}, {"greaterorequal", "greater_equal"}, {"eq", "equal"}, {"ne", "not_equal"}, {"neq", "not_equal"},
      {"max", "maximum"}, {"min", "minimum"}, {"sqr", "square"}, {"inv", "reciprocal"}, {"recip", "reciprocal"}, {"arcsin", "asin"},
      {"arccos", "acos"}, {"arctan", "atan"}, {"arctan2", "atan2"}, {"arcsinh", "asinh"}, {"arccosh", "acosh"}, {"arctanh", "atanh"},
      {"rint", "round"}, {"around", "round"}, {"roundeven", "round"}, {"logistic", "sigmoid"}, {"ceiling", "ceil"}, {"sgn", "sign"},
      {"bitand", "bitwise_and"}, {"bitor", "bitwise_or"}, {"bitxor", "bitwise_xor"}, {"bitnot", "bitwise_invert"}, {"bitinvert", "bitwise_invert"},
      {"bitwisenot", "bitwise_invert"}, {"invert", "bitwise_invert"}, {"leftshift", "bitwise_left_shift"}, {"lshift", "bitwise_left_shift"},
      {"shl", "bitwise_left_shift"}, {"shiftleft", "bitwise_left_shift"}, {"rightshift", "bitwise_right_shift"}, {"rshift", "bitwise_right_shift"},
      {"shr", "bitwise_right_shift"}, {"shiftright", "bitwise_right_shift"}, {"select", "where"}, {"switch", "where"}, {"ifelse", "where"},
      {"identity", "copy"}, {"positive", "copy"}, {"mulbinary", "multiply"}, {"conj", "copy"}, {"real", "copy"}, {"gammaln", "lgamma"},
      {"psi", "digamma"}, {"logaddexp", "logaddexp"}, {"logicaland", "logical_and"}};
  return names;
}

std::optional<weft::Op> find_row(const std::string& plain) {
  for (const weft::OpInfo& row : weft::op_table()) {
    if (plain_name(std::string(row.name)) == plain) return row.op;
  }
  return std::nullopt;
}

// and, or, xor, not: by the operands' dtype.
std::optional<weft::Op> find_logical(const std::string& plain, bool is_bool) {
  if (plain == "and") return is_bool ? weft::Op::logical_and : weft::Op::bitwise_and;
  if (plain == "or") return is_bool ? weft::Op::logical_or : weft::Op::bitwise_or;
  if (plain == "xor") return is_bool ? weft::Op::logical_xor : weft::Op::bitwise_xor;
  if (plain == "not") return is_bool ? weft::Op::logical_not : weft::Op::bitwise_invert;
  return std::nullopt;
}

Expr folded(weft::Op op, const std::vector<Expr>& operands) {
  Expr result = operands.at(0);
  for (std::size_t k = 1; k < operands.size(); ++k) result = weft::elementwise(op, {result, operands[k]});
  return result;
}

void expect_count(const std::string& name, const std::vector<Expr>& operands, std::size_t least, std::size_t most) {
  if (operands.size() < least || operands.size() > most) throw BadCase("op " + name + " with " + std::to_string(operands.size()) + " operands");
}

// Bounds given as operands or as the attributes min and max; either may be missing.
Expr clip(const std::vector<Expr>& operands, const Json& attrs) {
  const Expr& x = operands.at(0);
  if (operands.size() == 3) return weft::clip(x, operands[1], operands[2]);
  const auto bound = [&](const char* key) {
    return attrs.contains(key) && !attrs[key].is_null() ? std::optional(x.graph().constant(read_scalar(attrs[key], x.dtype()))) : std::nullopt;
  };
  return clipped(operands.size() == 2 ? weft::clip(x, operands[1], std::nullopt) : x, bound("min"), bound("max"));
}

// Ops that are no rows. Nothing if `plain` is none of these.
std::optional<Expr> apply_composite(const std::string& plain, const std::vector<Expr>& x, const Json& attrs, const std::string& dialect) {
  const bool is_integer = !x.empty() && !weft::is_floating(x[0].dtype());
  const auto row = [&](const char* name) { const auto op = find_row(name); if (!op) throw Failure(std::string("weft has no op ") + name); return *op; };
  const double alpha = attrs.contains("alpha") ? read_real(attrs["alpha"]) : 0.01;
  if (plain == "clip") return expect_count(plain, x, 1, 3), clip(x, attrs);
  if (plain == "clamp") return expect_count(plain, x, 3, 3), weft::clip(x[1], x[0], x[2]);          // XLA: low, x, high
  if ((plain == "div" || plain == "divide") && dialect == "onnx" && is_integer) return expect_count(plain, x, 2, 2), weft::elementwise(row("truncateddivide"), {x[0], x[1]});
  if ((plain == "rem" || plain == "remainder") && dialect == "xla") return expect_count(plain, x, 2, 2), weft::elementwise(row("fmod"), {x[0], x[1]});
  if (plain == "mod" && attrs.value("fmod", 0) != 0) return expect_count(plain, x, 2, 2), weft::elementwise(row("fmod"), {x[0], x[1]});
  if (plain == "pow" && dialect == "onnx") return expect_count(plain, x, 2, 2), weft::cast(weft::power(x[0], x[1]), x[0].dtype());   // the dtype of the base
  if (plain == "bitshift") {
    expect_count(plain, x, 2, 2);
    const std::string direction = plain_name(attrs.value("direction", ""));
    if (direction != "left" && direction != "right") throw BadCase("bitshift needs direction LEFT or RIGHT");
    return weft::elementwise(direction == "left" ? weft::Op::bitwise_left_shift : weft::Op::bitwise_right_shift, {x[0], x[1]});
  }
  if (plain == "prelu") return expect_count(plain, x, 2, 2), weft::where(x[0] < 0, x[0] * weft::broadcast_to(x[1], x[0].shape()), x[0]);
  if (plain == "leakyrelu") return expect_count(plain, x, 1, 1), weft::where(x[0] < 0, x[0] * alpha, x[0]);
  if (plain == "elu") return expect_count(plain, x, 1, 1), weft::where(x[0] > 0, x[0], weft::expm1(x[0]) * (attrs.contains("alpha") ? alpha : 1.0));
  if (plain == "softsign") return expect_count(plain, x, 1, 1), x[0] / (weft::abs(x[0]) + 1);
  if (plain == "silu" || plain == "swish") return expect_count(plain, x, 1, 1), weft::silu(x[0]);
  if (plain == "gelu") return expect_count(plain, x, 1, 1), weft::gelu(x[0]);
  if (plain == "sqrdiff" || plain == "squareddifference") return expect_count(plain, x, 2, 2), weft::square(x[0] - x[1]);
  if (plain == "cast" || plain == "astype") return expect_count(plain, x, 1, 1), weft::cast(x[0], read_dtype((attrs.contains("dtype") ? attrs["dtype"] : attrs.at("to")).get<std::string>()));
  if (plain == "isinf" && attrs.value("detect_negative", 1) == 0) return expect_count(plain, x, 1, 1), x[0] == std::numeric_limits<double>::infinity();
  if (plain == "isinf" && attrs.value("detect_positive", 1) == 0) return expect_count(plain, x, 1, 1), x[0] == -std::numeric_limits<double>::infinity();
  if (plain == "isposinf") return expect_count(plain, x, 1, 1), x[0] == std::numeric_limits<double>::infinity();
  if (plain == "isneginf") return expect_count(plain, x, 1, 1), x[0] == -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool is_composite(const std::string& plain) {
  static const char* const names[] = {"clip", "clamp", "rem", "mod", "pow", "bitshift", "prelu", "leakyrelu", "elu", "softsign", "silu", "swish", "gelu",
                                      "sqrdiff", "squareddifference", "cast", "astype", "isposinf", "isneginf"};
  return std::find(std::begin(names), std::end(names), plain) != std::end(names);
}

// max, min, sum and mean of any number of operands (ONNX; nary_max, ..).
std::optional<Expr> apply_variadic(const std::string& plain, const std::vector<Expr>& x) {
  if (x.empty()) return std::nullopt;
  if (plain == "max" || plain == "narymax") return folded(weft::Op::maximum, x);
  if (plain == "min" || plain == "narymin") return folded(weft::Op::minimum, x);
  if (plain == "sum" || plain == "narysum" || plain == "naryadd" || (plain == "add" && x.size() > 2)) return folded(weft::Op::add, x);
  if (plain == "narymul" || ((plain == "mul" || plain == "multiply") && x.size() > 2)) return folded(weft::Op::multiply, x);
  if (plain == "mean" || plain == "narymean") return folded(weft::Op::add, x) / static_cast<double>(x.size());
  return std::nullopt;
}

}  // namespace

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char letter : name) {
    if (letter != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return plain;
}

std::optional<weft::Op> find_elementwise(const std::string& name, DType dtype, const std::string& dialect) {
  const std::string plain = plain_name(name);
  if (const auto op = find_logical(plain, weft::is_boolean(dtype))) return op;
  if (dialect == "xla" && (plain == "rem" || plain == "remainder")) return find_row("fmod");
  if (dialect == "xla" && plain.rfind("div", 0) == 0 && weft::is_integer(dtype)) return find_row("truncateddivide");
  const auto alias = aliases().find(plain);
  return find_row(alias == aliases().end() ? plain : plain_name(alias->second));
}

Expr clipped(const Expr& x, const std::optional<Expr>& low, const std::optional<Expr>& high) {
  if (low && high) return weft::clip(x, *low, *high);
  return low ? weft::clip(x, *low, std::nullopt) : high ? weft::clip(x, std::nullopt, *high) : x;
}

bool knows_elementwise(const std::string& name) {
  const std::string plain = plain_name(name);
  return find_elementwise(name, weft::f64).has_value() || is_composite(plain) || plain.rfind("nary", 0) == 0;
}

Expr apply_elementwise(const std::string& name, const std::vector<Expr>& operands, const Json& attrs, const std::string& dialect) {
  const std::string plain = plain_name(name);
  if (const auto result = apply_composite(plain, operands, attrs, dialect)) return *result;
  const auto op = find_elementwise(name, operands.empty() ? weft::f64 : operands[0].dtype(), dialect);
  if (!op || static_cast<std::size_t>(weft::info(*op).arity) != operands.size()) {
    if (const auto result = apply_variadic(plain, operands)) return *result;
  }
  if (!op) throw BadCase("unknown op '" + name + "'");
  expect_count(name, operands, static_cast<std::size_t>(weft::info(*op).arity), static_cast<std::size_t>(weft::info(*op).arity));
  const std::vector<weft::Value> values(operands.begin(), operands.end());
  return weft::elementwise(*op, values);
}

Expr build_expression(const Json& expression, const std::function<Expr(const std::string&)>& look_up) {
  if (expression.is_string()) return look_up(expression.get<std::string>());
  if (!expression.is_array() || expression.empty() || !expression[0].is_string()) throw BadCase("not an expression: " + expression.dump());
  const std::string name = expression[0].get<std::string>();
  std::vector<weft::Value> values;
  for (std::size_t k = 1; k < expression.size(); ++k) {
    if (expression[k].is_number_integer()) values.emplace_back(expression[k].get<std::int64_t>());
    else if (expression[k].is_number()) values.emplace_back(expression[k].get<double>());
    else values.emplace_back(build_expression(expression[k], look_up));
  }
  const auto op = find_elementwise(name, weft::f64);
  if (!op) throw BadCase("unknown op '" + name + "' in " + expression.dump());
  return weft::elementwise(*op, values);
}

}  // namespace conformance
