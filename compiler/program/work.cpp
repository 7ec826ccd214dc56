#include "work.h"

#include "schedule/cost_model.h"
#include "visit.h"

namespace weft {

namespace {

// How often the loop inside runs its body, for each time that the loop around does.
Extent times_of(const Program& program, const Loop& inner) {
  if (inner.mark == Mark::block) return 1;
  const Index per_root = program.per_root(inner.var.axis);
  return per_root > 0 ? Extent(program.unit * per_root) : program.axis(inner.var.axis).extent;
}

Index work_of_body(const Loop& loop, const Machine& machine, int weight) { return weight * element_picoseconds(machine, loop.mark == Mark::lanes); }

// Calls seen(loop, picoseconds of its own) for it and those inside, whose bodies run so many times in all.
template <class Seen> void each_loop(const Program& program, Loop& loop, double times, const Bindings& bindings, const Machine& machine, const Seen& seen) {
  seen(loop, times * static_cast<double>(work_of_body(loop, machine, loop.weight)));
  for (Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) each_loop(program, *inner, times * static_cast<double>(times_of(program, *inner).evaluate(bindings)), bindings, machine, seen);
}

template <class Seen> void each_loop(std::vector<Program>& programs, const Bindings& bindings, const Machine& machine, const Seen& seen) {
  for (Program& program : programs) {
    const bool once = program.root.mark == Mark::once;
    const double units = once ? 1 : static_cast<double>(program.axis(program.root.var.axis).extent.evaluate(bindings)) / static_cast<double>(program.unit);
    each_loop(program, program.root, units, bindings, machine, seen);
  }
}

// Of its instructions, in one iteration of the loop, loops inside included: for any sizes, or with numbers for how often those run.
template <class Amount, class Times> Amount work_of(const Loop& loop, const Machine& machine, const LoopWeight& weight, const Times& times) {
  auto work = static_cast<Amount>(work_of_body(loop, machine, weight(loop)));
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) work = work + times(*inner) * work_of<Amount>(*inner, machine, weight, times);
  return work;
}

// An array that a program reads or writes, once for each buffer and each of the two.
struct Traffic {
  int buffer;
  bool is_written;
  const std::vector<Subscript>* at;
};

void find_traffic(const Program& program, std::vector<Traffic>& found) {
  const auto note = [&](int buffer, const std::vector<Subscript>& at, bool is_written) {
    const Place place = program.buffer(buffer).place;
    const bool known = std::any_of(found.begin(), found.end(), [&](const Traffic& each) { return each.buffer == buffer && each.is_written == is_written; });
    if (!known && (place == Place::argument || place == Place::result || place == Place::temporary)) found.push_back({buffer, is_written, &at});
  };
  each_item(program.root, [&](const Item& item, const Loop&) { each_access(item, note); });
}

// Bytes of a unit, and of the whole array in the call that compiles. What does not depend on the root, or repeats along an axis, stays in a cache: none of a unit.
Extent bytes_of_unit(const Program& program, const Traffic& traffic) {
  Extent bytes = item_bytes(program.buffer(traffic.buffer).dtype);
  bool follows = false;
  for (const Subscript& s : *traffic.at) {
    if (s.axis < 0) continue;
    if (s.period > 0) return 0;
    const bool is_root = s.axis == program.root.var.axis;
    const Index per_root = program.per_root(s.axis);
    bytes = bytes * (per_root > 0 ? Extent(program.unit * per_root) : is_root ? Extent(1) : program.axis(s.axis).extent);
    follows |= is_root || per_root > 0;
  }
  return follows ? bytes : Extent(0);
}
double bytes_of_array(const Program& program, const Traffic& traffic) {
  double bytes = static_cast<double>(item_bytes(program.buffer(traffic.buffer).dtype));
  for (const Subscript& s : *traffic.at)
    if (s.axis >= 0) bytes *= static_cast<double>(s.period > 0 ? s.period : std::max<Index>(1, program.axis(s.axis).hint / s.each));
  return bytes;
}

}  // namespace

Extent work_of_unit(const Program& program, const Machine& machine, const LoopWeight& weight) {
  const auto instructions = work_of<Extent>(program.root, machine, weight, [&](const Loop& inner) { return times_of(program, inner); });
  std::vector<Traffic> all;
  find_traffic(program, all);
  double bytes = 0;
  for (const Traffic& each : all) bytes += bytes_of_array(program, each);
  if (program.root.mark == Mark::once || bytes <= machine.first_level_bytes) return instructions;
  const MemoryCost line = memory_cost(machine, bytes);
  Extent memory = 0;
  double of_all = 0;
  for (const Traffic& each : all) {
    const double picoseconds = (each.is_written ? line.write : line.read) * machine.vector_ps;
    memory = memory + floor_div(bytes_of_unit(program, each) * Extent(std::llround(picoseconds)), line_bytes);
    of_all += bytes_of_array(program, each) / static_cast<double>(line_bytes) * picoseconds;
  }
  const double units = static_cast<double>(program.axis(program.root.var.axis).hint) / static_cast<double>(program.unit);
  const auto in_this_call = work_of<double>(program.root, machine, weight, [&](const Loop& inner) {
    const Extent times = times_of(program, inner);
    return static_cast<double>(times.is_number() ? times.constant() : program.axis(inner.var.axis).hint);
  });
  return of_all > units * in_this_call ? memory : instructions;
}

void mark_run_times(std::vector<Program>& programs, const Bindings& bindings, const Machine& machine) {
  double all = 0;
  each_loop(programs, bindings, machine, [&](const Loop&, double own) { all += own; });
  each_loop(programs, bindings, machine, [&](Loop& loop, double own) {
    loop.is_seldom_run = loop.mark == Mark::lanes && own < next_to_nothing * all;
    loop.is_long_run = loop.mark == Mark::lanes && own >= long_run;
  });
}

}  // namespace weft
