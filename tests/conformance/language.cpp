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

class Parser {
 public:
  Parser(const Operands& operands, const std::string& text) : operands_(operands), text_(text) {}

  void statement() {
    const Window target = postfix();
    skip_spaces();
    std::string op;
    while (at_ < text_.size() && text_[at_] != '=') op += text_[at_++];
    if (!take("=") || (at_ < text_.size() && text_[at_] == '=')) fail("an assignment");
    while (!op.empty() && op.back() == ' ') op.pop_back();
    Expr value = expression(0);
    skip_spaces();
    if (at_ != text_.size()) fail("the end");
    if (!op.empty()) value = apply_elementwise(name_of(op), {target.expr, value}, Json::object(), "numpy");
    write(operands_, target, value);
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const { throw BadCase("program: expected " + expected + " at '" + text_.substr(at_) + "' in '" + text_ + "'"); }
  void skip_spaces() { while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_; }
  bool take(const std::string& word) {
    skip_spaces();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  static std::string name_of(const std::string& op) {
    static const std::vector<std::pair<std::string, std::string>> names = {{"+", "add"}, {"-", "subtract"}, {"*", "multiply"}, {"/", "divide"}, {"//", "floor_divide"},
                                                                           {"%", "remainder"}, {"**", "power"}, {"&", "and"}, {"|", "or"}, {"^", "xor"}};
    for (const auto& [symbol, name] : names) {
      if (symbol == op) return name;
    }
    throw BadCase("program: unknown operator '" + op + "'");
  }

  // Binary operators of one level of precedence, longest symbols first.
  Expr expression(int level) {
    static const std::vector<std::vector<std::string>> levels = {{"|"}, {"^"}, {"&"}, {"+", "-"}, {"//", "*", "/", "%"}};
    if (level == static_cast<int>(levels.size())) return unary();
    Expr left = expression(level + 1);
    for (bool found = true; found;) {
      found = false;
      for (const std::string& symbol : levels[static_cast<std::size_t>(level)]) {
        if (!take(symbol)) continue;
        left = apply_elementwise(name_of(symbol), {left, expression(level + 1)}, Json::object(), "numpy");
        found = true;
        break;
      }
    }
    return left;
  }

  Expr unary() {
    if (take("-")) return -unary();
    if (take("~")) return ~unary();
    const Expr base = primary();
    return take("**") ? weft::power(base, unary()) : base;
  }

  Expr primary() {
    if (take("(")) {
      const Expr inner = expression(0);
      if (!take(")")) fail("')'");
      return inner;
    }
    skip_spaces();
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) {
      std::size_t used = 0;
      const double number = std::stod(text_.substr(at_), &used);
      at_ += used;
      return operands_.exprs.at(0).graph().constant(weft::Scalar::of(operands_.arrays[0].dtype(), number));
    }
    return postfix().expr;
  }

  Window postfix() {
    skip_spaces();
    std::string name;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) name += text_[at_++];
    if (name.empty()) fail("a name");
    const std::size_t which = find(name);
    Window window{operands_.exprs[which], operands_.arrays[which]};
    for (;;) {
      if (take(".T")) {
        window = {weft::transpose(window.expr), window.array.transpose()};
      } else if (take("[")) {
        const std::size_t end = text_.find(']', at_);
        if (end == std::string::npos) fail("']'");
        const auto index = parse_index(text_.substr(at_, end - at_), window.array.rank());
        window = {slice_of(window.expr, index), view_of(window.array, index)};
        at_ = end + 1;
      } else {
        return window;
      }
    }
  }

  std::size_t find(const std::string& name) const {
    for (std::size_t k = 0; k < operands_.names.size(); ++k) {
      if (operands_.names[k] == name) return k;
    }
    const std::size_t by_letter = name == "x" ? 0 : name == "y" ? 1 : name == "z" ? 2 : operands_.names.size();
    if (by_letter >= operands_.names.size()) throw BadCase("program: no input '" + name + "'");
    return by_letter;
  }

  const Operands& operands_;
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

Array assign_window(Operands& operands, std::size_t which, const std::vector<AxisIndex>& index, const std::function<Expr(const Expr&)>& value) {
  const Window window{slice_of(operands[which], index), view_of(operands.arrays[which], index)};
  write(operands, window, value(window.expr));
  return operands.arrays[which];
}

void run_program(Operands& operands, const std::string& program) {
  std::string statement;
  for (const char letter : program + ";") {
    if (letter != ';' && letter != '\n') {
      statement += letter;
      continue;
    }
    if (statement.find_first_not_of(" \t") != std::string::npos) Parser(operands, statement).statement();
    statement.clear();
  }
}

}  // namespace conformance
