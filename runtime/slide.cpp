#include <weft/slide.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace weft {

namespace {

struct Range {
  Index begin, end;
};

constexpr Index line = 64;
constexpr Index beyond_buffer = 1024;      // whole vectors may end behind what is read of them

Index floor_of(Index a, Index b) { return a / b - (a % b < 0 ? 1 : 0); }
Index ceil_of(Index a, Index b) { return -floor_of(-a, b); }
Index in_lines(Index bytes) { return ceil_of(bytes, line) * line; }

// Where in its units a step that is whole is when the last one is at unit `at`.
Index share_of(const Slide::Step& step, Index at, Index all) { return step.units / all * at + floor_of(step.units % all * at, all); }

// Elements that hold these bytes.
Range elements_of(const Slide::Use& use, Range bytes) { return {floor_of(bytes.begin - use.first, use.stride), ceil_of(bytes.end - use.beyond, use.stride) + 1}; }

void add(Range& all, Range more) { all = {std::min(all.begin, more.begin), std::max(all.end, more.end)}; }

// Whether what a step makes for a strip may differ from strip to strip by a unit at either end.
bool is_rounded(const Slide& slide, std::size_t k) {
  const Slide::Step& step = slide.steps[k];
  if (step.unit > 1 || (step.is_whole && step.units != slide.units())) return true;
  for (const Slide::Step& reader : slide.steps)
    for (const auto& [b, use] : reader.reads)
      if (std::count(step.makes.begin(), step.makes.end(), b) > 0 && use.stride % slide.buffers[static_cast<std::size_t>(b)].made.stride != 0) return true;
  return false;
}

// What each step makes, in elements, and what is read of each buffer, in bytes, for units [at, to) of the last step, if each step goes on where it
// was: ends[k]. As if no axis had a first element and a last one: ranges that move on with `at`, and are cut off where they are used.
// `widest`: as wide as for any strip that is as long.
void find_needs(const Slide& slide, Index at, Index to, const Index* ends, Range* elements, Range* bytes, bool widest = false) {
  constexpr Range none{std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()};
  std::fill(bytes, bytes + slide.buffers.size(), none);
  for (std::size_t k = slide.steps.size(); k-- > 0;) {
    const Slide::Step& step = slide.steps[k];
    Range own = none;
    for (int b : step.makes) add(own, elements_of(slide.buffers[static_cast<std::size_t>(b)].made, bytes[b]));
    if (step.is_whole) add(own, {share_of(step, at, slide.units()) * step.unit, share_of(step, to, slide.units()) * step.unit});
    own = {floor_of(own.begin, step.unit) * step.unit, ceil_of(own.end, step.unit) * step.unit};
    if (ends) own.begin = std::max(own.begin, ends[k]);                    // beyond the end: the step waits, and what it will read is kept
    if (widest && is_rounded(slide, k)) own = {own.begin - step.unit, own.end + step.unit};
    for (const auto& [b, use] : step.reads) add(bytes[b], {use.stride * own.begin + use.first, use.stride * (own.end - 1) + use.beyond});
    elements[k] = own;
  }
}

// Strips of units [begin, end). Before the first one others come, of which the last step makes nothing: what it needs is made strip by strip, too.
template <class Strip> void for_strips(const Slide& slide, Index begin, Index end, Range* elements, Range* bytes, Index* ends, Strip strip) {
  find_needs(slide, begin, begin + 1, nullptr, elements, bytes);
  for (std::size_t k = 0; k < slide.steps.size(); ++k) ends[k] = elements[k].begin;
  for (Index at = begin - slide.lead_strips * slide.strip; at < end; at += slide.strip) {
    strip(at, std::min(at + slide.strip, end));
    for (std::size_t k = 0; k < slide.steps.size(); ++k) ends[k] = std::max(ends[k], elements[k].end);
  }
}

// One slice. Its state, and a table of slots of its own, lie in scratch.
class Slider {
 public:
  Slider(const Slide& slide, void* const* slots, const Index* sizes, std::byte* scratch)
      : slide_(slide), sizes_(sizes), scratch_(scratch), table_(take<void*>(slide.slots)), needed_(take<Range>(slide.steps.size())), read_(take<Range>(slide.buffers.size())),
        done_(take<Index>(slide.steps.size())), ends_(take<Index>(slide.steps.size())), states_(take<State>(slide.buffers.size())) {
    std::copy(slots, slots + slide.slots, table_);
    std::fill(done_, done_ + slide.steps.size(), 0);
    for (std::size_t b = 0; b < slide.buffers.size(); ++b) states_[b] = {take<std::byte>(slide.buffers[b].capacity), -1, 0};
  }
  void run(Index begin, Index end) {
    for_strips(slide_, begin, end, needed_, read_, ends_, [&](Index at, Index to) {
      find_needs(slide_, at, to, ends_, needed_, read_);
      for (std::size_t k = 0; k < slide_.steps.size(); ++k) run_step(k);
    });
  }

 private:
  struct State {
    std::byte* memory;
    Index base, end;                      // bytes of the array that it holds; -1: none yet
  };

  template <class T> T* take(std::size_t count) {
    auto* memory = reinterpret_cast<T*>(scratch_);
    scratch_ += in_lines(static_cast<Index>(count * sizeof(T)));
    return memory;
  }
  template <class T> T* take(Index count) { return take<T>(static_cast<std::size_t>(count)); }

  void run_step(std::size_t k) {
    const Slide::Step& step = slide_.steps[k];
    const Index from = std::max(done_[k], needed_[k].begin / step.unit), to = std::min(step.units, needed_[k].end / step.unit);
    if (from >= to) return;
    for (int b : step.makes)
      if (!slide_.buffers[static_cast<std::size_t>(b)].is_whole) make_room(b, from * step.unit, std::min(to * step.unit, step.extent));
    run_units(step.stage, table_, sizes_, from, to, scratch_);
    done_[k] = to;
  }
  // For what elements [from, to) of the axis make of a buffer. What is still read moves to its begin if there is not enough behind it.
  void make_room(int number, Index from, Index to) {
    const Slide::Buffer& buffer = slide_.buffers[static_cast<std::size_t>(number)];
    State& state = states_[number];
    const Index first = buffer.made.stride * from + buffer.made.first, end = buffer.made.stride * (to - 1) + buffer.made.beyond;
    if (state.base < 0) {
      state.base = first / line * line;
    } else if (end - state.base > buffer.capacity - beyond_buffer) {
      const Index keep = std::max(state.base, std::min(read_[number].begin, first)) / line * line;
      if (state.end > keep) std::memmove(state.memory, state.memory + (keep - state.base), static_cast<std::size_t>(state.end - keep));
      state.base = keep;
    }
    state.end = end;
    table_[buffer.slot] = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(state.memory) - static_cast<std::uintptr_t>(state.base));
  }

  const Slide& slide_;
  const Index* sizes_;
  std::byte* scratch_;
  void** table_;
  Range *needed_, *read_;
  Index *done_, *ends_;                   // by step, in units: made; and in elements, as if there were no first one
  State* states_;

 public:
  static Index state_bytes(const Slide& slide) {
    const auto steps = static_cast<Index>(slide.steps.size()), buffers = static_cast<Index>(slide.buffers.size());
    const auto bytes = [](Index count, std::size_t each) { return in_lines(count * static_cast<Index>(each)); };
    return bytes(slide.slots, sizeof(void*)) + bytes(steps, sizeof(Range)) + bytes(buffers, sizeof(Range)) + 2 * bytes(steps, sizeof(Index)) + bytes(buffers, sizeof(State));
  }
};

}  // namespace

Index Slide::buffer_bytes() const {
  Index bytes = 0;
  for (const Buffer& buffer : buffers) bytes += buffer.capacity;
  return bytes;
}

Index Slide::scratch_bytes() const { return Slider::state_bytes(*this) + buffer_bytes() + stage_scratch; }

Index Slide::lead() const {
  std::vector<Range> elements(steps.size()), bytes(buffers.size());
  find_needs(*this, 0, 1, nullptr, elements.data(), bytes.data());
  Index most = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Index made = ceil_of(elements[k].end - elements[k].begin, steps[k].unit);
    most = std::max(most, ceil_of(made * units(), std::max<Index>(steps[k].units, 1)) - 1);
  }
  return most;
}

// The longest part of each buffer that a strip reads and makes. Ranges move on with the strips, each at its own pace, so that those of the first slice
// and of the last one are the longest.
void Slide::set_strip(Index strip_units) {
  strip = strip_units;
  lead_strips = ceil_of(lead(), strip);
  std::vector<Range> elements(steps.size()), bytes(buffers.size());
  std::vector<Index> ends(steps.size());
  for (Buffer& buffer : buffers) buffer.capacity = 0;
  for (const Index begin : {Index{0}, std::max<Index>(0, units() - 2 * strip)})
    for_strips(*this, begin, begin + 2 * strip, elements.data(), bytes.data(), ends.data(), [&](Index at, Index to) {
      find_needs(*this, at, to, ends.data(), elements.data(), bytes.data(), true);
      for (std::size_t k = 0; k < steps.size(); ++k)
        for (int b : steps[k].makes) {
          Buffer& buffer = buffers[static_cast<std::size_t>(b)];
          if (buffer.is_whole) continue;
          Range& kept = bytes[static_cast<std::size_t>(b)];
          add(kept, {buffer.made.stride * elements[k].begin + buffer.made.first, buffer.made.stride * (elements[k].end - 1) + buffer.made.beyond});
          buffer.capacity = std::max(buffer.capacity, in_lines(kept.end - kept.begin + line + beyond_buffer));
        }
      find_needs(*this, at, to, ends.data(), elements.data(), bytes.data());
    });
}

void Slide::run(void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) const { Slider(*this, slots, sizes, scratch).run(begin, end); }

}  // namespace weft
