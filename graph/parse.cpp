#include <weft/text.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "cursor.h"
#include "print.h"

namespace weft {
namespace {

// An axis of a domain as written: "i:n" or "n".
struct WrittenAxis {
  std::string letter;
  Extent extent;
};

// nullopt unless `text` is a value of `dtype`.
std::optional<Scalar> scalar_of(DType dtype, std::string_view text) {
  return visit_dtype(dtype, [&](auto tag) -> std::optional<Scalar> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      if (text != "true" && text != "false") return std::nullopt;
      return Scalar(text == "true");
    } else {
      std::conditional_t<std::is_arithmetic_v<T>, T, double> value{};   // f16, bf16: rounded by Scalar
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return Scalar::of(dtype, value);
    }
  });
}

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Graph whole() {
    in_.expect("graph");
    graph_.name = graph_name();
    in_.expect("(");
    list(")", [&] { input(); });
    in_.expect("->");
    in_.expect("(");
    const std::size_t outputs = in_.at();
    while (!in_.peek(")") && !in_.peek("{") && !in_.at_end()) {   // names are resolved when all are known
      in_.until_separator();
      if (!in_.take(",")) break;
    }
    in_.expect(")");
    in_.expect("{");
    while (!in_.take("}")) line();
    const std::size_t end = in_.at();
    in_.move_to(outputs);
    list(")", [&] { graph_.outputs.push_back(output()); });
    in_.move_to(end);
    if (!in_.at_end()) in_.fail_here("expected nothing after the graph");
    return std::move(graph_);
  }

 private:
  template <class Item> void list(std::string_view close, const Item& item) {
    if (in_.take(close)) return;
    do item();
    while (in_.take(","));
    in_.expect(close);
  }

  std::string graph_name() {
    if (!in_.take("\"")) return std::string(in_.expect_word("the name of the graph"));
    std::string name;
    for (std::size_t at = in_.at();; ++at) {
      const std::string_view c = in_.between(at, at + 1);
      if (c.empty()) in_.fail_here("expected \" at the end of the graph's name");
      if (c == "\"") {
        in_.move_to(at + 1);
        return name;
      }
      if (c == "\\") name += in_.between(at + 1, at + 2) == "n" ? "\n" : std::string(in_.between(at + 1, at + 2)), ++at;
      else name += c;
    }
  }

  DType dtype() {
    const std::size_t begin = in_.at();
    const std::string word(in_.expect_word("a dtype"));
    for (int k = 0; k <= static_cast<int>(f64); ++k)
      if (word == to_text(static_cast<DType>(k))) return static_cast<DType>(k);
    in_.move_to(begin);
    in_.fail_here("expected a dtype such as f32, i64 or bool");
  }

  Extent extent_in(std::size_t begin, std::string_view text) {
    try {
      return parse_extent(text);
    } catch (const Error& error) {
      std::string message = error.what();
      message.erase(0, message.find(": ") + 2);
      in_.fail_at(begin, text.size(), message);
    }
  }
  Extent extent() {
    in_.skip_space();
    const std::size_t begin = in_.at();
    const std::string_view text = in_.until_separator();
    if (text.empty()) in_.fail_here("expected an extent");
    return extent_in(begin, text);
  }

  WrittenAxis axis() {
    const std::size_t begin = in_.at();
    const std::string letter(in_.word());
    if (!letter.empty() && in_.take(":")) return {letter, extent()};
    in_.move_to(begin);
    return {"", extent()};
  }

  // "[i:n,j:m] f"
  std::vector<WrittenAxis> axes(Order& order) {
    std::vector<WrittenAxis> result;
    in_.expect("[");
    list("]", [&] { result.push_back(axis()); });
    const std::size_t end = in_.at();
    if (in_.word() == "f") order = Order::f;
    else in_.move_to(end);
    return result;
  }

  // "%x", new.
  std::string definition() {
    in_.expect("%");
    const std::size_t begin = in_.at();
    const std::string name(in_.expect_word("a name after %"));
    if (names_.contains(name)) in_.fail_at(begin - 1, name.size() + 1, "%" + name + " is already defined");
    return name;
  }
  NodeId reference() {
    in_.expect("%");
    const std::size_t begin = in_.at();
    const std::string name(in_.expect_word("a name after %"));
    const auto found = names_.find(name);
    if (found == names_.end()) in_.fail_at(begin - 1, name.size() + 1, "%" + name + " is not defined before its use");
    return found->second;
  }

  void input() {
    const std::string name = definition();
    in_.expect(":");
    const DType type = dtype();
    Order order = Order::c;
    Shape shape;
    for (WrittenAxis& axis : axes(order)) shape.push_back(std::move(axis.extent));
    names_[name] = graph_.input(name, type, shape, order).id();
  }

  NodeId output() {
    if (in_.peek("%")) return reference();
    const std::size_t begin = in_.at();
    const std::string_view text = in_.literal();
    if (text.empty()) in_.fail_here("expected an output");
    const DType type = text == "true" || text == "false" ? bool_ : suffix(begin, text);
    return constant(type, begin, text);
  }
  // ":i32" after a literal.
  DType suffix(std::size_t begin, std::string_view text) {
    if (!in_.take(":")) in_.fail_at(begin, text.size(), "expected a dtype after " + std::string(text) + ", as in " + std::string(text) + ":f32");
    return dtype();
  }
  Scalar scalar(DType type, std::size_t begin, std::string_view text) {
    const auto value = scalar_of(type, text);
    if (!value) in_.fail_at(begin, text.size(), concat("expected a value of ", type, ", got \"", text, "\""));
    return *value;
  }
  NodeId constant(DType type, std::size_t begin, std::string_view text) { return graph_.constant(scalar(type, begin, text)).id(); }

  void line() {
    if (!in_.peek("%")) in_.fail_here("expected a line such as \"%0: f64[i:n] = exp(%x[i])\" or \"}\"");
    const std::string name = definition();
    in_.expect(":");
    Node node;
    node.dtype = dtype();
    letters_.clear();
    for (WrittenAxis& axis : axes(node.order)) add_axis(node, std::move(axis));
    node.kept = static_cast<int>(node.domain.size());
    in_.expect("=");
    in_.skip_space();
    const std::size_t begin = in_.at();
    const std::string word(in_.expect_word("an op"));
    if (word == "constant") names_[name] = array(node);
    else if (word == "iota") names_[name] = iota(std::move(node));
    else if (word == "extent") names_[name] = extent_node(std::move(node));
    else if (word == "update") names_[name] = update(std::move(node));
    else names_[name] = apply(std::move(node), begin, word);
  }
  void add_axis(Node& node, WrittenAxis axis) {
    if (!axis.letter.empty() && std::find(letters_.begin(), letters_.end(), axis.letter) != letters_.end())
      in_.fail_here("axis " + axis.letter + " is written twice");
    letters_.push_back(std::move(axis.letter));
    node.domain.push_back(std::move(axis.extent));
  }

  NodeId array(const Node& node) {
    Dims dims;
    for (const Extent& extent : node.domain) {
      if (!extent.is_number()) in_.fail_here(concat("a constant needs a shape of numbers, not ", to_text(node.domain)));
      dims.push_back(extent.constant());
    }
    if (dims.empty()) in_.fail_here("a scalar constant is written where it is used");
    Array values(node.dtype, dims);
    auto* to = static_cast<std::byte*>(values.data());
    Index count = 0;
    in_.expect("[");
    list("]", [&] {
      in_.skip_space();
      const std::size_t begin = in_.at();
      const std::string_view text = in_.literal();
      if (text.empty()) in_.fail_here(concat("expected a value of ", node.dtype));
      if (count == values.size()) in_.fail_at(begin, text.size(), concat("expected ", values.size(), " values, got more"));
      scalar(node.dtype, begin, text).store(to + count++ * static_cast<Index>(size_of(node.dtype)));
    });
    if (count != values.size()) in_.fail_here(concat("expected ", values.size(), " values and not ", count));
    Node constant = node;
    constant.kind = Kind::constant;
    constant.payload = values;
    return graph_.add(std::move(constant));
  }
  NodeId iota(Node node) {
    in_.expect("(");
    const std::string_view letter = in_.expect_word("the first axis");
    if (letters_.empty() || letter != letters_[0]) in_.fail_at(in_.at() - letter.size(), letter.size(), "iota takes the first axis of its result");
    in_.expect(")");
    node.kind = Kind::iota;
    return graph_.add(std::move(node));
  }
  NodeId extent_node(Node node) {
    in_.expect("(");
    node.kind = Kind::extent;
    node.payload = extent();
    in_.expect(")");
    return graph_.add(std::move(node));
  }

  // update(%0[i,j]) at [2*i+1,j]: the letters are the window's axes.
  NodeId update(Node node) {
    letters_.clear();
    in_.expect("(");
    Operand window;
    if (in_.peek("%")) {
      window.node = reference();
      if (in_.take("[")) list("]", [&] { letters_.emplace_back(in_.expect_word("an axis of the window")); });
    } else {
      const std::size_t begin = in_.at();
      window.node = constant(node.dtype, begin, in_.literal());
      if (in_.take(":")) dtype();
    }
    window.map = identity_map(static_cast<int>(letters_.size()));
    in_.expect(")");
    in_.expect("at");
    in_.expect("[");
    AxisMap places;
    list("]", [&] { places.push_back(index()); });
    node.kind = Kind::update;
    node.payload = std::move(places);
    return graph_.add(std::move(node), {std::move(window)});
  }

  NodeId apply(Node node, std::size_t begin, std::string word) {
    if (const auto acc = find_accumulator(word)) {
      node.mode = Mode::accumulate;
      node.accumulator = *acc;
      in_.expect("(");
      list(")", [&] { add_axis(node, axis()); });
      in_.skip_space();
      begin = in_.at();
      word = in_.expect_word("an op");
    }
    const auto op = find_op(word);
    if (!op) {
      in_.move_to(begin);
      in_.fail_here("expected an op or an accumulator");
    }
    node.op = *op;
    return graph_.add(std::move(node), operands(*op));
  }

  struct Literal {
    std::size_t begin = 0;
    std::string_view text;
    std::optional<DType> dtype;
  };
  std::vector<Operand> operands(Op op) {
    std::vector<Operand> result;
    std::vector<Literal> literals;   // empty text: not a literal
    in_.expect("(");
    list(")", [&] {
      if (in_.peek("%")) {
        result.push_back({reference(), {}});
        literals.emplace_back();
        if (in_.take("[")) list("]", [&] { result.back().map.push_back(index()); });
        return;
      }
      const std::size_t literal_begin = in_.at();
      const std::string_view text = in_.literal();
      if (text.empty()) in_.fail_here("expected an operand");
      literals.push_back({literal_begin, text, std::nullopt});
      if (text == "true" || text == "false") literals.back().dtype = bool_;
      else if (in_.peek(":")) literals.back().dtype = suffix(literal_begin, text);
      result.emplace_back();
    });
    for (std::size_t p = 0; p < result.size(); ++p) {
      if (literals[p].text.empty()) continue;
      if (!literals[p].dtype) literals[p].dtype = told_by_others(op, p, result, literals);
      if (!literals[p].dtype) suffix(literals[p].begin, literals[p].text);   // reports the missing dtype
      result[p].node = constant(*literals[p].dtype, literals[p].begin, literals[p].text);
    }
    return result;
  }
  std::optional<DType> told_by_others(Op op, std::size_t p, const std::vector<Operand>& operands, const std::vector<Literal>& literals) {
    for (std::size_t q = 0; q < operands.size(); ++q) {
      if (!literals[q].text.empty()) continue;
      std::vector<DType> dtypes(operands.size(), graph_.node(operands[q].node).dtype);
      std::vector<bool> is_literal(operands.size(), true);
      is_literal[q] = false;
      if (literal_is_inferred(op, p, dtypes, is_literal)) return dtypes[q];
    }
    return std::nullopt;
  }

  // "2*i+1", "n-1-i", "0": a sum with at most one term that is an axis.
  AxisRef index() {
    in_.skip_space();
    const std::size_t begin = in_.at();
    const std::string_view text = in_.until_separator();
    if (text.empty()) in_.fail_here("expected an index");
    AxisRef ref;
    std::string start;
    for (std::size_t at = 0; at < text.size();) {
      const bool negative = text[at] == '-';
      if (text[at] == '+' || negative) ++at;
      std::size_t end = at;
      for (int depth = 0; end < text.size() && (depth > 0 || (text[end] != '+' && text[end] != '-')); ++end)
        depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      std::string term(text.substr(at, end - at));
      std::erase(term, ' ');
      if (!take_axis(term, negative, ref, begin, text)) start += (negative ? "-" : start.empty() ? "" : "+") + term;
      at = end;
    }
    if (!start.empty()) ref.start = extent_in(begin, start);
    return ref;
  }
  // Whether the term is an axis or a number times an axis.
  bool take_axis(const std::string& term, bool negative, AxisRef& ref, std::size_t begin, std::string_view whole) {
    const std::size_t star = term.find('*');
    const std::string letter = star == std::string::npos ? term : term.substr(star + 1);
    const auto found = std::find(letters_.begin(), letters_.end(), letter);
    if (letter.empty() || found == letters_.end()) return false;
    if (ref.axis >= 0) in_.fail_at(begin, whole.size(), "an index follows one axis, got two in \"" + std::string(whole) + "\"");
    Index step = 1;
    if (star != std::string::npos) {
      const auto [end, error] = std::from_chars(term.data(), term.data() + star, step);
      if (error != std::errc() || end != term.data() + star) return false;
    }
    ref.axis = static_cast<int>(found - letters_.begin());
    ref.step = negative ? -step : step;
    return true;
  }

  Cursor in_;
  Graph graph_;
  std::unordered_map<std::string, NodeId> names_;
  std::vector<std::string> letters_;   // of the line being read, by domain position; "" where none is written
};

}  // namespace

Graph parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace weft
