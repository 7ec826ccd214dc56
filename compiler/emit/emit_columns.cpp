// Float sums and products over a serial loop of at most a leaf, of which all rows stay in a cache, such as sums over a middle axis: one vector
// of columns after the other, down all rows, with the slots in registers. Rows of slots in memory (emit_jam.cpp) would be filled, loaded,
// stored and added up at the end.
//
// Sixteen slots of one vector are more than sixteen registers hold, so there are four passes: one over the slots 0 4 8 12, the others
// over 2 6 10 14, 1 5 9 13 and 3 7 11 15. That is the order in which the tree of weft/accumulator.h adds what each pass makes.
#include <array>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int passes = static_cast<int>(fold_slots) / slots_of_a_pass;
static_assert(fold_slots == 16 && slots_of_a_pass == 4, "the order of passes is that of a tree over sixteen slots");
}  // namespace

void KernelEmitter::emit_columns(const Loop& rows, const Outer& outer) {
  const Loop& lanes = *outer.loops[0];
  const int axis = lanes.var.axis;
  relies_on_one_leaf(rows.var.axis);
  as_copies({.thin = true}, [&] { open_folds(rows, false); });       // one row of results
  const int steps = columns_at_once(outer);
  estimated_ = find_estimated(lanes, steps);
  axis_index_[static_cast<std::size_t>(axis)] = nullptr;
  axis_index_[static_cast<std::size_t>(rows.var.axis)] = number(0);
  open_accesses(lanes);
  std::map<const void*, Value*> strides;
  for (const Item& item : lanes.body)
    if (auto* load = std::get_if<Load>(&item)) strides[&item] = stride_along(load->buffer, load->at, rows.var.axis);
    else if (auto* store = std::get_if<Store>(&item)) strides[&item] = stride_along(store->buffer, store->at, rows.var.axis);
  as_copies({.down_columns = true}, [&] {
    note_code(lanes, steps, false);
    around_lanes([&] {
      in_steps(axis, steps, "columns", [&](Value* index, int count, const Masks& masks) { emit_column(rows, lanes, strides, index, count, masks); });
    });
  });
  axis_index_[static_cast<std::size_t>(rows.var.axis)] = nullptr;
  close_folds(rows, range_of(rows.var.axis));
}

// One step of columns, all rows.
void KernelEmitter::emit_column(const Loop& rows, const Loop& lanes, const std::map<const void*, Value*>& strides, Value* index, int steps, const Masks& masks) {
  struct Sum {
    const Item* item;
    int step;
    llvm::Type* type;
    llvm::AllocaInst *half, *all;                // of two passes, of four
    std::array<llvm::AllocaInst*, slots_of_a_pass> slots;
  };
  std::vector<Sum> sums;
  for (const Item& item : lanes.body)
    if (auto* accumulate = std::get_if<Accumulate>(&item))
      for (int step = 0; step < steps; ++step) {
        llvm::Type* type = register_type(context_, program_.fold(accumulate->fold).dtype, lane_count);
        sums.push_back({&item, step, type, stack_cell(type, "half"), stack_cell(type, "all"), {}});
        for (auto*& slot : sums.back().slots) slot = stack_cell(type, "slot");
      }
  const auto fold_of = [&](const Sum& sum) -> const Fold& { return program_.fold(std::get<Accumulate>(*sum.item).fold); };
  const auto combine = [&](const Sum& sum, Value* a, Value* b) { return emit_combine(b_, fold_of(sum).accumulator, fold_of(sum).dtype, a, b); };
  for_range(number(0), number(passes), 1, "pass", [&](Value* pass) {
    Value* second_of_half = b_.CreateTrunc(pass, b_.getInt1Ty());
    Value* first = b_.CreateOr(b_.CreateLShr(pass, number(1)), b_.CreateShl(b_.CreateAnd(pass, number(1)), number(1)));    // 0 2 1 3
    for (const Sum& sum : sums)
      for (auto* slot : sum.slots) b_.CreateStore(constant_value(context_, unit(fold_of(sum).accumulator, fold_of(sum).dtype), lane_count), slot);
    emit_rows_of_pass(rows, strides, first, [&](int slot) {
      emit_lane_items(lanes, index, steps, masks);
      for (const Sum& sum : sums) {
        auto* cell = sum.slots[static_cast<std::size_t>(slot)];
        const auto& item = std::get<Accumulate>(*sum.item);
        b_.CreateStore(accumulated(fold_of(sum), b_.CreateLoad(sum.type, cell), pack(item.value, sum.step), item.factor ? pack(*item.factor, sum.step) : nullptr), cell);
      }
    });
    for (const Sum& sum : sums) {
      const auto slot = [&](std::size_t k) { return b_.CreateLoad(sum.type, sum.slots[k]); };
      Value* quarter = combine(sum, combine(sum, slot(0), slot(2)), combine(sum, slot(1), slot(3)));
      Value *half = b_.CreateLoad(sum.type, sum.half), *all = b_.CreateLoad(sum.type, sum.all);
      half = b_.CreateSelect(second_of_half, combine(sum, half, quarter), quarter);
      all = b_.CreateSelect(b_.CreateICmpEQ(pass, number(1)), half, b_.CreateSelect(second_of_half, combine(sum, all, half), all));
      b_.CreateStore(half, sum.half);
      b_.CreateStore(all, sum.all);
    }
  });
  for (const Sum& sum : sums) lane_store(accesses_.at(sum.item), fold_of(sum).dtype, index, sum.step, mask_of(masks, sum.step), b_.CreateLoad(sum.type, sum.all));
}

// row(slot) for the rows first, first + 4, .. of the loop, four in an iteration; addresses are those of each row meanwhile.
void KernelEmitter::emit_rows_of_pass(const Loop& rows, const std::map<const void*, Value*>& strides, Value* first, const std::function<void(int)>& row) {
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
    for (int slot = 0; slot < slots_of_a_pass; ++slot) {
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
