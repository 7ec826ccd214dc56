#include "fetches.h"

#include <algorithm>
#include <cmath>

namespace weft {

using llvm::Value;

// Whether there are other elements for each index of the axis.
static bool follows(const std::vector<Subscript>& at, int axis) {
  return std::any_of(at.begin(), at.end(), [&](const Subscript& s) { return s.axis == axis; });
}

// What the load of a vector fetches, whose first element in memory lies there. The last vector of a row may be less than whole: without its lines each
// row would begin with a wait for the end of the one before. Logsumexp of rows of 600 floats, in blocks: .44 ns an element, with them .23 (Zen 4).
void Fetches::fetch_beside(const LaneAccess& access, DType dtype, Value* first, int step) {
  const Index apart = std::abs(step_of(access.lane));
  if (access.next_row && apart > 0 && (access.next_steps >> step & 1u) != 0) fetch_lines(first, access.next_row, lane_count * apart * item_bytes(dtype), access.next_is_near);
}

// By how many elements of an axis the second load is ahead of the first one, if both walk through one dimension of an array along it, and the first comes
// to where the second is; else 0.
static Index lead_along(const Load& load, const Load& other, int axis) {
  for (std::size_t d = 0; d < load.at.size() && d < other.at.size() && load.buffer == other.buffer; ++d) {
    const Subscript &own = load.at[d], &ahead = other.at[d];
    if (own.axis != axis || ahead.axis != axis || own.step != ahead.step || own.period != ahead.period || own.each != ahead.each) continue;
    const Extent apart = ahead.start - own.start;
    return apart.is_number() && apart.constant() % own.step == 0 ? apart.constant() / own.step : 0;
  }
  return 0;
}

// Whether the second load has come before to all that the first one reads, and not long before: of a stencil only the row that is furthest ahead is new, and
// of that what is furthest ahead along it. Sixteen weights that each fetch the same lines are a third more code.
bool Fetches::follows_closely(const Load& load, const Load& other) const {
  if (lead_along(load, other, program_.root.var.axis) > 0) return true;
  int differing = -1;
  for (std::size_t d = 0; d < load.at.size() && load.buffer == other.buffer; ++d) {
    if (load.at[d] == other.at[d]) continue;
    if (differing >= 0) return false;
    differing = static_cast<int>(d);
  }
  if (differing < 0) return false;
  const Index lead = lead_along(load, other, load.at[static_cast<std::size_t>(differing)].axis);
  return lead > 0 && lead * item_bytes(program_.buffer(load.buffer).dtype) <= far_ahead;
}

// The loop over the rows of the root one by one, or null: over all of them, or those of a unit.
const Loop* Fetches::loop_of_rows() const {
  const Loop& root = program_.root;
  if (!root.var.splits()) return &root;
  if (program_.block > 0) return nullptr;
  const auto found = std::find_if(root.body.begin(), root.body.end(), [&](const Item& item) {
    const auto* loop = std::get_if<Loop>(&item);
    return loop && loop->var == LoopVar{root.var.axis, Part::element} && loop->mark != Mark::lanes;
  });
  return found == root.body.end() ? nullptr : &std::get<Loop>(*found);
}

void Fetches::find_accesses() {
  readers_.assign(program_.buffers.size(), {});
  is_written_.assign(program_.buffers.size(), false);
  find_accesses(program_.root);
  for (std::vector<Reader>& readers : readers_) {
    const std::vector<Reader> all = readers;
    std::erase_if(readers, [&](const Reader& reader) {
      return std::any_of(all.begin(), all.end(), [&](const Reader& other) {
        return other.loop == reader.loop ? follows_closely(*reader.load, *other.load) : lead_along(*reader.load, *other.load, program_.root.var.axis) > 0;
      });
    });
    share_next_row(readers);
  }
}

void Fetches::find_accesses(const Loop& loop) {
  for (const Item& item : loop.body) {
    if (const auto* inner = std::get_if<Loop>(&item)) find_accesses(*inner);
    if (const auto* store = std::get_if<Store>(&item)) note_written(store->buffer, store->at);
    if (const auto* others = std::get_if<Others>(&item)) note_written(others->to, others->to_at);
    if (const auto* load = std::get_if<Load>(&item); load && loop.mark == Mark::lanes && loop.parts.empty()) readers_[static_cast<std::size_t>(load->buffer)].push_back({load, &loop});
  }
  for (const Loop& part : loop.parts) find_accesses(part);
}

void Fetches::note_written(int buffer, const std::vector<Subscript>& at) {
  is_written_[static_cast<std::size_t>(buffer)] = true;
  writes_to_memory_ |= program_.buffer(buffer).place != Place::row && lies_in_memory(buffer, at);
}

// Which of their vectors side by side fetch the same place in the next row. More lines at once than the processor waits for hold a loop up, so
// loops share them by their length; where their vectors differ in number, the longest fetches all. Softmax of 8192 rows of 1024
// floats: .58 ns an element if its first loop fetches, which only compares, .35 if the second does; layer norm: .31 if the last of
// its three loops does, .27 if all do (Emerald Rapids). Where more than the next row is fetched from memory the last loop fetches all: the first one waits for
// its own row, and what the last one fetches comes early enough. Gradients of layer norm of rows of 768 floats 3.2 -> 2.4 ms, of root mean squares 2.2 -> 1.6,
// (x - min) / (max - min) of rows of 1000 4.7 -> 3.4 (Zen 4). Loops that end where they find something fetch nothing, nor does a lone one before them, which reads
// on by itself: argmax of rows of 1000 floats 5.8 ms if these share the next row, 4.4 if the first one fetches it, 2.2 without (Zen 4).
void Fetches::share_next_row(std::vector<Reader>& all) const {
  std::vector<Reader*> readers;                  // to the end of a row
  for (Reader& reader : all) if (!search_of(*reader.loop)) readers.push_back(&reader);
  if (readers.empty() || (readers.size() == 1 && all.size() > 1)) return;
  Reader* const longest = *std::max_element(readers.begin(), readers.end(), [](const Reader* a, const Reader* b) { return a->loop->weight < b->loop->weight; });
  if (machine_.row_bytes_ahead > next_row && lies_in_memory(longest->load->buffer, longest->load->at)) {
    readers.back()->next_steps = ~0u;
    return;
  }
  const int steps = interleave(*longest->loop);
  if (std::any_of(readers.begin(), readers.end(), [&](const Reader* reader) { return interleave(*reader->loop) != steps; })) {
    longest->next_steps = ~0u;
    return;
  }
  int weight = 0, before = 0;
  for (const Reader* reader : readers) weight += reader->loop->weight;
  weight = std::max(weight, 1);
  const auto share = [&](int part) { return (2 * steps * part + weight) / (2 * weight); };
  for (Reader* reader : readers) {
    const int after = before + reader->loop->weight;
    reader->next_steps = (1u << share(after)) - (1u << share(before));
    before = after;
  }
}

// How many rows, or blocks of rows, ahead a load fetches; 0: nothing. Several loops run over one of them while it is in cache; the hardware's
// own fetching stops at its end. In memory the next row may be too near: it is soon begun. Of blocks the second loop fetches the next one: while
// it computes, memory would be idle. In memory that is too late: the first loop begins with it, or, where results go to memory meanwhile, with
// the block after it. 100,000 rows of 64 floats, dot products and a sum of all rows: the next block by the second loop .138 ns an element, by
// both .098, the one after it by the first .111; 50,000, which the caches hold, would take 12 % longer. 131,072 rows divided by their lengths
// .196 and .166 (Zen 5).
// Of rows so long that the next one would drive out what is left of this one, nothing: sums over the middle axis of 4 x 64 x 2048 floats 32 -> 19 us, the
// largest along it 24 -> 18 (Zen 5).
Index Fetches::units_ahead(const std::vector<Reader>& readers, const Reader& reader) const {
  const bool in_memory = lies_in_memory(reader.load->buffer, reader.load->at);
  if (loop_of_rows()) {
    if (reader.next_steps == 0 || bytes_of_row(reader.load->buffer, reader.load->at) > machine_.second_level_bytes / 4) return 0;
    return in_memory ? static_cast<Index>(std::ceil(machine_.row_bytes_ahead / bytes_of_row(reader.load->buffer, reader.load->at))) : 1;
  }
  if (program_.block == 0) return &reader == &readers[0] && fetches_next_unit(*reader.load, *reader.loop) ? 1 : 0;
  if (readers.size() > 1 && &reader == &readers[1]) return 1;
  if (!in_memory || &reader != &readers[0]) return 0;
  return writes_to_memory_ || readers.size() == 1 ? 2 : 1;
}

// Units of the vectors' own axis take a run of each of several rows of an array: the hardware's own fetching begins anew with each. F matrices that
// memory holds, of 32 and 64 columns: normalized .74 -> .52, .66 -> .50 ns an element, their sums .35 -> .25, .29 -> .24, logsumexp .64 -> .47 of 32; of
// 1000 columns, normalized, 1.02 -> 1.15 without a limit; from the caches as before (Zen 4).
bool Fetches::fetches_next_unit(const Load& load, const Loop& loop) const {
  const LoopVar& root = program_.root.var;
  const bool has_rows = std::any_of(load.at.begin(), load.at.end(), [&](const Subscript& s) { return s.axis >= 0 && s.axis != root.axis; });
  constexpr double most_rows = 128;
  const double bytes = bytes_of_row(load.buffer, load.at), rows = bytes / static_cast<double>(size_of(program_.buffer(load.buffer).dtype));
  const bool is_kept = static_cast<double>(program_.unit) * bytes <= machine_.second_level_bytes / 4;
  return loop.var.axis == root.axis && has_rows && rows <= most_rows && is_kept && lies_in_memory(load.buffer, load.at);
}

// The dimension of an array down which a scan walks, if a unit has but a run of each of its rows; -1: none. The hardware's own fetching begins anew with
// each run. Running sums down the columns of 2000 x 1000 floats, on two threads: 500 -> 320 us (Zen 3). Whole rows take longer with instructions that fetch.
int Fetches::walked_down_by_runs(const Load& load, const Loop& loop) const {
  constexpr Index longest = 4096;       // bytes
  const LoopVar& root = program_.root.var;
  const Index run = program_.unit * item_bytes(program_.buffer(load.buffer).dtype);
  if (!root.splits() || program_.block > 0 || loop.var.axis != root.axis || run > longest || program_.unit >= program_.axis(root.axis).hint) return -1;
  const auto scans = [&](const Subscript& s) {
    return s.axis != root.axis && s.is_linear() && std::any_of(program_.folds.begin(), program_.folds.end(), [&](const Fold& fold) { return fold.start && fold.axis == s.axis; });
  };
  const auto found = std::find_if(load.at.begin(), load.at.end(), scans);
  return found == load.at.end() ? -1 : static_cast<int>(found - load.at.begin());
}

// Short rows that are folded, of so much memory that the processor's own fetching falls behind: several go together, some apart (emit_jam.cpp). Of 64 MiB sums down
// 17, 31 and 100 floats 4.5, 4.5 and 3.1 -> 2.0, 2.4 and 2.0 ms, the largest 5.6, 5.1 and 3.1 -> 2.3, 2.0 and 2.4 (Zen 4).
void Fetches::fetch_rows_of_fold(const Load& load, LaneAccess& access) {
  constexpr double longest = 2048;               // bytes
  constexpr Index rows_ahead = 128;
  const LoopVar& root = program_.root.var;
  if (!root.splits() || !falls_behind(load) || bytes_of_row(load.buffer, load.at) > longest) return;
  for (std::size_t d = 0; d < load.at.size(); ++d)
    if (load.at[d].axis == root.axis && load.at[d].is_linear()) access.next_row = b_.CreateMul(number(rows_ahead * load.at[d].step), stride_bytes(load.buffer, d));
}

void Fetches::fetch_next(const Load& load, LaneAccess& access, Index side_by_side) {
  const auto k = static_cast<std::size_t>(load.buffer);
  const Buffer& buffer = program_.buffers[k];
  const LoopVar& root = program_.root.var;
  const auto loops = [](const Loop& loop) { return std::count_if(loop.body.begin(), loop.body.end(), [](const Item& item) { return std::holds_alternative<Loop>(item); }); };
  if (program_.root.mark != Mark::units || (buffer.place != Place::argument && buffer.place != Place::temporary)) return;
  const Loop* rows_one_by_one = loop_of_rows();
  if (rows_one_by_one && loops(*rows_one_by_one) < 2) return fetch_rows_of_fold(load, access);
  const std::vector<Reader>& readers = readers_[k];
  const auto reader = std::find_if(readers.begin(), readers.end(), [&](const Reader& each) { return each.load == &load; });
  if (reader == readers.end()) return;          // around a bound of a loop whose parts fetch
  if (const int down = walked_down_by_runs(load, *reader->loop); down >= 0) {
    constexpr Index rows_ahead = 4;
    access.next_row = b_.CreateMul(number(rows_ahead * load.at[static_cast<std::size_t>(down)].step), stride_bytes(load.buffer, static_cast<std::size_t>(down)));
    access.next_is_near = true;
    return;
  }
  const Index ahead = units_ahead(readers, *reader), rows = rows_one_by_one ? 1 : program_.block > 0 ? program_.block : program_.unit;
  for (std::size_t d = 0; d < load.at.size() && ahead > 0; ++d)
    if (load.at[d].axis == root.axis && load.at[d].is_linear()) {
      access.next_row = b_.CreateMul(number((rows_one_by_one ? ahead + side_by_side - 1 : ahead * rows) * load.at[d].step), stride_bytes(load.buffer, d));
      if (rows_one_by_one) access.next_steps = reader->next_steps;
      access.next_is_near = (rows_one_by_one || (program_.block > 0 && ahead == 1)) && static_cast<double>(ahead * rows) * bytes_of_row(load.buffer, load.at) <= near_room_of_rows();
      return;
    }
}

// Of an array, for an element of the root.
double Fetches::bytes_of_row(int buffer, const std::vector<Subscript>& at) const {
  double bytes = static_cast<double>(size_of(program_.buffer(buffer).dtype));
  for (const Subscript& s : at)
    if (s.axis >= 0 && s.axis != program_.root.var.axis) bytes *= static_cast<double>(program_.axis(s.axis).hint);
  return bytes;
}

bool Fetches::falls_behind(const Load& load) const { return bytes_of_array(load.buffer, load.at) > machine_.fetch_bytes; }

double Fetches::bytes_of_array(int buffer, const std::vector<Subscript>& at) const {
  const int root = program_.root.var.axis;
  return bytes_of_row(buffer, at) * (root >= 0 && follows(at, root) ? static_cast<double>(program_.axis(root).hint) : 1);
}

bool Fetches::lies_in_memory(int buffer, const std::vector<Subscript>& at) const { return is_in_memory(machine_, bytes_of_array(buffer, at)); }

// Whole ones: of units of some elements each row has but a short run.
bool Fetches::reads_rows_of_memory(const Loop& lanes) const {
  return !program_.is_tiled(lanes.var.axis) && std::any_of(lanes.body.begin(), lanes.body.end(), [&](const Item& item) {
    const auto* load = std::get_if<Load>(&item);
    return load && lies_in_memory(load->buffer, load->at);
  });
}

// What the first level has beside what is in use and what goes through it.
double Fetches::near_room() const { return machine_.first_level_bytes - (28 << 10); }

// Layer norm of rows of 512 to 4096 floats takes 3 to 8 % less if that has what comes next, blocks of 64 rows of 64 floats, which are only read, 12 % (Zen 5,
// 48 KiB). With 32 KiB softmax of rows of 1024 from memory 5 % less, but argmax of rows of 1000 three times as long, layer norm of 1024 1.4 times, rows of 1500
// divided by their lengths 2.2 times and such blocks 27 % more (Zen 4).
double Fetches::near_room_of_rows() const {
  constexpr double too_little = 32 << 10;
  return machine_.first_level_bytes <= too_little ? 0 : near_room();
}

Index Fetches::near_ahead(Index streams) const {
  const auto each = static_cast<Index>(near_room()) / std::max<Index>(1, streams) / line_bytes * line_bytes;
  return each < least_near_ahead ? 0 : std::min(each, most_near_ahead);
}

// Whether the loop reads memory that it did not read for the element of the root before: that is in a cache.
bool Fetches::reads_on(const Loop& loop, const Load& load) const {
  const int root = program_.root.var.axis;
  return program_.buffer(load.buffer).place != Place::row && (follows(load.at, root) || loop.var.axis == root);
}

// Whether the loop does nothing but fold long rows that no other loop reads, of so much memory that the processor's own fetching falls behind. Sums
// of (x - y)^2 over 8192 x 1024 floats: .24 ns an element, fetched ahead .17; row sums of as many doubles .24 and .17; means of rows of 48
// floats 7 % more (Zen 4).
bool Fetches::folds_from_memory(const Loop& loop) const {
  constexpr Index long_row = 1024;               // bytes
  if (loop.folds.empty()) return false;
  const Index extent = program_.axis(loop.var.axis).hint;
  double bytes = 0;
  for (const Item& item : loop.body) {
    if (std::holds_alternative<Store>(item)) return false;
    const auto* load = std::get_if<Load>(&item);
    if (!load) continue;
    const auto k = static_cast<std::size_t>(load->buffer);
    if (readers_[k].size() != 1 || extent * item_bytes(program_.buffers[k].dtype) < long_row) return false;
    bytes += bytes_of_array(load->buffer, load->at);
  }
  return bytes > machine_.fetch_bytes;
}

}  // namespace weft
