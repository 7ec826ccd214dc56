#include "index_conditions.h"

namespace weft {

namespace {

// So that no sum of two of them, and of indices, leaves 64 bits: there integers wrap, and a comparison says nothing of where an index lies.
bool is_small(const Extent& extent) {
  constexpr Index most = Index{1} << 60;
  std::vector<std::string> symbols;
  extent.collect_symbols(symbols);
  Bindings zeros;
  for (const std::string& symbol : symbols) zeros.emplace(symbol, 0);
  const Index number = extent.evaluate(zeros);
  return number >= -most && number <= most;
}

}  // namespace

Extent elements_of_window(const Program& program, const Load& load, const Subscript& s) {
  return s.elements ? *s.elements : program.buffer(load.buffer).extents[static_cast<std::size_t>(s.dim)];
}

bool has_every_index(const Program& program, const Load& load, const Subscript& s) {
  if (s.inside) return true;
  return s.axis >= 0 && s.dim >= 0 && s.step == 1 && s.start.is(0) && elements_of_window(program, load, s) == program.axis(s.axis).extent;
}

std::vector<Subscript> unguarded(const Program& program, const Load& load) {
  std::vector<Subscript> at(program.buffer(load.buffer).extents.size());
  for (const Subscript& s : load.at)
    if (s.dim >= 0) at[static_cast<std::size_t>(s.dim)] = {s.axis, Extent(-s.step) * s.start, s.step};
  return at;
}

void IndexConditions::enter(const Loop& loop) {
  if (has_index(loop)) around_.push_back(loop.var.axis);
}
void IndexConditions::leave(const Loop& loop) {
  if (has_index(loop)) around_.pop_back();
}

void IndexConditions::note(const Item& item, bool outside) {
  if (auto* load = std::get_if<Load>(&item)) {
    const Buffer& from = buffer(load->buffer);
    if (from.place == Place::extent) linear_[load->result] = {from.size};
    if (from.place == Place::index && from.dtype == DType::i64 && load->at[0].axis >= 0 && load->at[0].step == 1 && is_small(load->at[0].start)) linear_[load->result] = {load->at[0].start, load->at[0].axis};
  }
  auto* compute = std::get_if<Compute>(&item);
  if (!compute) return;
  if (compute->op == Op::add || compute->op == Op::subtract)
    if (const auto sum = sum_of(compute->args[0], compute->args[1], compute->op == Op::subtract)) linear_[compute->result] = *sum;
  if (!outside) return;
  outside_.push_back(compute);
  for (const Arg& arg : compute->args)
    if (const auto value = linear_of(arg)) asks_outside_ |= value->plus >= 0 || value->minus >= 0;
}

std::optional<IndexConditions::Linear> IndexConditions::linear_of(const Arg& arg) const {
  if (arg.constant) return arg.constant->dtype() == DType::i64 && is_small(arg.constant->integer()) ? std::optional(Linear{arg.constant->integer()}) : std::nullopt;
  const auto found = linear_.find(arg.value);
  return found == linear_.end() ? std::nullopt : std::optional(found->second);
}
// Their sum or difference.
std::optional<IndexConditions::Linear> IndexConditions::sum_of(const Arg& first, const Arg& second, bool less) const {
  const std::optional<Linear> a = linear_of(first);
  std::optional<Linear> b = linear_of(second);
  if (!a || !b) return {};
  if (less) b = Linear{Extent(0) - b->start, b->minus, b->plus};
  if ((a->plus >= 0 && b->plus >= 0) || (a->minus >= 0 && b->minus >= 0)) return {};
  Linear sum{a->start + b->start, std::max(a->plus, b->plus), std::max(a->minus, b->minus)};
  if (sum.plus == sum.minus) sum.plus = sum.minus = -1;
  return is_small(sum.start) ? std::optional(sum) : std::nullopt;
}

// Of a comparison of the index along an axis with a number, or the index of a loop outside.
std::optional<Condition> IndexConditions::condition_of(const Compute& compute, int along) const {
  if (compute.args.size() != 2) return {};
  const std::optional<Linear> difference = sum_of(compute.args[0], compute.args[1], true);          // compared with 0
  if (!difference || (difference->plus != along && difference->minus != along)) return {};
  const bool turned = difference->minus == along;
  const Bound same = turned ? Bound{difference->start, difference->plus} : Bound{Extent(0) - difference->start, difference->minus};     // where it is 0
  if (same.axis >= 0 && std::find(around_.begin(), around_.end(), same.axis) == around_.end()) return {};
  const Bound next{same.at + 1, same.axis}, first{0}, last{extent(along)};
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

std::optional<Condition> IndexConditions::condition_of(const Load& load, int along) const {
  for (const Subscript& s : load.at) {
    if (!load.guarded || s.axis != along || has_every_index(program_, load, s)) continue;
    if (s.dim < 0) return Condition{load.result, {s.start}, {s.start + 1}};
    const Extent count = elements_of_window(program_, load, s);
    if (s.step == 1) return Condition{load.result, {s.start}, {s.start + count}};
    if (s.step == -1) return Condition{load.result, {s.start + 1 - count}, {s.start + 1}};
  }
  return {};
}

Conditions IndexConditions::of(const Loop& loop, int along) const {
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

// Values made outside that the loop takes, and what these are made of.
std::set<int> IndexConditions::taken_by(const Loop& loop) const {
  std::set<int> taken;
  const auto take = [&](const Arg& arg) { if (!arg.constant) taken.insert(arg.value); };
  for (const Item& item : loop.body) each_arg(item, take);
  for (std::size_t k = outside_.size(); k-- > 0;)
    if (taken.contains(outside_[k]->result)) std::for_each(outside_[k]->args.begin(), outside_[k]->args.end(), take);
  return taken;
}

}  // namespace weft
