// Float sums and products over a serial loop of at most a leaf, such as sums over a middle axis: strips of some columns, down all rows, with slots in
// registers. Rows of slots in memory (emit_jam.cpp) would be filled, loaded, stored and added up at the end: what sixteen of them hold leaves the first
// level where rows are long, and where there are few of them it is as much as they are.
//
// A strip is walked in eight passes. Each takes two slots, s and s + 8, of some vectors at a time; what they make is added to what the passes before
// it left, as the tree of weft/accumulator.h has it: slots in the order 0 4 2 6 1 5 3 7, where the pass that ends a subtree takes its other half from a
// row of the strip. Of rows of few vectors four passes take four slots, s, s + 4, s + 8 and s + 12, in the order 0 2 1 3.
#include <vector>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int most_levels = 3;
static_assert(fold_slots == 16 && slots_of_a_pass == 2, "the order of passes is that of a tree over sixteen slots");
}  // namespace

// What a strip sums up: a value for each vector of a step, in the slots of a pass.
struct KernelEmitter::ColumnSum {
  const Item* item;
  int step;
  llvm::Type* type;
  std::vector<llvm::AllocaInst*> slots;
};

void KernelEmitter::emit_columns(const Loop& rows, const Outer& outer) {
  const Loop& lanes = *outer.loops[0];
  const int axis = lanes.var.axis;
  relies_on_one_leaf(rows.var.axis);
  as_copies({.thin = true}, [&] { open_folds(rows, false); });       // one row of results
  const int steps = columns_at_once(outer);
  const Index strip = strip_of_columns(outer);
  const int slots = slots_of_pass(outer);
  estimated_ = find_estimated(lanes, steps);
  axis_index_[static_cast<std::size_t>(axis)] = nullptr;
  axis_index_[static_cast<std::size_t>(rows.var.axis)] = number(0);
  open_accesses(lanes);
  Strides strides;
  for (const Item& item : lanes.body) {
    if (auto* store = std::get_if<Store>(&item)) strides[&item] = stride_along(store->buffer, store->at, rows.var.axis);
    auto* load = std::get_if<Load>(&item);
    if (!load) continue;
    strides[&item] = stride_along(load->buffer, load->at, rows.var.axis);
    if (auto access = accesses_.find(&item); access != accesses_.end() && outer.from_memory && falls_behind(*load)) access->second.next_row = number(columns_ahead);
  }
  for (const Item& item : lanes.body)
    if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      const Fold& fold = program_.fold(accumulate->fold);
      column_halves_[&item] = stack_cell(llvm::ArrayType::get(memory_type(context_, fold.dtype, static_cast<int>(strip)), most_levels), "halves");
    }
  as_copies({.down_columns = true}, [&] {
    note_code(lanes, steps, false);
    around_lanes([&] {
      const Range all = range_of(axis);
      for_range(all.begin, all.end, strip, "strip", [&](Value* begin) {
        const Range part{begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, number(strip)), all.end)};
        for_range(number(0), number(static_cast<Index>(fold_slots) / slots), 1, "pass", [&](Value* pass) {
          in_steps(axis, part, steps, "columns", [&](Value* index, int count, const Masks& masks) { emit_columns_of_pass(rows, lanes, strides, slots, pass, {part.begin, index}, count, masks); });
        }, true);
      });
    });
  });
  column_halves_.clear();
  axis_index_[static_cast<std::size_t>(rows.var.axis)] = nullptr;
  close_folds(rows, range_of(rows.var.axis));
}

// One step of columns: what the slots of a pass sum up of all rows, added to what the passes before it made. at: from the strip's first column.
void KernelEmitter::emit_columns_of_pass(const Loop& rows, const Loop& lanes, const Strides& strides, int slots, Value* pass, Range at, int steps, const Masks& masks) {
  std::vector<ColumnSum> sums;
  const auto fold_of = [&](const ColumnSum& sum) -> const Fold& { return program_.fold(std::get<Accumulate>(*sum.item).fold); };
  const auto combine = [&](const ColumnSum& sum, Value* a, Value* b) { return emit_combine(b_, fold_of(sum).accumulator, fold_of(sum).dtype, a, b); };
  for (const Item& item : lanes.body)
    if (auto* accumulate = std::get_if<Accumulate>(&item))
      for (int step = 0; step < steps; ++step) {
        const Fold& fold = program_.fold(accumulate->fold);
        sums.push_back({&item, step, register_type(context_, fold.dtype, lane_count), std::vector<llvm::AllocaInst*>(static_cast<std::size_t>(slots))});
        for (auto*& slot : sums.back().slots) b_.CreateStore(constant_value(context_, unit(fold.accumulator, fold.dtype), lane_count), slot = stack_cell(sums.back().type, "slot"));
      }
  const Index passes = static_cast<Index>(fold_slots) / slots;
  Value* first = number(0);                      // the bits of the pass the other way round
  for (Index bit = 1; bit < passes; bit *= 2) {
    Value* is_set = b_.CreateICmpNE(b_.CreateAnd(pass, number(bit)), number(0));
    first = b_.CreateOr(first, b_.CreateSelect(is_set, number(passes / 2 / bit), number(0)));
  }
  emit_rows_of_pass(rows, strides, slots, first, [&](int slot) {
    emit_lane_items(lanes, at.end, steps, masks);
    for (const ColumnSum& sum : sums) {
      auto* cell = sum.slots[static_cast<std::size_t>(slot)];
      const auto& item = std::get<Accumulate>(*sum.item);
      b_.CreateStore(accumulated(fold_of(sum), b_.CreateLoad(sum.type, cell), pack(item.value, sum.step), item.factor ? pack(*item.factor, sum.step) : nullptr), cell);
    }
  });
  const auto value = [&](const ColumnSum& sum) { return b_.CreateLoad(sum.type, sum.slots[0]); };
  const auto half_at = [&](const ColumnSum& sum, Value* level) {
    auto* halves = column_halves_.at(sum.item);
    Value* row = b_.CreateInBoundsGEP(halves->getAllocatedType(), halves, {number(0), level, b_.CreateSub(at.end, at.begin)});
    return after(memory_type(context_, fold_of(sum).dtype, lane_count), row, sum.step);
  };
  for (const ColumnSum& sum : sums)              // s with s + 8, then what is 4 after them
    for (std::size_t half = sum.slots.size() / 2; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k) b_.CreateStore(combine(sum, b_.CreateLoad(sum.type, sum.slots[k]), b_.CreateLoad(sum.type, sum.slots[k + half])), sum.slots[k]);
  Value* subtrees = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt64Ty()}, {b_.CreateAdd(pass, number(1)), b_.getTrue()});       // that end with this pass
  const auto in_memory = [&](const ColumnSum& sum) { return memory_type(context_, fold_of(sum).dtype, lane_count); };
  for_range(number(0), subtrees, 1, "subtree", [&](Value* level) {
    for (const ColumnSum& sum : sums) {
      Value* half = from_memory(b_.CreateAlignedLoad(in_memory(sum), half_at(sum, level), llvm::Align(size_of(fold_of(sum).dtype))), fold_of(sum).dtype);
      b_.CreateStore(combine(sum, half, value(sum)), sum.slots[0]);
    }
  });
  Value* is_last = b_.CreateICmpEQ(pass, number(passes - 1));
  if_then(is_last, "sums", [&] {
    for (const ColumnSum& sum : sums) lane_store(accesses_.at(sum.item), fold_of(sum).dtype, at.end, sum.step, mask_of(masks, sum.step), value(sum));
  });
  if_then(b_.CreateNot(is_last), "halves", [&] {
    for (const ColumnSum& sum : sums) b_.CreateAlignedStore(to_memory(value(sum), fold_of(sum).dtype), half_at(sum, subtrees), llvm::Align(size_of(fold_of(sum).dtype)));
  });
}

// row(slot) for the rows first, first + 8, .. of the loop, as many as there are slots in an iteration; addresses are those of each row meanwhile.
void KernelEmitter::emit_rows_of_pass(const Loop& rows, const Strides& strides, int slots, Value* first, const std::function<void(int)>& row) {
  const Index passes = static_cast<Index>(fold_slots) / slots;
  const auto axis = static_cast<std::size_t>(rows.var.axis);
  const auto outside = accesses_;
  Value* const last = size(program_.axes[axis].extent);
  std::map<const void*, llvm::AllocaInst*> places;
  for (const auto& [item, stride] : strides) {
    const auto access = accesses_.find(item);
    if (access == accesses_.end()) continue;
    places[item] = stack_cell(b_.getPtrTy(), "row");
    b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), access->second.base, b_.CreateMul(first, stride)), places[item]);
  }
  const bool whole = relies_on_whole(rows.var.axis, fold_slots);
  auto* done = llvm::BasicBlock::Create(context_, "pass.done", function_);
  for_range(first, last, fold_slots, "down", [&](Value* block) {
    for (int slot = 0; slot < slots; ++slot) {
      axis_index_[axis] = b_.CreateAdd(block, number(slot * passes));
      if (slot > 0 && !whole) {
        auto* next = llvm::BasicBlock::Create(context_, "down.next", function_, done);
        b_.CreateCondBr(b_.CreateICmpSLT(axis_index_[axis], last), next, done);
        b_.SetInsertPoint(next);
      }
      for (const auto& [item, place] : places) accesses_.at(item).base = b_.CreateLoad(b_.getPtrTy(), place);
      row(slot);
      for (const auto& [item, place] : places)
        b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), accesses_.at(item).base, b_.CreateMul(strides.at(item), number(passes))), place);
    }
  });
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  axis_index_[axis] = number(0);
  accesses_ = outside;
}

}  // namespace weft
