#include <weft/recurrence.h>
#include <weft/text.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "print.h"
#include "text_reader.h"

namespace weft {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Graph whole() {
    Graph graph = one();
    if (!in_.at_end()) in_.fail_here("expected nothing after the graph");
    return graph;
  }

 private:
  Graph one() {
    in_.expect("graph");
    graph_.name = in_.graph_name();
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
    while (in_.peek("define")) define();
    while (!in_.take("}")) line();
    check_index_symbols();
    const std::size_t end = in_.at();
    in_.move_to(outputs);
    list(")", [&] { graph_.outputs.push_back(output()); });
    in_.move_to(end);
    return std::move(graph_);
  }

  template <class Item> void list(std::string_view close, const Item& item) {
    if (in_.take(close)) return;
    do item();
    while (in_.take(","));
    in_.expect(close);
  }

  // define ema(0:f64) { graph step(..) .. graph finish(..) .. }
  void define() {
    in_.expect("define");
    in_.skip_space();
    const std::size_t begin = in_.at();
    const std::string name(in_.expect_word("the name of an accumulator"));
    if (find_accumulator(name) || definitions_.contains(name)) in_.fail_at(begin, name.size(), name + " is already defined");
    auto made = std::make_shared<Recurrence>();
    made->name = name;
    in_.expect("(");
    list(")", [&] {
      in_.skip_space();
      const std::size_t at = in_.at();
      const std::string_view text = in_.literal();
      if (text.empty()) in_.fail_here("expected a start value");
      made->start.push_back(in_.scalar(text == "true" || text == "false" ? bool_ : suffix(at, text), at, text));
    });
    in_.expect("{");
    made->step = nested();
    made->finish = nested();
    in_.expect("}");
    check_definition(*made, begin, name.size());
    definitions_[name] = std::move(made);
  }
  Graph nested() {
    Parser inner(in_.text());
    inner.in_.move_to(in_.at());
    Graph graph = inner.one();
    in_.move_to(inner.in_.at());
    return graph;
  }
  // The states go in and come out.
  void check_definition(const Recurrence& made, std::size_t begin, std::size_t length) {
    const auto check = [&](bool holds, const std::string& what) { if (!holds) in_.fail_at(begin, length, made.name + ": " + what); };
    for (const Graph* part : {&made.step, &made.finish}) {
      check(part->inputs.size() >= made.states(), concat("expected ", made.states(), " states, got ", part->inputs.size(), " inputs"));
      for (std::size_t k = 0; k < made.states(); ++k)
        check(part->node(part->inputs[k]).dtype == made.start[k].dtype(), concat("state ", k, " is ", made.start[k].dtype(), ", not ", part->node(part->inputs[k]).dtype));
      for (std::size_t k = 0; k < part->size(); ++k) {
        const Node& node = part->node(id_of(k));
        check(node.domain.empty() && (node.kind == Kind::input || node.kind == Kind::constant || node.kind == Kind::apply), "its graphs hold scalars only");
      }
    }
    check(made.step.inputs.size() > made.states(), "the step takes no element");
    check(made.step.outputs.size() >= made.states() && !made.finish.outputs.empty() && made.finish.inputs.size() == made.states(), "a value is missing");
    for (std::size_t k = 0; k < made.states(); ++k)
      check(made.step.node(made.step.outputs[k]).dtype == made.start[k].dtype(), concat("the step turns state ", k, " into ", made.step.node(made.step.outputs[k]).dtype));
  }

  // "[i:n,j:m] f"
  std::vector<WrittenAxis> axes(Order& order) {
    std::vector<WrittenAxis> result;
    in_.expect("[");
    list("]", [&] { result.push_back(in_.axis()); });
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
    const DType type = in_.dtype();
    Order order = Order::c;
    Shape shape;
    for (WrittenAxis& axis : axes(order)) {
      axis.extent.collect_symbols(symbols_);
      shape.push_back(std::move(axis.extent));
    }
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
    return in_.dtype();
  }
  NodeId constant(DType type, std::size_t begin, std::string_view text) { return graph_.constant(in_.scalar(type, begin, text)).id(); }

  void line() {
    if (!in_.peek("%")) in_.fail_here("expected a line such as \"%0: f64[i:n] = exp(%x[i])\" or \"}\"");
    const std::string name = definition();
    in_.expect(":");
    Node node;
    node.dtype = in_.dtype();
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
    else if (word == "reshape") names_[name] = reshape(std::move(node));
    else if (word == "update") names_[name] = update(std::move(node));
    else if (word == "others") names_[name] = others(std::move(node));
    else if (word == "fold" || word == "scan") names_[name] = recurrence(std::move(node), word == "scan");
    else if (word == "broadcast" || word == "unbroadcast") names_[name] = fit(std::move(node), word == "broadcast");
    else names_[name] = apply(std::move(node), begin, word);
  }
  void add_axis(Node& node, WrittenAxis axis) {
    if (!axis.letter.empty() && std::find(letters_.begin(), letters_.end(), axis.letter) != letters_.end())
      in_.fail_at(axis.begin, axis.letter.size(), "axis " + axis.letter + " is written twice");
    axis.extent.collect_symbols(symbols_);
    add_letter(std::move(axis.letter));
    node.domain.push_back(std::move(axis.extent));
  }
  void add_letter(std::string letter) {
    if (!letter.empty()) all_letters_.insert(letter);
    letters_.push_back(std::move(letter));
  }

  AxisRef index() {
    in_.skip_space();
    const std::size_t begin = in_.at();
    AxisRef ref = in_.index(letters_);
    std::vector<std::string> symbols;
    ref.start.collect_symbols(symbols);
    for (std::string& symbol : symbols) index_symbols_.push_back({begin, in_.at() - begin, std::move(symbol)});
    return ref;
  }
  // A name in an index that is an axis of other lines is a slip of the pen, not a symbol.
  void check_index_symbols() {
    for (const auto& [begin, length, symbol] : index_symbols_)
      if (all_letters_.contains(symbol) && std::find(symbols_.begin(), symbols_.end(), symbol) == symbols_.end())
        in_.fail_at(begin, length, symbol + " is neither an axis of this line nor a symbol");
  }

  NodeId array(const Node& node) {
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
    node.payload = in_.extent();
    in_.expect(")");
    return graph_.add(std::move(node));
  }

  // reshape(%0)
  NodeId reshape(Node node) {
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
  NodeId fit(Node node, bool is_forward) {
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

  // update(%0[i,j]) at [2*i+1,j]: the letters are the window's axes.
  NodeId update(Node node) {
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
    in_.expect("at");
    in_.expect("[");
    AxisMap places;
    list("]", [&] {
      places.push_back(index());
      places.back().part = false;                            // said of operands only
    });
    node.kind = Kind::update;
    node.payload = std::move(places);
    return graph_.add(std::move(node), {std::move(window)});
  }

  int axis_of_result() {
    in_.skip_space();
    const std::size_t at = in_.at();
    const std::string letter(in_.expect_word("an axis of the result"));
    const auto found = std::find(letters_.begin(), letters_.end(), letter);
    if (found == letters_.end()) in_.fail_at(at, letter.size(), letter + " is not an axis of the result");
    return static_cast<int>(found - letters_.begin());
  }

  // others(j) prod(%x[i,j])
  NodeId others(Node node) {
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
  NodeId recurrence(Node node, bool scans) {
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
    if (in_.take(".")) recurring.output = static_cast<int>(in_.scalar(i64, in_.at(), in_.literal()).integer());
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

  NodeId apply(Node node, std::size_t begin, std::string word) {
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

  struct Literal {
    std::size_t begin = 0;
    std::string_view text;
    std::optional<DType> dtype;
  };
  std::vector<Operand> operands(std::optional<Op> op) {
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

  TextReader in_;
  Graph graph_;
  std::unordered_map<std::string, NodeId> names_;
  std::vector<std::string> letters_;   // of the line being read, by domain position; "" where none is written
  std::unordered_map<std::string, std::shared_ptr<const Recurrence>> definitions_;
  std::unordered_set<std::string> all_letters_;
  std::vector<std::string> symbols_;   // in shapes and domains
  struct IndexSymbol {
    std::size_t begin, length;
    std::string symbol;
  };
  std::vector<IndexSymbol> index_symbols_;
};

}  // namespace

Graph parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace weft
