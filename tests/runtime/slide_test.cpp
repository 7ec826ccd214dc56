// Stages over arrays of integers that slide together, in slices and strips of any length.
#include <weft/slide.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace weft;

namespace {

constexpr Index bytes = static_cast<Index>(sizeof(Index));

// What a stage does: elements [begin, end) of to, each the sum of `taps` elements of from, from step * k + start on. Zero beside it.
struct Work {
  int from, to;
  Index extent, unit, read_extent, step, start, taps;
};
std::vector<Work> works;

template <int number> void sum_taps(void* const* slots, const Index*, Index begin, Index end, std::byte*) {
  const Work& work = works[number];
  const auto* from = static_cast<const Index*>(slots[work.from]);
  auto* to = static_cast<Index*>(slots[work.to]);
  for (Index k = begin * work.unit; k < std::min(work.extent, end * work.unit); ++k) {
    Index sum = k;
    for (Index t = 0; t < work.taps; ++t)
      if (const Index at = work.step * k + work.start + t; at >= 0 && at < work.read_extent) sum += (t + 1) * from[at];
    to[k] = sum;
  }
}
constexpr StageFn functions[] = {sum_taps<0>, sum_taps<1>, sum_taps<2>, sum_taps<3>, sum_taps<4>};

Slide::Use use_of(const Work& work) { return {work.step * bytes, work.start * bytes, (work.start + work.taps) * bytes}; }

// Slot 0 is the input, and each stage has one: of a buffer if another stage reads it, else of a result. `whole`: that is a result, too.
Slide slide_of(int whole = -1) {
  Slide slide;
  slide.slots = static_cast<Index>(works.size()) + 1;
  std::vector<int> buffer_of(works.size() + 1, -1);
  for (std::size_t k = 0; k < works.size(); ++k) {
    const Work& work = works[k];
    Slide::Step step;
    step.stage.run = functions[k];
    step.extent = work.extent;
    step.unit = work.unit;
    step.units = (work.extent + work.unit - 1) / work.unit;
    if (const int read = buffer_of[static_cast<std::size_t>(work.from)]; read >= 0) step.reads.push_back({read, use_of(work)});
    if (std::any_of(works.begin(), works.end(), [&](const Work& reader) { return reader.from == work.to; })) {
      step.makes.push_back(buffer_of[static_cast<std::size_t>(work.to)] = static_cast<int>(slide.buffers.size()));
      slide.buffers.push_back({work.to, {bytes, 0, bytes}, work.to == whole});
    }
    step.is_whole = step.makes.empty() || work.to == whole;
    slide.steps.push_back(std::move(step));
  }
  return slide;
}

// Stages one after the other over whole arrays, and sliding, in the slices [cuts[k], cuts[k + 1]), the last one first.
void check(Index input_extent, Index strip, const std::vector<Index>& cuts, int whole_slot = -1) {
  std::vector<std::vector<Index>> whole{std::vector<Index>(static_cast<std::size_t>(input_extent))}, results;
  for (Index k = 0; k < input_extent; ++k) whole[0][static_cast<std::size_t>(k)] = k * 7919 % 1009;
  for (const Work& work : works) whole.emplace_back(static_cast<std::size_t>(work.extent), -1);
  results = whole;
  std::vector<void*> slots;
  for (auto& array : whole) slots.push_back(array.data());
  for (std::size_t k = 0; k < works.size(); ++k) functions[k](slots.data(), nullptr, 0, (works[k].extent + works[k].unit - 1) / works[k].unit, nullptr);

  Stage stage;
  Slide slide = slide_of(whole_slot);
  slide.set_strip(strip);
  stage.slide = std::make_shared<const Slide>(slide);
  slots.clear();
  for (auto& array : results) slots.push_back(array.data());
  for (const Slide::Buffer& buffer : slide.buffers) if (!buffer.is_whole) slots[static_cast<std::size_t>(buffer.slot)] = nullptr;
  constexpr std::size_t guard = 64;
  for (std::size_t k = cuts.size() - 1; k-- > 0;) {
    const auto size = static_cast<std::size_t>(slide.scratch_bytes());
    std::vector<std::byte> scratch(size + guard, std::byte{0x77});
    run_units(stage, slots.data(), nullptr, cuts[k], cuts[k + 1], scratch.data());
    CHECK(std::all_of(scratch.end() - guard, scratch.end(), [](std::byte b) { return b == std::byte{0x77}; }));
  }
  for (std::size_t k = 0; k < works.size(); ++k) {
    const auto slot = static_cast<std::size_t>(works[k].to);
    if (slots[slot]) CHECK(results[slot] == whole[slot]);
    else CHECK(std::all_of(results[slot].begin(), results[slot].end(), [](Index value) { return value == -1; }));
  }
}

}  // namespace

TEST_CASE("a stencil of a stencil, in strips and slices of any length") {
  works = {{0, 1, 98, 1, 100, 1, 0, 3}, {1, 2, 94, 1, 98, 1, 0, 5}};
  for (const Index strip : {1, 2, 7, 94, 200})
    for (const std::vector<Index>& cuts : {std::vector<Index>{0, 94}, {0, 1, 2, 50, 94}, {0, 93, 94}}) check(100, strip, cuts);
}

TEST_CASE("lines that are still read move to where a buffer begins: it holds a strip and what a stencil reads beside it") {
  works = {{0, 1, 98, 1, 100, 1, 0, 3}, {1, 2, 94, 1, 98, 1, 0, 5}};
  Slide slide = slide_of();
  slide.set_strip(2);
  const Index small = slide.buffer_bytes();
  CHECK(slide.lead() == 4);
  slide.set_strip(10);
  CHECK(slide.buffer_bytes() - small == 8 * bytes);
}

TEST_CASE("steps of several elements, windows beyond both ends, and units of several elements") {
  works = {{0, 1, 100, 1, 100, 1, -1, 3}, {1, 2, 49, 1, 100, 2, 0, 3}, {2, 3, 60, 1, 49, 1, -5, 2}};
  for (const Index strip : {1, 3, 60}) check(100, strip, {0, 7, 31, 60});
  works = {{0, 1, 1000, 16, 1000, 1, 0, 1}, {1, 2, 990, 64, 1000, 1, 3, 8}, {2, 3, 980, 16, 990, 1, 0, 11}};
  for (const Index strip : {1, 2, 5}) check(1000, strip, {0, 3, 40, 62});
}

TEST_CASE("several results of other lengths share the strips of the last one; each of their elements is made") {
  works = {{0, 1, 100, 1, 100, 1, 0, 1}, {1, 2, 100, 1, 100, 1, -1, 3}, {1, 3, 30, 1, 100, 3, 1, 2}, {2, 4, 97, 1, 100, 1, 0, 4}};
  for (const Index strip : {1, 4, 50}) check(100, strip, {0, 1, 12, 97});
}

TEST_CASE("a result that the next stage reads is made as a whole, also where that reads little of it") {
  works = {{0, 1, 98, 1, 100, 1, 0, 3}, {1, 2, 20, 1, 98, 2, 30, 1}};
  for (const Index strip : {1, 3, 20}) check(100, strip, {0, 5, 20}, 1);
}

TEST_CASE("random chains of stages") {
  std::mt19937 random(7);
  const auto pick = [&](Index least, Index most) { return std::uniform_int_distribution<Index>(least, most)(random); };
  for (int k = 0; k < 3000; ++k) {
    works.clear();
    std::vector<Index> extents{pick(1, 300)};
    const int count = static_cast<int>(pick(2, 5));
    for (int stage = 0; stage < count; ++stage) {
      const int from = stage == 0 ? 0 : static_cast<int>(pick(std::max(1, stage - 1), stage));
      const Index read = extents[static_cast<std::size_t>(from)], step = pick(1, 8) == 1 ? 2 : 1;
      extents.push_back(std::max<Index>(1, read / step + pick(-4, 4)));
      works.push_back({from, stage + 1, extents.back(), pick(0, 2) ? 1 : pick(1, 20), read, step, pick(-4, 4), pick(1, 5)});
    }
    const Index units = (works.back().extent + works.back().unit - 1) / works.back().unit;
    std::vector<Index> cuts{0, units};
    if (units > 2) cuts = {0, pick(1, units - 1), units};
    CAPTURE(k);
    check(extents[0], pick(1, 12), cuts, pick(0, 3) ? -1 : static_cast<int>(pick(1, count - 1)));
  }
}
