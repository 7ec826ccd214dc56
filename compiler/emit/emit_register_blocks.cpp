// Rows of sums, or of other folds, over a serial loop inside, as x[i,k] * y[k,j] over k: a block of some rows and vectors of results at a time, with their sums in
// registers all the way down. What does not depend on the row is loaded once for all rows of a block, and packed for many blocks: its
// vectors follow each other then, whatever lies between them in their array. So is what lies along the rows, where few elements of each of its
// lines are those of a block.
//
// Sixteen slots of a block are more than registers hold, so there are sixteen passes over a leaf, one for each slot: 0 8 4 12 2 10 .., in which
// the tree of weft/accumulator.h adds them, as a binary counter does that keeps one partial sum for each level.
//
// What the rows do with their sums goes on from rows in scratch, one after the other.
#include <llvm/IR/Intrinsics.h>

#include "emit_register_blocks.h"
#include "code/pack_support.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

void KernelEmitter::emit_register_blocks(const Loop& rows, Range range) {
  const RegisterBlock plan = *register_block(rows);
  const Loop& fold = std::get<Loop>(rows.body[plan.fold]);
  Block block{.rows = rows, .fold = fold, .lanes = *outer_of(fold).loops[0], .fold_at = plan.fold, .count = plan.rows, .panel = plan.vectors, .panels = plan.panels,
              .most_rows = plan.packed, .leaves = !relies_on_one_leaf(fold.var.axis), .in_whole = relies_on_whole(outer_of(fold).loops[0]->var.axis, plan.vectors * lane_count)};
  WEFT_ASSERT(jam_.empty(), "a block of sums among copies of a body");
  open_block(block, plan.packed);
  const auto lies_across = [&](const BlockOperand& each) { return each.packed && each.is_shared && !lies_along(each.load->buffer, each.load->at, block.lanes.var.axis); };
  block.packs_always = program_.axis(rows.var.axis).hint > few_blocks * plan.rows || (!block.in_whole && !has_feature("+avx512f")) ||
                       std::any_of(block.operands.begin(), block.operands.end(), lies_across);
  for_range(range.begin, range.end, plan.packed, "together", [&](Value* start) {
    block.together = {start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(plan.packed)), range.end)};
    choose_packed(block);
    const Range along = range_of(block.lanes.var.axis);
    for_range(along.begin, along.end, block.panels * block.stride(), "panels", [&](Value* first_panel) {
      block.first_panel = first_panel;
      emit_panels(block, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(first_panel, number(block.panels * block.stride())), along.end), along.end);
    });
    for_range(start, block.together.end, 1, "row", [&](Value* row) {
      axis_index_[block.row_axis()] = row;
      for (const Block::Sum& sum : block.sums) row_shifts_[sum.fold->row] = b_.CreateMul(b_.CreateSub(row, start), sum.pitch);
      for (std::size_t k = 0; k < plan.fold; ++k) emit_item(rows.body[k]);
      emit_items(rows, plan.fold + 1, rows.body.size());
    }, true);
    for (const Block::Sum& sum : block.sums) row_shifts_.erase(sum.fold->row);
    axis_index_[block.row_axis()] = nullptr;
  });
}

// Scratch for so many rows, and what is loaded.
void KernelEmitter::open_block(Block& block, Index rows) {
  const auto reserve = [&](Index bytes) {
    const Extent offset = scratch_;
    scratch_ = scratch_ + (bytes + line_bytes - 1) / line_bytes * line_bytes;
    return scratch_at(offset);
  };
  for (const Item& item : block.lanes.body) {
    const auto* accumulate = std::get_if<Accumulate>(&item);
    if (!accumulate) continue;
    const Fold& fold = program_.fold(accumulate->fold);
    const Index bytes = item_bytes(fold.dtype);
    const Index panel_bytes = block.stride() * bytes;
    const Extent pitch = floor_div(row_elements(program_.buffer(fold.row)) * Extent(bytes) + (panel_bytes - 1), panel_bytes) * Extent(panel_bytes);
    row_offsets_[static_cast<std::size_t>(fold.row)] = scratch_;
    Block::Sum sum{accumulate, &fold, scratch_at(scratch_), size(pitch), nullptr};
    scratch_ = scratch_ + pitch * Extent(rows) + Extent(most_vectors * lane_count * bytes);      // other loops may end behind a row
    if (block.leaves && fold.ordered) sum.stack = reserve(rows * block.panels * block.stride() * bytes * fold_stack_rows);
    block.sums.push_back(sum);
  }
  const auto add = [&](const Item& item, bool in_lanes) {
    const auto* load = std::get_if<Load>(&item);
    if (!load) return;
    const Buffer& buffer = program_.buffer(load->buffer);
    if (buffer.place == Place::index || buffer.place == Place::extent) return;
    BlockOperand operand{&item, load, buffer.dtype, in_lanes, !depends_on(*load, block.rows.var.axis)};
    const Index leaf_bytes = fold_leaf * item_bytes(buffer.dtype);
    if (in_lanes && is_packed(*load, block.rows, block.fold, block.lanes)) operand.packed = reserve(leaf_bytes * block.panel * lane_count);
    if (!in_lanes && is_packed_along_rows(*load, block.rows, block.fold)) operand.packed = reserve(leaf_bytes * rows + rows / block.count * bytes_between_panels);
    block.operands.push_back(operand);
  };
  for (const Item& item : block.fold.body) add(item, false);
  for (const Item& item : block.lanes.body) add(item, true);
}

// The results of all rows in some panels, leaf by leaf: what lies along the rows is packed once a leaf for all of them.
void KernelEmitter::emit_panels(Block& block, Value* panels_end, Value* end) {
  const auto one_leaf = [&](Range leaf) {
    for_range(block.first_panel, panels_end, block.stride(), "panel", [&](Value* index) { emit_panel(block, index, end, leaf); });
  };
  const Range along = range_of(block.fold.var.axis);
  if (!block.leaves) return one_leaf(along);
  for_range(along.begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, along.end, number(1)), fold_leaf, "leaf", [&](Value* start) {
    one_leaf({start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(fold_leaf)), along.end)});
  });
}

// The results of all rows in one step of the vector loop. What it has behind the last element is packed as zeros, and folded like the rest.
void KernelEmitter::emit_panel(Block& block, Value* index, Value* end, Range leaf) {
  Value* elements = block.in_whole ? number(block.stride()) : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(end, index), number(block.stride()));
  const Masks masks = block.in_whole ? Masks{} : first_lanes(elements, static_cast<int>(block.panel));
  pack_operands(block, leaf, index, elements);
  for_range(block.together.begin, block.together.end, block.count, "block", [&](Value* first) { emit_register_block(block, first, leaf, index, masks); }, true);
}

// The rows of a block: those behind the last one do once more what that does.
Value* KernelEmitter::row_of_block(const Block& block, Value* first, Index copy) {
  if (copy == 0) return first;
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(first, number(copy)), b_.CreateSub(block.together.end, number(1)));
}

// Where the operands of the rows begin, at the leaf's first element.
void KernelEmitter::point_at_operands(Block& block, Value* first, Range along, Value* index) {
  for (Index copy = 0; copy < block.count; ++copy) {
    axis_index_[block.row_axis()] = row_of_block(block, first, copy);
    axis_index_[block.fold_axis()] = along.begin;
    jam_.push_back({axis_index_, scalars_, {}, {}, {}, folds_});
  }
  block.pointers.clear();
  each_copy([&] {
    for (std::size_t k = 0; k < block.fold_at; ++k) emit_item(block.rows.body[k]);
    for (const BlockOperand& operand : block.operands) {
      if (operand.is_shared && jam_copy_ > 0) continue;
      const Load& load = *operand.load;
      Value* stride = stride_along(load.buffer, load.at, block.fold.var.axis);
      Block::Pointer pointer{&operand, jam_copy_, {}, stride, b_.CreateMul(stride, number(fold_slots)), stack_cell(b_.getPtrTy(), "at")};
      if (operand.in_lanes) pointer.access = lane_access(load.buffer, load.at, block.lanes.var.axis);
      else pointer.access.base = address(load.buffer, load.at);
      if (operand.packed) {
        Value* pitch = number(packed_pitch(block, operand));
        pointer.access.base = b_.CreateSelect(operand.is_packed, packed_at(block, operand, first, along, index), pointer.access.base);
        pointer.access.lane = StrideClass::unit;
        pointer.access.column = -1;
        pointer.slot_stride = b_.CreateSelect(operand.is_packed, b_.CreateMul(elements_of_slot(along), pitch), stride);
        pointer.stride = b_.CreateSelect(operand.is_packed, pitch, pointer.stride);
      }
      block.pointers.push_back(pointer);
    }
  });
}

// Memory for the sums: by copy, sum and vector.
void KernelEmitter::open_sums(Block& block) {
  block.cells.clear();
  for (Index copy = 0; copy < block.count; ++copy)
    for (const Block::Sum& sum : block.sums)
      for (Index step = 0; step < block.panel; ++step) {
        llvm::Type* type = register_type(context_, sum.fold->dtype, lane_count);
        block.cells.push_back({sum.fold, type, stack_cell(type, "sum"), stack_cell(llvm::ArrayType::get(type, slot_levels), "tree")});
      }
}

// One block of results over a leaf. In pass p a slot is summed up and joins those before it: as many levels of the tree as p + 1 has zeros at its end.
void KernelEmitter::emit_register_block(Block& block, Value* first, Range along, Value* index, const Masks& masks) {
  as_copies({.tiled_by = block.rows.var.axis, .down_columns = true, .in_registers = true}, [&] {
    point_at_operands(block, first, along, index);
    note_code(block.lanes, static_cast<int>(block.panel), false);
    estimated_.clear();
    open_sums(block);
    const auto on_level = [&](const Block::Cell& cell, Value* level) { return b_.CreateGEP(cell.type, cell.tree, level); };
    for_range(number(0), number(fold_slots), 1, "pass", [&](Value* pass) {
      for (const Block::Cell& cell : block.cells) b_.CreateStore(constant_value(context_, unit(cell.fold->accumulator, cell.fold->dtype), lane_count), cell.sum);
      Value* slot = b_.CreateLShr(b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, pass), number(64 - (slot_levels - 1)));
      emit_sums_of_slot(block, slot, along, index, masks);
      Value* full = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateAdd(pass, number(1)), b_.getTrue());
      for_range(number(0), full, 1, "level", [&](Value* level) {
        for (const Block::Cell& cell : block.cells) {
          Value *before = b_.CreateLoad(cell.type, on_level(cell, level)), *sum = b_.CreateLoad(cell.type, cell.sum);
          b_.CreateStore(emit_combine(b_, cell.fold->accumulator, cell.fold->dtype, before, sum), cell.sum);
        }
      });
      for (const Block::Cell& cell : block.cells) b_.CreateStore(b_.CreateLoad(cell.type, cell.sum), on_level(cell, full));
    }, true);
    for (const Block::Cell& cell : block.cells) b_.CreateStore(b_.CreateLoad(cell.type, on_level(cell, number(slot_levels - 1))), cell.sum);
    jam_.clear();
    keep_sums(block, first, along, index);
  });
  axis_index_[block.row_axis()] = axis_index_[block.fold_axis()] = nullptr;
}

// The elements of one slot in a leaf.
void KernelEmitter::emit_sums_of_slot(Block& block, Value* slot, Range along, Value* index, const Masks& masks) {
  for (const Block::Pointer& pointer : block.pointers)
    b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), pointer.access.base, b_.CreateMul(slot, pointer.slot_stride)), pointer.place);
  for_range(b_.CreateAdd(along.begin, slot), along.end, fold_slots, "down", [&](Value* element) {
    for (Block::Pointer& pointer : block.pointers) pointer.here = b_.CreateLoad(b_.getPtrTy(), pointer.place);
    make_scalars(block, element);
    add_to_sums(block, index, masks);
    for (const Block::Pointer& pointer : block.pointers) b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), pointer.here, pointer.stride), pointer.place);
  });
}

// What an element of the fold has once for each row, or for all.
void KernelEmitter::make_scalars(const Block& block, Value* element) {
  std::map<const Item*, Value*> loaded;
  each_copy([&] {
    axis_index_[block.fold_axis()] = element;
    forget_invariants();
    for (const Block::Pointer& pointer : block.pointers) {
      if (!pointer.is_of(jam_copy_, false)) continue;
      const BlockOperand& operand = *pointer.operand;
      if (!operand.is_shared || jam_copy_ == 0)
        loaded[operand.item] = from_memory(b_.CreateAlignedLoad(memory_type(context_, operand.dtype, 1), pointer.here, llvm::Align(size_of(operand.dtype))), operand.dtype);
      scalars_[static_cast<std::size_t>(operand.load->result)] = loaded.at(operand.item);
    }
    for (const Item& item : block.fold.body)
      if (!loaded.contains(&item) && !std::holds_alternative<Loop>(item)) emit_item(item);
  });
}

// One element of the fold, all rows and vectors of the block.
void KernelEmitter::add_to_sums(const Block& block, Value* index, const Masks& masks) {
  const int steps = static_cast<int>(block.panel);
  around_lanes([&] {
    for (const Block::Pointer& pointer : block.pointers) {
      const BlockOperand& operand = *pointer.operand;
      if (!operand.in_lanes || !operand.is_shared) continue;
      LaneAccess access = pointer.access;
      access.base = pointer.here;
      for (int step = 0; step < steps; ++step) repeated_[{operand.item, step}] = lane_load(access, operand.dtype, index, step, operand.packed && block.packs_always ? nullptr : mask_of(masks, step));
    }
    auto cell = block.cells.begin();
    each_copy([&] {
      for (const Block::Pointer& pointer : block.pointers) {
        if (!pointer.is_of(jam_copy_, true)) continue;
        LaneAccess& access = accesses_[pointer.operand->item] = pointer.access;
        access.base = pointer.here;
      }
      emit_lane_items(block.lanes, index, steps, masks);
      for (const Block::Sum& sum : block.sums)
        for (int step = 0; step < steps; ++step, ++cell) {
          Value *value = pack(sum.item->value, step), *factor = sum.item->factor ? pack(*sum.item->factor, step) : nullptr;
          b_.CreateStore(accumulated(*sum.fold, b_.CreateLoad(cell->type, cell->sum), value, factor), cell->sum);
        }
    });
    repeated_.clear();
  });
}

// The sums of a leaf go to the rows of results, perhaps by way of the tree over leaves; those whose order is free join what is there.
void KernelEmitter::keep_sums(const Block& block, Value* first, Range along, Value* index) {
  const auto steps = static_cast<std::size_t>(block.panel), vectors = static_cast<std::size_t>(block.count) * steps;
  Value* end = range_of(block.fold.var.axis).end;
  Value *several = block.leaves ? b_.CreateICmpSGT(end, number(fold_leaf)) : nullptr, *last = block.leaves ? b_.CreateICmpSGE(along.end, end) : nullptr;
  for (std::size_t k = 0; k < block.sums.size(); ++k) {
    const Block::Sum& sum = block.sums[k];
    llvm::Type* type = register_type(context_, sum.fold->dtype, lane_count);
    const auto sum_of = [&](std::size_t vector) { return b_.CreateLoad(type, block.cells[(vector / steps * block.sums.size() + k) * steps + vector % steps].sum); };
    if (!block.leaves || !sum.fold->ordered) {
      store_sums(block, sum, first, index, sum_of, block.leaves ? b_.CreateICmpSGT(along.begin, range_of(block.fold.var.axis).begin) : nullptr);
      continue;
    }
    // By panel of those that go together, then by row.
    const Index bytes_of_stack = block.stride() * item_bytes(sum.fold->dtype) * fold_stack_rows;
    Value* panel = b_.CreateExactUDiv(b_.CreateSub(index, block.first_panel), number(block.stride()));
    Value* place = b_.CreateAdd(b_.CreateMul(panel, number(block.most_rows)), b_.CreateSub(first, block.together.begin));
    Value* stack = b_.CreateGEP(b_.getInt8Ty(), sum.stack, b_.CreateMul(place, number(bytes_of_stack)));
    auto* tile = stack_cell(llvm::ArrayType::get(type, vectors), "leaf");
    Value *count = number(static_cast<Index>(vectors) * lane_count), *leaf = b_.CreateUDiv(along.begin, number(fold_leaf));
    for (std::size_t vector = 0; vector < vectors; ++vector) b_.CreateStore(sum_of(vector), after(type, tile, static_cast<Index>(vector)));
    if_then(several, "push", [&] { call_support(FoldSupport::push, *sum.fold, {stack, tile, count, leaf}); });
    if_then(last, "last", [&] {
      if_then(several, "finish", [&] { call_support(FoldSupport::finish, *sum.fold, {stack, tile, count, b_.CreateAdd(leaf, number(1))}); });
      store_sums(block, sum, first, index, [&](std::size_t vector) { return b_.CreateLoad(type, after(type, tile, static_cast<Index>(vector))); });
    });
  }
}

// sum_of(vector), row by row; where `joins`, with what is there. Over nothing: +0, not the unit -0.
void KernelEmitter::store_sums(const Block& block, const Block::Sum& sum, Value* first, Value* index, const std::function<Value*(std::size_t)>& sum_of, Value* joins) {
  const Index bytes = item_bytes(sum.fold->dtype);
  const llvm::Align align(static_cast<std::uint64_t>(bytes));
  const Range all = range_of(block.fold.var.axis);
  const bool perhaps_nothing = sum.fold->accumulator == AccumulatorId::sum && !has_some(block.fold.var.axis);
  Value* nothing = perhaps_nothing ? b_.CreateICmpSLE(all.end, all.begin) : nullptr;
  std::vector<std::pair<Value*, Value*>> stores;                  // after all loads: rows behind the last one are that again
  for (Index copy = 0; copy < block.count; ++copy) {
    Value* row = b_.CreateSub(row_of_block(block, first, copy), block.together.begin);
    Value* offset = b_.CreateAdd(b_.CreateMul(row, sum.pitch), b_.CreateMul(position_in_row(block, index), number(bytes)));
    Value* at = b_.CreateGEP(b_.getInt8Ty(), sum.memory, offset);
    for (Index step = 0; step < block.panel; ++step) {
      Value *value = sum_of(static_cast<std::size_t>(copy * block.panel + step)), *place = bytes_after(at, step * lane_count * bytes);
      if (joins) value = b_.CreateSelect(joins, emit_combine(b_, sum.fold->accumulator, sum.fold->dtype, b_.CreateAlignedLoad(value->getType(), place, align), value), value);
      if (nothing) value = b_.CreateSelect(nothing, constant_value(context_, Scalar::of(sum.fold->dtype, 0.0), lane_count), value);
      stores.emplace_back(value, place);
    }
  }
  for (const auto& [value, place] : stores) b_.CreateAlignedStore(value, place, align);
}

// Of the vector loop's element: rows hold a unit if that axis is in units.
Value* KernelEmitter::position_in_row(const Block& block, Value* index) {
  return program_.is_tiled(block.lanes.var.axis) ? b_.CreateSub(index, tile_.begin) : index;
}

}  // namespace weft
