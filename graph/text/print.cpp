#include "print.h"

#include <algorithm>
#include <cctype>

#include <weft/recurrence.h>

#include "names.h"
#include "storage.h"

namespace weft {
namespace {

// Enough for every node of the graph, and for one that is about to be added.
std::size_t letter_count(const Graph& graph) {
  std::size_t most = 64;
  for (std::size_t k = 0; k < graph.size(); ++k) most = std::max(most, graph.node(id_of(k)).domain.size());
  return most;
}

std::string quoted(const std::string& name) {
  if (is_word(name)) return name;
  std::string text = "\"";
  for (char c : name) text += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? std::string("\\n") : std::string{c};
  return text + "\"";
}

std::vector<std::string> symbols_of(const Graph& graph) {
  std::vector<std::string> symbols;
  for (std::size_t k = 0; k < graph.size(); ++k)
    for_each_extent(graph.node(id_of(k)), operands_of(graph, id_of(k)), [&](const Extent& extent) { extent.collect_symbols(symbols); });
  for (const ElementSymbol& element : graph.element_symbols()) symbols.push_back(element.input);
  return symbols;
}

}  // namespace

bool has_line(const Node& node) { return node.kind != Kind::input && !is_scalar_constant(node); }

bool literal_is_inferred(Op op, std::size_t position, const std::vector<DType>& dtypes, const std::vector<bool>& is_literal) {
  const std::size_t first = info(op).rule == DTypeRule::select ? 1 : 0;
  if (position < first) return false;
  for (std::size_t p = first; p < dtypes.size(); ++p)
    if (!is_literal[p] && dtypes[p] == dtypes[position]) return true;
  return false;
}

Printer::Printer(const Graph& graph) : graph_(graph) {
  const std::vector<std::string> symbols = symbols_of(graph);
  const auto is_free = [&](const std::string& name) { return std::find(symbols.begin(), symbols.end(), name) == symbols.end(); };
  const std::size_t count = letter_count(graph);
  for (int round = 0; letters_.size() < count; ++round)
    for (char c : std::string("ijklpqrstuvwxyzabcdefghmno")) {
      const std::string name = c + (round == 0 ? std::string() : std::to_string(round));
      if (is_free(name)) letters_.push_back(name);
    }
  // Accumulators of one's own: one definition for all that do the same, under a name that is free.
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (node.kind != Kind::recurrence || node.accumulator != AccumulatorId::none) continue;
    const Recurrence& own = *std::get<Recurring>(node.payload).recurrence;
    const auto defined = [&](const Definition& d) { return d.recurrence == &own || same(*d.recurrence, own); };
    if (std::any_of(definitions_.begin(), definitions_.end(), defined)) continue;
    std::string name = own.name;
    const auto taken = [&](const Definition& d) { return d.name == name; };
    for (int number = 2; find_accumulator(name) || std::any_of(definitions_.begin(), definitions_.end(), taken); ++number)
      name = own.name + "_" + std::to_string(number);
    definitions_.push_back({&own, name});
  }
}

std::string Printer::definitions() const {
  std::string text;
  for (const auto& [recurrence, name] : definitions_) {
    text += "  define " + name + "(";
    for (std::size_t k = 0; k < recurrence->start.size(); ++k) {
      const Scalar& start = recurrence->start[k];
      text += (k ? ", " : "") + to_text(start) + (is_boolean(start.dtype()) ? "" : concat(":", start.dtype()));
    }
    text += ") {\n";
    for (const Graph* part : {&recurrence->step, &recurrence->finish, recurrence->gradient ? &*recurrence->gradient : nullptr}) {
      if (!part) continue;
      std::string lines = "    " + to_text(*part);
      lines.pop_back();
      for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 5) lines.replace(at, 1, "\n    ");
      text += lines + "\n";
    }
    text += "  }\n";
  }
  return text;
}

std::string Printer::recurrence(const Node& node) const {
  const auto& recurring = std::get<Recurring>(node.payload);
  std::string text = node.mode == Mode::scan ? "scan(" : "fold(";
  for (std::size_t k = 0; k < recurring.axes.size(); ++k) text += concat(k ? "," : "", recurring.backwards ? "-" : "", letter(recurring.axes[k]));
  for (int axis = node.kept; axis < static_cast<int>(node.domain.size()); ++axis)
    text += (axis > node.kept ? "," : "") + letter(axis) + ":" + to_text(node.domain[static_cast<std::size_t>(axis)]);
  std::string name = recurring.recurrence->name;
  for (const Definition& d : definitions_)
    if (d.recurrence == recurring.recurrence.get() || same(*d.recurrence, *recurring.recurrence)) name = d.name;
  return text + ") " + name + (recurring.output > 0 ? "." + std::to_string(recurring.output) : "");
}

std::string Printer::letter(int axis) const {
  if (axis >= static_cast<int>(letters_.size())) return "#" + std::to_string(axis);
  return letters_[static_cast<std::size_t>(axis)];
}

std::string name_of(const Graph& graph, NodeId id) {
  if (id.value >= graph.size()) return "%?";
  const Node& node = graph.node(id);
  if (node.kind == Kind::input) return "%" + node.name();
  if (is_scalar_constant(node)) return to_text(std::get<Scalar>(node.payload)) + (is_boolean(node.dtype) ? "" : concat(":", node.dtype));
  return "%" + std::to_string(graph.storage().numbers[id.value]);
}

std::string Printer::next_name() const { return "%" + std::to_string(graph_.storage().lines); }

std::string Printer::type(const Node& node, bool with_letters) const {
  std::string text = to_text(node.dtype);
  text += "[";
  for (int axis = 0; axis < node.kept; ++axis)
    text += (axis ? "," : "") + (with_letters ? letter(axis) + ":" : "") + to_text(node.domain[static_cast<std::size_t>(axis)]);
  return text + (node.order == Order::f ? "] f" : "]");
}

std::string Printer::index(const AxisRef& ref) const {
  const std::string start = to_text(ref.start);
  if (ref.axis < 0) return start;
  const Index size = ref.step < 0 ? -ref.step : ref.step;
  const std::string axis = (size == 1 ? "" : std::to_string(size) + "*") + letter(ref.axis);
  if (ref.start.is(0)) return (ref.step < 0 ? "-" : "") + axis + (ref.part ? "+0" : "");
  if (ref.step < 0) return start + "-" + axis;
  return axis + (start[0] == '-' ? "" : "+") + start;
}

std::string Printer::indices(const AxisMap& map) const {
  std::string text = "[";
  for (std::size_t k = 0; k < map.size(); ++k) text += (k ? "," : "") + index(map[k]);
  return text + "]";
}

std::string Printer::right_side(const Node& node) const {
  if (node.kind == Kind::iota) return "iota(" + letter(0) + ")";
  if (node.kind == Kind::extent) return "extent(" + to_text(std::get<Extent>(node.payload)) + ")";
  const Array& array = std::get<Array>(node.payload);
  std::string text = "constant [";
  const Array dense = array.is_contiguous(Order::c) ? array : array.copy(Order::c);
  const auto* bytes = static_cast<const std::byte*>(dense.data());
  for (Index k = 0; k < dense.size(); ++k)
    text += (k ? ", " : "") + to_text(Scalar::load(node.dtype, bytes + k * item_bytes(node.dtype)));
  return text + "]";
}

Line Printer::line(const std::string& name, const Node& node, const std::vector<Operand>& operands) const {
  Line line;
  line.text = name + ": " + type(node, node.kind == Kind::apply || node.kind == Kind::iota || node.kind == Kind::recurrence || node.kind == Kind::others);
  if (node.kind == Kind::input) return line;
  line.text += " = ";
  if (node.kind == Kind::fit) {
    const Fit& fit = std::get<Fit>(node.payload);
    line.text += node.mode == Mode::broadcast ? "broadcast(" : "unbroadcast(";
    if (!operands.empty()) line.operands.emplace_back(line.text.size(), this->name(operands[0].node).size()), line.text += this->name(operands[0].node);
    line.text += fit.both_ways ? ") with [" : ") to [";
    for (std::size_t k = 0; k < fit.target.size(); ++k) line.text += (k ? "," : "") + to_text(fit.target[k]);
    line.text += "]";
    return line;
  }
  if (node.kind != Kind::apply && node.kind != Kind::update && node.kind != Kind::recurrence && node.kind != Kind::others && node.kind != Kind::reshape) {
    line.text += right_side(node);
    return line;
  }
  if (node.kind == Kind::apply && node.mode == Mode::accumulate) {
    line.text += std::string(name_of(node.accumulator)) + "(";
    for (int axis = node.kept; axis < static_cast<int>(node.domain.size()); ++axis)
      line.text += (axis > node.kept ? "," : "") + letter(axis) + ":" + to_text(node.domain[static_cast<std::size_t>(axis)]);
    line.text += ") ";
  }
  const bool is_update = node.kind == Kind::update;
  const auto what = [&]() -> std::string {
    switch (node.kind) {
      case Kind::update: return "update";
      case Kind::reshape: return "reshape";
      case Kind::recurrence: return recurrence(node);
      case Kind::others: return "others(" + letter(std::get<Along>(node.payload).axis) + ") " + std::string(name_of(node.accumulator));
      default: return std::string(info(node.op).name);
    }
  };
  line.text += what() + "(";
  add_operands(line, node, operands);
  line.text += ")";
  if (is_update) {
    AxisMap places = std::get<AxisMap>(node.payload);
    line.text += are_within(places) ? " within " : " at ";
    for (AxisRef& place : places) place.part = false;
    line.text += indices(places);
  }
  return line;
}

void Printer::add_operands(Line& line, const Node& node, const std::vector<Operand>& operands) const {
  std::vector<DType> dtypes;
  std::vector<bool> literals;
  for (const Operand& operand : operands) {
    const bool exists = operand.node.value < graph_.size();
    dtypes.push_back(exists ? graph_.node(operand.node).dtype : node.dtype);
    literals.push_back(exists && is_scalar_constant(graph_.node(operand.node)));
  }
  for (std::size_t p = 0; p < operands.size(); ++p) {
    if (p > 0) line.text += ", ";
    std::string text = name(operands[p].node);
    if (literals[p] && node.kind == Kind::apply && literal_is_inferred(node.op, p, dtypes, literals)) text = text.substr(0, text.find(':'));
    if (!operands[p].map.empty() && node.kind != Kind::reshape) text += indices(operands[p].map);
    line.operands.emplace_back(line.text.size(), text.size());
    line.text += text;
  }
}

Line Printer::line(NodeId id) const {
  const Node& node = graph_.node(id);
  if (is_scalar_constant(node)) return {name(id), {}};
  return line(name(id), node, operands_of(graph_, id));
}

namespace {
std::string marked(const Line& line, int operand) {
  std::string text = "\n  " + line.text;
  if (operand < 0 || operand >= static_cast<int>(line.operands.size())) return text;
  const auto [begin, length] = line.operands[static_cast<std::size_t>(operand)];
  return text + "\n  " + std::string(begin, ' ') + "^" + std::string(length > 1 ? length - 1 : 0, '~');
}
}  // namespace

std::string show(const Graph& graph, NodeId id, int operand) { return marked(Printer(graph).line(id), operand); }
std::string show_new(const Graph& graph, const Node& node, const std::vector<Operand>& operands, int operand) {
  const Printer printer(graph);
  return marked(printer.line(node.kind == Kind::input ? "%" + node.name() : printer.next_name(), node, operands), operand);
}

std::string to_text(const Graph& graph) {
  const Printer printer(graph);
  std::string text = "graph " + quoted(graph.name) + "(";
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) text += (k ? ", " : "") + printer.line(graph.inputs[k]).text;
  text += ") -> (";
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) text += (k ? ", " : "") + printer.name(graph.outputs[k]);
  text += ") {\n" + printer.definitions();
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (has_line(node)) text += "  " + printer.line(id_of(k)).text + "\n";
  }
  return text + "}\n";
}

std::string line_of(const Graph& graph, NodeId id) { return Printer(graph).line(id).text; }

}  // namespace weft
