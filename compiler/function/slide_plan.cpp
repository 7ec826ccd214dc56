#include "slide_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "emit/plan.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

using Use = SlidePlan::Use;

// What an element of the root touches of an array: whole lines of the slowest axis that loops walk, which is the root. None: not so.
std::optional<Use> use_of(const Program& program, const Buffer& buffer, const std::vector<Subscript>& at, bool guarded) {
  const auto rank = buffer.extents.size();
  std::vector<const Subscript*> by_dim(rank, nullptr);
  for (std::size_t k = 0; k < at.size(); ++k) {
    const int dim = guarded ? at[k].dim : static_cast<int>(k);
    if (dim >= 0) by_dim[static_cast<std::size_t>(dim)] = &at[k];
  }
  const auto dim_of = [&](std::size_t from_slowest) { return buffer.order == Order::c ? from_slowest : rank - 1 - from_slowest; };
  Extent offset = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    Extent line = item_bytes(buffer.dtype);
    for (std::size_t faster = k + 1; faster < rank; ++faster) line = line * buffer.extents[dim_of(faster)];
    const Subscript* s = by_dim[dim_of(k)];
    if (!s || (guarded && s->step != 1)) return {};
    const Extent start = guarded ? 0 - s->start : s->start;
    offset = offset + line * start;
    if (s->axis < 0) continue;
    if (s->axis != program.root.var.axis || s->step <= 0 || !s->is_linear()) return {};
    return Use{line * Extent(s->step), offset, offset + line};
  }
  return {};
}

// What a program does with arrays that another makes or reads.
struct Accesses {
  std::map<NodeId, std::vector<std::optional<Use>>> reads, writes;
  std::set<NodeId> others;                // read or written in another way

  explicit Accesses(const Program& program) : program_(program) {
    collect(program.root);
    for (const Fold& fold : program.folds) if (fold.target >= 0) others.insert(node_of(fold.target));
  }
  std::set<NodeId> touched() const {
    std::set<NodeId> nodes = others;
    for (const auto& [node, uses] : reads) nodes.insert(node);
    for (const auto& [node, uses] : writes) nodes.insert(node);
    return nodes;
  }

 private:
  const Buffer& buffer(int number) const { return program_.buffer(number); }
  NodeId node_of(int number) const { return buffer(number).node; }
  bool is_array(int number) const { return buffer(number).place == Place::temporary || buffer(number).place == Place::result; }
  void collect(const Loop& loop) {
    for (const Item& item : loop.body) {
      if (auto* inner = std::get_if<Loop>(&item)) collect(*inner);
      if (auto* load = std::get_if<Load>(&item); load && is_array(load->buffer)) reads[node_of(load->buffer)].push_back(use_of(program_, buffer(load->buffer), load->at, load->guarded));
      if (auto* store = std::get_if<Store>(&item); store && is_array(store->buffer)) writes[node_of(store->buffer)].push_back(use_of(program_, buffer(store->buffer), store->at, false));
      if (auto* products = std::get_if<Others>(&item)) others.insert({node_of(products->from), node_of(products->to)});
    }
    for (const Loop& part : loop.parts) collect(part);
  }
  const Program& program_;
};

bool is_product(const StagePlan& stage) {
  return std::any_of(stage.loops.begin(), stage.loops.end(), [](const LoopCode& code) { return code.in_registers; });
}

class Planner {
 public:
  explicit Planner(const Plan& plan) : plan_(plan) {
    for (const Program& program : plan.programs) accesses_.emplace_back(program);
    for (std::size_t s = 0; s < plan.stages.size(); ++s)         // some merge what the one before them made
      if (stage_of_.size() < plan.programs.size() && plan.stages[s].name == plan.programs[stage_of_.size()].name) stage_of_.push_back(s);
    for (std::size_t p = 0; p < accesses_.size(); ++p) {
      for (const auto& [node, uses] : accesses_[p].writes) makers_.emplace(node, p);
      for (NodeId node : accesses_[p].others) makers_.emplace(node, p);
      for (NodeId node : accesses_[p].touched()) last_users_[node] = p;
      for (const auto& [node, uses] : accesses_[p].reads)
        if (const auto maker = makers_.find(node); maker != makers_.end() && maker->second < p) first_readers_.emplace(node, p);
    }
  }

  std::vector<SlidePlan> run() const {
    std::vector<SlidePlan> plans;
    for (std::size_t first = 0; first < accesses_.size(); ++first)
      if (const std::size_t last = last_of(first); last > first) {
        plans.push_back(plan(first, last));
        first = last;
      }
    return plans;
  }

 private:
  const Program& program(std::size_t p) const { return plan_.programs[p]; }
  bool is_temporary(NodeId node) const {
    return plan_.slots[static_cast<std::size_t>(plan_.slot_numbers.at({node, false}))].place == Place::temporary;
  }
  // How a nest makes the array, if it does so line by line.
  std::optional<Use> made(std::size_t p, NodeId node) const {
    const auto& uses = accesses_[p].writes.at(node);
    return std::all_of(uses.begin(), uses.end(), [&](const auto& use) { return use == uses.front(); }) ? uses.front() : std::nullopt;
  }
  bool can_be_step(std::size_t p) const { return program(p).root.mark == Mark::units && !is_product(plan_.stages[stage_of_[p]]); }

  // Whether a nest can make lines for others: if it reads what it makes, then where it makes it. A unit whose partial results are merged runs
  // once, and none makes them again for another slice; one that is all there is makes no lines.
  bool can_feed(std::size_t p) const {
    for (const auto& [node, reads] : accesses_[p].reads)
      if (accesses_[p].writes.contains(node))
        for (const auto& use : reads) if (!use || use != made(p, node)) return false;
    return !merges(p) && !program(p).is_one_unit;
  }
  bool merges(std::size_t p) const {
    return std::any_of(program(p).folds.begin(), program(p).folds.end(), [](const Fold& fold) { return fold.partial >= 0; });
  }
  // Whether a unit reads what many units make: all of those would be one strip, as of sums of a number for each row.
  bool reads_far(std::size_t p, std::size_t maker, NodeId node) const {
    const Extent made_bytes = made(maker, node)->stride, read_bytes = accesses_[p].reads.at(node).front()->stride;
    return made_bytes.is_number() && read_bytes.is_number() && read_bytes.constant() * program(p).unit > most_units_read * made_bytes.constant() * program(maker).unit;
  }
  // Whether all that it reads of what nests from the first one on make are lines. reads_some: whether there are any.
  bool reads_lines(std::size_t p, std::size_t first, bool& reads_some) const {
    for (NodeId node : accesses_[p].touched()) {
      const auto maker = makers_.find(node);
      if (maker == makers_.end() || maker->second < first || maker->second >= p) continue;
      const auto reads = accesses_[p].reads.find(node);
      if (reads == accesses_[p].reads.end() || accesses_[p].others.contains(node) || accesses_[maker->second].others.contains(node)) return false;
      if (!std::all_of(reads->second.begin(), reads->second.end(), [](const auto& use) { return use.has_value(); })) return false;
      if (!made(maker->second, node) || !can_feed(maker->second) || reads_far(p, maker->second, node)) return false;
      reads_some = true;
    }
    return true;
  }
  // As far as nests read lines that those from the first one on make.
  std::size_t last_of(std::size_t first) const {
    std::size_t last = first;
    for (std::size_t p = first; p < accesses_.size() && can_be_step(p); ++p) {
      bool reads_some = false;
      if (!reads_lines(p, first, reads_some)) break;
      if (reads_some) last = p;
    }
    return last;
  }

  SlidePlan plan(std::size_t first, std::size_t last) const {
    SlidePlan plan;
    plan.first = first;
    std::map<NodeId, int> numbers;
    for (std::size_t p = first; p <= last; ++p) {
      SlidePlan::Step step{stage_of_[p], {}, {}};
      for (const auto& [node, uses] : accesses_[p].reads) {
        const auto number = numbers.find(node);
        if (number == numbers.end()) continue;           // made before the first step, or here
        SlidePlan::Buffer& read = plan.buffers[static_cast<std::size_t>(number->second)];
        read.first_reader = std::min(read.first_reader, p - first);
        read.last_reader = p - first;
        for (const auto& use : uses)
          if (const SlidePlan::Read read{number->second, *use}; std::find(step.reads.begin(), step.reads.end(), read) == step.reads.end()) step.reads.push_back(read);
      }
      step.is_whole = merges(p) || !accesses_[p].others.empty();
      for (const auto& [node, uses] : accesses_[p].writes) {
        const bool is_whole = !is_temporary(node) || last_users_.at(node) > last;
        step.is_whole |= is_whole;
        if (const auto reader = first_readers_.find(node); reader == first_readers_.end() || reader->second > last) continue;
        step.makes.push_back(numbers[node] = static_cast<int>(plan.buffers.size()));
        plan.buffers.push_back({node, *made(p, node), is_whole, last - first + 1, 0});
      }
      plan.steps.push_back(std::move(step));
    }
    return plan;
  }

  const Plan& plan_;
  std::vector<Accesses> accesses_;        // by program
  std::vector<std::size_t> stage_of_;     // likewise
  std::map<NodeId, std::size_t> makers_, first_readers_, last_users_;
};

}  // namespace

std::vector<SlidePlan> plan_slides(const Plan& plan) { return plan.programs.size() < 2 ? std::vector<SlidePlan>() : Planner(plan).run(); }

}  // namespace weft
