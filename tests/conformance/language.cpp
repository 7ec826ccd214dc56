#include "language.h"

#include <cctype>

#include "compare.h"
#include "ops.h"

namespace conformance {
namespace {

struct Window {                                   // what is read and written: a view of an input
  Expr expr;
  Array array;
};

Expr slice_of(const Expr& x, const std::vector<AxisIndex>& index) {
  std::vector<weft::Slice> slices;
  for (const AxisIndex& axis : index) {
    if (axis.is_index) slices.emplace_back(*axis.start);
    else slices.emplace_back(axis.start, axis.stop, axis.step);
  }
  return x.slice(slices);
}

// Writes value, in place, and checks that what was written is what evaluate gives for arrays of its own.
void write(const Operands& operands, const Window& window, const Expr& value) {
  const Expr assigned = weft::assign(window.expr, value);
  const std::vector<Array> expected = evaluate(operands, {assigned});
  weft::compile({assigned}, operands.exprs, run_options(1)).run(operands.arrays, {window.array});
  if (const auto verdict = compare(expected[0], window.array, 0)) throw Failure("written in place against into an array of its own: " + *verdict);
}

// Something that a name stands for: a value, and the memory that is written when it is assigned to.
struct Named {
  weft::Value value;
  std::optional<Array> array;
};
using LookUp = std::function<Named(const std::string&)>;

class Parser {
 public:
  Parser(const std::string& text, const LookUp& look_up) : look_up_(look_up), text_(text) {}

  weft::Value whole_expression() {
    const weft::Value value = expression(0);
    expect_end();
    return value;
  }

  void statement(const Operands& operands) {
    const Named target = postfix();
    if (!target.array) fail("a name to assign to");
    std::string op;
    for (skip_spaces(); at_ < text_.size() && text_[at_] != '='; ++at_) op += text_[at_];
    if (!take("=") || (at_ < text_.size() && text_[at_] == '=')) fail("an assignment");
    while (!op.empty() && op.back() == ' ') op.pop_back();
    weft::Value value = expression(0);
    expect_end();
    const Expr lhs = target.value.expr();
    if (!op.empty()) value = combine(op, lhs, value);
    write(operands, {lhs, *target.array}, value.is_literal() ? lhs.graph().constant(value.literal().cast(lhs.dtype())) : value.expr());
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const { throw BadCase("expected " + expected + " at '" + text_.substr(at_) + "' in '" + text_ + "'"); }
  void skip_spaces() { while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_; }
  void expect_end() {
    skip_spaces();
    if (at_ != text_.size()) fail("the end");
  }
  bool take(const std::string& word) {
    skip_spaces();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  weft::Value combine(const std::string& symbol, const weft::Value& a, const weft::Value& b) const {
    static const std::vector<std::pair<std::string, std::string>> names = {{"+", "add"}, {"-", "subtract"}, {"*", "multiply"}, {"/", "divide"}, {"//", "floor_divide"},
                                                                           {"%", "remainder"}, {"**", "power"}, {"&", "and"}, {"|", "or"}, {"^", "xor"}};
    for (const auto& [op, name] : names) {
      if (op == symbol) return call(name, {a, b});
    }
    fail("an operator instead of " + symbol);
  }

  weft::Value call(const std::string& name, const std::vector<weft::Value>& values) const {
    const weft::Value* typed = nullptr;
    for (const weft::Value& value : values) typed = value.is_literal() ? typed : &value;
    if (!typed) fail("an operand that is no number");
    const auto op = find_elementwise(name, typed->expr().dtype(), "numpy");
    if (!op) fail("a function instead of " + name);
    return weft::elementwise(*op, values);
  }

  // Binary operators of one level of precedence, longest symbols first.
  weft::Value expression(int level) {
    static const std::vector<std::vector<std::string>> levels = {{"|"}, {"^"}, {"&"}, {"+", "-"}, {"//", "*", "/", "%"}};
    if (level == static_cast<int>(levels.size())) return unary();
    weft::Value left = expression(level + 1);
    for (bool found = true; found;) {
      found = false;
      for (const std::string& symbol : levels[static_cast<std::size_t>(level)]) {
        if (!take(symbol)) continue;
        left = combine(symbol, left, expression(level + 1));
        found = true;
        break;
      }
    }
    return left;
  }

  weft::Value unary() {
    if (take("-")) return negated(unary());
    if (take("~")) return call("not", {unary()});
    const weft::Value base = primary();
    return take("**") ? combine("**", base, unary()) : base;
  }

  weft::Value negated(const weft::Value& value) const {
    if (value.is_literal()) return weft::Value(-value.literal().as_double());
    return call("negative", {value});
  }

  weft::Value primary() {
    if (take("(")) {
      const weft::Value inner = expression(0);
      if (!take(")")) fail("')'");
      return inner;
    }
    skip_spaces();
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) {
      std::size_t used = 0;
      const double number = std::stod(text_.substr(at_), &used);
      const bool is_integer = text_.find_first_of(".eE", at_) >= at_ + used;
      at_ += used;
      return is_integer ? weft::Value(static_cast<std::int64_t>(number)) : weft::Value(number);
    }
    return postfix().value;
  }

  // name, name(arguments), name.T, name[index]
  Named postfix() {
    skip_spaces();
    std::string name;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) name += text_[at_++];
    if (name.empty()) fail("a name");
    if (take("(")) {
      std::vector<weft::Value> arguments;
      do arguments.push_back(expression(0)); while (take(","));
      if (!take(")")) fail("')'");
      return {call(name, arguments), std::nullopt};
    }
    Named named = look_up_(name);
    while (named.array) {
      if (take(".T")) {
        named = {weft::transpose(named.value.expr()), named.array->transpose()};
      } else if (take("[")) {
        const std::size_t end = text_.find(']', at_);
        if (end == std::string::npos) fail("']'");
        const auto index = parse_index(text_.substr(at_, end - at_), named.array->rank());
        named = {slice_of(named.value.expr(), index), view_of(*named.array, index)};
        at_ = end + 1;
      } else {
        break;
      }
    }
    return named;
  }

  const LookUp& look_up_;
  std::string text_;
  std::size_t at_ = 0;
};

std::size_t find_operand(const Operands& operands, const std::string& name) {
  for (std::size_t k = 0; k < operands.names.size(); ++k) {
    if (operands.names[k] == name) return k;
  }
  const std::size_t by_letter = name == "x" ? 0 : name == "y" ? 1 : name == "z" ? 2 : operands.names.size();
  if (by_letter >= operands.names.size()) throw BadCase("no input '" + name + "'");
  return by_letter;
}

}  // namespace

Array assign_window(Operands& operands, std::size_t which, const std::vector<AxisIndex>& index, const std::function<Expr(const Expr&)>& value) {
  const Window window{slice_of(operands[which], index), view_of(operands.arrays[which], index)};
  write(operands, window, value(window.expr));
  return operands.arrays[which];
}

void run_program(Operands& operands, const std::string& program) {
  const LookUp look_up = [&](const std::string& name) -> Named {
    const std::size_t k = find_operand(operands, name);
    return {operands.exprs[k], operands.arrays[k]};
  };
  std::string statement;
  for (const char letter : program + ";") {
    if (letter != ';' && letter != '\n') {
      statement += letter;
      continue;
    }
    if (statement.find_first_not_of(" \t") != std::string::npos) Parser(statement, look_up).statement(operands);
    statement.clear();
  }
}

weft::Value parse_formula(const std::string& formula, const std::map<std::string, Expr>& names) {
  const LookUp look_up = [&](const std::string& name) -> Named {
    const auto found = names.find(name);
    if (found == names.end()) throw BadCase("unknown name '" + name + "' in '" + formula + "'");
    return {found->second, std::nullopt};
  };
  return Parser(formula, look_up).whole_expression();
}

}  // namespace conformance
