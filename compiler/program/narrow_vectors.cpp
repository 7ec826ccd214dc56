// Sixteen elements of one or two bytes are a quarter or a half of a register.
#include <algorithm>

#include "loop_choices.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

// Integers and conditions: f16 and bf16 are worked on as f32.
bool is_narrow(DType dtype) { return !is_floating(dtype) && size_of(dtype) <= 2; }

}  // namespace

const Compute* LoopChoices::widened_bytes(const Loop& loop, const Accumulate& accumulate) const {
  const Fold& fold = program_.fold(accumulate.fold);
  if (fold.accumulator != AccumulatorId::sum || is_floating(fold.dtype) || size_of(fold.dtype) < size_of(DType::i32) || accumulate.value.constant) return nullptr;
  for (const Item& item : loop.body) {
    const auto* compute = std::get_if<Compute>(&item);
    if (!compute || compute->result != accumulate.value.value || compute->op != Op::cast || compute->args[0].constant) continue;
    const DType from = program_.dtype_of(compute->args[0]);
    return from == DType::u8 || from == DType::i8 || is_boolean(from) ? compute : nullptr;
  }
  return nullptr;
}

// Few ops make wider integers: only for those the body is searched, which may have thousands.
bool LoopChoices::is_widening(const Loop& loop, const Compute& compute) const {
  return compute.op == Op::cast && size_of(program_.dtype_of(compute.result)) >= size_of(DType::i32) && std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    const auto* accumulate = std::get_if<Accumulate>(&item);
    return accumulate && widened_bytes(loop, *accumulate) == &compute;
  });
}

// Results in rows, or folds along the loop in which any number of elements may go together; both have other ends.
int LoopChoices::vectors_in_register(const Loop& loop) const {
  bool stores = false, folds = false;
  std::size_t widest = 1;
  const auto fits = [&](DType dtype) {
    widest = std::max(widest, size_of(dtype));
    return is_narrow(dtype);
  };
  const auto lies = [&](int buffer, const std::vector<Subscript>& at) { return fits(program_.buffer(buffer).dtype) && lies_along(buffer, at, loop.var.axis); };
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) {
      if (load->guarded || !is_linear(load->at) || !lies(load->buffer, load->at)) return 1;
    } else if (auto* store = std::get_if<Store>(&item)) {
      if (!lies(store->buffer, store->at)) return 1;
      stores = true;
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      const Fold& fold = program_.fold(accumulate->fold);
      const bool is_own = std::find(loop.folds.begin(), loop.folds.end(), accumulate->fold) != loop.folds.end();       // not of blocks of the loop
      if (fold.ordered || fold.start || !is_own || accumulate->factor || accumulate->result >= 0) return 1;
      if (!widened_bytes(loop, *accumulate) && !fits(fold.dtype)) return 1;
      folds = true;
    } else if (auto* compute = std::get_if<Compute>(&item)) {
      const bool args = std::all_of(compute->args.begin(), compute->args.end(), [&](const Arg& arg) { return fits(program_.dtype_of(arg)); });
      if (!args || op_cost(compute->op) > 1 || (!is_widening(loop, *compute) && !fits(program_.dtype_of(compute->result)))) return 1;
    } else {
      return 1;
    }
  }
  if (stores && folds) return 1;
  const auto vector_bytes = static_cast<std::size_t>(lane_count) * widest;
  return masks_by_branches(DType::u8) && register_bytes() == 64 ? 1 : static_cast<int>(std::max<std::size_t>(register_bytes() / vector_bytes, 1));
}

}  // namespace weft
