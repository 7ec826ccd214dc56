// How the loops of a nest become code, decided before any is emitted: from the program, how its arrays lie and which instructions the
// processor has. Nothing here knows LLVM.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "moved_rows.h"
#include "program.h"
#include "schedule/stride_class.h"

namespace weft {

// A maximum or minimum of floats: see extreme.cpp.
bool is_extreme(const Fold& fold);

// What a load reads of an array for the current element of a loop outside, or one that many further: windows.cpp.
struct Window {
  int buffer;
  std::vector<Subscript> at;
  friend bool operator==(const Window&, const Window&) = default;
};
Window window_of(const Load& load, int outer, std::size_t element);

// Items of a vector loop's body for one of several elements of a loop outside.
struct Turn {
  int element;
  std::size_t first, last;
};
// The order in which several elements go together where their windows overlap: by rows of these, for each element its items in order.
std::vector<Turn> turns_of(const Loop& lanes, int outer, int elements);

class LoopChoices {
 public:
  // `features` of the processor as LLVM names them: "+avx2,+fma". All three outlive the choices.
  LoopChoices(const Program& program, const StrideClasses& classes, const std::string& features) : program_(program), classes_(classes), features_(features) {}

  // How several elements of a loop around vector loops are worked on at once.
  enum class Together {
    none,
    thin,                                       // all there are, in registers
    tiles,                                      // sixteen copies of the body; operands that lie across are transposed in registers
    squares,                                    // sixteen times one body; they are transposed in memory
    rows,                                       // copies of the body, each with accumulators of its own
    columns,                                    // all of them down one step of the vector loop after the other, folded in registers
    registers,                                  // rows of sums, some rows and vectors at a time in registers
    jam,                                        // elements of one slot of a fold
    shared,                                     // neighbours, for what all of them read
    windows,                                    // neighbours, whose windows of arrays overlap
    pairs                                       // two rows, each of which waits for its sums
  };
  struct Outer {                                // what decides that
    std::vector<const Loop*> loops;             // the vector loops of the body; none: its elements cannot run side by side
    int weight = 0;                             // of all of them
    int across = 0;                             // reads and writes of arrays that lie across it
    int windows = 0;                            // reads of windows of such, which have all indices of the vector loop
    bool scans = false, rows = false, scalars = false;                       // folds of the outer loop: states; with values in rows, or not
    bool folds_lanes = false, folds_outer = false, folds_others = false;     // folds that vector loops add to: over themselves, the outer loop, others
    bool ordered = false;                       // one of the last two
    bool stores = false;
    bool pure = false;                          // beside the vector loops, values are made and nothing else
    bool from_memory = false;                   // what they read no cache holds; set by those who know the machine
  };
  int code_with_windows(const Loop& lanes, int outer) const;
  Outer outer_of(const Loop& loop) const;
  Together together(const Loop& loop, const Outer& outer) const;
  // Of a loop over rows of sums over a loop inside: which item of its body that is, how much of their results registers hold at once, and for how
  // many rows what they share is packed.
  struct RegisterBlock {
    std::size_t fold = 0;
    int rows = 1, vectors = 1;
    Index packed = 1, panels = 1;        // rows and panels that go together
  };
  std::optional<RegisterBlock> register_block(const Loop& rows) const;
  bool is_packed(const Load& load, const Loop& rows, const Loop& fold, const Loop& lanes) const;
  bool is_packed_along_rows(const Load& load, const Loop& rows, const Loop& fold) const;
  static bool depends_on(const Load& load, int axis);
  static bool has_staying(const Loop& loop);       // loads of elements each of which stays for several of the loop

  // The vector loop after item k of a body, a thin fold, if it takes that fold's results step by step as they are made: they need no row.
  const Loop* taker_of(const Loop& parent, std::size_t k) const;

  // A vector loop whose results are functions of one byte.
  struct ByteFunction {
    const Item *load = nullptr, *store = nullptr;
    Index tables = 1;                           // one for each element of operands that repeat
    bool in_registers = false;                  // looked up there
  };
  std::optional<ByteFunction> byte_function(const Loop& loop) const;

  // A vector loop that folds the smallest index along it at which a condition holds, and nothing else: it may end where that is.
  struct Search {
    const Compute* where = nullptr;             // of the condition, the index and no index
    const Load* index = nullptr;
  };
  std::optional<Search> search_of(const Loop& loop) const;     // searches.cpp

  bool is_one_masked_step(const Loop& loop, int vectors) const;
  int interleave(const Loop& loop) const;       // vectors side by side
  // How many vectors, of sixteen elements each, one register has: 2 or 4 where all values of a loop are integers of one or two bytes, or conditions, and lie
  // along it, and it stores results or folds in no order. Sums of wider integers may be folded if what widens is bytes or conditions: that op.
  int vectors_in_register(const Loop& loop) const;
  const Compute* widened_bytes(const Loop& loop, const Accumulate& accumulate) const;
  bool is_widening(const Loop& loop, const Compute& compute) const;     // one of these
  int vectors_of_unit(const Loop& loop) const;
  int tile_elements(const Loop& loop, const Outer& outer, int past_caches) const;          // of the outer loop
  // Tiles go in blocks, so many vectors of the vector loop at a time; 0: they do not. past_caches: the same of what goes there.
  int vectors_of_blocks(const Loop& loop, const Outer& outer, int past_caches) const;
  // Whether the results of such blocks are better gathered elsewhere and written row by row: too many lines of a tile are of one set of a cache.
  bool stages_results(const Loop& loop, const Loop& lanes, double first_level_ways) const;
  // Whether what lies across is better transposed before the loops, for the same reason: they write rows side by side.
  bool stages_operands(const Loop& loop, const Outer& outer, double first_level_ways) const;
  int rows_at_once(const Outer& outer) const;
  int jammed(const Loop& loop, const Outer& outer, double first_level_ways = 8) const;       // elements of one slot
  bool is_pairs(const Loop& rows, const Outer& outer) const;
  int sharing(const Loop& loop, const Outer& outer) const;   // elements whose bodies load the same vectors; 1: each by itself
  int overlapping(const Loop& loop, const Outer& outer) const;   // windows.cpp: those that load many of the same; 1: each by itself
  bool reads_few_rows(const Loop& loop, const Outer& outer) const;   // windows.cpp: each of those
  int columns_at_once(const Outer& outer) const;   // vectors
  int vectors_of_slots(const Loop& lanes, int elements) const;   // side by side, of folds over so many elements, each in a slot of its own
  int slots_of_pass(const Outer& outer) const;
  Index strip_of_columns(const Outer& outer) const;
  // along_rows.cpp: loops over the few elements of rows
  Index distance_of_rows(int buffer, const std::vector<Subscript>& at, int few, int lanes) const;
  bool runs_along_rows(const Loop& serial, const Outer& outer) const;
  // Of a load of rows of few elements that are not all elements of its rows in memory, in order: which ones they are.
  std::optional<MovedRows> moved_rows(const Load& load, int few, int lanes) const;
  bool begins_in_whole(int axis, Index size) const;  // elements: every range of it begins at a multiple of so many
  bool runs_in_whole(int axis, Index size) const;    // and so many go into it
  bool fits_one_leaf(int axis) const;           // of a fold
  bool runs_in_leaves(const Loop& loop) const;  // range after range of fold_leaf elements, and what is left: three vectors do not go into those
  int lies_across(const Item& item, int outer, int lanes) const;
  int window_across(const Load& load, int outer, int lanes) const;             // the same of a guarded load
  // Whether the loop over few elements runs through all of the array's fastest dimension, and neighbours of the vector loop follow each other
  // without a gap: sixteen of them are whole vectors. step -1: from the last one on.
  bool joins(int buffer, const std::vector<Subscript>& at, int few, int lanes, Index step = 1) const;
  // Whether so many neighbours along the axis lie in more lines of one set of the first level than that has ways; in the call that compiles,
  // of an array without gaps.
  Index bytes_apart(int buffer, const std::vector<Subscript>& at, int axis) const;          // neighbours along the axis
  bool crowds_a_set(int buffer, const std::vector<Subscript>& at, int axis, Index neighbours, double ways) const;
  bool lies_along(int buffer, const std::vector<Subscript>& at, int lanes) const { return lane_class(buffer, at, lanes) == StrideClass::unit; }
  // Whether neighbours along the axis are further apart than lanes are well picked from whole vectors.
  bool is_far_apart(int buffer, const std::vector<Subscript>& at, int lanes) const {
    const StrideClass apart = lane_class(buffer, at, lanes);
    return !is_known(apart) || std::abs(step_of(apart)) > longest_step;
  }
  // Whether neighbours along the axis may be anywhere.
  bool is_apart(int buffer, const std::vector<Subscript>& at, int lanes) const { return !is_known(lane_class(buffer, at, lanes)); }

 protected:
  StrideClass class_of(const Buffer& buffer, std::size_t dim) const;
  StrideClass lane_class(int buffer, const std::vector<Subscript>& at, int axis) const;
  std::optional<std::size_t> fastest_of(const Buffer& buffer) const;
  std::optional<std::size_t> joined_of(const Buffer& buffer) const;
  bool follows_rows(const Buffer& buffer, const std::vector<Subscript>& at, int axis, StrideClass rows, Index step = 1) const;
  std::optional<Index> column_of(int buffer, const std::vector<Subscript>& at, int axis) const;
  bool has_feature(std::string_view name) const;
  std::size_t register_bytes() const;
  bool scatters(DType dtype) const;
  bool masks_by_branches(DType dtype) const;
  bool permutes_bytes() const;
  bool shuffles_bytes() const;

  const Program& program_;
  const StrideClasses& classes_;
  const std::string& features_;

 private:
  int lies_across(int buffer, const std::vector<Subscript>& at, int outer, int lanes) const;
  int vectors_of_rows(const Loop& loop) const;
  int latency_steps(const Loop& loop) const;
  std::size_t widest_of(const Loop& loop) const;
  int registers_of(std::size_t element_bytes) const { return static_cast<int>((lane_count * element_bytes + register_bytes() - 1) / register_bytes()); }
  int registers() const { return register_bytes() == 64 ? 32 : 16; }
  std::vector<const Loop*> vector_loops(const Loop& outer) const;
  static bool carries_rows(const Outer& outer) { return outer.loops.size() == 1 && !outer.folds_lanes; }     // of states, from copy to copy
  bool is_thin(const Loop& loop, const Outer& outer) const;
  bool is_tiled(const Outer& outer) const;
  bool is_rolled_tile(const Loop& loop, const Outer& outer) const;
  bool is_jam(const Loop& loop, const Outer& outer) const;
  bool is_rows(const Loop& loop, const Outer& outer) const;
  std::vector<const Load*> loads_that_move(const Loop& lanes) const;
  std::size_t rows_of_memory(const std::vector<Window>& windows, int outer, int lanes) const;
  std::size_t widest_of_columns(const Loop& lanes) const;
  bool is_columns(const Loop& loop, const Outer& outer) const;
  bool fits_register_block(const Loop& rows, const Loop& fold) const;
  std::optional<std::size_t> sums_of_rows(const Loop& rows) const;
};

}  // namespace weft
