#include "partition.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "schedule/cost_model.h"

namespace weft {
namespace {

// What a value says of an index: true, or there, from `begin` to before `end`.
struct Condition {
  int value;
  Bound begin, end;
};
// A value that is a number, or that after the index of one axis, or before that of another: start + plus - minus.
struct Linear {
  Extent start;
  int plus = -1, minus = -1;
};
using Conditions = std::vector<Condition>;
using Answers = std::unordered_map<int, bool>;                   // by value

// How far bounds are from each other where code of their own pays.
struct Lengths {
  Index near_an_end, least;
};

class Partitioner {
 public:
  Partitioner(Program& program, const Bindings& bindings) : program_(program), bindings_(bindings) {}

  void visit(Loop& loop) {
    if (!loop.var.splits() && loop.mark != Mark::lanes) around_.push_back(loop.var.axis);
    for (Item& item : loop.body) {
      if (auto* load = std::get_if<Load>(&item)) note(*load);
      if (auto* compute = std::get_if<Compute>(&item)) note(*compute, loop.mark != Mark::lanes);
      if (auto* inner = std::get_if<Loop>(&item)) visit(*inner);
    }
    if (!loop.var.splits() && loop.mark != Mark::lanes) around_.pop_back();
    if (loop.mark != Mark::lanes || !may_have_parts(loop)) return;
    std::vector<Loop> cases = cases_of(loop);
    if (cases.empty()) loop.parts = parts_of(loop, loop.var.axis, {near_an_end, least_part});
    else loop.parts = std::move(cases);
  }

 private:
  const NestAxis& axis(int number) const { return program_.axes[static_cast<std::size_t>(number)]; }
  const Buffer& buffer(int number) const { return program_.buffers[static_cast<std::size_t>(number)]; }
  Index now(const Extent& extent) const { return extent.evaluate(bindings_); }
  Index now(const Bound& bound) const { return now(bound.at) + (bound.axis < 0 ? 0 : now(axis(bound.axis).extent) / 2); }      // half way along

  void note(const Load& load) {
    const Buffer& from = buffer(load.buffer);
    if (from.place == Place::extent) linear_[load.result] = {from.size};
    if (from.place == Place::index && from.dtype == DType::i64 && load.at[0].axis >= 0 && load.at[0].step == 1) linear_[load.result] = {load.at[0].start, load.at[0].axis};
  }
  void note(const Compute& compute, bool outside) {
    if (compute.op == Op::add || compute.op == Op::subtract)
      if (const auto sum = sum_of(compute.args[0], compute.args[1], compute.op == Op::subtract)) linear_[compute.result] = *sum;
    if (!outside) return;
    outside_.push_back(&compute);
    for (const Arg& arg : compute.args)
      if (const auto value = linear_of(arg)) asks_outside_ |= value->plus >= 0 || value->minus >= 0;
  }

  std::optional<Linear> linear_of(const Arg& arg) const {
    if (arg.constant) return arg.constant->dtype() == DType::i64 ? std::optional(Linear{arg.constant->integer()}) : std::nullopt;
    const auto found = linear_.find(arg.value);
    return found == linear_.end() ? std::nullopt : std::optional(found->second);
  }
  // Their sum or difference.
  std::optional<Linear> sum_of(const Arg& first, const Arg& second, bool less) const {
    const std::optional<Linear> a = linear_of(first);
    std::optional<Linear> b = linear_of(second);
    if (!a || !b) return {};
    if (less) b = Linear{Extent(0) - b->start, b->minus, b->plus};
    if ((a->plus >= 0 && b->plus >= 0) || (a->minus >= 0 && b->minus >= 0)) return {};
    Linear sum{a->start + b->start, std::max(a->plus, b->plus), std::max(a->minus, b->minus)};
    if (sum.plus == sum.minus) sum.plus = sum.minus = -1;
    return sum;
  }

  static bool may_have_parts(const Loop& loop) {
    return loop.weight <= masked_only && std::all_of(loop.body.begin(), loop.body.end(), [](const Item& item) {
             return std::holds_alternative<Load>(item) || std::holds_alternative<Compute>(item) || std::holds_alternative<Store>(item) || std::holds_alternative<Accumulate>(item);
           });
  }

  // ---- conditions
  // Of a comparison of the index along an axis with a number, or the index of a loop outside.
  std::optional<Condition> condition_of(const Compute& compute, int along) const {
    if (compute.args.size() != 2) return {};
    const std::optional<Linear> difference = sum_of(compute.args[0], compute.args[1], true);          // compared with 0
    if (!difference || (difference->plus != along && difference->minus != along)) return {};
    const bool turned = difference->minus == along;
    const Bound same = turned ? Bound{difference->start, difference->plus} : Bound{Extent(0) - difference->start, difference->minus};     // where it is 0
    if (same.axis >= 0 && std::find(around_.begin(), around_.end(), same.axis) == around_.end()) return {};
    const Bound next{same.at + 1, same.axis}, first{0}, last{axis(along).extent};
    Op op = compute.op;
    if (turned) op = op == Op::less ? Op::greater : op == Op::greater ? Op::less : op == Op::less_equal ? Op::greater_equal : op == Op::greater_equal ? Op::less_equal : op;
    switch (op) {
      case Op::less: return Condition{compute.result, first, same};
      case Op::less_equal: return Condition{compute.result, first, next};
      case Op::greater: return Condition{compute.result, next, last};
      case Op::greater_equal: return Condition{compute.result, same, last};
      case Op::equal: return Condition{compute.result, same, next};
      default: return {};
    }
  }
  std::optional<Condition> condition_of(const Load& load, int along) const {
    for (const Subscript& s : load.at) {
      if (!load.guarded || s.axis != along || s.inside || has_every_index(load, s)) continue;
      if (s.dim < 0) return Condition{load.result, {s.start}, {s.start + 1}};
      const Extent& count = buffer(load.buffer).extents[static_cast<std::size_t>(s.dim)];
      if (s.step == 1) return Condition{load.result, {s.start}, {s.start + count}};
      if (s.step == -1) return Condition{load.result, {s.start + 1 - count}, {s.start + 1}};
    }
    return {};
  }
  bool has_every_index(const Load& load, const Subscript& s) const {
    return s.inside || (s.axis >= 0 && s.dim >= 0 && s.step == 1 && s.start.is(0) && buffer(load.buffer).extents[static_cast<std::size_t>(s.dim)] == axis(s.axis).extent);
  }
  Conditions conditions_of(const Loop& loop, int along) const {
    Conditions found;
    const auto add = [&](const std::optional<Condition>& condition) { if (condition) found.push_back(*condition); };
    for (const Item& item : loop.body) {
      if (auto* load = std::get_if<Load>(&item)) add(condition_of(*load, along));
      if (auto* compute = std::get_if<Compute>(&item)) add(condition_of(*compute, along));
    }
    if (along == loop.var.axis || !asks_outside_) return found;
    const std::set<int> taken = taken_by(loop);
    for (const Compute* compute : outside_)
      if (taken.contains(compute->result)) add(condition_of(*compute, along));
    return found;
  }
  // What an item takes, but for a load.
  template <class AnItem, class Take> static void each_arg(AnItem& item, Take take) {
    if (auto* compute = std::get_if<Compute>(&item)) std::for_each(compute->args.begin(), compute->args.end(), take);
    if (auto* store = std::get_if<Store>(&item)) take(store->value);
    if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      take(accumulate->value);
      if (accumulate->factor) take(*accumulate->factor);
    }
  }
  // Values made outside that the loop takes, and what these are made of.
  std::set<int> taken_by(const Loop& loop) const {
    std::set<int> taken;
    const auto take = [&](const Arg& arg) { if (!arg.constant) taken.insert(arg.value); };
    for (const Item& item : loop.body) each_arg(item, take);
    for (std::size_t k = outside_.size(); k-- > 0;)
      if (taken.contains(outside_[k]->result)) std::for_each(outside_[k]->args.begin(), outside_[k]->args.end(), take);
    return taken;
  }

  // ---- parts
  // Bounds away from both ends, in order, in the call that compiles.
  std::vector<Index> inner_bounds(const Conditions& conditions, Index extent, Index near) const {
    std::vector<Index> bounds;
    for (const Condition& condition : conditions)
      for (const Bound& bound : {condition.begin, condition.end})
        if (const Index at = now(bound); at > near && extent - at > near) bounds.push_back(at);
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds;
  }

  std::vector<Loop> parts_of(const Loop& loop, int along, const Lengths& lengths) const {
    const Index size = now(axis(along).extent);
    if (size < lengths.least) return {};
    const Conditions conditions = conditions_of(loop, along);
    const std::vector<Index> bounds = inner_bounds(conditions, size, lengths.near_an_end);
    if (conditions.empty() || bounds.size() >= most_parts) return {};
    std::vector<Loop> parts;
    for (std::size_t k = 0; k <= bounds.size(); ++k) {
      const Index begin = k == 0 ? 0 : bounds[k - 1], end = k == bounds.size() ? size : bounds[k];
      if (end - begin >= lengths.least) parts.push_back(part_of(loop, along, conditions, begin + (end - begin) / 2));
    }
    return pay(parts, 1) ? parts : std::vector<Loop>();
  }
  // Whether so many bodies, for each of several cases, are not too much code.
  static bool pay(const std::vector<Loop>& parts, std::size_t cases) {
    int weight = 0;
    for (const Loop& part : parts) weight += part.weight;
    return cases * parts.size() <= few_parts || static_cast<int>(cases) * weight <= small_parts;
  }

  // For the loop outside of whose index the body asks most. What a loop folds is one value, whichever body made it.
  std::vector<Loop> cases_of(const Loop& loop) const {
    if (!loop.folds.empty()) return {};
    int along = -1;
    std::size_t most = 0;
    for (std::size_t other = 0; other < program_.axes.size(); ++other) {
      if (static_cast<int>(other) == loop.var.axis || program_.per_root(static_cast<int>(other)) > 0) continue;
      if (const std::size_t count = conditions_of(loop, static_cast<int>(other)).size(); count > most) along = static_cast<int>(other), most = count;
    }
    if (along < 0) return {};
    std::vector<Loop> cases = parts_of(loop, along, {near_last_row, least_rows});
    for (Loop& each : cases) {
      std::vector<Loop> parts = parts_of(each, loop.var.axis, {near_an_end, least_part});
      if (pay(parts, cases.size())) each.parts = std::move(parts);
    }
    return cases;
  }

  // The body for the indices around `middle` where the conditions say the same. Which these are is found out at run time.
  Loop part_of(const Loop& loop, int along, const Conditions& conditions, Index middle) const {
    Loop part;
    part.mark = Mark::lanes;
    part.var = loop.var;
    part.folds = loop.folds;
    part.bounded = along;
    Answers holds;
    const auto from = [&](const Bound& bound) { if (bound.axis >= 0 || !bound.at.is_number() || bound.at.constant() > 0) add(part.from, bound); };
    const auto to = [&](const Bound& bound) { if (const Extent beyond = bound.at - axis(along).extent; bound.axis >= 0 || !beyond.is_number() || beyond.constant() < 0) add(part.to, bound); };
    for (const auto& [value, begin, end] : conditions) {
      const bool before = middle < now(begin), after = middle >= now(end);
      holds[value] = !before && !after;
      if (before) to(begin);
      else if (after) from(end);
      else from(begin), to(end);
    }
    answer(loop, along, holds, part);
    return part;
  }
  static void add(std::vector<Bound>& bounds, const Bound& bound) {
    if (std::find(bounds.begin(), bounds.end(), bound) == bounds.end()) bounds.push_back(bound);
  }

  // ---- bodies
  void answer(const Loop& loop, int along, const Answers& holds, Loop& part) const {
    std::unordered_map<int, Arg> known;                          // by value: what stands for it
    const auto is_known = [&](const Compute& compute) {
      if (const auto condition = holds.find(compute.result); condition != holds.end()) known[compute.result] = {-1, Scalar::of(DType::bool_, condition->second)};
      else if (const std::optional<Arg> one = one_of(compute)) known[compute.result] = *one;
      else return false;
      return true;
    };
    const auto take_known = [&](Arg& arg) {
      if (const auto other = arg.constant ? known.end() : known.find(arg.value); other != known.end()) arg = Arg(other->second);
    };
    for (const Compute* outside : outside_) {
      Compute compute = *outside;
      std::for_each(compute.args.begin(), compute.args.end(), take_known);
      is_known(compute);
    }
    for (Item item : loop.body) {
      if (auto* load = std::get_if<Load>(&item)) {
        if (const auto condition = holds.find(load->result); condition != holds.end()) {
          if (!condition->second) {
            known[load->result] = {-1, Scalar::of(program_.values[static_cast<std::size_t>(load->result)], std::int64_t{0})};
            continue;
          }
          read_inside(*load, along);
        }
      }
      each_arg(item, take_known);
      if (auto* compute = std::get_if<Compute>(&item); compute && is_known(*compute)) continue;
      part.body.push_back(std::move(item));
    }
    drop_unused(part);
  }

  // What an op with known conditions gives, if that is one of its operands.
  static std::optional<Arg> one_of(const Compute& compute) {
    const auto known = [&](std::size_t k) { return compute.args[k].constant && compute.args[k].constant->dtype() == DType::bool_; };
    const auto holds = [&](std::size_t k) { return compute.args[k].constant->integer() != 0; };
    if (compute.op == Op::where && known(0)) return compute.args[holds(0) ? 1 : 2];
    for (std::size_t k = 0; k < 2 && (compute.op == Op::logical_and || compute.op == Op::logical_or); ++k)
      if (known(k)) return compute.args[holds(k) == (compute.op == Op::logical_and) ? 1 - k : k];
    return {};
  }

  // A load whose window has every index along the axis: a plain one, if it has all along the others.
  void read_inside(Load& load, int along) const {
    for (Subscript& s : load.at) if (s.axis == along) s.inside = true;
    if (!std::all_of(load.at.begin(), load.at.end(), [&](const Subscript& s) { return has_every_index(load, s); })) return;
    std::vector<Subscript> at(buffer(load.buffer).extents.size());
    for (const Subscript& s : load.at)
      if (s.dim >= 0) at[static_cast<std::size_t>(s.dim)] = {s.axis, Extent(-s.step) * s.start, s.step};
    load.at = std::move(at);
    load.guarded = false;
  }

  void drop_unused(Loop& part) const {
    std::vector<bool> used(program_.values.size(), false);
    const auto use = [&](const Arg& arg) { if (!arg.constant) used[static_cast<std::size_t>(arg.value)] = true; };
    std::vector<Item> kept;
    for (std::size_t k = part.body.size(); k-- > 0;) {
      Item& item = part.body[k];
      auto* load = std::get_if<Load>(&item);
      auto* compute = std::get_if<Compute>(&item);
      if (const int made = load ? load->result : compute ? compute->result : -1; made >= 0 && !used[static_cast<std::size_t>(made)]) continue;
      each_arg(item, use);
      part.weight += compute ? op_cost(compute->op) : std::holds_alternative<Store>(item) ? 0 : 1;
      kept.push_back(std::move(item));
    }
    part.body.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  }

  Program& program_;
  const Bindings& bindings_;
  std::vector<const Compute*> outside_;                          // of vector loops, in order
  bool asks_outside_ = false;                                    // whether one of them takes an index
  std::unordered_map<int, Linear> linear_;                       // by value
  std::vector<int> around_;                                      // axes of the loops around, those that go by elements
};

}  // namespace

void partition_loops(Program& program, const Bindings& bindings) { Partitioner(program, bindings).visit(program.root); }

}  // namespace weft
