#include <algorithm>
#include <utility>

#include "slide_plan.h"
#include "variant.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

Index bytes_of(const Plan& plan, NodeId node, const Bindings& bindings) {
  return plan.slots[static_cast<std::size_t>(plan.slot_numbers.at({node, false}))].bytes.evaluate(bindings);
}

Slide::Use numbers(const SlidePlan::Use& use, const Bindings& bindings) {
  return {use.stride.evaluate(bindings), use.first.evaluate(bindings), use.beyond.evaluate(bindings)};
}

// Where the stage of a program stands.
std::size_t stage_of(const Plan& plan, std::size_t program) {
  const auto stage = std::find_if(plan.stages.begin(), plan.stages.end(), [&](const StagePlan& s) { return s.name == plan.programs[program].name; });
  return static_cast<std::size_t>(stage - plan.stages.begin());
}

}  // namespace

std::optional<Slide> slide_in(const SlidePlan& planned, const Variant& variant, const Bindings& bindings, const std::vector<Index>& sizes, int threads) {
  const Plan& plan = variant.plan;
  Slide slide;
  slide.slots = static_cast<Index>(plan.slots.size());
  double whole = 0;
  for (const auto& [node, made, is_whole] : planned.buffers) {
    slide.buffers.push_back({plan.slot_numbers.at({node, false}), numbers(made, bindings), is_whole});
    whole += static_cast<double>(bytes_of(plan, node, bindings));
  }
  Index together = 1;
  for (std::size_t k = 0; k < planned.steps.size(); ++k) {
    const std::size_t number = stage_of(plan, planned.first + k);
    const Program& program = plan.programs[planned.first + k];
    const Stage& stage = variant.kernel.stages[number];
    Slide::Step step{stage, program.axes[static_cast<std::size_t>(program.root.var.axis)].extent.evaluate(bindings), program.unit, sizes[static_cast<std::size_t>(stage.units)],
                     planned.steps[k].makes, {}, planned.steps[k].is_whole};
    for (const auto& [buffer, use] : planned.steps[k].reads) step.reads.push_back({buffer, numbers(use, bindings)});
    slide.steps.push_back(std::move(step));
    together = std::max(together, stage.together);
    if (stage.scratch >= 0) slide.stage_scratch = std::max(slide.stage_scratch, sizes[static_cast<std::size_t>(stage.scratch)]);
  }
  if (whole <= near_bytes(variant.code_options.machine)) return {};
  for (const Slide::Step& step : slide.steps) if (step.units < 1) return {};
  for (const Slide::Buffer& buffer : slide.buffers) if (buffer.made.stride < 1) return {};
  const auto kept = [&](Index strip) {
    slide.set_strip(strip);
    return static_cast<double>(slide.buffer_bytes());
  };
  Index strip = together;
  if (kept(strip) > most_near_bytes(variant.code_options.machine, whole, threads)) return {};
  // Beside short strips it takes long to move what is still read of the ones before.
  const double near = near_bytes(variant.code_options.machine);
  for (const Index lead = slide.lead(); 2 * strip < slide.units() && kept(2 * strip) <= (strip < lead ? 2 * near : near);) strip *= 2;
  slide.set_strip(strip);
  const Index slice = std::max(strip, slices_per_lead * slide.lead());
  if (threads > 1 && slide.units() < threads * slice) return {};
  return slide;
}

std::vector<Stage> stages_of_call(const Variant& variant, const std::vector<std::optional<Slide>>& slides, std::vector<Index>& sizes) {
  const auto add = [&](Index size) {
    sizes.push_back(size);
    return static_cast<int>(sizes.size()) - 1;
  };
  std::vector<Stage> stages;
  std::size_t next = 0;                   // stage of the variant
  for (std::size_t k = 0; k < slides.size(); ++k) {
    if (!slides[k]) continue;
    const Slide& slide = *slides[k];
    const std::size_t first = stage_of(variant.plan, variant.slides[k].first), last = stage_of(variant.plan, variant.slides[k].first + slide.steps.size() - 1);
    for (; next < first; ++next) stages.push_back(variant.kernel.stages[next]);
    Stage one;
    double work = 0;
    for (const Slide::Step& step : slide.steps) work += static_cast<double>(step.units) * static_cast<double>(sizes[static_cast<std::size_t>(step.stage.unit_work)]);
    one.units = add(slide.units());
    one.unit_work = add(std::max<Index>(1, static_cast<Index>(work / static_cast<double>(slide.units()))));
    one.scratch = add(slide.scratch_bytes());
    one.name = slide.steps.front().stage.name + " to " + slide.steps.back().stage.name;
    one.together = (std::max(slide.strip, slices_per_lead * slide.lead()) + slide.strip - 1) / slide.strip * slide.strip;
    one.slide = std::make_shared<const Slide>(slide);
    stages.push_back(std::move(one));
    // What merges the results of a step follows: none of the steps reads them.
    for (; next <= last; ++next)
      if (variant.kernel.stages[next].units < 0) stages.push_back(variant.kernel.stages[next]);
  }
  for (; next < variant.kernel.stages.size(); ++next) stages.push_back(variant.kernel.stages[next]);
  return stages;
}

}  // namespace weft
