#include "partition.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "index_conditions.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

using Answers = std::unordered_map<int, bool>;                   // by value

// How far bounds are from each other where code of their own pays.
struct Lengths {
  Index near_an_end, least;
};

class Partitioner {
 public:
  Partitioner(Program& program, const Bindings& bindings) : program_(program), bindings_(bindings), asked_(program) {}

  void visit(Loop& loop) {
    asked_.enter(loop);
    for (Item& item : loop.body) {
      asked_.note(item, loop.mark != Mark::lanes);
      if (auto* inner = std::get_if<Loop>(&item)) visit(*inner);
    }
    asked_.leave(loop);
    if (loop.mark != Mark::lanes || !may_have_parts(loop)) return;
    std::vector<Loop> cases = cases_of(loop);
    if (cases.empty()) loop.parts = parts_of(loop, loop.var.axis, {near_an_end, least_part});
    else loop.parts = std::move(cases);
  }

 private:
  const NestAxis& axis(int number) const { return program_.axis(number); }
  const Buffer& buffer(int number) const { return program_.buffer(number); }
  Index now(const Extent& extent) const { return extent.evaluate(bindings_); }
  Index now(const Bound& bound) const { return now(bound.at) + (bound.axis < 0 ? 0 : now(axis(bound.axis).extent) / 2); }      // half way along

  static bool may_have_parts(const Loop& loop) {
    return loop.weight <= masked_only && std::all_of(loop.body.begin(), loop.body.end(), [](const Item& item) {
             return std::holds_alternative<Load>(item) || std::holds_alternative<Compute>(item) || std::holds_alternative<Store>(item) || std::holds_alternative<Accumulate>(item);
           });
  }

  // ---- parts
  // Bounds away from both ends, in order, in the call that compiles.
  std::vector<Index> inner_bounds(const Conditions& conditions, Index extent, Index near) const {
    std::vector<Index> bounds;
    for (const Condition& condition : conditions)
      for (const Bound& bound : {condition.begin, condition.end})
        if (const Index at = now(bound); at >= near && extent - at >= near) bounds.push_back(at);
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds;
  }

  // Of known extents: what is left of vectors is known as well.
  bool are_short_rows(const Conditions& conditions, int along) const {
    const Extent& extent = axis(along).extent;
    const auto is_known = [](const Bound& bound) { return bound.axis < 0 && bound.at.is_number(); };
    return extent.is_number() && extent.constant() <= masked_rows && std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) { return is_known(condition.begin) && is_known(condition.end); });
  }
  // Of known extents: then the parts are all there is, and no vector asks.
  bool are_whole_vectors(const Conditions& conditions, int along) const {
    const auto is_whole = [](const Extent& extent) { return extent.is_number() && extent.constant() % lane_count == 0; };
    return is_whole(axis(along).extent) && std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
      return condition.begin.axis < 0 && condition.end.axis < 0 && is_whole(condition.begin.at) && is_whole(condition.end.at);
    });
  }
  std::vector<Loop> parts_of(const Loop& loop, int along, Lengths lengths) const {
    const Index size = now(axis(along).extent);
    const Conditions conditions = asked_.of(loop, along);
    if (along == loop.var.axis && are_short_rows(conditions, along)) lengths = {least_of_short_row, least_of_short_row};
    if (size < lengths.least) return {};
    if (along == loop.var.axis && are_whole_vectors(conditions, along)) lengths = {lane_count, lane_count};
    const std::vector<Index> bounds = inner_bounds(conditions, size, lengths.near_an_end);
    if (conditions.empty() || bounds.size() >= most_parts) return {};
    std::vector<Loop> parts;
    for (std::size_t k = 0; k <= bounds.size(); ++k) {
      const Index begin = k == 0 ? 0 : bounds[k - 1], end = k == bounds.size() ? size : bounds[k];
      if (end - begin >= lengths.least) parts.push_back(part_of(loop, along, conditions, begin + (end - begin) / 2));
    }
    return pay(loop, parts, 1) ? parts : std::vector<Loop>();
  }
  // Whether the parts of a loop, for each of several cases, are not too much code.
  static bool pay(const Loop& loop, const std::vector<Loop>& parts, std::size_t cases) {
    int weight = 0;
    for (const Loop& part : parts) weight += part.weight;
    weight *= static_cast<int>(cases);
    return weight <= small_parts || (cases * parts.size() <= few_parts && weight <= 2 * loop.weight);
  }

  // For the loop outside of whose index the body asks most. What a loop folds is one value, whichever body made it.
  std::vector<Loop> cases_of(const Loop& loop) const {
    if (!loop.folds.empty()) return {};
    int along = -1;
    std::size_t most = 0;
    for (std::size_t other = 0; other < program_.axes.size(); ++other) {
      if (static_cast<int>(other) == loop.var.axis || program_.per_root(static_cast<int>(other)) > 0) continue;
      if (const std::size_t count = asked_.of(loop, static_cast<int>(other)).size(); count > most) along = static_cast<int>(other), most = count;
    }
    if (along < 0) return {};
    std::vector<Loop> cases = parts_of(loop, along, {near_last_row, least_rows});
    for (Loop& each : cases) {
      std::vector<Loop> parts = parts_of(each, loop.var.axis, {near_an_end, least_part});
      if (pay(loop, parts, cases.size())) each.parts = std::move(parts);
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
    const auto from = [&](const Bound& bound) { if (bound.axis >= 0 || !bound.at.is_number() || bound.at.constant() > 0) add(part.from, bound, [](const Bound& a, const Bound& b) { return is_before(b, a); }); };
    const auto to = [&](const Bound& bound) { if (const Extent beyond = bound.at - axis(along).extent; bound.axis >= 0 || !beyond.is_number() || beyond.constant() < 0) add(part.to, bound, is_before); };
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
  // Of bounds of which one is known to be the tighter one, that.
  template <class Tighter> static void add(std::vector<Bound>& bounds, const Bound& bound, Tighter is_tighter) {
    for (const Bound& other : bounds) if (is_tighter(other, bound)) return;
    std::erase_if(bounds, [&](const Bound& other) { return is_tighter(bound, other); });
    bounds.push_back(bound);
  }
  // Or the same, whatever the sizes are.
  static bool is_before(const Bound& a, const Bound& b) { return a.axis == b.axis && is_never_negative(b.at - a.at); }
  // Sums, products and quotients of sizes, which are none: what has no minus.
  static bool is_never_negative(const Extent& extent) { return to_text(extent).find('-') == std::string::npos; }

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
    for (const Compute* outside : asked_.outside()) {
      Compute compute = *outside;
      std::for_each(compute.args.begin(), compute.args.end(), take_known);
      is_known(compute);
    }
    for (Item item : loop.body) {
      if (auto* load = std::get_if<Load>(&item)) {
        if (const auto condition = holds.find(load->result); condition != holds.end()) {
          if (!condition->second) {
            known[load->result] = {-1, Scalar::of(program_.dtype_of(load->result), std::int64_t{0})};
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
    if (!std::all_of(load.at.begin(), load.at.end(), [&](const Subscript& s) { return has_every_index(program_, load, s); })) return;
    load.at = unguarded(program_, load);
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
  IndexConditions asked_;
};

}  // namespace

void partition_loops(Program& program, const Bindings& bindings) { Partitioner(program, bindings).visit(program.root); }

}  // namespace weft
