// Graph text: what stands behind the = of a line, one reader for each kind of node.
#include <weft/recurrence.h>
#include <weft/text.h>

#include <algorithm>

#include "parser.h"
#include "print.h"

namespace weft {

NodeId Parser::array(const Node& node) {
  in_.skip_space();
  Dims dims;
  for (const Extent& extent : node.domain) {
    if (!extent.is_number()) in_.fail_at(in_.at(), 1, concat("a constant needs a shape of numbers, got ", to_text(node.domain)));
    dims.push_back(extent.constant());
  }
  if (dims.empty()) in_.fail_at(in_.at(), 1, "a scalar constant is written where it is used");
  std::vector<Scalar> written;
  in_.expect("[");
  list("]", [&] {
    in_.skip_space();
    const std::size_t begin = in_.at();
    const std::string_view text = in_.literal();
    if (text.empty()) in_.fail_here(concat("expected a value of ", node.dtype));
    written.push_back(in_.scalar(node.dtype, begin, text));
  });
  if (element_count(dims) != static_cast<Index>(written.size()))
    in_.fail_at(in_.at() - 1, 1, concat("a constant of shape ", to_text(dims), " has ", element_count(dims), " values, got ", written.size()));
  Array values(node.dtype, dims);
  auto* to = static_cast<std::byte*>(values.data());
  for (std::size_t k = 0; k < written.size(); ++k) written[k].store(to + k * size_of(node.dtype));
  Node constant = node;
  constant.kind = Kind::constant;
  constant.payload = values;
  return graph_.add(std::move(constant));
}

NodeId Parser::iota(Node node) {
  in_.expect("(");
  const std::string_view letter = in_.expect_word("the first axis");
  if (letters_.empty() || letter != letters_[0]) in_.fail_at(in_.at() - letter.size(), letter.size(), "iota takes the first axis of its result");
  in_.expect(")");
  node.kind = Kind::iota;
  return graph_.add(std::move(node));
}

NodeId Parser::extent_node(Node node) {
  in_.expect("(");
  node.kind = Kind::extent;
  node.payload = in_.extent();
  in_.expect(")");
  return graph_.add(std::move(node));
}

// reshape(%0)
NodeId Parser::reshape(Node node) {
  in_.expect("(");
  Operand operand;
  if (in_.peek("%")) {
    operand.node = reference();
  } else {
    const std::size_t begin = in_.at();
    operand.node = constant(node.dtype, begin, in_.literal());
    if (in_.take(":")) in_.dtype();
  }
  in_.expect(")");
  operand.map = identity_map(graph_.node(operand.node).rank());
  node.kind = Kind::reshape;
  return graph_.add(std::move(node), {std::move(operand)});
}

// broadcast(%x) to [s[0],4], unbroadcast(%g) with [s[0]]
NodeId Parser::fit(Node node, bool is_forward) {
  in_.expect("(");
  Operand operand{reference(), {}};
  in_.expect(")");
  Fit fit;
  fit.both_ways = in_.take("with");
  if (!fit.both_ways) in_.expect("to");
  in_.expect("[");
  list("]", [&] {
    fit.target.push_back(in_.extent());
    fit.target.back().collect_symbols(symbols_);
  });
  operand.map = identity_map(graph_.node(operand.node).rank());
  node.kind = Kind::fit;
  if (!is_forward) {
    node.mode = Mode::accumulate;
    node.accumulator = AccumulatorId::sum;
  }
  node.payload = std::move(fit);
  return graph_.add(std::move(node), {std::move(operand)});
}

// update(%0[i,j]) at [2*i+1,j], or within: the letters are the window's axes.
NodeId Parser::update(Node node) {
  letters_.clear();
  in_.expect("(");
  Operand window;
  if (in_.peek("%")) {
    window.node = reference();
    if (in_.take("[")) list("]", [&] { add_letter(std::string(in_.expect_word("an axis of the window"))); });
  } else {
    const std::size_t begin = in_.at();
    window.node = constant(node.dtype, begin, in_.literal());
    if (in_.take(":")) in_.dtype();
  }
  window.map = identity_map(static_cast<int>(letters_.size()));
  in_.expect(")");
  const bool within = in_.take("within");
  if (!within) in_.expect("at");
  in_.expect("[");
  AxisMap places;
  list("]", [&] {
    places.push_back(index());
    places.back().part = within;
  });
  node.kind = Kind::update;
  node.payload = std::move(places);
  return graph_.add(std::move(node), {std::move(window)});
}

int Parser::axis_of_result() {
  in_.skip_space();
  const std::size_t at = in_.at();
  const std::string letter(in_.expect_word("an axis of the result"));
  const auto found = std::find(letters_.begin(), letters_.end(), letter);
  if (found == letters_.end()) in_.fail_at(at, letter.size(), letter + " is not an axis of the result");
  return static_cast<int>(found - letters_.begin());
}

// others(j) prod(%x[i,j])
NodeId Parser::others(Node node) {
  in_.expect("(");
  node.kind = Kind::others;
  node.payload = Along{axis_of_result()};
  in_.expect(")");
  in_.skip_space();
  const std::size_t begin = in_.at();
  const std::string name(in_.expect_word("an accumulator"));
  if (name != name_of(AccumulatorId::prod)) in_.fail_at(begin, name.size(), "others takes prod, not " + name);
  node.accumulator = AccumulatorId::prod;
  return graph_.add(std::move(node), operands(std::nullopt));
}

// fold(j:m) ema(%x[i,j]), scan(i) sum(%x[i]), from the last element scan(-i) sum(%x[i]); ema.1 is the second value of ema
NodeId Parser::recurrence(Node node, bool scans) {
  Recurring recurring;
  node.kind = Kind::recurrence;
  node.mode = scans ? Mode::scan : Mode::accumulate;
  in_.expect("(");
  if (scans) {
    list(")", [&] {
      in_.skip_space();
      const bool backwards = in_.take("-");
      const std::size_t at = in_.at();
      const int axis = axis_of_result();
      if (!recurring.axes.empty() && backwards != recurring.backwards) in_.fail_at(at, in_.at() - at, "a scan runs backwards along all its axes or none: " + letters_[static_cast<std::size_t>(axis)]);
      recurring.backwards = backwards;
      recurring.axes.push_back(axis);
    });
  } else {
    list(")", [&] { add_axis(node, in_.axis()); });
  }
  in_.skip_space();
  const std::size_t begin = in_.at();
  const std::string name(in_.expect_word("an accumulator"));
  if (in_.take(".")) recurring.output = static_cast<int>(in_.scalar(i32, in_.at(), in_.literal()).integer());
  const std::vector<Operand> elements = operands(std::nullopt);
  const auto defined = definitions_.find(name);
  if (defined != definitions_.end()) {
    recurring.recurrence = defined->second;
  } else {
    const auto acc = find_accumulator(name);
    if (!acc || !scans || elements.size() != 1) in_.fail_at(begin, name.size(), name + " is not defined");
    node.accumulator = *acc;
    recurring.recurrence = builtin_scan(*acc, graph_.node(elements[0].node).dtype, node.dtype);
  }
  node.payload = std::move(recurring);
  return graph_.add(std::move(node), elements);
}

NodeId Parser::apply(Node node, std::size_t begin, std::string word) {
  if (const auto acc = find_accumulator(word)) {
    node.mode = Mode::accumulate;
    node.accumulator = *acc;
    in_.expect("(");
    list(")", [&] { add_axis(node, in_.axis()); });
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

std::vector<Operand> Parser::operands(std::optional<Op> op) {
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
    if (!literals[p].dtype && op) literals[p].dtype = told_by_others(*op, p, result, literals);
    if (!literals[p].dtype) suffix(literals[p].begin, literals[p].text);   // reports the missing dtype
    result[p].node = constant(*literals[p].dtype, literals[p].begin, literals[p].text);
  }
  return result;
}

std::optional<DType> Parser::told_by_others(Op op, std::size_t p, const std::vector<Operand>& operands, const std::vector<Literal>& literals) {
  for (std::size_t q = 0; q < operands.size(); ++q) {
    if (!literals[q].text.empty()) continue;
    std::vector<DType> dtypes(operands.size(), graph_.node(operands[q].node).dtype);
    std::vector<bool> is_literal(operands.size(), true);
    is_literal[q] = false;
    if (literal_is_inferred(op, p, dtypes, is_literal)) return dtypes[q];
  }
  return std::nullopt;
}

}  // namespace weft
