// Loops that count from the other end.
#include <algorithm>

#include "program.h"

namespace weft {
namespace {

bool can_turn(const std::vector<Subscript>& at, int axis) {
  return std::all_of(at.begin(), at.end(), [&](const Subscript& s) { return s.axis != axis || (s.is_linear() && s.dim < 0); });
}

}  // namespace

bool can_turn_round(const Loop& loop, int axis) {
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    if (auto* inner = std::get_if<Loop>(&item)) return can_turn_round(*inner, axis);
    if (auto* load = std::get_if<Load>(&item)) return can_turn(load->at, axis);
    if (auto* store = std::get_if<Store>(&item)) return can_turn(store->at, axis);
    if (auto* others = std::get_if<Others>(&item)) return can_turn(others->from_at, axis) && can_turn(others->to_at, axis);
    return true;
  });
}

bool reads_backwards(const Loop& loop, int axis) {
  const auto is_backwards = [&](const Subscript& s) { return s.axis == axis && s.step < 0; };
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    if (auto* inner = std::get_if<Loop>(&item)) return reads_backwards(*inner, axis);
    auto* load = std::get_if<Load>(&item);
    return load && std::any_of(load->at.begin(), load->at.end(), is_backwards);
  });
}

void turn_round(Loop& loop, int axis, const Extent& extent) {
  const auto turn = [&](std::vector<Subscript>& at) {
    WEFT_ASSERT(can_turn(at, axis), "a loop over axis ", axis, " runs backwards, with a subscript that cannot");
    for (Subscript& s : at) {
      if (s.axis != axis) continue;
      s.start = s.start + Extent(s.step) * (extent - 1);
      s.step = -s.step;
    }
  };
  for (Item& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item)) turn_round(*inner, axis, extent);
    else if (auto* load = std::get_if<Load>(&item)) turn(load->at);
    else if (auto* store = std::get_if<Store>(&item)) turn(store->at);
    else if (auto* others = std::get_if<Others>(&item)) turn(others->from_at), turn(others->to_at);
  }
}

}  // namespace weft
