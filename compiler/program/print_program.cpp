// Programs as text, and their invariants.
#include <algorithm>

#include <weft/text.h>

#include "program.h"

namespace weft {
namespace {


class Printer {
 public:
  Printer(const Graph& graph, const Program& program) : graph_(graph), program_(program) {}
  std::string run() {
    out_ = "program " + program_.name + " {\n";
    for (const Fold& fold : program_.folds)
      if (fold.partial >= 0) out_ += "  merges " + name(fold.node) + " by " + std::string(name_of(fold.accumulator)) + " over " + axis_letter(fold.axis) + "\n";
    for (int searched : program_.searched) out_ += "  searches units by " + buffer(searched) + "\n";
    loop(program_.root, 1);
    return out_ + "}\n";
  }

 private:
  std::string name(NodeId id) const { return Expr(const_cast<Graph&>(graph_), id).name(); }
  std::string buffer(int index) const {
    const Buffer& b = program_.buffer(index);
    if (b.place == Place::row) return "row" + std::to_string(index) + "(" + name(b.node) + ")";
    if (b.place == Place::partial) return "partial(" + name(b.node) + ")";
    if (b.place == Place::index) return "index";
    if (b.place == Place::extent) return "extent(" + to_text(b.size) + ")";
    return name(b.node);
  }
  std::string at(const std::vector<Subscript>& subscripts) const {
    std::string text = "[";
    for (const Subscript& s : subscripts) {
      if (text.size() > 1) text += ",";
      if (s.axis < 0) { text += to_text(s.start); continue; }
      if (!s.start.is(0)) text += to_text(s.start) + (s.step < 0 ? "" : "+");
      if (s.step == -1) text += "-";
      else if (s.step != 1) text += std::to_string(s.step) + "*";
      text += axis_letter(s.axis);
      if (s.period > 0) text += " mod " + std::to_string(s.period);
      if (s.each > 1) text += " div " + std::to_string(s.each);
    }
    return text + "]";
  }
  void parts(const Loop& l, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    for (const Loop& part : l.parts) {
      out_ += indent + (part.bounded == l.var.axis ? std::string("whole vectors") : std::string("where ") + axis_letter(part.bounded) + " is") + bounds(" from ", part.from) + bounds(" to ", part.to) + " {\n";
      for (const Item& item : part.body) out_ += indent + "  " + line(item) + "\n";
      out_ += indent + "}\n";
      parts(part, depth + 1);
    }
  }
  static std::string bounds(const char* word, const std::vector<Bound>& all) {
    std::string text;
    for (const auto& [at, axis] : all) {
      text += text.empty() ? word : " and ";
      text += axis < 0 ? to_text(at) : at.is(0) ? std::string(1, axis_letter(axis)) : axis_letter(axis) + ("+" + to_text(at));
    }
    return text;
  }
  std::string arg(const Arg& a) const { return a.constant ? to_text(*a.constant) : "t" + std::to_string(a.value); }

  void loop(const Loop& l, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    if (l.mark == Mark::once) out_ += indent + "once {\n";
    else {
      const char* marks[] = {"once", "parallel", "blocks", "serial", "lanes"};
      out_ += indent + marks[static_cast<int>(l.mark)] + " " + axis_letter(l.var.axis);
      out_ += " in " + to_text(program_.axis(l.var.axis).extent);
      if (l.mark == Mark::block) out_ += " by " + std::to_string(program_.block);
      else if (l.var.part == Part::tile) out_ += " by " + std::to_string(program_.unit) + (program_.is_one_unit ? ", one unit" : "");
      else if (program_.is_tiled(l.var.axis)) out_ += program_.block > 0 ? " within block" : " within unit";
      for (int f : l.folds) {
        const Fold& fold = program_.fold(f);
        out_ += (f == l.folds.front() ? fold.start ? ", carries " : ", folds " : ", ") + (fold.start ? "s" + std::to_string(f) + " from " + to_text(*fold.start) : name(fold.node) + " by " + std::string(name_of(fold.accumulator))) + " " + to_text(fold.dtype);
        if (fold.row >= 0) out_ += " in " + buffer(fold.row);
      }
      out_ += " {\n";
    }
    for (const Item& item : l.body) {
      if (auto* inner = std::get_if<Loop>(&item)) { loop(*inner, depth + 1); continue; }
      out_ += indent + "  " + line(item) + "\n";
    }
    out_ += indent + "}\n";
    parts(l, depth + 1);
    for (int f : l.folds) {
      const Fold& fold = program_.fold(f);
      if (fold.result >= 0) out_ += indent + "t" + std::to_string(fold.result) + " = " + (fold.start ? "s" + std::to_string(f) : name(fold.node)) + "\n";
    }
  }
  std::string line(const Item& item) const {
    if (auto* load = std::get_if<Load>(&item))
      return "t" + std::to_string(load->result) + " = load " + buffer(load->buffer) + at(load->at) + (load->guarded ? " where written" : "");
    if (auto* compute = std::get_if<Compute>(&item)) {
      std::string text = "t" + std::to_string(compute->result) + " = " + std::string(info(compute->op).name);
      for (const Arg& a : compute->args) text += " " + arg(a);
      return text;
    }
    if (auto* running = std::get_if<Accumulate>(&item); running && running->result >= 0)
      return "t" + std::to_string(running->result) + " = s" + std::to_string(running->fold) + " = " + std::string(name_of(program_.fold(running->fold).accumulator)) + " s" + std::to_string(running->fold) + " " + arg(running->value);
    if (auto* accumulate = std::get_if<Accumulate>(&item))
      return name(program_.fold(accumulate->fold).node) + " += " + arg(accumulate->value) + (accumulate->factor ? " * " + arg(*accumulate->factor) : "");
    if (auto* read = std::get_if<ReadState>(&item)) return "t" + std::to_string(read->result) + " = s" + std::to_string(read->fold);
    if (auto* write = std::get_if<WriteState>(&item)) return "s" + std::to_string(write->fold) + " = " + arg(write->value);
    if (auto* others = std::get_if<Others>(&item))
      return (others->total < 0 ? "" : "t" + std::to_string(others->total) + " = product, ") + "store " + buffer(others->to) + at(others->to_at) + " = product of others along " + axis_letter(others->axis) + " of " + buffer(others->from) + at(others->from_at);
    const auto& store = std::get<Store>(item);
    return "store " + buffer(store.buffer) + at(store.at) + " = " + arg(store.value);
  }

  const Graph& graph_;
  const Program& program_;
  std::string out_;
};

// Values are made once, before they are used.
class Checker {
 public:
  explicit Checker(const Program& program) : program_(program), made_(program.values.size(), false) { loop(program.root); }

 private:
  void make(int value) {
    WEFT_ASSERT(value >= 0 && static_cast<std::size_t>(value) < made_.size() && !made_[static_cast<std::size_t>(value)], "value ", value, " is made twice in ", program_.name);
    made_[static_cast<std::size_t>(value)] = true;
  }
  void use(const Arg& arg) {
    WEFT_ASSERT(arg.constant || (arg.value >= 0 && made_[static_cast<std::size_t>(arg.value)]), "value ", arg.value, " is used before it is made in ", program_.name);
  }
  // What a part makes is for itself, the same values as in the loop's own body.
  void parts(const Loop& l) {
    const std::vector<bool> made_before = made_;
    for (const Loop& part : l.parts) {
      loop(part);
      made_ = made_before;
    }
  }
  void loop(const Loop& l) {
    parts(l);
    for (const Item& item : l.body) {
      if (auto* inner = std::get_if<Loop>(&item)) {
        WEFT_ASSERT(l.mark != Mark::lanes, "a lanes loop has an inner loop in ", program_.name);
        loop(*inner);
      } else if (auto* load = std::get_if<Load>(&item)) {
        make(load->result);
      } else if (auto* compute = std::get_if<Compute>(&item)) {
        for (const Arg& arg : compute->args) use(arg);
        make(compute->result);
      } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
        use(accumulate->value);
        if (accumulate->factor) use(*accumulate->factor);
        if (accumulate->result >= 0) make(accumulate->result);
      } else if (auto* read = std::get_if<ReadState>(&item)) {
        WEFT_ASSERT(l.mark != Mark::lanes, "a state in a register of a lanes loop in ", program_.name);
        make(read->result);
      } else if (auto* write = std::get_if<WriteState>(&item)) {
        use(write->value);
      } else if (auto* store = std::get_if<Store>(&item)) {
        use(store->value);
      } else if (auto* others = std::get_if<Others>(&item); others->total >= 0) {
        make(others->total);
      }
    }
    for (int f : l.folds)
      if (int result = program_.fold(f).result; result >= 0 && l.bounded < 0) make(result);
  }
  const Program& program_;
  std::vector<bool> made_;
};

}  // namespace

std::string to_text(const Graph& graph, const Program& program) { return Printer(graph, program).run(); }
void verify(const Program& program) { Checker checker(program); }

}  // namespace weft
