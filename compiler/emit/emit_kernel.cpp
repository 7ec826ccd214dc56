#include "emit_kernel.h"

#include <algorithm>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "code/llvm_options.h"
#include "code/features.h"
#include "program/visit.h"
#include "program/work.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

KernelEmitter::KernelEmitter(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, const CodeOptions& options)
    : Accesses(module, program, classes, plan, options), calls_(options.calls), code_per_piece_(options.code_per_piece) {}

// A stage: the signature of StageFn, and nothing known yet.
void KernelEmitter::begin_function(const std::string& name) {
  auto* pointer = b_.getPtrTy();
  start_function(llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt64Ty(), b_.getInt64Ty(), pointer}, false), name, llvm::Function::ExternalLinkage);
  forget_rows();
  forget_values();
  folds_.assign(program_.folds.size(), {});
  find_accesses();
  early_tables_.clear();
  hold_rows();
}

void KernelEmitter::end_function() {
  b_.CreateRetVoid();
  if (function_->getInstructionCount() >= likely_to_spill) function_->addFnAttr("stackrealign");
  std::string problem;
  llvm::raw_string_ostream out(problem);
  WEFT_ASSERT(!llvm::verifyFunction(*function_, &out), "code of ", program_.name, " is not valid: ", out.str());
}

void KernelEmitter::emit_item(const Item& item) {
  if (auto* inner = std::get_if<Loop>(&item)) {
    if (inner->mark == Mark::lanes) emit_lanes(*inner);
    else if (inner->mark == Mark::block) emit_blocks(*inner);
    else emit_serial(*inner);
  } else if (auto* load = std::get_if<Load>(&item)) {
    scalars_[static_cast<std::size_t>(load->result)] = scalar_load(*load);
  } else if (auto* store = std::get_if<Store>(&item)) {
    scalar_store(*store);
  } else if (auto* compute = std::get_if<Compute>(&item)) {
    std::vector<Value*> operands;
    std::vector<DType> dtypes;
    for (const Arg& arg : compute->args) operands.push_back(scalar(arg)), dtypes.push_back(program_.dtype_of(arg));
    scalars_[static_cast<std::size_t>(compute->result)] = emit_or_call(compute->op, operands, dtypes, program_.dtype_of(compute->result));
  } else if (auto* read = std::get_if<ReadState>(&item)) {
    const DType dtype = program_.fold(read->fold).dtype;
    scalars_[static_cast<std::size_t>(read->result)] = from_memory(b_.CreateLoad(memory_type(context_, dtype, 1), folds_[static_cast<std::size_t>(read->fold)].cell), dtype);
  } else if (auto* write = std::get_if<WriteState>(&item)) {
    const DType dtype = program_.fold(write->fold).dtype;
    b_.CreateStore(to_memory(scalar(write->value), dtype), folds_[static_cast<std::size_t>(write->fold)].cell);
  } else if (auto* others = std::get_if<Others>(&item)) {
    emit_others(*others);
  } else {
    const auto& accumulate = std::get<Accumulate>(item);
    const Fold& fold = program_.fold(accumulate.fold);
    const FoldState& state = folds_[static_cast<std::size_t>(accumulate.fold)];
    llvm::Type* type = memory_type(context_, fold.dtype, 1);
    Value* place = nullptr;
    if (fold.row < 0) {
      place = b_.CreateGEP(type, state.cell, fold_slot(fold, state));
    } else {
      std::vector<Subscript> at;
      for (int axis : fold.row_axes) at.push_back({axis, 0, 1, -1});
      place = b_.CreateGEP(type, address(fold.row, at), b_.CreateMul(fold_slot(fold, state), state.elements));
    }
    const llvm::Align align(size_of(fold.dtype));
    Value* old = from_memory(b_.CreateAlignedLoad(type, place, align), fold.dtype);
    b_.CreateAlignedStore(to_memory(accumulated(fold, old, scalar(accumulate.value), accumulate.factor ? scalar(*accumulate.factor) : nullptr), fold.dtype), place, align);
  }
}

// Whether what several elements that go together leave over goes one by one in the same body.
static bool leaves_some_over(LoopChoices::Together how) {
  using enum LoopChoices::Together;
  return how == jam || how == shared || how == windows || how == pairs;
}

// As much of the range as goes together; returns where the rest begins.
Value* KernelEmitter::emit_several(const Loop& loop, const Outer& outer, Together how, Range range) {
  switch (how) {
    case Together::tiles: {
      const int elements = tile_elements(loop, outer, vectors_past_caches()), vectors = vectors_of_blocks(loop, outer, vectors_past_caches());
      Value* rest = vectors > 0 ? emit_tile_blocks(loop, range, elements, vectors) : emit_tiles(loop, range, elements);
      return emit_last_tile(loop, {rest, range.end}, elements);
    }
    case Together::squares: return emit_rolled_tiles(loop, outer, range);
    case Together::rows: emit_rows(loop, range, rows_at_once(outer)); return range.end;
    case Together::registers: emit_register_blocks(loop, range); return range.end;
    case Together::pairs:
    case Together::windows:
    case Together::shared: {
      const int elements = how == Together::pairs ? 2 : how == Together::windows ? overlapping(loop, outer) : sharing(loop, outer);
      Value* rest = end_of_whole(loop.var.axis, range, elements);
      as_copies({.keep_windows = how == Together::windows}, [&] {
        for_range(range.begin, rest, elements, "neighbours", [&](Value* first) { emit_together(loop, first, elements, 1); });
      });
      return rest;
    }
    case Together::jam: return emit_jam(loop, range, jammed(loop, outer, machine_.first_level_ways));
    default: return range.begin;
  }
}

void KernelEmitter::emit_serial(const Loop& loop) {
  Outer outer = outer_of(loop);
  outer.from_memory = std::any_of(outer.loops.begin(), outer.loops.end(), [&](const Loop* lanes) { return reads_rows_of_memory(*lanes); });
  Together how = together(loop, outer);
  if (how == Together::windows && combines_rows()) how = Together::none;
  if (how == Together::thin) return emit_thin(loop, outer);
  if (how == Together::columns) return emit_columns(loop, outer);
  const auto axis = static_cast<std::size_t>(loop.var.axis);
  const Range range = range_of(loop.var.axis);
  bool ordered = false;
  for (int fold : loop.folds) ordered |= program_.fold(fold).ordered;
  const bool leaves = ordered && !relies_on_one_leaf(loop.var.axis);
  open_folds(loop, leaves);
  start_folds(loop, false);
  auto run = [&](Range part) {
    Value* rest = emit_several(loop, outer, how, part);
    if (rest == part.end) return;
    const bool some = rest == part.begin && has_some(loop.var.axis);
    as_copies({.left_over = leaves_some_over(how)}, [&] {
      for_range(rest, part.end, 1, "serial", [&](Value* index) {
        axis_index_[axis] = index;
        emit_items(loop);
      }, some);
    });
    axis_index_[axis] = nullptr;
  };
  fold_leaves(loop, range, leaves, run);
  close_folds(loop, range);
}

// Blocks of the current unit; folds over the root axis run on through all of them.
void KernelEmitter::emit_blocks(const Loop& loop) {
  const Range whole = tile_;
  open_folds(loop, false);
  start_folds(loop, false);
  start_folds(loop, true);
  for_range(whole.begin, whole.end, program_.block, "block", [&](Value* start) {
    tile_ = {start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(program_.block)), whole.end)};
    emit_items(loop);
  }, true);
  tile_ = whole;
  end_leaf(loop, nullptr);
  close_folds(loop, whole);
}

// How many elements of the root go together.
Index KernelEmitter::together_in_root(const Loop& root, const Outer& outer, Together how) const {
  switch (how) {
    case Together::pairs: return 2;
    case Together::windows: return overlapping(root, outer);
    case Together::tiles: return tile_elements(root, outer, vectors_past_caches());
    case Together::squares: return lane_count;
    case Together::registers: return register_block(root)->rows;
    default: return 1;
  }
}

// The root: units [begin, end) of this slice. Returns how many go together.
Index KernelEmitter::emit_units(const Loop& root) {
  const int axis = root.var.axis;
  Value *begin = function_->getArg(2), *end = function_->getArg(3);
  Value* extent = size(program_.axis(axis).extent);
  auto tile_from = [&](Value* first, Value* last) {
    Value* start = b_.CreateMul(first, number(program_.unit));
    tile_ = {start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateMul(last, number(program_.unit)), extent)};
  };
  // One vector loop that keeps nothing, between units or in rows of one, runs over the whole slice at once.
  const auto is_kept = [&](const Buffer& buffer) { return buffer.place == Place::row && std::count(buffer.axes.begin(), buffer.axes.end(), axis) > 0; };
  bool flat = root.var.part == Part::tile && program_.folds.empty() && std::none_of(program_.buffers.begin(), program_.buffers.end(), is_kept);
  int loops = 0;
  for (const Item& item : root.body)
    if (auto* inner = std::get_if<Loop>(&item)) ++loops, flat &= inner->mark == Mark::lanes && inner->var.axis == axis;
  flat &= loops == 1;
  if (!flat) make_early_tables({&root});
  if (program_.is_one_unit || flat) {
    unit_ = begin;
    if (program_.is_one_unit) rely_on_one_unit(), tile_ = {number(0), extent};
    else tile_from(begin, end);
    emit_items(root);
    return 1;
  }
  Value* rest = begin;
  Index several = 1;
  Together how = Together::none;
  if (root.var.part == Part::element) {
    const Outer outer = outer_of(root);
    how = together(root, outer);
    if ((how == Together::pairs || how == Together::windows) && combines_rows()) how = Together::none;           // into lines, one row after the other
    rest = emit_several(root, outer, how, {begin, end});
    several = together_in_root(root, outer, how);
  }
  as_copies({.left_over = leaves_some_over(how)}, [&] {
    for_range(rest, end, 1, "unit", [&](Value* unit) {
      unit_ = unit;
      if (root.var.part == Part::tile) tile_from(unit, b_.CreateAdd(unit, number(1)));
      else axis_index_[static_cast<std::size_t>(axis)] = unit;
      emit_items(root);
    }, rest == begin);
  });
  return several;
}

namespace {

bool has_lookups(const Program& program) {
  bool found = false;
  each_item(program.root, [&](const Item& item, const Loop&) {
    auto* compute = std::get_if<Compute>(&item);
    found |= compute && looks_up_coefficients(compute->op, program.dtype_of(compute->result));
  });
  return found;
}

}  // namespace

// What runs of a body: of functions of bytes, lookups. An image of 128 x 128 pixels took 7 us on two threads, 1.4 on one (Zen 5).
int KernelEmitter::run_weight(const Loop& loop) const {
  const auto bytes = loop.mark == Mark::lanes ? byte_function(loop) : std::nullopt;
  return !bytes ? loop.weight : bytes->in_registers ? lookups_in_registers : lookups_in_memory;
}

// Picoseconds in which tables of functions of bytes are made, once in each slice. Images of 256 x 256 and 512 x 512 pixels 3.5 and 9.3 -> 2.6 and 7.5 us on
// two threads, 3.3 and 14 on one (Zen 5).
Index KernelEmitter::work_of_tables(const Loop& loop) const {
  Index work = 0;
  if (const auto bytes = loop.mark == Mark::lanes ? byte_function(loop) : std::nullopt)
    work += bytes->tables * table_entries * loop.weight * element_picoseconds(machine_, true);
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) work += work_of_tables(*inner);
  return work;
}

StagePlan KernelEmitter::emit_run() {
  StagePlan stage;
  stage.symbol = symbol_;
  stage.name = program_.name;
  begin_function(stage.symbol);
  if (program_.root.mark == Mark::once) {
    emit_items(program_.root);
  } else {
    find_combined_rows();
    stage.together = emit_units(program_.root);
    finish_combined_rows();
    finish_streams();
    stage.units = plan_.sizes.add(program_.units());
    stage.work = plan_.sizes.add(floor_div(work_of_unit(program_, machine_, [&](const Loop& loop) { return run_weight(loop); }), 1000), 1);
    stage.slice_work = work_of_tables(program_.root) / 1000;
    stage.elements = program_.axis(program_.root.var.axis).extent;
    stage.unit = program_.unit;
  }
  end_function();
  const bool is_long = std::any_of(codes_.begin(), codes_.end(), [](const LoopCode& code) { return code.instructions > long_body; });
  if (register_bytes() < 64 && (is_long || has_lookups(program_))) function_->addFnAttr(spread_schedule);
  stage.loops = std::move(codes_);
  if (!scratch_.is(0)) stage.scratch = plan_.sizes.add(scratch_);
  return stage;
}

StagePlan KernelEmitter::emit(const std::string& symbol) {
  symbol_ = symbol;
  return emit_run();
}

std::vector<ArrayEntry> KernelEmitter::emit_for_any_arrays(const std::string& symbol, StagePlan& stage) {
  std::vector<ArrayEntry> entries;
  array_entries_ = &entries;
  stage = emit(symbol);
  return entries;
}

}  // namespace weft
