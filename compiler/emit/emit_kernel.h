// The state shared by the parts of emit: one function under construction.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include "accesses.h"
#include "program/row_windows.h"

namespace weft {

// Its layers: CodeBuilder (branches, loops), VectorMemory (vectors to and from memory), Addresses (arguments, sizes, arrays), Fetches (what comes
// next), LaneMemory (elements of a vector loop), Values (what is computed), Quotients (without the divider), SideBySide (copies of a body), Folds
// (accumulators and their trees), Accesses (what a vector loop reads and writes). What is here are loops: the shapes that they take, a file each.
class KernelEmitter : private Accesses {
 public:
  KernelEmitter(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, const CodeOptions& options);
  StagePlan emit(const std::string& symbol);
  // The same, numbering the arrays itself: what the function is given in the place of slots, in order.
  std::vector<ArrayEntry> emit_for_any_arrays(const std::string& symbol, StagePlan& stage);

 private:
  // emit_kernel.cpp: functions, stages, loops
  void begin_function(const std::string& name);
  void end_function();
  StagePlan emit_run();
  int run_weight(const Loop& loop) const;
  Index work_of_tables(const Loop& loop) const;
  Index together_in_root(const Loop& root, const Outer& outer, Together how) const;
  Index emit_units(const Loop& root);
  void emit_item(const Item& item);
  void emit_serial(const Loop& loop);
  Value* emit_several(const Loop& loop, const Outer& outer, Together how, Range range);
  void emit_blocks(const Loop& loop);
  template <class Body> void in_steps(int axis, Range along, int steps, const char* name, Body body);
  template <class Body> void in_steps(int axis, int steps, const char* name, Body body) { in_steps(axis, range_of(axis), steps, name, body); }

  // emit_outline.cpp: bodies, in pieces if they are large; long functions, called if there are many
  bool calls_functions() const { return calls_ || jam_.size() >= (is_along_rows() ? most_vectors + 1 : copies_that_call); }
  Value* emit_or_call(Op op, const std::vector<Value*>& operands, const std::vector<DType>& dtypes, DType result);
  Value* call_function(Op op, const std::vector<Value*>& operands, const std::vector<DType>& dtypes, DType result);
  bool is_rare(const Loop& loop) const;
  int code_left(const Item& item) const;
  std::vector<std::size_t> cuts_of(const Loop& loop) const;
  bool is_cut(const Loop& loop) const;
  void emit_items(const Loop& loop);
  void emit_items(const Loop& loop, std::size_t first, std::size_t last);
  void emit_piece(const Loop& loop, std::size_t first, std::size_t last, const std::vector<int>& taken, const std::vector<int>& folds,
                  const std::vector<int>& returned);

  // emit_lanes.cpp: vector loops
  void emit_lanes(const Loop& loop) { has_cases(loop) ? emit_cases(loop) : emit_vectors(loop); }
  void emit_vectors(const Loop& loop);
  void around_lanes(const std::function<void()>& loops);
  void emit_lane_range(const Loop& loop, Range range);
  bool is_one_vector(const Loop& loop) const;
  bool has_many_turns(const Loop& loop, Index stride) const;
  void emit_part_of_vector(const Loop& loop, Range range);
  void load_repeated(const Loop& loop, Value* begin, int steps);
  bool repeat_in_each_vector() const;
  bool is_emitted_twice(const Loop& loop) const;
  void emit_lane_body(const Loop& loop, Value* index, int steps, const Masks& masks);
  bool takes_turns(const Loop& loop) const;
  void forget_packs(const Loop& loop);
  void emit_lane_items(const Loop& loop, Value* index, int steps, const Masks& masks);
  void emit_lane_items(const Loop& loop, Value* index, int steps, const Masks& masks, std::size_t first, std::size_t last);
  Value* index_lanes(const Load& load, Value* index, int step);
  Value* load_step(const Loop& loop, const Load& load, const void* key, Value* index, int step, const Masks& masks);
  std::vector<Value*> emit_lane_load(const Loop& loop, const Load& load, const void* key, Value* index, int steps, const Masks& masks);
  void emit_lane_store(const Loop& loop, const Item& item, Value* index, int steps, const Masks& masks);
  std::vector<Value*> emit_lane_compute(const Loop& loop, const Compute& compute, int steps);
  Value* move_mask(const Masks& masks, int step) const { return moves_whole_ ? nullptr : mask_of(masks, step); }
  void note_code(const Loop& loop, int vectors, bool tables);

  // emit_accumulate.cpp
  void emit_lane_accumulate(const Loop& loop, const Accumulate& item, const LaneAccess* access, Value* index, int steps, const Masks& masks);

  // emit_running.cpp
  void emit_running(const Accumulate& item, int steps, const Masks& masks);
  Value* with_nan(const FoldState& state, Value* elements, Value* running);

  // emit_ends.cpp
  llvm::BranchInst* emit_whole_steps(const Loop& loop, Range range, int steps, bool some);
  Value* emit_single_vectors(const Loop& loop, Range range);
  static bool has_guards(const Loop& loop);
  bool ends_apart(const Loop& loop) const;
  int vectors_left(const Loop& loop) const;
  void emit_end_apart(const Loop& loop, Range range, int steps);
  void emit_rest(const Loop& loop, Range range, int steps, bool mostly_whole);
  void emit_whole_then_rest(const Loop& loop, Range range, int steps);

  // emit_narrow.cpp
  int steps_in_register(const Loop& loop, int steps) const;
  void emit_narrow_items(const Loop& loop, Value* index, int steps, int together);
  bool moves_plainly() const;
  bool masks_registers(const Loop& loop, int steps) const;
  void emit_narrow_range(const Loop& loop, Range range, int steps);
  std::map<int, Value*> emit_wide_items(const Loop& loop, Value* index, int first, int lanes, Value* mask = nullptr);
  void emit_wide_items(const Loop& loop, Value* index, int first, int lanes, Value* mask, const Turn& turn, std::map<int, Value*>& made);
  struct WideVector {                           // so many elements, `first` ones after the index, perhaps some of them
    Value* index;
    int first, lanes;
    Value* mask;
  };
  Value* wide_operand(const Arg& arg, const std::map<int, Value*>& made, int lanes);
  Value* wide_address(const LaneAccess& access, DType dtype, const WideVector& vector);
  Value* wide_load(const Load& load, const LaneAccess& access, const WideVector& vector);
  void wide_store(Value* value, DType dtype, const LaneAccess& access, const WideVector& vector);
  struct WideFold {
    int fold;
    const Compute* widened;                     // bytes or conditions, which are summed up by eights; or null
    std::vector<llvm::AllocaInst*> cells;       // accumulators that fill registers
  };
  bool folds_wide(const Loop& loop) const;
  void emit_wide_folds(const Loop& loop, Range range);
  void end_wide_fold(const WideFold& wide);
  Value* sums_of_eight(Value* bytes, DType dtype);
  Value* as_lanes(Value* sums, DType dtype);
  Value* first_elements(int lanes, Value* left);
  void emit_windows_wide(const Loop& loop, Value* index, int first, int lanes, Value* mask);

  // emit_search.cpp
  bool searches(const Loop& loop) const;
  void emit_searches(const Loop& loop);
  std::vector<Value*> emit_condition(const Loop& asks, const Arg& condition, Value* index, int steps, int lanes, const Masks& masks);
  Value* is_anywhere(const std::vector<Value*>& holds, std::size_t bytes);
  void emit_search(const Loop& asks, const Search& search, int number_of_fold);

  // emit_parts.cpp
  bool runs_in_parts(const Loop& loop) const;
  Value* place_of(const Bound& bound);
  bool has_cases(const Loop& loop) const;
  void emit_cases(const Loop& loop);
  Range whole_vectors_of(const Loop& part, Value* begin, Value* end);
  Value* emit_steps_of_part(const Loop& part, Range range);
  void emit_part(const Loop& part, Range range);
  bool emit_known_vectors(const Loop& loop, Range range);
  bool follow_each_other(const std::vector<const Loop*>& parts) const;
  bool ends_with_masks(const Loop& part) const;
  void emit_one_after_the_other(const std::vector<const Loop*>& parts, Range range);
  void emit_parts(const Loop& loop, Range range);

  // emit_shared_body.cpp
  struct Stop {
    const void* item;
    bool is_load;
    DType dtype;
    llvm::AllocaInst* cell;
    Value* base;                                // of the array
  };
  bool shares_body(const Loop& loop) const;
  std::vector<Stop> stops_of(const Loop& loop, int steps);
  void move_parts(const std::vector<Stop>& stops, bool loads, Value* index, Value* left, int steps);
  void emit_shared_body(const Loop& loop, Range range, int steps);
  std::optional<std::vector<int>> folds_of_body(const Loop& loop) const;
  void keep_steps(const std::vector<int>& folds, int steps);
  void keep_step(int fold, int step);
  void take_back(const Masks& masks);
  void emit_whole_then_part(const Loop& loop, Range range, int steps, const std::vector<int>& folds);

  // emit_jam.cpp: several copies of a body, side by side
  Value* emit_jam(const Loop& serial, Range range, int copies);
  bool is_carried_row(int buffer, const Loop& lanes) const;
  void emit_together(const Loop& outer, Value* first, int copies, Index spacing, Value* last = nullptr, const std::function<void(const Loop&)>& vectors = {});
  void store_neighbours(const Store& store);
  void emit_rows(const Loop& rows, Range range, int copies);
  void emit_jammed_items(const Loop& loop, Value* index, int steps, const Masks& masks);
  void each_turn(const Loop& loop, const std::function<void(const Turn&)>& emit);
  void emit_windows(const Loop& loop, Value* index, const Masks& masks);
  Value* kept_vector(const Window& window, Index lanes = lane_count) const;
  Value* kept_window(const Load& load) const;
  void keep_window(const Load& load, Value* loaded);
  bool is_common(const Load& load, const Loop& loop) const;
  bool loads_beside_store(const Loop& loop) const;

  // emit_thin.cpp
  void emit_thin(const Loop& serial, const Outer& outer, const Loop* taker = nullptr);
  void emit_taker(const Loop& taker, Value* index, int steps, const Masks& masks);
  bool is_along_rows() const { return copies_.along_rows && !part_; }
  void open_rows();
  void emit_along_rows(const Loop& lanes, Value* index, const Masks& masks);
  FoldState& state_of_step(int fold, std::size_t step);
  std::vector<Value*> spread_to_rows(Value* vector);
  void close_rows(const Loop& lanes);
  bool masks_rows_left(const Loop& lanes) const;
  void emit_rows_left(const Loop& lanes, Range range);
  Value* across_slots(const Fold& fold, std::vector<Value*> slots);
  Value* across_rows(const Fold& fold, std::vector<Value*> rows);

  // emit_columns.cpp
  void emit_columns(const Loop& rows, const Outer& outer);
  using Strides = std::map<const void*, Value*>;        // by item: bytes from row to row
  struct ColumnSum;
  void emit_columns_of_pass(const Loop& rows, const Loop& lanes, const Strides& strides, int slots, Value* pass, Range at, int steps, const Masks& masks);
  void emit_rows_of_pass(const Loop& rows, const Strides& strides, int slots, Value* first, const std::function<void(int)>& row);

  // emit_register_blocks.cpp
  struct Block;
  struct BlockSum;
  void emit_register_blocks(const Loop& rows, Range range);
  void open_block(Block& block, Index rows);
  void emit_panels(Block& block, Value* panels_end, Value* end);
  void emit_panel(Block& block, Value* index, Value* end, Range leaf);
  Value* row_of_block(const Block& block, Value* first, Index copy);
  void point_at_operands(Block& block, Value* first, Range along, Value* index);
  void open_sums(Block& block);
  void emit_register_block(Block& block, Value* first, Range along, Value* index, const Masks& masks);
  void emit_sums_of_slot(Block& block, Value* slot, Range along, Value* index, const Masks& masks);
  void make_scalars(const Block& block, Value* element);
  void add_to_sums(const Block& block, Value* index, const Masks& masks);
  void keep_sums(const Block& block, Value* first, Range along, Value* index);
  void store_sums(const Block& block, const BlockSum& sum, Value* first, Value* index, const std::function<Value*(std::size_t)>& sum_of, Value* joins = nullptr);
  Value* position_in_row(const Block& block, Value* index);

  // emit_pack.cpp
  struct BlockOperand;
  Value* elements_of_slot(Range leaf);
  static Index packed_pitch(const Block& block, const BlockOperand& operand);
  void choose_packed(Block& block);
  Value* packed_at(const Block& block, const BlockOperand& operand, Value* first, Range along, Value* index);
  void pack_operands(const Block& block, Range along, Value* index, Value* elements);

  // emit_tile.cpp
  Value* emit_tiles(const Loop& outer, Range range, int elements);
  Value* emit_last_tile(const Loop& outer, Range range, int elements);
  Index rows_apart(const Load& load, const Loop& lanes) const;
  void load_tiles(const Loop& lanes, Value* index, const Masks& masks);
  void store_tiles(const Loop& lanes, Value* index, const Masks& masks);
  std::optional<MovedRows> moves_rows(const Load& load, const Loop& lanes) const;
  void load_moved(const Item& item, const MovedRows& moved, const Loop& lanes, Value* index);
  void store_rows(const std::vector<Value*>& rows, const LaneAccess& access, DType dtype, Value* index);
  Index known_rows() const;
  Value* row_at(Value* before, const LaneAccess& access, Value* index, int lane);
  std::vector<Value*> load_across(const Load& load, const std::vector<Subscript>& at, int step, std::size_t first, std::size_t last, int lanes, Value* index, const Masks& masks);

  // emit_window_tile.cpp
  struct RowsOfWindow;
  RowsOfWindow rows_of_window(const Load& load, int lanes);
  bool is_in_tiles(const Load& load, const Loop& lanes);
  void load_window_tile(const Item& item, int step, const Loop& lanes, Value* index, const Masks& masks);

  // emit_shared_tile.cpp
  struct SharedRows {
    const void* item;
    int buffer;
    bool is_load, of_copies;
    DType dtype;
    int step;                                   // elements from copy to copy; 0: one vector
    Index pitch;                                // bytes from row to row
    llvm::AllocaInst* cell;
    LaneAccess in_array;
  };
  bool share_rows(const Loop& loop, std::unordered_map<const void*, LaneAccess>& accesses, bool of_copies, std::vector<SharedRows>& all);
  std::optional<std::vector<SharedRows>> shared_rows(const Loop& loop);
  LaneAccess& first_access(const SharedRows& rows);
  void move_rows(const SharedRows& rows, Value* index, Value* left);
  void emit_shared_rows(const Loop& loop, Range range, std::vector<SharedRows> all);

  // emit_tile_blocks.cpp
  struct Stage {                                // the results of a block, on their way to an array whose rows crowd a set
    const Store* store;
    DType dtype;
    Value* memory;
    Index pitch;                                // bytes from row to row
  };
  using EmitTile = std::function<void(Value* first, Value* index, int steps, const Masks& masks)>;
  Value* emit_blocks_of_tiles(const Loop& outer, const Loop& lanes, Range range, int elements, int steps, const EmitTile& tile);
  Value* emit_tile_blocks(const Loop& outer, Range range, int elements, int vectors);
  void emit_tile_step(const Loop& lanes, Value* index, const Masks& masks);
  bool has_long_blocks() const;                 // of tiles past the caches
  int vectors_past_caches() const;              // of such blocks; 0: nothing goes there
  Index open_stages(const Loop& outer, const Loop& lanes, int steps);
  void keep_in_stage(const Stage& stage, const std::vector<Value*>& rows, Value* first, Value* index);
  void empty_stage(const Stage& stage, const Loop& outer, const Loop& lanes, Value* end, int elements, Value* rows);

  // emit_row_windows.cpp
  bool picks_sooner(const Loop& loop, const std::vector<RowWindow>& all) const;
  void find_row_windows(const Loop& loop);
  Index reach_of(const Item* first) const;
  Value* row_vector(const Loop& loop, const Item* first, Value* index, int step, int steps);
  std::vector<Value*> emit_row_window(const Loop& loop, const Item* item, Value* index, int steps, const Masks& masks);

  // tile_windows.cpp
  Value* window_of_tile(const Loop& lanes, const Load& load);

  // tile_fetches.cpp
  bool is_across(const Item& item, const Loop& lanes) const;
  struct LaterTile {                            // what a row of an operand that lies across fetches
    Value* distance;                            // bytes
    Index bytes;
    bool near;                                  // into the first level
  };
  Index until_next_tiles(const Load& load, const Loop& lanes) const;
  LaterTile later_tile(const Load& load, const LaneAccess& access, int step, int elements, const Loop& lanes);
  bool leaves_second_level(const Load& load, const Loop& lanes) const;
  bool crowds_second_level(const Load& load, const Loop& lanes) const;
  void fetch_beside_tiles(const Loop& lanes, Value* index);
  void fetch_beside_squares(const Loop& outer, const Loop& lanes, int steps);

  // emit_rolled_tile.cpp
  struct Square {
    const Item* item;
    bool is_load;
    DType dtype;
    int step;
    LaneAccess access;
    llvm::AllocaInst* cell;                     // sixteen rows along the vector loop
  };
  std::vector<Square> squares_of(const Loop& outer, const Loop& lanes, Value* first, int steps);
  Value* row_of(const Square& square, Value* row, Value* lane);
  void load_square(const Square& square, const Loop& lanes, Value* index, Value* lane);
  void store_square(const Square& square, Value* first, Value* index, Value* lane);
  void emit_squares(const Loop& outer, const Loop& lanes, Value* first, const std::vector<Square>& squares, Value* index, int steps, const Masks& masks);
  Value* emit_rolled_tiles(const Loop& loop, const Outer& outer, Range range);

  // emit_table.cpp
  void fill_table(const Loop& loop, const ByteFunction& function, Value* table, Value* phase);
  Value* make_differences(const ByteFunction& function, Value* memory, Index tables);
  Value* look_up_by_permutes(Value* bytes, const std::vector<Value*>& quarters);
  Value* look_up_by_shuffles(Value* bytes, Value* differences);
  void look_up_each_by_shuffles(std::vector<Value*>& registers, Value* differences);
  std::vector<Value*> look_up(const std::vector<Value*>& bytes, const std::vector<std::vector<Value*>>& quarters, Value* table_differences);
  Value* look_up_in_registers(const Loop& loop, const ByteFunction& function, Value* memory, Value* table_differences, Range range);
  Value* look_up_in_memory(const ByteFunction& function, Value* memory, Range range);
  Value* look_up_range(const Loop& loop, const ByteFunction& function, Value* memory, Value* table_differences, Range range);
  Value* emit_table_lookups(const Loop& loop, const ByteFunction& function, Range range);
  bool makes_tables_of_loop(const Loop& loop, const ByteFunction& function) const;
  void emit_tables_and_rest(const Loop& loop, const ByteFunction& function, Range range);
  Value* element_in_all_lanes(const Item& item, const Load& load, Value* which);
  Value* pays_for_tables(const ByteFunction& function, Range range);

  // emit_early_table.cpp
  struct EarlyTables {
    llvm::Function* function;                   // where they are
    Value *memory, *differences, *ready;        // differences: null if nothing wants them; ready: whether they were made
    int axis;                                   // a table for each element of it; -1: one
  };
  void make_early_tables(std::vector<const Loop*> path);      // from the root on
  void make_early_table(const std::vector<const Loop*>& path);
  Value* elements_of(const std::vector<const Loop*>& path);
  const EarlyTables* early_tables(const Loop& loop) const;
  void early_tables_in(const Item& item, std::vector<EarlyTables*>& tables);

  // emit_stream.cpp
  const Item* streams_from_a_line_on(const Loop& loop) const;
  void emit_from_a_line_on(const Loop& loop, Range range, int steps, const Item& result);

  // emit_others.cpp
  void emit_others(const Others& item);
  void emit_lane_others(const Others& item, Value* index, int steps, const Masks& masks);
  void hold_rows();
  bool moves_held_row(const Loop& loop) const;
  void emit_held_row(const Loop& loop);

  std::string symbol_;
  const bool calls_;
  const int code_per_piece_;

  std::map<std::pair<const void*, int>, Value*> jam_sums_;   // by Accumulate and step: carried from copy to copy
  std::map<std::pair<const void*, int>, Value*> repeated_;   // by Load and step: what every iteration would load again
  std::map<std::pair<const void*, int>, Value*> common_;     // by Load and step: what every copy would load again
  struct KeptVector {
    Window window;
    Value* value;
    Index lanes = lane_count;                   // that it has, the first ones
  };
  std::vector<KeptVector> windows_;             // what the body, or copies so far, have loaded
  std::unordered_map<const Item*, RowWindow> row_windows_;   // of the current loop, by Load: those that are picked from vectors of their row
  std::vector<std::size_t> of_rows_;            // values whose packs are in the order of rows
  Value* rows_left_ = nullptr;                  // of such, where they are fewer than a vector has
  std::map<int, std::vector<Value*>> thin_results_;          // by row of a fold: for each vector, until the taker's step is done
  std::map<std::pair<const void*, int>, std::vector<Value*>> thin_slots_;   // by Accumulate and step
  struct FoldedStep {                           // of the turn of a loop that runs
    int fold, step;
    Value *cell, *before;                       // where it adds, and what was there before the turn: null if an earlier step adds there too
    llvm::AllocaInst* after;                    // this step
  };
  std::vector<FoldedStep> folded_steps_;
  bool moves_whole_ = false;                    // in a shared body: masks are of what it folds, all that it moves is there
  Value* part_ = nullptr;                       // elements of the current vector, if it may be less than whole
  struct LateStore {                            // waits until all copies have loaded
    LaneAccess access;
    DType dtype;
    int step;
    Value *mask, *value;
  };
  bool stores_late_ = false;
  std::vector<LateStore> late_stores_;
  std::map<const void*, llvm::AllocaInst*> column_halves_;   // by Accumulate: rows of a strip of columns, one for each level of the tree
  std::map<int, Value*> carried_rows_;          // by buffer: rows of states, from copy to copy
  std::unordered_map<const void*, std::vector<Value*>> tiles_;   // by Load: for each copy, or each step of the only one, in memory's type
  std::map<const void*, std::vector<Value*>> tile_stores_;           // by Store: likewise
  std::map<const void*, Stage> stages_;         // by Store
  struct {                                      // where the current block of tiles begins, in both loops
    Value *outer = nullptr, *lanes = nullptr;
  } block_;
  std::unordered_map<const Loop*, EarlyTables> early_tables_;
  std::vector<LoopCode> codes_;                 // of the vector loops so far
  std::set<const Loop*> noted_;
};

// body(index, steps, no masks) for whole steps of so many vectors of a range that begins with one of them, then body(index, 1, masks) for what is left.
template <class Body> void KernelEmitter::in_steps(int axis, Range along, int steps, const char* name, Body body) {
  const Index stride = Index{steps} * lane_count;
  const bool exact = relies_on_whole(axis, stride);
  Value* whole = exact ? along.end : b_.CreateSub(along.end, b_.CreateURem(b_.CreateSub(along.end, along.begin), number(stride)));
  for_range(along.begin, whole, stride, name, [&](Value* index) { body(index, steps, Masks{}); });
  if (exact) return;
  for_range(whole, along.end, lane_count, "rest", [&](Value* index) {
    part_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(along.end, index), number(lane_count));
    body(index, 1, first_lanes(part_, 1));
    part_ = nullptr;
  });
}

}  // namespace weft
