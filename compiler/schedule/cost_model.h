// What things cost and where limits are: the numbers by which schedules and code are chosen, in one place.
//
//   which loops are shared        root_cost, tiles_lose, few_scalar_ops
//   store, or make again          op_cost, memory_cost, is_in_memory, made_in_window, made_again_in_window, made_where_read; between loops of a nest cheap_value
//   root, vector axis             root_cost, vector_axis_cost; others run by falling stride
//   merged axes, blocks of rows   repeated_vectors, blocks_pay, blocks_stay_near, row_end, rows_of_block
//   short rows                    vector_axis_cost
//   other sizes later             worth_a_variant, like_sizes, most_variants
//   few elements along an axis    thin_extent_pays, most_thin, across_in_loads, joined_in_loads, apart_in_tiles, copies_that_call, picks_joined_rows, worth_preparing
//   recurrences                   carried_in_loads, running_in_loads, running_instructions, worth_a_nest
//   rows kept for other indices   kept_row_fits, unit_of_vectors, unit_down_rows, unit_of_short_axis, long_row_across
//   size of loop bodies           loop_cost, interleaved_body, full_loop, full_loop_with_moves, vector_loop_code, largest_piece,
//                                 code_per_piece, stored_in_turn, twice_emitted, long_body, worth_overlapping, masked_only, first_level_of_code
//   vectors and elements at once  vectors_side_by_side, equal_parts, elements_of_tile, elements_together, rows_together, tiled_body,
//                                 slots_of_a_pass, columns_of_strip, columns_pay, is_from_tables, looks_up_coefficients, next_to_nothing, long_run, worth_last_tile, worth_pairs,
//                                 lookups_in_registers, lookups_in_memory
//   products of matrices          rows_of_register_block, vectors_of_register_block, rows_packed, panels_together, packed_in_loads, rows_that_share
//   parts of a loop               near_an_end, least_part, least_of_short_row, near_last_row, least_rows, few_parts, most_parts, small_parts
//   roots and quotients           divider_use, halves_by_estimates
//   stages that slide together    near_bytes, most_near_bytes, slices_per_lead, most_units_read
//   threads                       element_picoseconds, thread_costs, unit_of_vectors, idles_threads
//
// The unit is a vector instruction: sixteen elements through one simple op. A Machine has what differs between machines (machine.h);
// the constants here belong to the code that weft makes, or to LLVM, and are the same everywhere. How far ahead a loop fetches is known
// where it is emitted (emit_lane.h, fetches.cpp, emit_tile.cpp). What needs more than a line is in cost_model.cpp, and of code in code_costs.cpp.
//
// Results are the same bits whatever these numbers are: sums are added up in slots, leaves and trees that depend on extents alone
// (weft/accumulator.h), units that merge are leaves of fixed size, and what is made again is the same ops on the same operands.
// `fast_math` says where it relaxes that (weft/options.h).
#pragma once
#include <weft/executor.h>
#include <weft/graph.h>

#include "machine.h"
#include "stride_class.h"

namespace weft {

inline constexpr int lane_count = 16;            // of a vector, whatever the dtype and the processor

// ---------------------------------------------------------------- ops and memory

// Of an op, and of one element of a node: in vector instructions for sixteen elements.
int op_cost(Op op);
int node_cost(const Node& node);
inline constexpr int others_along = 8, others_across = 24;   // of products of others: for a row along the vectors; for sixteen rows across them

// Which results of a call are stored past the caches, as whole lines. rows: all, since the rows of all begin lines. single_rows: those that a
// loop walks as one row, and rows that follow each other without a gap, by way of memory where they are put together (combined_rows.cpp). anywhere: the
// same, but a single row begins with what lies before a line. (The ends of other rows would go through the caches: 8192 rows of 1000 floats .29 ns an
// element instead of .19, 30000 of 260 .94 instead of .22, Zen 4.)
// no: the call does not exceed them, or its results do not begin elements.
enum class PastCaches { no, anywhere, single_rows, rows };
constexpr bool begin_lines(PastCaches stream) { return stream == PastCaches::single_rows || stream == PastCaches::rows; }

// Of 64 bytes of an array of so many bytes: what is made again competes with memory of its own speed.
struct MemoryCost {
  double read, write;
};
MemoryCost memory_cost(const Machine& machine, double bytes);
bool is_in_memory(const Machine& machine, double bytes);     // an array of so many: no cache holds it

inline constexpr int deepest_again = 6;          // of expressions that are made again; each level looks at all operands

// ---------------------------------------------------------------- axes

// Elements between two that lie in lines, and mostly in pages, of their own. 6552 x 64 x 4 rows of four floats, whose halves rotate each other, 21.9 -> 2.7 ms
// along the nearer ones, 26208 x 64 rows 15.6 -> 3.3 (Zen 5).
inline constexpr double far_neighbours = 128;

// What nodes do along an axis, in elements of the whole nest.
struct AxisUse {
  double whole = 0;                     // in vectors that are loaded or stored as they are; all of them for a known step of a few
  double across = 0, far = 0;           // others that are transposed in registers; of these, the ones of far neighbours
  double joined = 0;                    // others that are picked from whole rows of a few elements without gaps
  double near = 0, jumps = 0;           // others, one by one: of several in a line of cache, and any other
  double least = 0;                     // of the nodes along it: the cost of what they read and write, each along the best of its axes
  double stride = 0;                    // the longest between neighbours
  bool within_lines = false;            // these lie in one line of cache
  bool folded = false;
  double kept_beside = 0;               // largest result of a fold over the axis, in elements
  int folds = 0;                        // over the axis
  double functions = 0;                 // cost of the long ones along the axis

  // beside_few: neighbours along another axis, of a few known elements, lie side by side.
  void add(double stride, StrideClass known, double elements, bool beside_few = false) {
    if (stride == 1 || is_known(known)) whole += stride * elements;
    else if (is_behind_rows(known) && (beside_few || stride <= longest_step)) joined += elements;
    else (stride <= 4 ? near : beside_few ? across : jumps) += elements;
    if (beside_few && stride >= far_neighbours) far += elements;
    within_lines |= stride < static_cast<double>(line_bytes / 4);                // as floats do
    this->stride = std::max(this->stride, stride);
  }
};

// In contiguous loads, if the axis runs as vectors: an array that does not follow it is loaded outside the loop.
double access_cost(const Machine& machine, const AxisUse& use);

// The whole cost of the vector axis, with what short rows cost beside their elements. `carried`: of recurrences along it; `accesses` and `arithmetic`:
// of all ops; `masks`: parts of vectors have them; `known_end`: what rows leave over of vectors is known, or nothing.
double vector_axis_cost(const AxisUse& use, double accesses, double carried, double arithmetic, Index extent, bool masks, bool known_end = false);
double lanes_in_use(Index extent);               // share of them: a loop of fewer than sixteen elements wastes its start too
inline constexpr double op_in_loads = 0.25;
// Elements of a long function beside a recurrence, from which it has a nest of its own and runs as vectors: exp(cumulative_sum(x)) of 1000 floats or
// a million 2.5 -> 1.0 ns each, the logarithm of a sum of exponentials so far 6.3 -> 1.15 (Zen 4).
inline constexpr double worth_a_nest = 64;
// Of simple ops on scalars, in all nests that make them again for each slice: p - rate * g of 64 floats 13.7 -> 4 ns a call, and a function less to compile.
inline constexpr int few_scalar_ops = 12;
// The most ops that are made where an update writes their result (passes/inline_windows.cpp); and again there, if others read it too.
inline constexpr int made_in_window = 24;
inline constexpr int made_again_in_window = 8;
// The most ops of a value that is made at each index at which it is read, and of all of these (passes/make_where_read.cpp).
inline constexpr int made_where_read = 2, made_where_read_in_all = 12;
// Elements of the last axis of a stack, and the most ops in all that are made over it too (passes/make_in_stacks.cpp).
inline constexpr Index most_stacked = 4;
inline constexpr int made_in_stack = 16;
// Folds of folds over so many elements each, of so many instructions in all, are written out: means of 2 x 2 floats, whose channels lie inside, 157 us
// as loops, 78 so (1.6 M of them, Zen 5).
inline constexpr Index most_unrolled = 4;
inline constexpr int unrolled_instructions = 64;
inline constexpr double carried_in_loads = 12;   // a step of a recurrence waits for the one before: cumulative_sum(x * 0.5) along rows takes .78 ns an
                                                 // element, sixteen rows side by side in tiles .17, a copy .08 (Zen 4)
// Of a running fold along the vectors (running.h). Largest of rows of 1000 floats so far .10 ns an element along them, .13 across; with AVX2 .30 and .16,
// where it pays only if no other axis is there; sums of integers .19 and .21 (Zen 5).
constexpr double running_in_loads(bool of_floats, bool masks) { return of_floats && !masks ? 2 * carried_in_loads : 2; }
inline constexpr int running_instructions = 12;  // likewise: four steps, each of a shuffle and an op, and what came before
inline constexpr double across_in_loads = 2.5, joined_in_loads = 2, far_in_loads = 4;
// Where another axis lies between neighbours along the vectors, rows of a few elements are read one by one, not in tiles: of eight or more, or where
// something folds of three or more. A sum over the middle axis of 266 x 15 x 15 floats .53 -> .044 ns an element along the last one, the middle ones of
// 937 x 8 x 8 less their mean 1.2 -> .11, softmax over 15 of them 2.0 -> .86; 750 x 8 x 10 with both last axes exchanged .65 -> .09, running sums along the
// middle of 23 x 256 x 10 .66 -> .11, of 15 x 8 .16 -> .3 (Zen 4).
constexpr double apart_in_tiles(Index few) { return (12 + 32 / static_cast<double>(few)) / across_in_loads; }
// A store that jumps: nothing fetches its line ahead. In blocks of tiles, which nothing folds, results in the caches are better written across
// than operands are read: transposes of a million floats take 10 to 40 % less (Zen 5).
inline constexpr Index shortest_in_blocks = 64;  // elements, of both loops
constexpr double store_in_loads(bool in_blocks) { return in_blocks ? 0.95 : 1.25; }

// What one loop may keep of the first level, half of the smallest in use (32 KiB): the rest is for what passes through.
inline constexpr Index first_level_share = 1 << 14;
inline constexpr Index least_shared_unit = 128;  // elements of the vector axis that are a thread's, if there are several

// Elements along the vectors from which folds over a few others go right outside them, so that their sums stay in registers: means of 2 x 2 pixels of three
// bytes .34 -> .11 ns a byte, 4 x 4 matrices times others 13.6 -> 9.6 ns; the largest of 2 x 2 of 16 channels, one vector at a time, would take
// 2.7 times as long (Zen 5).
inline constexpr Index few_outside_vectors = 4 * lane_count;

// Why an axis is a poor root. A root that is also the vector axis, and not the only axis, breaks rows into tiles. A folded one needs
// partial results, which may be large, and several leaves to be parallel. One of few elements cannot be split over threads; if they are
// neighbours in memory of any array, each of them touches all lines of it again, which is worse than partial results of few leaves: sums down 15 columns of
// 1000 to 4000 rows of floats take .52 ns an element that way, .037 by leaves; 2048 pixels of three floats to planes, or back, .5 to .6, .08 with the channels
// inside (Zen 4). A vector axis of few units, or a folded one of few leaves, leaves threads idle.
// Rows of a product of matrices share what lies inside them: batches do not.
struct RootCost {
  double vectors = 0, folded = 0, large_results = 0, few_leaves = 0, few_elements = 0, shared_lines = 0, idle_threads = 0, parts_product = 0, short_runs = 0;
  double total() const { return vectors + folded + large_results + few_leaves + few_elements + shared_lines + idle_threads + parts_product + short_runs; }
};
inline constexpr double rows_apart_cost = 8;     // parts_product: more than a batch of few elements that share lines
// Of arrays in memory an element of the root has runs of a few lines far apart, where another root would read on: more than folds of few leaves cost. Instance
// norm of 1310 pictures of 32 channels of 100 floats and its gradients, one thread: 5.8 -> 2.6 ms, of 167 of 784 1.73 -> 1.32; 512 x 64 x 4 rows of 64 floats,
// whose halves rotate each other by tables for all of the 64, 3.3 -> 1.2 (Zen 5).
inline constexpr double short_runs_cost = 7;
bool are_short_runs(const Machine& machine, double elements_of_run, double bytes);      // bytes: of all arrays
inline constexpr Index many_runs = 64;           // for each element of such a root: fewer do not matter
RootCost root_cost(const AxisUse& use, Index extent, bool is_vector_axis, int threads);
bool idles_threads(const AxisUse& use, Index extent, bool is_vector_axis, int threads);

inline constexpr double worth_waking = 1 << 18;  // bytes of work, for which nests part so that all threads have some

// Whether two nests that read the same arrays are better than one whose vector axis is the root: tiles that do not stay in cache, or
// are too few for the threads. bytes: of the whole nest; columns: elements of the vector axis; reads_once: nothing is folded that another loop
// would wait for, as of scans and what is made of them: 1 - x / (largest so far) of 4096 x 4096 floats 8.0 -> 2.5 ms (Zen 5).
// Of few columns what is made of them has whole vectors by itself.
bool tiles_lose(const Machine& machine, double bytes, Index columns, bool reads_once, int threads);

// Whether sums of all rows, which a nest that runs over rows keeps in sixteen rows of its own, are better made by another one along the columns, in
// registers, which reads the arrays again: of few rows, or of rows of which sixteen fill the first level, in the caches. row_bytes: of a result, bytes: of an
// array. X^T (X w - y) of 32 rows of 1000 floats 3.8 -> 1.9 us, of 256 24 -> 18, but of 1000 of 400 23 -> 30; a
// logistic loss and its gradient of 1000 of 1000 116 -> 124 (Zen 5).
bool columns_before_rows(const Machine& machine, Index rows, double row_bytes, double bytes, bool reads_nest);

// Values along the root alone that cost a good part of a row run as vectors over blocks of rows. Both in vector instructions a row; bytes: of
// all rows.
bool blocks_pay(const Machine& machine, double along_root, double row, double bytes);
// Whether every loop over a block finds its rows in the first level, where results that go through it want room too; or in the second, as all
// rows are. Bytes: of a row.
bool blocks_stay_near(const Machine& machine, double row_bytes, double result_bytes, Index block, double rows, bool keeps_rows);
inline constexpr int row_end = 8;                // of a fold along a row: its slots become one value
// Of what reads that value along the row, beside long functions. Softmax of rows of 32, 64, 128 and 256 floats, one by one: .61, .49, .42 and .35 ns an
// element, in blocks .43, .35, .31 and .30; of 1024 .28 both ways (Zen 4).
inline constexpr int row_wait = 8;
// Elements, in longer ones this does not count: several rows side by side are not read in the order in which they lie, which arrays from beyond
// the second level pay for. bytes: of all rows.
double short_row(const Machine& machine, double bytes);
// So that what the rows touch stays in the first level; whole_slots: of folds over the root, too.
Index rows_of_block(double row_bytes, bool whole_slots);

// Whether a value that is read at another index than it is made at, of so many bytes, fits in rows: one for each of the elements of a root.
bool kept_row_fits(double bytes, double root_elements);
// Elements of a root that runs as vectors too, in one unit: as many as a leaf of a fold has, or fewer if the rows kept for it would not
// stay in the first level, or if there were too few units for the threads. row_bytes: of such rows, for each element of the root;
// elements: of the whole nest; instructions: likewise. Long code is itself fetched from beyond the first level for each unit, so that short
// units cost more than rows in the second level.
Index unit_of_vectors(double row_bytes, Index extent, double elements, int threads, int instructions, Index share = first_level_share);
// A scan takes a line of each row of a unit, then the next line of each: of more rows than a vector has they lie in few sets of the first level, and what
// is loaded as far into a page as what was just stored waits for it. Over rows of so many bytes units are no longer than a vector. Running sums along
// 256 and 1024 floats, 64 and 16 rows at a time: .17 and .09 ns an element, 1000 floats .21 and .16; along 64 no difference (Zen 5).
inline constexpr double long_row_across = 512;
// Down columns: units of whole rows read on from row to row, others a page of each. As long as the state stays near, which scans go back to with each
// element: in the first level, or for rows in memory in the second. Of folds, which go back to a slot after sixteen rows, for rows in memory alone, more of
// them than the second level holds for a unit: else later loops find them there.
// state_bytes: for each column; bytes: of all arrays.
// Running sums down 4096 x 4096 floats 4.8 -> 2.5 ms, 5461 x 3000 6.3 -> 3.3, least so far of as many bytes 1.4 -> .65; in the caches of floats as before, of
// bytes .5 to .9 (Zen 5). Sums down 2048 x 8192 floats 3.4 -> 2.3 ms, variances 4.3 -> 2.5, argmax 8.9 -> 3.8, softmax 16.6 -> 11.7, of 1024 x 16384 2.9 -> 2.3,
// 4.0 -> 2.4, 5.4 -> 3.8 and 14.3 -> 11.6; of an eighth as many rows, in the caches, no less (Zen 4).
enum class Down : std::uint8_t { scans, folds };
Index unit_down_rows(const Machine& machine, Down what, Index unit, double state_bytes, double bytes, Index extent, int threads);
// No longer than the axis is in all calls: rows of a unit are filled and summed up as a whole, again and again where folds are nested. The
// gradient of batch normalization of 16 channels took 24 ns an element with rows of 1024.
Index unit_of_short_axis(Index unit, Index most);

// An operand that repeats along merged axes stays in so many f32 registers at most: extents 2 to 8, 10, 12, 14, 16.
inline constexpr Index repeated_vectors = 7;
inline constexpr int repeated_value = 4;         // the most that a value may cost that is made for every element of a merged axis

// Whether an axis of so few elements, in an array of so many, is worth a variant of its own; and how many such variants a Function has.
// Of rows of `inside` elements. Where rows or columns are no whole vectors, what is left over has masks that are known, and needs no loop: with 1000 matrices
// of 20 x 20 floats most things take .2 to .7 of the time, of 11 x 50 .5 to .8 (Zen 3); rows of 100 floats .65 to 1.0, of 200 .9 to 1.0, and both compile in
// .6 to .9 of the time. Of few whole vectors no loop is left: a logistic loss of 64 columns and its gradient .94, layer norm .94 to 1.0 (Zen 5); of
// eight and more nothing is gained, nor across rows. Of one element nothing is left, no strides along it and no fold; as an
// outer loop that nothing folds it may be the root.
// The first call of a Function compiles anyway, in less time where numbers are known.
bool thin_extent_pays(Index extent, Index inside, bool is_fastest, double elements, bool is_first_call);
inline constexpr std::size_t most_settled = 16;

// A call from so many nanoseconds on has code that was chosen for sizes like its own, within a factor; so many variants differ by that
// (variants.h).
inline constexpr double worth_a_variant = 1500, like_sizes = 1.5;
inline constexpr std::size_t most_variants = 8;

// ---------------------------------------------------------------- searches: compile time stays linear in nodes

inline constexpr int nests_tried = 6;            // for a node, from the first that can run it; and the last
inline constexpr int loops_tried = 4;            // for a node, over one axis, the last ones

// ---------------------------------------------------------------- loops of a nest, in vector instructions of the body

inline constexpr int full_loop = 320;            // compile time and registers suffer beyond
inline constexpr int full_loop_with_moves = 400; // takes no more values from other loops
inline constexpr int cheap_value = 3;            // loads included: computed again in each loop, not worth a row

// One of the loops that a long body with long functions becomes. latency: of its longest chain of results, in cycles; rows: values that
// earlier loops keep for it or for later ones.
double loop_cost(int body, int latency, int rows);
int op_latency(Op op);                           // in cycles, about
inline constexpr Index strip_share = 1 << 13;    // bytes of the first level: half of what else a loop may keep there
int vectors_of_distributed(int body);            // side by side in the loops of such a body

// ---------------------------------------------------------------- code

inline constexpr double next_to_nothing = 1.0 / 64;     // of a function's time: loops that take less run one vector at a time
inline constexpr int lookups_in_registers = 3, lookups_in_memory = 32;      // of sixteen bytes in tables, in instructions
inline constexpr double worth_pairs = 1 << 16;          // elements of a nest whose rows go two by two: it compiles in one and a half times the time
inline constexpr double worth_last_tile = 1 << 13;      // elements that tiles leave over: fewer go one by one. 2400 pixels of 24 channels to planes .25 -> .093 ns an element (Zen 4)
inline constexpr double long_run = 3e7;                 // picoseconds in one call: loops for which four or five more milliseconds to compile soon pay
inline constexpr int vectors_of_block = 1;       // side by side, of the four that a block of rows has: more are no faster, and dearer to compile
inline constexpr int long_function = 12;         // op_cost from which an op is no handful of instructions
inline constexpr int small_body = 16;            // of simple ops
inline constexpr int stored_in_turn = 8;         // of simple ops that are stored vector by vector, before the next is loaded
inline constexpr int twice_emitted = small_body; // bodies up to this size: for whole steps, and with masks for the rest
inline constexpr int interleaved_body = 100;     // of a few long functions: four vectors side by side hide their latency
inline constexpr int long_body = 48;             // bodies beyond wait for results: see llvm_options.h
inline constexpr Index worth_overlapping = 8192; // elements of loops whose turns overlap: they take up to a sixth less, and 1 to 2 ms more to compile
inline constexpr int ends_apart_up_to = 48;       // bodies up to this size: again for what short rows leave over
inline constexpr Index short_rows = 256, masked_rows = 1024, rows_in_memory = 4096;      // elements of those: longer ones hardly notice; masked_rows: by registers of masks
inline constexpr int masked_only = 160;          // bodies so large are emitted once, with masks: compile time counts more
// Bodies for the parts of a loop, or the rows of a loop outside, between bounds of what is asked of the index (partition.h): a bound nearer to an
// end is one with it; shorter parts are not worth a body of their own. More than so many parts pay while their bodies are small in all. Halves of
// 32 floats, of rows that rotate each other: .15 -> .11 ns an element (Zen 5).
inline constexpr Index near_an_end = 2 * lane_count, least_part = 2 * lane_count;
// Of known rows up to masked_rows: 12 floats before another 12 .58 -> .18 ns an element, three of 12 2.9 -> .23, five zeros at both ends of 40 .50 -> .10, of 200
// .15 -> .086; with AVX2 12 before 12 1.45 -> .14 (Zen 4).
inline constexpr Index least_of_short_row = 4;
inline constexpr Index near_last_row = 5, least_rows = 16;
inline constexpr std::size_t few_parts = 4, most_parts = 16;
inline constexpr int small_parts = 64;
inline constexpr int first_level_of_code = 1000; // of all loops of a nest, several vectors side by side: beyond, code comes from the second level
inline constexpr int functions_inline = 640;     // in all loops of a variant: beyond, long functions are called, and compiled once
inline constexpr std::size_t copies_that_call = 5;   // of one body, side by side: likewise
inline constexpr int vector_loop_code = 64;      // beside its body: of several vectors, of what is left over, and addresses
inline constexpr int largest_piece = 1000;       // code of one function: LLVM takes more than linear time
int code_per_piece(int code, int parts);         // of a variant that has so much of it, in parts that are generated at the same time
// Instructions of a function before LLVM's passes. Vectors that leave their registers go where lines of the cache begin: LLVM does not see to that by
// itself where it meets them late, and softmax of rows of five then takes .52 or .92 ns an element, as the caller's stack may lie (Zen 4).
inline constexpr unsigned likely_to_spill = 200;
inline constexpr int slots_of_a_pass = 2;        // of sums of columns: see emit_columns.cpp
inline constexpr int only_summed = 2;            // the body of a loop that does nothing else
Index columns_of_strip(std::size_t bytes);       // .. of what is summed up, for each of its columns
// Rather than rows of slots. rows: of all arrays; apart: bytes from row to row.
bool columns_pay(Index rows, Index apart, bool from_memory);
inline constexpr Index columns_ahead = 1024;     // bytes of each row that such a walk fetches meanwhile, if they come from memory
inline constexpr int tiled_body = 24;            // sixteen copies of a larger body are too much code
inline constexpr int thin_bodies = 16 * tiled_body;   // the same of all copies of a loop that is written out
Index most_thin(bool calls, bool stores, bool across);   // elements of such a loop: whose copies call long functions, store, or lie across the vectors

// A function that is one polynomial, whose coefficients are looked up in registers: tanh and erf of f32.
bool is_from_tables(Op op, DType dtype);
// One that looks up coefficients for each element, perhaps among other things.
bool looks_up_coefficients(Op op, DType dtype);
struct LongFunctions {                               // the long ones of a body
  int cost = 0, longest = 0;
  bool all_from_tables = true;
};
// How many vectors run side by side to hide latencies, as far as registers and compile time allow. folds: values over them, which wait for the ones
// before; registers_each: of the widest value of the body, out of `registers`; runs_long: code for more of them soon pays.
int vectors_side_by_side(int body, const LongFunctions& functions, bool folds, int registers_each, int registers, bool runs_long = false);
inline constexpr int most_vectors = 8;
// The same where operands repeat after so many vectors: whole repetitions, so that these stay in registers.
int whole_repetitions(int vectors, int repetition);
// The same for `total` vectors: without a rest, if nearly as many divide them.
int equal_parts(int vectors, Index total);

// Elements of a tile that is transposed in registers: sixteen are whole lines of floats. Where a vector takes several registers, eight need
// fewer than there are, if the lines stay in the first level until the other half is needed.
int elements_of_tile(int registers_each, double bytes_of_lines);

// Elements that an outer loop reads again for each of its own, from which they are transposed before it: 200,000 points times a 2 x 2 matrix .31 ns each
// picked from whole rows each time, .46 prepared, 3 x 3 .70 both ways, 4 x 4 1.50 and 1.16, 8 x 8 6.6 and 3.1 (Zen 4).
inline constexpr double worth_preparing = 4, repeats_worth_preparing = 16;
inline constexpr Index rows_worth_sharing = 8;                // that read the same array across: transposed once for them all
// Of a unit that is made for such copies: as many rows as leave each thread some units; 0: there are too few.
constexpr Index unit_of_copies(Index rows, int threads) {
  constexpr Index most = 128, least = 32, units_of_a_thread = 4;
  for (Index unit = most; unit >= least; unit /= 2)
    if (rows >= unit * (threads > 1 ? units_of_a_thread * threads : 1)) return unit;
  return 0;
}

// Rows of a few elements that follow each other without a gap: whether whole vectors of them are loaded or stored and their lanes picked, rather
// than each row by itself, transposed in squares. Pixels of two or three bytes take a fifth to a tenth of the time, stores of three floats a
// third; squares are as good for four floats, and for loads of more (Zen 4, registers of 64 and of 32 bytes). Vectors that could go past the
// caches are worth more shuffles: four floats .27 -> .16 ns an element, eight .31 -> .17.
// apart: of rows that are parts of such, from one to the next; then of a load.
bool picks_joined_rows(int count, std::size_t element_bytes, bool is_load, bool past_caches, Index apart = 0);
// Whether the arrays whose rows of so many elements are folded are transposed, though these follow each other and nothing made of their elements is stored.
// For a fold of whole vectors of rows, unless halves of these do, elements of each are picked from nearly all vectors. Sums of rows of 7, 10 and 15 floats
// take .6, .4 and .45 of the time if transposed, maxima .8, .6 and .6, sums of 10 and 15 doubles .7; of products of two arrays, 10 and 15, .7, 7 floats 1.1;
// x y + z of 10 1.4 (Zen 3; with registers of 64 bytes by the number of shuffles).
bool folds_by_transposes(Index count, int arrays, int folds, std::size_t widest, std::size_t register_bytes);

// What keeps the unit busy that divides and takes roots: of a body, or of one op.
struct DividerUse {
  int roots = 0, quotients = 0;
  friend bool operator==(const DividerUse&, const DividerUse&) = default;
};
DividerUse divider_use(Op op, bool is_f64);
// How many of them are better made from estimates of reciprocals, with corrections that give the same bits: where that unit is busy for longer
// than the rest of the body takes. In halves: of several vectors side by side (`parts`) every second one may be, so that the unit works on
// the others meanwhile. body: in vector instructions, all of them included. Quotients of f32 gain nothing.
DividerUse halves_by_estimates(const Machine& machine, const DividerUse& use, int body, bool is_f64, bool parts);

// How many elements of a serial fold over so many are worked on at once, so that its accumulators are loaded and stored once for all of
// them. They are a slot's, sixteen apart: a fold of fewer than such a block gets smaller ones.
int elements_together(int body, bool ordered, Index extent, double first_level_ways = 8);

// Short rows that are folded: how many side by side. registers_each: of one's accumulators, out of `registers`.
int rows_together(int registers_each, int registers);

// Rows of results, of so many in all, that registers hold with all their sums, each row in so many registers, beside the operands that all
// rows share. neighbours: what rows have of their own lies side by side; else each row takes a pointer as well, and there are fewer of these.
int rows_of_register_block(int registers, int registers_of_row, int sums, Index all, bool neighbours);
// Vectors of a row of a block, at most so many: few are left over at the end of so many in all.
int vectors_of_register_block(int most, Index all);
// Rows for which the operands they share are packed, in whole blocks. row_bytes: of their results, which wait in scratch. Products of 1024 x 1024
// floats: 93, 99 and 101 GFLOP/s of 32, 64 and 128 rows, 83, 95 and 101 where an operand is transposed (Zen 4); what so many rows read of
// the other operand is in the second level, beside the packed one.
inline constexpr Index most_rows_packed = 128;
Index rows_packed(Index row_bytes, Index rows_of_block);
// Panels of results, of `all`, that are summed leaf by leaf together: what lies along the rows is packed once a leaf for all of them. panel_bytes: of the
// results of one, whose trees over leaves wait in scratch.
Index panels_together(Index panel_bytes, Index all);
// Of such an operand: packed once for that many rows, and loaded once for four of them.
constexpr double packed_in_loads(bool is_along, Index rows) { return 0.25 + (is_along ? 2 : 8) / static_cast<double>(rows < most_rows_packed ? rows : most_rows_packed); }
// What a product reads as it is made, such as a cast or an exponential, is an array of its own if it costs so much for all rows or columns that read an
// element; beyond the caches, if that is more than writing and reading it there take. 256 x 256 x 256 of exponentials 740 -> 170 us, of f16 307 -> 168;
// 100000 x 64 x 128 of bytes 12.3 -> 13.8 ms, of exponentials 47 -> 14 (Zen 5).
inline constexpr double worth_of_factor = 32, worth_of_large_factor = 256;
inline constexpr Index rows_that_share = 4, rows_that_share_across = 16;     // what is transposed for fewer pays less than sums along vectors do
// Results that lie across the vectors are stored one by one, row after row: x^T y of 56 x 512 x 512 floats 70 GFLOP/s, 176 along them; x y^T 74 and
// 142, of 24 rows 110 and 98, where another operand is transposed for it (Zen 5).
inline constexpr double result_across_product = 16;

inline constexpr Index most_tables = 4;          // of 256 bytes, four registers each
inline constexpr Index table_entries = 256;
inline constexpr int table_pays = 16;            // cost of what lookups replace: three or four instructions for sixty-four results, 48 for thirty-two
inline constexpr int table_in_memory_pays = 32;  // the same where sixteen results take sixteen cycles

// ---------------------------------------------------------------- stages that slide together (function/slide_plan.h)

// What they pass to each other, in buffers of some lines: so many bytes, or, of lines so long that even the shortest strip has more, as many as
// this thread's part of the third level has and a quarter of the whole arrays.
double near_bytes(const Machine& machine);
double most_near_bytes(const Machine& machine, double whole, int threads);
inline constexpr Index slices_per_lead = 8;      // a slice is so many times as long as what it makes again
inline constexpr Index most_units_read = 64;     // by a unit, of another nest: all of them would be one strip

// ---------------------------------------------------------------- threads

// Estimated time of one element of a loop body, for each vector instruction of it.
Index element_picoseconds(const Machine& machine, bool is_vector_loop);
ThreadCosts thread_costs(const Machine& machine);

}  // namespace weft
