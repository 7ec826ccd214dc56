// Loops that fold the smallest index at which something holds, as argmax does, end where they find it. What is
// before that asks, and neither selects nor compares indices.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {

bool reads(const Loop& loop, int value) {
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* compute = std::get_if<Compute>(&item);
    return compute && std::any_of(compute->args.begin(), compute->args.end(), [&](const Arg& arg) { return !arg.constant && arg.value == value; });
  });
}

// Comparisons, and what joins them.
bool is_simple(const Program& program, const Loop& loop) {
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load ? !load->guarded && program.buffer(load->buffer).place != Place::index : op_cost(std::get<Compute>(item).op) <= 1;
  });
}

}  // namespace

// Operands that lie across rows side by side come in tiles, which a loop that ends somewhere has none of; a row in registers is read at known indices.
bool KernelEmitter::searches(const Loop& loop) const {
  if (!search_of(loop) || copies_.thin || copies_.down_columns || moves_held_row(loop)) return false;
  return copies_.tiled_by < 0 || std::none_of(loop.body.begin(), loop.body.end(), [&](const Item& item) { return is_across(item, loop); });
}

void KernelEmitter::emit_searches(const Loop& loop) {
  const Search search = *search_of(loop);
  Loop asks = loop;                                    // without what it folds
  asks.folds.clear();
  std::erase_if(asks.body, [&](const Item& item) {
    auto* compute = std::get_if<Compute>(&item);
    return std::holds_alternative<Accumulate>(item) || (compute && compute->result == search.where->result);
  });
  const int index = search.index->result;
  if (!reads(asks, index)) std::erase_if(asks.body, [&](const Item& item) { return std::holds_alternative<Load>(item) && std::get<Load>(item).result == index; });
  note_code(loop, steps_of(loop), false);
  if (jam_.empty()) return emit_search(asks, search, loop.folds[0]);
  std::vector<JamCopy> rows = std::exchange(jam_, {});     // one after the other
  const int axis = std::exchange(copied_axis_, -1);
  as_copies({}, [&] {
    for (JamCopy& row : rows) {
      exchange(row);
      emit_search(asks, search, loop.folds[0]);
      exchange(row);
    }
  });
  jam_ = std::move(rows);
  copied_axis_ = axis;
}

// Whether the condition holds: vector after vector of so many lanes.
std::vector<Value*> KernelEmitter::emit_condition(const Loop& asks, const Arg& condition, Value* index, int steps, int lanes, const Masks& masks) {
  std::vector<Value*> holds;
  if (masks.empty() && moves_plainly() && is_simple(program_, asks)) {
    while (steps * lane_count % lanes != 0) lanes /= 2;
    for (int first = 0; first < steps * lane_count; first += lanes) {
      const auto made = emit_wide_items(asks, index, first, lanes);
      const auto found = condition.constant ? made.end() : made.find(condition.value);
      holds.push_back(found != made.end() ? found->second : b_.CreateVectorSplat(static_cast<unsigned>(lanes), scalar(condition)));
    }
    return holds;
  }
  emit_lane_items(asks, index, steps, masks);
  for (int step = 0; step < steps; ++step) {
    holds.push_back(pack(condition, step));
    if (!masks.empty()) holds.back() = b_.CreateAnd(holds.back(), masks[static_cast<std::size_t>(step)]);
  }
  return holds;
}

// Without registers of masks they are kept as wide as what they came from, and joined in full registers: packing them would take as long as asking.
Value* KernelEmitter::is_anywhere(const std::vector<Value*>& holds, std::size_t bytes) {
  const auto lanes = llvm::cast<llvm::FixedVectorType>(holds[0]->getType())->getNumElements();
  const unsigned bits = register_bytes() == 64 ? 1 : static_cast<unsigned>(8 * bytes);
  Value* any = nullptr;
  for (Value* each : holds) {
    Value* mask = b_.CreateSExt(each, llvm::FixedVectorType::get(b_.getIntNTy(bits), lanes));
    any = any ? b_.CreateOr(any, mask) : mask;
  }
  return b_.CreateIsNotNull(b_.CreateBitCast(any, b_.getIntNTy(bits * lanes)));
}

void KernelEmitter::emit_search(const Loop& asks, const Search& search, int number_of_fold) {
  const Fold& fold = program_.fold(number_of_fold);
  llvm::Type* type = register_type(context_, fold.dtype, 1);
  auto* found = stack_cell(type, "found");
  b_.CreateStore(constant_value(context_, unit(fold.accumulator, fold.dtype), 1), found);
  axis_index_[static_cast<std::size_t>(asks.var.axis)] = nullptr;
  open_accesses(asks);
  std::size_t widest = 1;
  for (const Item& item : asks.body)
    if (auto* load = std::get_if<Load>(&item)) widest = std::max(widest, size_of(program_.buffer(load->buffer).dtype));
  const int lanes = static_cast<int>(register_bytes() / widest);
  auto* done = llvm::BasicBlock::Create(context_, "done", function_);
  const auto look = [&](Value* index, int steps, const Masks& masks) {
    const std::vector<Value*> holds = emit_condition(asks, search.where->args[0], index, steps, lanes, masks);
    auto *here = llvm::BasicBlock::Create(context_, "here", function_), *on = llvm::BasicBlock::Create(context_, "on", function_);
    b_.CreateCondBr(is_anywhere(holds, widest), here, on, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
    b_.SetInsertPoint(here);
    Value* bits = b_.CreateBitCast(llvm::concatenateVectors(b_, holds), b_.getIntNTy(static_cast<unsigned>(steps * lane_count)));
    Value* first = b_.CreateZExtOrTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getTrue()), b_.getInt64Ty());
    b_.CreateStore(b_.CreateTrunc(b_.CreateAdd(b_.CreateAdd(index, first), size(search.index->at[0].start)), type), found);
    b_.CreateBr(done);
    b_.SetInsertPoint(on);
  };
  around_lanes([&] {
    const int axis = asks.var.axis, steps = steps_of(asks);
    Range left = range_of(axis);
    for (int together = steps;; together = 1) {
      const Index stride = Index{together} * lane_count;
      const bool exact = relies_on_whole(axis, stride);
      Value* whole = exact ? left.end : b_.CreateSub(left.end, b_.CreateURem(b_.CreateSub(left.end, left.begin), number(stride)));
      for_range(left.begin, whole, stride, "search", [&](Value* index) { look(index, together, {}); });
      left.begin = whole;
      if (exact || together == 1) break;
    }
    if (left.begin != left.end)
      if_then(b_.CreateICmpSLT(left.begin, left.end), "rest", [&] {
        part_ = b_.CreateSub(left.end, left.begin);
        look(left.begin, 1, first_lanes(part_, 1));
        part_ = nullptr;
      });
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  });
  scalars_[static_cast<std::size_t>(fold.result)] = b_.CreateLoad(type, found);
}

}  // namespace weft
