#include "simplify_rules.h"

#include <cctype>
#include <cstdlib>
#include <string>

#include <weft/error.h>

namespace weft {
namespace {

constexpr RuleClass exact = RuleClass::exact, real = RuleClass::real;
constexpr Numbers integers = Numbers::integers, floats = Numbers::floats;

constexpr Rule rules[] = {
    // Neutral elements. Adding +0 is not neutral for floats: -0 + 0 = 0.
    {"multiply(a, 1)", "a", exact},
    {"multiply(1, a)", "a", exact},
    {"divide(a, 1)", "a", exact},
    {"add(a, 0)", "a", exact, integers},
    {"add(0, a)", "a", exact, integers},
    {"add(a, -0.0)", "a", exact, floats},
    {"add(-0.0, a)", "a", exact, floats},
    {"subtract(a, 0)", "a", exact},
    {"multiply(a, 0)", "0", exact, integers},
    {"multiply(0, a)", "0", exact, integers},
    {"subtract(a, a)", "0", exact, integers},
    {"bitwise_or(a, 0)", "a", exact, integers},
    {"bitwise_xor(a, 0)", "a", exact, integers},
    {"bitwise_left_shift(a, 0)", "a", exact, integers},
    {"bitwise_right_shift(a, 0)", "a", exact, integers},

    // Powers: power defines exponents 2 and -1 as a * a and 1 / a, rounded once.
    {"power(a, 0)", "1", exact},
    {"power(a, 1)", "a", exact},
    {"power(a, 2)", "square(a)", exact},
    {"power(a, -1)", "reciprocal(a)", exact, floats},
    // Of others by what takes a tenth of the time, within the two units in the last place that power has. The square root of -inf is NaN and that of -0
    // is -0, powers of theirs are neither.
    {"power(a, 3)", "multiply(a, square(a))", real, floats},
    {"power(a, 4)", "square(square(a))", real, floats},
    {"power(a, -2)", "square(reciprocal(a))", real, floats},
    {"power(a, 0.5)", "where(equal(a, -inf), negative(a), sqrt(add(a, 0)))", real, floats},
    {"power(a, -0.5)", "where(equal(a, -inf), 0, rsqrt(add(a, 0)))", real, floats},
    {"power(a, 1.5)", "where(equal(a, -inf), negative(a), multiply(add(a, 0), sqrt(add(a, 0))))", real, floats},
    {"divide(1, a)", "reciprocal(a)", exact, floats},

    // Signs.
    {"negative(negative(a))", "a", exact},
    {"multiply(a, -1)", "negative(a)", exact},
    {"multiply(-1, a)", "negative(a)", exact},
    {"add(a, negative(b))", "subtract(a, b)", exact},
    {"add(negative(a), b)", "subtract(b, a)", exact},
    {"subtract(a, negative(b))", "add(a, b)", exact},
    {"subtract(-0.0, a)", "negative(a)", exact, floats},
    {"subtract(0, a)", "negative(a)", exact, integers},
    {"multiply(negative(a), negative(b))", "multiply(a, b)", exact},
    {"divide(negative(a), negative(b))", "divide(a, b)", exact},
    {"square(negative(a))", "square(a)", exact},
    {"square(abs(a))", "square(a)", exact, floats},
    {"abs(negative(a))", "abs(a)", exact, floats},
    {"abs(abs(a))", "abs(a)", exact},

    // Idempotent, and choices between equals.
    {"maximum(a, a)", "a", exact},
    {"minimum(a, a)", "a", exact},
    {"where(c, a, a)", "a", exact},
    {"where(logical_not(c), a, b)", "where(c, b, a)", exact},
    {"where(a, b, where(a, c, b))", "b", exact},
    {"relu(relu(a))", "relu(a)", exact},
    {"floor(floor(a))", "floor(a)", exact},
    {"ceil(ceil(a))", "ceil(a)", exact},
    {"round(round(a))", "round(a)", exact},
    {"trunc(trunc(a))", "trunc(a)", exact},
    {"sign(sign(a))", "sign(a)", exact},
    {"stop_gradient(a)", "a", exact},
    {"logical_not(logical_not(a))", "a", exact},
    {"logical_and(a, a)", "a", exact},
    {"logical_or(a, a)", "a", exact},
    {"bitwise_invert(bitwise_invert(a))", "a", exact},
    {"bitwise_and(a, a)", "a", exact},
    {"bitwise_or(a, a)", "a", exact},
    {"logical_not(equal(a, b))", "not_equal(a, b)", exact},
    {"logical_not(not_equal(a, b))", "equal(a, b)", exact},

    // Stable forms.
    {"log(exp(a))", "a", real},
    {"log(add(1, a))", "log1p(a)", real},
    {"log(add(a, 1))", "log1p(a)", real},
    {"log(subtract(1, a))", "log1p(negative(a))", real},
    {"log1p(exp(a))", "softplus(a)", real},
    {"reciprocal(add(1, exp(a)))", "sigmoid(negative(a))", real},
    {"reciprocal(add(exp(a), 1))", "sigmoid(negative(a))", real},
    {"divide(exp(a), add(1, exp(a)))", "sigmoid(a)", real},
    {"divide(exp(a), add(exp(a), 1))", "sigmoid(a)", real},
    {"log(sigmoid(a))", "negative(softplus(negative(a)))", real},
    {"log1p(negative(sigmoid(a)))", "negative(softplus(a))", real},
    {"subtract(1, sigmoid(a))", "sigmoid(negative(a))", real},
    {"subtract(exp(a), 1)", "expm1(a)", real},
    {"sqrt(square(a))", "abs(a)", real},
};

// term = name "(" term { "," term } ")" | a | b | c | number
class TermParser {
 public:
  explicit TermParser(std::string_view text) : text_(text) {}
  Term whole() {
    Term result = term();
    WEFT_REQUIRE(at_ == text_.size(), text, "rule: unexpected \"", text_.substr(at_), "\" in \"", text_, "\"");
    return result;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Term term() {
    skip();
    Term result;
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-')) {
      const std::string rest(text_.substr(at_));
      char* end = nullptr;
      result.form = Term::Form::literal;
      result.literal = std::strtod(rest.c_str(), &end);
      at_ += static_cast<std::size_t>(end - rest.c_str());
      return result;
    }
    const std::size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'c') {
      result.variable = static_cast<std::size_t>(word[0] - 'a');
      return result;
    }
    const auto op = find_op(word);
    WEFT_REQUIRE(op && take('('), text, "rule: expected an op, a, b, c or a number but got \"", word, "\" in \"", text_, "\"");
    result.form = Term::Form::op;
    result.op = *op;
    do result.operands.push_back(term());
    while (take(','));
    WEFT_REQUIRE(take(')') && static_cast<int>(result.operands.size()) == info(*op).arity, text, "rule: ", word, " takes ", info(*op).arity,
                 " operands in \"", text_, "\"");
    return result;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::span<const Rule> simplify_rules() { return rules; }
Term parse_term(std::string_view text) { return TermParser(text).whole(); }

}  // namespace weft
