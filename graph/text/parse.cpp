// Graph text: a graph, its inputs, outputs and definitions, its lines.
#include <weft/recurrence.h>
#include <weft/text.h>

#include <algorithm>

#include "parser.h"

namespace weft {

Graph Parser::whole() {
  Graph graph = one();
  if (!in_.at_end()) in_.fail_here("expected nothing after the graph");
  return graph;
}

Graph Parser::one() {
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

// define ema(0:f64) { graph step(..) .. graph finish(..) .. }
void Parser::define() {
  if (is_definition_) in_.fail_here("a definition within a definition: the graphs of one hold scalars only");
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
  if (in_.peek("graph")) made->gradient = nested();
  in_.expect("}");
  check_definition(*made, begin, name.size());
  definitions_[name] = std::move(made);
}

Graph Parser::nested() {
  Parser inner(in_.text());
  inner.is_definition_ = true;
  inner.in_.move_to(in_.at());
  Graph graph = inner.one();
  in_.move_to(inner.in_.at());
  return graph;
}

namespace {
bool is_gradient_of(const Recurrence& made) {
  const auto dtypes_of = [](const Graph& graph, const std::vector<NodeId>& ids) {
    std::vector<DType> dtypes;
    for (NodeId id : ids) dtypes.push_back(graph.node(id).dtype);
    return dtypes;
  };
  const std::vector<DType> given = dtypes_of(made.step, made.step.inputs);
  std::vector<DType> expected = given;                       // and a cotangent for each state
  expected.insert(expected.end(), given.begin(), given.begin() + static_cast<std::ptrdiff_t>(made.states()));
  return std::all_of(given.begin(), given.end(), is_floating) && dtypes_of(*made.gradient, made.gradient->inputs) == expected &&
         dtypes_of(*made.gradient, made.gradient->outputs) == given;
}
}  // namespace

// The states go in and come out.
void Parser::check_definition(const Recurrence& made, std::size_t begin, std::size_t length) {
  const auto check = [&](bool holds, const std::string& what) { if (!holds) in_.fail_at(begin, length, made.name + ": " + what); };
  for (const Graph* part : {&made.step, &made.finish, made.gradient ? &*made.gradient : nullptr}) {
    if (!part) continue;
    check(part->inputs.size() >= made.states(), concat("expected ", made.states(), " states, got ", part->inputs.size(), " inputs"));
    for (std::size_t k = 0; k < made.states(); ++k)
      check(part->node(part->inputs[k]).dtype == made.start[k].dtype(), concat("state ", k, " is ", made.start[k].dtype(), ", not ", part->node(part->inputs[k]).dtype));
    for (std::size_t k = 0; k < part->size(); ++k) {
      const Node& node = part->node(id_of(k));
      check(node.domain.empty() && (node.kind == Kind::input || node.kind == Kind::constant || node.kind == Kind::apply), "its graphs hold scalars only");
    }
  }
  check(made.step.inputs.size() > made.states(), "the step takes no element");
  if (made.gradient) check(is_gradient_of(made), "its gradient is not one of floating (states, elements, cotangents of new states) to (cotangents of states, of elements)");
  check(made.step.outputs.size() >= made.states() && !made.finish.outputs.empty() && made.finish.inputs.size() == made.states(), "a value is missing");
  for (std::size_t k = 0; k < made.states(); ++k)
    check(made.step.node(made.step.outputs[k]).dtype == made.start[k].dtype(), concat("the step turns state ", k, " into ", made.step.node(made.step.outputs[k]).dtype));
}

// "[i:n,j:m] f"
std::vector<WrittenAxis> Parser::axes(Order& order) {
  std::vector<WrittenAxis> result;
  in_.expect("[");
  list("]", [&] { result.push_back(in_.axis()); });
  const std::size_t end = in_.at();
  if (in_.word() == "f") order = Order::f;
  else in_.move_to(end);
  return result;
}

// "%x", new.
std::string Parser::definition() {
  in_.expect("%");
  const std::size_t begin = in_.at();
  const std::string name(in_.expect_word("a name after %"));
  if (names_.contains(name)) in_.fail_at(begin - 1, name.size() + 1, "%" + name + " is already defined");
  return name;
}

NodeId Parser::reference() {
  in_.expect("%");
  const std::size_t begin = in_.at();
  const std::string name(in_.expect_word("a name after %"));
  const auto found = names_.find(name);
  if (found == names_.end()) in_.fail_at(begin - 1, name.size() + 1, "%" + name + " is not defined before its use");
  return found->second;
}

void Parser::input() {
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

NodeId Parser::output() {
  if (in_.peek("%")) return reference();
  const std::size_t begin = in_.at();
  const std::string_view text = in_.literal();
  if (text.empty()) in_.fail_here("expected an output");
  const DType type = text == "true" || text == "false" ? bool_ : suffix(begin, text);
  return constant(type, begin, text);
}

// ":i32" after a literal.
DType Parser::suffix(std::size_t begin, std::string_view text) {
  if (!in_.take(":")) in_.fail_at(begin, text.size(), "expected a dtype after " + std::string(text) + ", as in " + std::string(text) + ":f32");
  return in_.dtype();
}

NodeId Parser::constant(DType type, std::size_t begin, std::string_view text) { return graph_.constant(in_.scalar(type, begin, text)).id(); }

void Parser::line() {
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

void Parser::add_axis(Node& node, WrittenAxis axis) {
  if (!axis.letter.empty() && std::find(letters_.begin(), letters_.end(), axis.letter) != letters_.end())
    in_.fail_at(axis.begin, axis.letter.size(), "axis " + axis.letter + " is written twice");
  axis.extent.collect_symbols(symbols_);
  add_letter(std::move(axis.letter));
  node.domain.push_back(std::move(axis.extent));
}

void Parser::add_letter(std::string letter) {
  if (!letter.empty()) all_letters_.insert(letter);
  letters_.push_back(std::move(letter));
}

AxisRef Parser::index() {
  in_.skip_space();
  const std::size_t begin = in_.at();
  AxisRef ref = in_.index(letters_);
  std::vector<std::string> symbols;
  ref.start.collect_symbols(symbols);
  for (std::string& symbol : symbols) index_symbols_.push_back({begin, in_.at() - begin, std::move(symbol)});
  return ref;
}

// A name in an index that is an axis of other lines is a slip of the pen, not a symbol.
void Parser::check_index_symbols() {
  for (const auto& [begin, length, symbol] : index_symbols_)
    if (all_letters_.contains(symbol) && std::find(symbols_.begin(), symbols_.end(), symbol) == symbols_.end())
      in_.fail_at(begin, length, symbol + " is neither an axis of this line nor a symbol");
}

Graph parse(std::string_view text) { return Parser(text).whole(); }
Graph parse(std::string_view text, TextNames& names) {
  Parser parser(text);
  Graph graph = parser.whole();
  names = parser.names();
  return graph;
}

}  // namespace weft
