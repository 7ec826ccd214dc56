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

struct Numbers {
  const SlidePlan& planned;
  const Variant& variant;
  const Bindings& bindings;
  const std::vector<Index>& sizes;        // of the call
  const Machine& machine() const { return variant.code_options.machine; }
};

// Steps [from, to) of what was planned. What one of the others reads is a whole array.
Slide slide_of(const Numbers& call, std::size_t from, std::size_t to) {
  const auto& [planned, variant, bindings, sizes] = call;
  Slide slide;
  slide.slots = static_cast<Index>(variant.plan.slots.size());
  std::vector<int> numbers_here(planned.buffers.size(), -1);
  for (std::size_t k = from; k < to; ++k) {
    const SlidePlan::Step& step = planned.steps[k];
    const Program& program = variant.plan.programs[planned.first + k];
    const Stage& stage = variant.kernel.stages[step.stage];
    Slide::Step here{stage, program.axis(program.root.var.axis).extent.evaluate(bindings), program.unit, sizes[static_cast<std::size_t>(stage.units)], {}, {},
                     step.is_whole};
    for (const auto& [buffer, use] : step.reads)
      if (const int number = numbers_here[static_cast<std::size_t>(buffer)]; number >= 0) here.reads.push_back({number, numbers(use, bindings)});
    for (int number : step.makes) {
      const SlidePlan::Buffer& made = planned.buffers[static_cast<std::size_t>(number)];
      const bool is_whole = made.is_whole || made.last_reader >= to;
      here.is_whole |= is_whole;
      if (made.first_reader >= to) continue;
      here.makes.push_back(numbers_here[static_cast<std::size_t>(number)] = static_cast<int>(slide.buffers.size()));
      slide.buffers.push_back({variant.plan.slot_numbers.at({made.node, false}), numbers(made.made, bindings), is_whole});
    }
    if (stage.scratch >= 0) slide.stage_scratch = std::max(slide.stage_scratch, sizes[static_cast<std::size_t>(stage.scratch)]);
    slide.steps.push_back(std::move(here));
  }
  return slide;
}

// The most units of a strip with which what is kept stays near. A strip makes no less than it moves, which is when twice its units keep half as much
// more: for that it may keep up to `most`.
bool choose_strip(Slide& slide, const Machine& machine, double most) {
  const auto kept = [&](Index strip) {
    slide.set_strip(strip);
    return static_cast<double>(slide.buffer_bytes());
  };
  const double near = near_bytes(machine);
  Index strip = 1;
  for (const Slide::Step& step : slide.steps) strip = std::max(strip, step.stage.together);
  while (2 * strip < slide.units() && kept(2 * strip) < 1.5 * kept(strip)) strip *= 2;
  if (kept(strip) > most) return false;
  while (2 * strip < slide.units() && kept(2 * strip) <= near) strip *= 2;
  slide.set_strip(strip);
  return strip < slide.units();
}

bool can_slide(const Slide& slide) {
  return std::all_of(slide.steps.begin(), slide.steps.end(), [](const Slide::Step& step) { return step.units > 0; }) &&
         std::all_of(slide.buffers.begin(), slide.buffers.end(), [](const Slide::Buffer& buffer) { return buffer.made.stride > 0; });
}

Index slice_of(const Slide& slide) { return std::max(slide.strip, slices_per_lead * slide.lead()); }

// All steps in so many parts, those of two steps and more as slides. None if what one of them keeps is more than `most`.
std::optional<std::vector<CallSlide>> in_parts(const Numbers& call, std::size_t parts, double most, int threads) {
  std::vector<CallSlide> slides;
  const std::size_t steps = call.planned.steps.size();
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t from = steps * part / parts, to = steps * (part + 1) / parts;
    Slide slide = slide_of(call, from, to);
    if (slide.buffers.empty()) continue;
    if (!choose_strip(slide, call.machine(), most) || (threads > 1 && slide.units() < threads * slice_of(slide))) return {};
    slides.push_back({call.planned.first + from, call.planned.steps[from].stage, call.planned.steps[to - 1].stage, std::move(slide)});
  }
  return slides;
}

}  // namespace

std::vector<CallSlide> slides_in(const SlidePlan& planned, const Variant& variant, const Bindings& bindings, const std::vector<Index>& sizes, int threads) {
  const Numbers call{planned, variant, bindings, sizes};
  double whole = 0;
  for (const SlidePlan::Buffer& buffer : planned.buffers) whole += static_cast<double>(bytes_of(variant.plan, buffer.node, bindings));
  if (whole <= near_bytes(call.machine()) || !can_slide(slide_of(call, 0, planned.steps.size()))) return {};
  const double most = 2 * near_bytes(call.machine());
  for (std::size_t parts = 1; 2 * parts <= planned.steps.size(); parts += (parts + 1) / 2)
    if (const auto slides = in_parts(call, parts, most, threads)) return *slides;
  return in_parts(call, (planned.steps.size() + 1) / 2, most_near_bytes(call.machine(), whole, threads), threads).value_or(std::vector<CallSlide>());
}

namespace {

SlidStages make_slid_stages(const Variant& variant, const std::vector<CallSlide>& slides, const std::vector<Index>& sizes) {
  SlidStages slid;
  slid.is_buffer.assign(variant.plan.slots.size(), false);
  const auto add = [&](Index size) {
    slid.sizes.push_back(size);
    return static_cast<int>(sizes.size() + slid.sizes.size()) - 1;
  };
  std::size_t next = 0;                   // stage of the variant
  for (const auto& [program, first, last, slide] : slides) {
    for (; next < first; ++next) slid.stages.push_back(variant.kernel.stages[next]);
    Stage one;
    double work = 0;
    for (const Slide::Step& step : slide.steps) work += static_cast<double>(step.units) * static_cast<double>(sizes[static_cast<std::size_t>(step.stage.unit_work)]);
    one.units = add(slide.units());
    one.unit_work = add(std::max<Index>(1, static_cast<Index>(work / static_cast<double>(slide.units()))));
    one.scratch = add(slide.scratch_bytes());
    one.name = slide.steps.front().stage.name + " to " + slide.steps.back().stage.name;
    one.together = (slice_of(slide) + slide.strip - 1) / slide.strip * slide.strip;
    one.slide = std::make_shared<const Slide>(slide);
    slid.stages.push_back(std::move(one));
    // What merges the results of a step follows: none of the steps reads them.
    for (; next <= last; ++next)
      if (variant.kernel.stages[next].units < 0) slid.stages.push_back(variant.kernel.stages[next]);
    for (const Slide::Buffer& buffer : slide.buffers) slid.is_buffer[static_cast<std::size_t>(buffer.slot)] = !buffer.is_whole;
  }
  if (slides.empty()) return slid;
  for (; next < variant.kernel.stages.size(); ++next) slid.stages.push_back(variant.kernel.stages[next]);
  return slid;
}

}  // namespace

std::shared_ptr<const SlidStages> slid_stages(const Variant& variant, const Bindings& bindings, const std::vector<Index>& sizes, int threads) {
  const std::scoped_lock lock(variant.slid_mutex);
  if (variant.slid && variant.slid->bindings == bindings) return variant.slid;
  std::vector<CallSlide> slides;
  for (const SlidePlan& planned : variant.slides)
    for (CallSlide& slide : slides_in(planned, variant, bindings, sizes, threads)) slides.push_back(std::move(slide));
  auto slid = std::make_shared<SlidStages>(make_slid_stages(variant, slides, sizes));
  slid->bindings = bindings;
  return variant.slid = std::move(slid);
}

}  // namespace weft
