// Rows of sums over a serial loop inside, as x[i,k] * y[k,j] over k: a block of some rows and vectors of results at a time, with their sums in
// registers all the way down. What does not depend on the row is loaded once for all rows of a block, and packed for many blocks: its
// vectors follow each other then, whatever lies between them in their array.
//
// Sixteen slots of a block are more than registers hold, so there are sixteen passes over a leaf, one for each slot: 0 8 4 12 2 10 .., in which
// the tree of weft/accumulator.h adds them, as a binary counter does that keeps one partial sum for each level.
//
// What the rows do with their sums goes on from rows in scratch, one after the other.
#include <llvm/IR/Intrinsics.h>

#include "emit_register_blocks.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

void KernelEmitter::emit_register_blocks(const Loop& rows, Range range) {
  const RegisterBlock plan = *register_block(rows);
  const Loop& fold = std::get<Loop>(rows.body[plan.fold]);
  Block block{.rows = rows, .fold = fold, .lanes = *outer_of(fold).loops[0], .fold_at = plan.fold, .count = plan.rows, .panel = plan.vectors, .leaves = !relies_on_one_leaf(fold.var.axis)};
  WEFT_ASSERT(jam_.empty(), "a block of sums among copies of a body");
  open_block(block, plan.packed);
  block.in_whole = relies_on_whole(block.lanes.var.axis, block.panel * lane_count);
  const bool packs_always = !block.in_whole || std::any_of(block.operands.begin(), block.operands.end(), [&](const BlockOperand& each) {
    return each.packed && !lies_along(each.load->buffer, each.load->at, block.lanes.var.axis);
  });
  for_range(range.begin, range.end, plan.packed, "together", [&](Value* start) {
    block.together = {start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(plan.packed)), range.end)};
    block.is_packed = packs_always ? b_.getTrue() : b_.CreateICmpSGT(b_.CreateSub(block.together.end, start), number(block.count));
    const Range along = range_of(block.lanes.var.axis);
    for_range(along.begin, along.end, block.panel * lane_count, "panel", [&](Value* index) { emit_panel(block, index, along.end); });
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
    const Fold& fold = program_.folds[static_cast<std::size_t>(accumulate->fold)];
    const Index bytes = static_cast<Index>(size_of(fold.dtype));
    const Index panel_bytes = block.panel * lane_count * bytes;
    const Extent pitch = floor_div(row_elements(program_.buffers[static_cast<std::size_t>(fold.row)]) * Extent(bytes) + (panel_bytes - 1), panel_bytes) * Extent(panel_bytes);
    row_offsets_[static_cast<std::size_t>(fold.row)] = scratch_;
    Block::Sum sum{accumulate, &fold, scratch_at(scratch_), size(pitch), nullptr};
    scratch_ = scratch_ + pitch * Extent(rows) + Extent(most_vectors * lane_count * bytes);      // other loops may end behind a row
    if (block.leaves) sum.stack = reserve(rows * block.panel * lane_count * bytes * fold_stack_rows);
    block.sums.push_back(sum);
  }
  const auto add = [&](const Item& item, bool in_lanes) {
    const auto* load = std::get_if<Load>(&item);
    if (!load) return;
    const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load->buffer)];
    if (buffer.place == Place::index || buffer.place == Place::extent) return;
    BlockOperand operand{&item, load, in_lanes, !depends_on(*load, block.rows.var.axis)};
    if (in_lanes && is_packed(*load, block.rows, block.fold, block.lanes))
      operand.packed = reserve(fold_leaf * block.panel * lane_count * static_cast<Index>(size_of(buffer.dtype)));
    block.operands.push_back(operand);
  };
  for (const Item& item : block.fold.body) add(item, false);
  for (const Item& item : block.lanes.body) add(item, true);
}

// The results of all rows in one step of the vector loop. What it has behind the last element is packed as zeros, and folded like the rest.
void KernelEmitter::emit_panel(Block& block, Value* index, Value* end) {
  const Index stride = block.panel * lane_count;
  Value* elements = block.in_whole ? number(stride) : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(end, index), number(stride));
  const Masks masks = block.in_whole ? Masks{} : first_lanes(elements, static_cast<int>(block.panel));
  const auto one_leaf = [&](Range along) {
    pack_operands(block, along, index, elements);
    for_range(block.together.begin, block.together.end, block.count, "block", [&](Value* first) { emit_register_block(block, first, along, index, masks); }, true);
  };
  const Range along = range_of(block.fold.var.axis);
  if (!block.leaves) return one_leaf(along);
  for_range(along.begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, along.end, number(1)), fold_leaf, "leaf", [&](Value* start) {
    one_leaf({start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(fold_leaf)), along.end)});
  });
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
        const Index bytes = static_cast<Index>(size_of(program_.buffers[static_cast<std::size_t>(load.buffer)].dtype));
        Value* packed = b_.CreateGEP(b_.getInt8Ty(), operand.packed, b_.CreateNeg(b_.CreateMul(index, number(bytes))));
        pointer.access.base = b_.CreateSelect(block.is_packed, packed, pointer.access.base);
        pointer.access.lane = StrideClass::unit;
        pointer.access.column = -1;
        Value* pitch = number(packed_pitch(block, operand));
        pointer.slot_stride = b_.CreateSelect(block.is_packed, b_.CreateMul(elements_of_slot(along), pitch), stride);
        pointer.stride = b_.CreateSelect(block.is_packed, pitch, pointer.stride);
      }
      block.pointers.push_back(pointer);
    }
  });
}

void KernelEmitter::emit_register_block(Block& block, Value* first, Range along, Value* index, const Masks& masks) {
  as_copies({.tiled_by = block.rows.var.axis, .down_columns = true, .in_registers = true}, [&] {
    point_at_operands(block, first, along, index);
    const int steps = static_cast<int>(block.panel);
    note_code(block.lanes, steps, false);
    estimated_.clear();
    block.cells.clear();
    std::vector<llvm::Type*> types;
    std::vector<const Fold*> folds;
    for (Index copy = 0; copy < block.count; ++copy)
      for (const Block::Sum& sum : block.sums)
        for (int step = 0; step < steps; ++step) {
          types.push_back(register_type(context_, sum.fold->dtype, lane_count));
          folds.push_back(sum.fold);
          block.cells.push_back(stack_cell(types.back(), "sum"));
        }
    const std::size_t cells = block.cells.size();
    std::vector<llvm::AllocaInst*> tree;
    for (llvm::Type* type : types) tree.push_back(stack_cell(llvm::ArrayType::get(type, slot_levels), "tree"));
    const auto on_level = [&](std::size_t cell, Value* level) { return b_.CreateGEP(types[cell], tree[cell], level); };
    for_range(number(0), number(fold_slots), 1, "pass", [&](Value* pass) {
      for (std::size_t cell = 0; cell < cells; ++cell)
        b_.CreateStore(constant_value(context_, unit(folds[cell]->accumulator, folds[cell]->dtype), lane_count), block.cells[cell]);
      Value* slot = b_.CreateLShr(b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, pass), number(64 - (slot_levels - 1)));
      emit_sums_of_slot(block, slot, along, index, masks);
      Value* full = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateAdd(pass, number(1)), b_.getTrue());
      for_range(number(0), full, 1, "level", [&](Value* level) {
        for (std::size_t cell = 0; cell < cells; ++cell) {
          Value *before = b_.CreateLoad(types[cell], on_level(cell, level)), *sum = b_.CreateLoad(types[cell], block.cells[cell]);
          b_.CreateStore(emit_combine(b_, folds[cell]->accumulator, folds[cell]->dtype, before, sum), block.cells[cell]);
        }
      });
      for (std::size_t cell = 0; cell < cells; ++cell) b_.CreateStore(b_.CreateLoad(types[cell], block.cells[cell]), on_level(cell, full));
    }, true);
    for (std::size_t cell = 0; cell < cells; ++cell) b_.CreateStore(b_.CreateLoad(types[cell], on_level(cell, number(slot_levels - 1))), block.cells[cell]);
    jam_.clear();
    keep_sums(block, first, along, index);
  });
  axis_index_[block.row_axis()] = axis_index_[block.fold_axis()] = nullptr;
}

// The elements of one slot in a leaf.
void KernelEmitter::emit_sums_of_slot(Block& block, Value* slot, Range along, Value* index, const Masks& masks) {
  const int steps = static_cast<int>(block.panel);
  for (const Block::Pointer& pointer : block.pointers)
    b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), pointer.access.base, b_.CreateMul(slot, pointer.slot_stride)), pointer.place);
  for_range(b_.CreateAdd(along.begin, slot), along.end, fold_slots, "down", [&](Value* element) {
    std::map<const Block::Pointer*, Value*> places;
    for (const Block::Pointer& pointer : block.pointers) places[&pointer] = b_.CreateLoad(b_.getPtrTy(), pointer.place);
    const auto pointers_of = [&](std::size_t copy, bool in_lanes, const auto& take) {
      for (const Block::Pointer& pointer : block.pointers)
        if ((pointer.copy == copy || pointer.operand->is_shared) && pointer.operand->in_lanes == in_lanes) take(pointer);
    };
    std::map<const void*, Value*> shared;         // scalars
    each_copy([&] {
      axis_index_[block.fold_axis()] = element;
      spread_.clear();
      divisors_.clear();
      pointers_of(jam_copy_, false, [&](const Block::Pointer& pointer) {
        const DType dtype = program_.buffers[static_cast<std::size_t>(pointer.operand->load->buffer)].dtype;
        Value*& once = shared[pointer.operand->item];
        Value* value = pointer.operand->is_shared ? once : nullptr;
        if (!value) once = value = from_memory(b_.CreateAlignedLoad(memory_type(context_, dtype, 1), places.at(&pointer), llvm::Align(size_of(dtype))), dtype);
        scalars_[static_cast<std::size_t>(pointer.operand->load->result)] = value;
      });
      for (const Item& item : block.fold.body) {
        const auto* load = std::get_if<Load>(&item);
        const bool is_loaded = load && std::any_of(block.operands.begin(), block.operands.end(), [&](const BlockOperand& each) { return each.item == &item; });
        if (!is_loaded && !std::holds_alternative<Loop>(item)) emit_item(item);
      }
    });
    around_lanes([&] {
      for (const Block::Pointer& pointer : block.pointers) {
        if (!pointer.operand->in_lanes || !pointer.operand->is_shared) continue;
        LaneAccess access = pointer.access;
        access.base = places.at(&pointer);
        for (int step = 0; step < steps; ++step)
          repeated_[{pointer.operand->item, step}] = lane_load(access, program_.buffers[static_cast<std::size_t>(pointer.operand->load->buffer)].dtype, index, step,
                                                               pointer.operand->packed ? nullptr : mask_of(masks, step));
      }
      std::size_t cell = 0;
      each_copy([&] {
        pointers_of(jam_copy_, true, [&](const Block::Pointer& pointer) {
          LaneAccess& access = accesses_[pointer.operand->item] = pointer.access;
          access.base = places.at(&pointer);
        });
        emit_lane_items(block.lanes, index, steps, masks);
        for (const Block::Sum& sum : block.sums)
          for (int step = 0; step < steps; ++step, ++cell) {
            auto* at = block.cells[cell];
            Value *value = pack(sum.item->value, step), *factor = sum.item->factor ? pack(*sum.item->factor, step) : nullptr;
            b_.CreateStore(accumulated(*sum.fold, b_.CreateLoad(at->getAllocatedType(), at), value, factor), at);
          }
      });
      repeated_.clear();
    });
    for (const Block::Pointer& pointer : block.pointers)
      b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), places.at(&pointer), pointer.stride), pointer.place);
  });
}

// The sums of a leaf go to the rows of results, perhaps by way of the tree over leaves.
void KernelEmitter::keep_sums(Block& block, Value* first, Range along, Value* index) {
  const Range all = range_of(block.fold.var.axis);
  const bool is_some = relies_on_some(block.fold.var.axis);
  Value* several = block.leaves ? b_.CreateICmpSGT(all.end, number(fold_leaf)) : nullptr;
  Value* last = block.leaves ? b_.CreateICmpSGE(along.end, all.end) : nullptr;
  const int steps = static_cast<int>(block.panel);
  std::size_t number_of_sum = 0;
  for (const Block::Sum& sum : block.sums) {
    const Index bytes = static_cast<Index>(size_of(sum.fold->dtype)), vector = lane_count * bytes;
    llvm::Type* type = register_type(context_, sum.fold->dtype, lane_count);
    std::vector<llvm::AllocaInst*> cells;
    for (Index copy = 0; copy < block.count; ++copy)
      for (int step = 0; step < steps; ++step)
        cells.push_back(block.cells[(static_cast<std::size_t>(copy) * block.sums.size() + number_of_sum) * static_cast<std::size_t>(steps) + static_cast<std::size_t>(step)]);
    ++number_of_sum;
    const auto to_rows = [&](const auto& value_of) {
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const auto copy = static_cast<Index>(k) / steps, step = static_cast<Index>(k) % steps;
        Value* value = value_of(k);
        if (!is_some && sum.fold->accumulator == AccumulatorId::sum)      // over nothing: +0, not the unit -0
          value = b_.CreateSelect(b_.CreateICmpSLE(all.end, all.begin), constant_value(context_, Scalar::of(sum.fold->dtype, 0.0), lane_count), value);
        Value* at = b_.CreateGEP(b_.getInt8Ty(), sum.memory, b_.CreateMul(b_.CreateSub(row_of_block(block, first, copy), block.together.begin), sum.pitch));
        at = b_.CreateGEP(b_.getInt8Ty(), at, b_.CreateMul(position_in_row(block, index), number(bytes)));
        b_.CreateAlignedStore(value, b_.CreateConstGEP1_64(b_.getInt8Ty(), at, static_cast<std::uint64_t>(step * vector)), llvm::Align(static_cast<std::uint64_t>(bytes)));
      }
    };
    const auto cell_value = [&](std::size_t k) { return b_.CreateLoad(type, cells[k]); };
    if (!block.leaves) {
      to_rows(cell_value);
      continue;
    }
    Value* stack = b_.CreateGEP(b_.getInt8Ty(), sum.stack, b_.CreateMul(b_.CreateSub(first, block.together.begin), number(block.panel * vector * fold_stack_rows)));
    auto* tile = stack_cell(llvm::ArrayType::get(type, cells.size()), "leaf");
    Value* count = number(static_cast<Index>(cells.size()) * lane_count);
    Value* leaf = b_.CreateLShr(along.begin, number(std::countr_zero(static_cast<std::uint64_t>(fold_leaf))));
    for (std::size_t k = 0; k < cells.size(); ++k) b_.CreateStore(cell_value(k), b_.CreateConstGEP1_64(type, tile, k));
    if_then(several, "push", [&] { call_support(FoldSupport::push, *sum.fold, {stack, tile, count, leaf}); });
    if_then(last, "last", [&] {
      if_then(several, "finish", [&] { call_support(FoldSupport::finish, *sum.fold, {stack, tile, count, b_.CreateAdd(leaf, number(1))}); });
      to_rows([&](std::size_t k) { return b_.CreateLoad(type, b_.CreateConstGEP1_64(type, tile, k)); });
    });
  }
}

// Of the vector loop's element: rows hold a unit if that axis is in units.
Value* KernelEmitter::position_in_row(const Block& block, Value* index) {
  return program_.is_tiled(block.lanes.var.axis) ? b_.CreateSub(index, tile_.begin) : index;
}

}  // namespace weft
