#include "cost_model.h"

#include <algorithm>
#include <cmath>

#include <weft/accumulator.h>
#include <weft/recurrence.h>

namespace weft {

int op_cost(Op op) {
  switch (op) {
    case Op::divide: case Op::reciprocal: case Op::sqrt: return 4;
    case Op::round: case Op::nextafter: return 6;
    case Op::rsqrt: return 14;
    case Op::floor_divide: case Op::remainder: case Op::truncated_divide: case Op::fmod: case Op::hypot: return 12;
    case Op::exp: case Op::expm1: case Op::exp2: case Op::log: case Op::log1p: case Op::log2: case Op::log10: return 20;
    case Op::cbrt: case Op::asin: case Op::acos: case Op::atan: case Op::xlogy: return 25;
    case Op::sigmoid: case Op::tanh: case Op::sin: case Op::cos: case Op::tan: case Op::erf: case Op::erfc: case Op::sinh: case Op::cosh: return 30;
    case Op::softplus: case Op::asinh: case Op::acosh: case Op::atanh: case Op::atan2: case Op::logaddexp: return 40;
    case Op::power: case Op::lgamma: case Op::digamma: case Op::trigamma: return 60;
    default: return 1;
  }
}

int node_cost(const Node& node) {
  if (node.kind == Kind::others) return others_along;
  if (node.kind != Kind::recurrence) return op_cost(node.op);
  const Graph& step = std::get<Recurring>(node.payload).recurrence->step;
  int cost = 1;
  for (std::size_t k = 0; k < step.size(); ++k)
    if (step.node(id_of(k)).kind == Kind::apply) cost += op_cost(step.node(id_of(k)).op);
  return std::min(cost, 1000);
}

MemoryCost memory_cost(const Machine& machine, double bytes) {
  if (bytes <= machine.second_level_bytes / 4) return {machine.second_level_read, machine.second_level_write};
  if (is_in_memory(machine, bytes)) return {machine.memory_read, machine.memory_write};
  return {machine.third_level_read, machine.third_level_write};
}

bool is_in_memory(const Machine& machine, double bytes) { return bytes > machine.third_level_bytes; }

// Where lanes are picked from several vectors, that is hidden behind their loads.
double access_cost(const Machine& machine, const AxisUse& use) { return use.whole + across_in_loads * use.across + joined_in_loads * use.joined + machine.gather * (0.75 * use.near + use.jumps); }

namespace {

// Of long functions along short rows: the last vectors are part empty, without masks their elements take a detour (emit_shared_body.cpp), and a row
// ends with each value that it is folded to. Measured with softmax and logsumexp over 16 to 64 floats, AVX2 and AVX-512. With AVX2, if the end of rows is
// known, it has code of its own: softmax of rows of 16 to 50 floats takes .8 to .9 of the time that it takes across them (1.1 of 20), and .3 to compile.
double short_row_cost(const AxisUse& use, Index extent, bool masks, bool known_end) {
  constexpr double enough = 1 << 16;             // elements: some 200 us less a call, for code that takes 40 ms more to compile
  if (use.functions == 0 || (known_end && !masks) || extent < 16 || extent > 64 || use.kept_beside * static_cast<double>(extent) < enough) return 0;
  constexpr Index step = 2 * fold_slots;         // two vectors side by side
  const double part = masks ? 40 : 800, fold = 80;
  const double padded = static_cast<double>((extent + step - 1) / step * step) / static_cast<double>(extent);
  return use.functions * (padded - 1) + use.kept_beside * (fold * use.folds + (extent % step == 0 ? 0 : part));
}

}  // namespace

double lanes_in_use(Index extent) { return extent < lane_count ? 0.4 * std::max(1.0, static_cast<double>(extent)) / lane_count : 1.0; }

// Of vectors along fewer elements than they have lanes, which masks leave empty: functions take as long as of all, and a row ends with each fold.
static double part_empty_cost(const AxisUse& use, Index extent, bool masks) {
  if (!masks || extent >= lane_count) return 0;
  constexpr double fold = 80, function = 1.5;
  const double empty = std::max(0.0, lane_count / static_cast<double>(std::max<Index>(1, extent)) - 2);
  return function * use.functions * empty + fold * use.folds * use.kept_beside;
}

double vector_axis_cost(const AxisUse& use, double accesses, double carried, double arithmetic, Index extent, bool masks, bool known_end) {
  return (accesses + carried + arithmetic + short_row_cost(use, extent, masks, known_end)) / lanes_in_use(extent) + part_empty_cost(use, extent, masks);
}

bool idles_threads(const AxisUse& use, Index extent, bool is_vector_axis, int threads) {
  const Index least = is_vector_axis ? least_shared_unit : use.folded ? fold_leaf : 0;
  return extent <= least * (threads - 1);
}

RootCost root_cost(const AxisUse& use, Index extent, bool is_vector_axis, int threads) {
  RootCost cost;
  if (is_vector_axis) cost.vectors = extent >= 4096 ? 2.5 : 4;
  if (use.folded) {
    cost.folded = 2;
    if (use.kept_beside > 8192) cost.large_results = 10;
    if (extent < 4 * fold_leaf) cost.few_leaves = 4;
  }
  if (extent < 16) cost.few_elements = 3;
  if (extent < 16 && !is_vector_axis && use.within_lines) cost.shared_lines = use.stride > 1 ? 3 : 8;
  if (idles_threads(use, extent, is_vector_axis, threads)) cost.idle_threads = 5;
  return cost;
}

bool are_short_runs(const Machine& machine, double elements_of_run, double bytes) {
  constexpr double longest = 1024;
  return elements_of_run <= longest && is_in_memory(machine, bytes);
}

static Index units_in(Index extent, Index unit) { return (extent + unit - 1) / unit; }

// Several for each thread: they take turns, and one may begin late. But none of few elements of many rows: there the hardware's own fetching begins anew
// with each row. Softmax down the columns of 512 x 512 floats takes 85 us on one thread, as three nests by rows and columns 85 to 400 on two, as one 64
// (Zen 4).
static Index shared_unit(Index unit, Index extent, int threads) {
  constexpr Index units_each = 2;
  while (threads > 1 && unit > least_shared_unit && units_in(extent, unit) < units_each * threads) unit /= 2;
  return unit;
}

bool tiles_lose(const Machine& machine, double bytes, Index columns, bool reads_once, int threads) {
  if (bytes < worth_waking) return false;
  const Index unit = shared_unit(fold_leaf, columns, threads);
  const double tile = bytes / static_cast<double>(columns) * static_cast<double>(std::min(columns, unit));
  return units_in(columns, unit) < threads || ((!reads_once || columns < lane_count) && tile > machine.second_level_bytes);
}

bool columns_before_rows(const Machine& machine, Index rows, double row_bytes, double bytes, bool reads_nest) {
  constexpr Index few = 3 * fold_slots;
  if (bytes > machine.third_level_bytes / 8) return false;
  if (reads_nest) return rows <= fold_slots;
  return rows <= few || row_bytes * static_cast<double>(fold_slots) > machine.first_level_bytes;
}

// One row's after the other, their instructions wait for each other, and a row for them: one takes as long as dozens of a row's. While rows come
// from memory some processors hide most of that, and blocks of long rows leave the first level.
bool blocks_pay(const Machine& machine, double along_root, double row, double bytes) {
  return along_root >= 8 && along_root >= (is_in_memory(machine, bytes) ? machine.blocks_in_memory : least_along_root) * row;
}

// Means of rows, side by side and one after the other: 2000 rows of 100 floats .039 and .047 ns an element, 300000 of 20 .09 and .13, but 100000
// of 64 .11 and .07 (Zen 4).
double short_row(const Machine& machine, double bytes) { return bytes <= machine.second_level_bytes ? 128 : 31; }

static constexpr double longest_of_sixteen = 2048;       // bytes of rows that go in blocks of sixteen whatever is kept

// Layer norm of 8192 rows of 1024 floats: .40 ns an element in blocks of sixteen rows, .31 row by row (Emerald Rapids); their logsumexp .34
// and .27, but .25 and .27 of 256 rows. Where sums over all rows keep sixteen long ones of their own, those fill the first level, and blocks the second:
// layer norm of 256 rows of 768 floats and its gradients 74 us in blocks, 62 row by row, of 65 of 1000 24.5 and 21.6 (Zen 5).
bool blocks_stay_near(const Machine& machine, double row_bytes, double result_bytes, Index block, double rows, bool keeps_rows) {
  const bool fills_first_level = keeps_rows && row_bytes > longest_of_sixteen;
  if (row_bytes * rows <= machine.second_level_bytes && !fills_first_level) return true;
  // The results of one long row wait for their lines while the next one is summed up; those of eight hold up what follows.
  const double touched = row_bytes + (block < fold_slots ? result_bytes : 0);
  return touched * static_cast<double>(block) <= 2 * static_cast<double>(first_level_share);
}

// Of long rows eight: layer norm of 8192 rows of 1024 floats takes .22 ns an element in blocks of eight, .26 of sixteen, .28 row by row, where
// the additions of a sum wait for each other (Zen 4).
Index rows_of_block(double row_bytes, bool whole_slots) {
  if (row_bytes <= 512) return 64;
  if (row_bytes <= 1024) return 32;
  return row_bytes <= longest_of_sixteen || whole_slots ? fold_slots : fold_slots / 2;
}

bool kept_row_fits(double bytes, double root_elements) {
  constexpr double row = 1 << 17;                // comes back from the second level
  constexpr double enough = 64;                  // elements of a root for the threads
  return bytes <= row || (bytes / root_elements <= row && root_elements >= enough);
}

Index unit_of_vectors(double row_bytes, Index extent, double elements, int threads, int instructions, Index share) {
  constexpr double worth_sharing = 1 << 16;      // elements
  Index unit = fold_leaf;
  constexpr double short_rows = 64;              // bytes an element; 10,000 ops with rows of 52: .96 of the time in units of 1024, not of 512 (Zen 5)
  const Index least = instructions <= first_level_of_code ? 64 : row_bytes <= short_rows ? 1024 : 512;
  while (unit > least && static_cast<double>(unit) * row_bytes > static_cast<double>(share)) unit /= 2;
  return elements >= worth_sharing ? shared_unit(unit, extent, threads) : unit;
}

Index unit_down_rows(const Machine& machine, Down what, Index unit, double state_bytes, double bytes, Index extent, int threads) {
  const bool in_memory = is_in_memory(machine, bytes);
  const bool unit_stays = static_cast<double>(unit) / static_cast<double>(std::max<Index>(1, extent)) * bytes <= machine.second_level_bytes;
  if (what == Down::folds && (!in_memory || unit_stays)) return unit;
  const double room = what == Down::folds ? machine.second_level_bytes : in_memory ? near_bytes(machine) : static_cast<double>(first_level_share);
  const Index most = static_cast<Index>(room / std::max(1.0, state_bytes)) / least_shared_unit, each = units_in(units_in(extent, threads), least_shared_unit);
  return std::max(unit, std::min(most, each) * least_shared_unit);
}

double near_bytes(const Machine& machine) { return machine.second_level_bytes / 4; }

double most_near_bytes(const Machine& machine, double whole, int threads) {
  return std::max(near_bytes(machine), std::min(machine.third_level_bytes / 4 / threads, whole / 4));
}

Index unit_of_short_axis(Index unit, Index most) {
  while (unit > 16 && unit / 2 >= most) unit /= 2;
  return unit;
}

bool thin_extent_pays(Index extent, Index inside, bool is_fastest, double elements, bool is_first_call) {
  const double enough = is_first_call ? 1 << 6 : 1 << 12;              // later calls of fewer take less time than compiling
  const double enough_of_longer = is_first_call ? 1 << 14 : 1 << 16;
  constexpr Index few_vectors = 4 * lane_count, few_parts = 16 * lane_count;
  if (extent == 1) return inside == 1 && elements >= enough;
  if (extent < 1 || inside > few_parts / extent) return false;
  const Index row = extent * inside;
  const bool is_whole = row % lane_count == 0;
  const Index longest = is_fastest ? is_whole ? few_vectors : few_parts : is_whole ? 2 * lane_count : few_vectors;
  return row <= longest && elements >= (row <= lane_count ? enough : enough_of_longer);
}

// Calls take twenty instructions of code, so that softmax of sixteen planes is compiled in 80 ms for 16, and what they keep in registers leaves them:
// it gains nothing where there are stores, 1.3 of logsumexp up to 16 elements and 1.1 beyond. Sums of 17 to 32 take .5 to .7 of the time.
Index most_thin(bool calls, bool stores, bool across) {
  if (across) return fold_slots;                 // tiles are squares of vectors
  if (!calls) return 2 * fold_slots;
  return stores ? fold_slots / 2 - 1 : fold_slots;
}

Index element_picoseconds(const Machine& machine, bool is_vector_loop) {
  return std::max<Index>(1, std::llround(machine.vector_ps / (is_vector_loop ? 16 : 1)));
}

// A worker that sleeps pays from about twice the time that it takes to begin: half of the work is done by then. Estimates are rather too high.
ThreadCosts thread_costs(const Machine& machine) {
  ThreadCosts costs;
  costs.wake_from = std::max(costs.parallel_from, 3 * machine.wake_ns);
  return costs;
}

}  // namespace weft
