#include "work.h"

#include "schedule/cost_model.h"

namespace weft {

namespace {

// How often the loop inside runs its body, for each time that the loop around does.
Extent times_of(const Program& program, const Loop& inner) {
  if (inner.mark == Mark::block) return 1;
  const Index per_root = program.per_root(inner.var.axis);
  return per_root > 0 ? Extent(program.unit * per_root) : program.axis(inner.var.axis).extent;
}

Index work_of_body(const Loop& loop, const Machine& machine) { return loop.weight * element_picoseconds(machine, loop.mark == Mark::lanes); }

// Calls seen(loop, picoseconds of its own) for it and those inside, whose bodies run so many times in all.
template <class Seen> void each_loop(const Program& program, Loop& loop, double times, const Bindings& bindings, const Machine& machine, const Seen& seen) {
  seen(loop, times * static_cast<double>(work_of_body(loop, machine)));
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

}  // namespace

Extent work_of(const Program& program, const Loop& loop, const Machine& machine) {
  Extent work = work_of_body(loop, machine);
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) work = work + times_of(program, *inner) * work_of(program, *inner, machine);
  return work;
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
